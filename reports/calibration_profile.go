package reports

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/calibration"
	"github.com/squall-chaos/squall/scenarios"
)

// described are the settings that describe a cluster, and the measures that they come from.
var described = []struct {
	name    string
	measure calibration.Measure
}{
	{"node_grace", calibration.NotReady}, {"node_provisioning", calibration.Provisioning}, {"cold_pull", calibration.ImagePull},
}

// WriteProfile writes the file that scenarios take, with where each number comes from.
func (c *Calibration) WriteProfile(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Written by squall calibrate; squall run SCENARIO --calibration takes it, and so does calibration: in a scenario.\n"+
		"apiVersion: %s\nkind: %s\nmeasured: %q\n", scenarios.APIVersion, scenarios.CalibrationKind, c.measuredOn())
	c.profilePlatform(&b)
	c.profileSettings(&b)
	if f := c.finding(calibration.Run); f.All.Usable() {
		fmt.Fprintf(&b, "# %s\nrun: %s\n", origin(f.All), scenarios.DistText(f.All.Dist))
	}
	c.profileMissing(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// measuredOn is one line for people.
func (c *Calibration) measuredOn() string {
	text := strings.Join(c.Sources, ", ") + ": " + c.Read
	if !c.Until.IsZero() {
		text += ", until " + c.Until.Format(time.RFC3339)
	}
	return text
}

func (c *Calibration) finding(m calibration.Measure) calibration.Finding {
	for _, f := range c.Findings {
		if f.Measure == m {
			return f
		}
	}
	return calibration.Finding{Measure: m, All: calibration.Result{Measure: m, Status: calibration.None}}
}

// origin says what a distribution rests on.
func origin(r calibration.Result) string {
	text := count(len(r.Samples), "sample", "samples")
	if open := len(r.Samples) - r.Ended; open > 0 {
		text += fmt.Sprintf(", %d of them cut short", open)
	}
	text += ": " + r.Why
	if r.Status == calibration.Fitted && r.P > 0 {
		text += fmt.Sprintf("; distance %.3f, p %.2f; 99th percentile %s (95%%: %s to %s)", r.Distance, r.P, r.TakenQuantile(0.99), r.P99[0], r.P99[1])
	}
	return text
}

// platformFields are those that a scenario's platform has, in its order.
var platformFields = []calibration.Measure{calibration.APILatency, calibration.StoreLatency, calibration.Scheduling, calibration.ImagePull,
	calibration.Startup, calibration.Shutdown, calibration.Provisioning}

func (c *Calibration) profilePlatform(b *strings.Builder) {
	var lines []string
	for _, m := range platformFields {
		switch r := c.finding(m).All; {
		case m == calibration.Scheduling && c.startsFromCreation() && r.Status == calibration.None && c.finding(calibration.Startup).Usable():
			lines = append(lines, "  # the record of a run does not tell it from the start: it is in there", "  scheduling: 0s")
		case r.Usable():
			lines = append(lines, "  # "+origin(r), fmt.Sprintf("  %s: %s", m, scenarios.DistText(r.Dist)))
		}
	}
	for _, kind := range []struct {
		name string
		kind clusters.CapacityType
	}{{"on_demand", clusters.OnDemand}, {"spot", clusters.Spot}} {
		lines = append(lines, c.profileMachine(kind.name, kind.kind)...)
	}
	if len(lines) > 0 {
		b.WriteString("platform:\n" + strings.Join(lines, "\n") + "\n")
	}
}

// profileMachine is how the machines of one type differ from all; where only one type was seen, it is all that is known.
func (c *Calibration) profileMachine(name string, kind clusters.CapacityType) []string {
	var lines []string
	for _, m := range platformFields {
		f := c.finding(m)
		r, ok := f.Of(kind)
		if !m.ByMachine() || !ok || !r.Usable() || len(f.Types) == 1 {
			continue
		}
		lines = append(lines, "    # "+origin(r), fmt.Sprintf("    %s: %s", m, scenarios.DistText(r.Dist)))
	}
	if len(lines) == 0 {
		return nil
	}
	return append([]string{"  " + name + ":"}, lines...)
}

func (c *Calibration) profileSettings(b *strings.Builder) {
	var lines []string
	for _, d := range described {
		if worst, ok := c.finding(d.measure).Worst(); ok {
			lines = append(lines, fmt.Sprintf("  %s: %s # 99th percentile of %s, the worst type's", d.name, worst, d.measure))
		}
	}
	if len(lines) > 0 {
		b.WriteString("settings:\n" + strings.Join(lines, "\n") + "\n")
	}
}

// profileMissing says what is not in the file, and why.
func (c *Calibration) profileMissing(b *strings.Builder) {
	var lines []string
	for _, f := range c.Findings {
		for _, r := range f.Rows() {
			if r.Usable() {
				continue
			}
			on := ""
			if len(f.Types) > 0 {
				on = " on " + kindWords(r)
			}
			lines = append(lines, fmt.Sprintf("#   %s%s: %s: %s", f.Measure, on, r.Status, r.Why))
		}
	}
	if len(lines) > 0 {
		b.WriteString("# Not in here, so a scenario's own or the ordinary values hold:\n" + strings.Join(lines, "\n") + "\n")
	}
	if untold := c.untold(); len(untold) > 0 {
		b.WriteString("# What runs of Squall's own cannot tell:\n#   " + strings.Join(untold, "\n#   ") + "\n")
	}
}
