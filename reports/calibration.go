package reports

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/calibration"
	"github.com/squall-chaos/squall/scenarios"
)

// Calibration is what was measured on a cluster.
type Calibration struct {
	Version string
	Sources []string // what was read, in words
	// Until is the last moment that the dumps tell of; zero: they are records of runs.
	Until    time.Time
	Read     string // how much, in words
	Nodes    string // by capacity type, in words
	Findings []calibration.Finding
	// Runs are the runs of Squall's own among the sources.
	Runs       []MeasuredRun
	Anonymised bool
}

// MeasuredRun is a run that was measured.
type MeasuredRun struct {
	World string
	// Divided is by how much the times of its scenario were; 1: by nothing.
	Divided float64
	// StartsFromCreation: its record tells no moment at which a pod was bound to its node, so the starts include the scheduling.
	StartsFromCreation bool
}

// startsFromCreation tells whether all that is known of starts includes the scheduling.
func (c *Calibration) startsFromCreation() bool {
	return len(c.Runs) > 0 && c.Until.IsZero() && !slices.ContainsFunc(c.Runs, func(r MeasuredRun) bool { return !r.StartsFromCreation })
}

// untold says what the measured runs cannot tell of a cluster, or not of anybody else's.
func (c *Calibration) untold() []string {
	divided := 0.0
	var simulated, real bool
	for _, r := range c.Runs {
		if r.World != "kind" {
			simulated = true
			continue
		}
		real, divided = true, max(divided, r.Divided)
	}
	var lines []string
	if simulated {
		lines = append(lines, "a simulated run is as fast and as slow as its scenario says: this measures the scenario, and no cluster")
	}
	if !real {
		return lines
	}
	lines = append(lines, "a run in kind pulls no image: they are on its nodes from the start",
		"a run in kind waits for no new machine: its nodes are all there from the start",
		"a run in kind starts and stops Squall's own worker, whose image is small and which heeds SIGTERM")
	work := "its tasks work for as long as its scenario says"
	if divided > 1 {
		work += ", divided by " + strconv.FormatFloat(divided, 'g', 3, 64)
	}
	return append(lines, work+": only a dump knows your own")
}

// Usable tells whether anything can be written.
func (c *Calibration) Usable() bool {
	for _, f := range c.Findings {
		if f.Usable() {
			return true
		}
	}
	return false
}

// kindWords are the capacity types in words.
func kindWords(r calibration.Result) string {
	switch {
	case r.All, r.Type == "" && (r.Measure == calibration.APILatency || r.Measure == calibration.StoreLatency): // servers are of no type
		return "all"
	case r.Type == "":
		return "unknown"
	}
	return string(r.Type)
}

// taken is what becomes of a result, in the language of scenarios.
func taken(r calibration.Result) string {
	if !r.Usable() {
		return "not taken"
	}
	if r.Dist.Shape == clusters.EmpiricalShape {
		return fmt.Sprintf("%d measured percentiles", len(*r.Dist.Curve))
	}
	return scenarios.DistText(r.Dist)
}

func measuredQuantile(r calibration.Result, p float64) string {
	if at, ok := r.Quantile(p); ok {
		return seconds(at)
	}
	return "–"
}

// rowsOf leaves out what nothing was seen of.
func rowsOf(f calibration.Finding) []calibration.Result {
	if f.All.Status == calibration.None {
		return nil
	}
	return f.Rows()
}

// unseen lists the measures that nothing was seen of.
func (c *Calibration) unseen() []calibration.Measure {
	var all []calibration.Measure
	for _, f := range c.Findings {
		if f.All.Status == calibration.None {
			all = append(all, f.Measure)
		}
	}
	return all
}

// elsewhere says where to find what dumps do not have.
var elsewhere = map[calibration.Measure]string{
	calibration.Scheduling:   "pods and their events, or a run in kind in which the faults leave some pods alone",
	calibration.Provisioning: "pods that fitted nowhere, their events, and the nodes that came for them",
	calibration.ImagePull:    "events of the last hour in which an image was pulled",
	calibration.Startup:      "pods with their events of the last hour",
	calibration.Run:          "pods that end: restartPolicy Never or OnFailure",
	calibration.Shutdown:     "pods that were stopped: a watch (kubectl get pods -A -w -o json) sees most",
	calibration.NotReady:     "nodes that fell silent, with their leases: kubectl get leases -n kube-node-lease -o json; or a run in kind that stops a node",
	calibration.APILatency:   "no dump: --live measures it, and so does a run of Squall's own",
	calibration.StoreLatency: "no dump: a run of Squall's own measures it",
}

// WriteText writes the findings as a table.
func (c *Calibration) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "measured on %s: %s\n", strings.Join(c.Sources, ", "), c.Read)
	if c.Nodes != "" {
		fmt.Fprintf(&b, "nodes: %s\n", c.Nodes)
	}
	b.WriteString("\n")
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "MEASURE\tON\tSAMPLES\tUNFINISHED\tMEDIAN\tP99\tTAKEN AS\tWHY")
	for _, f := range c.Findings {
		for _, r := range rowsOf(f) {
			fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%s\t%s\t%s\t%s\n", f.Measure, kindWords(r), len(r.Samples), len(r.Samples)-r.Ended,
				measuredQuantile(r, 0.5), measuredQuantile(r, 0.99), taken(r), reason(r))
		}
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	c.writeLeft(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// reason says why a result is what it is.
func reason(r calibration.Result) string {
	switch {
	case !r.Usable():
		return string(r.Status) + ": " + r.Why
	case r.Family == "constant" || r.Status == calibration.Measured:
		return r.Why
	}
	return fmt.Sprintf("fits: distance %.3f, p %.2f", r.Distance, r.P)
}

func (c *Calibration) writeLeft(b *strings.Builder) {
	first := true
	for _, f := range c.Findings {
		for _, l := range f.Left {
			if first {
				b.WriteString("\nleft out:\n")
				first = false
			}
			fmt.Fprintf(b, "  %s: %d: %s\n", f.Measure, l.Count, l.Reason)
		}
	}
	if unseen := c.unseen(); len(unseen) > 0 {
		b.WriteString("\nnot seen, so a scenario's own or the ordinary values hold:\n")
		for _, m := range unseen {
			fmt.Fprintf(b, "  %s: needs %s\n", m, elsewhere[m])
		}
	}
	if untold := c.untold(); len(untold) > 0 {
		b.WriteString("\nwhat runs of Squall's own cannot tell:\n")
		for _, line := range untold {
			fmt.Fprintf(b, "  %s\n", line)
		}
	}
}

// resultJSON is a result for programs.
type resultJSON struct {
	Measure    calibration.Measure     `json:"measure"`
	On         string                  `json:"on"`
	Samples    int                     `json:"samples"`
	Unfinished int                     `json:"unfinished"`
	Status     calibration.Status      `json:"status"`
	Why        string                  `json:"why"`
	Dist       string                  `json:"distribution,omitempty"`
	Family     string                  `json:"best_family,omitempty"`
	Distance   float64                 `json:"distance,omitempty"`
	P          float64                 `json:"p,omitempty"`
	Candidates []calibration.Candidate `json:"candidates,omitempty"`
	Quantiles  map[string]float64      `json:"quantiles_seconds"`
}

type sampleJSON struct {
	Measure  calibration.Measure `json:"measure"`
	On       string              `json:"on"`
	Seconds  float64             `json:"seconds"`
	AtLeast  bool                `json:"at_least,omitempty"`
	Rounding string              `json:"rounding"`
	calibration.Subject
}

var roundings = map[calibration.Rounding]string{calibration.Exact: "none", calibration.Once: "one end to whole seconds", calibration.Twice: "both ends to whole seconds"}

// WriteJSON writes the findings, and every sample, for programs.
func (c *Calibration) WriteJSON(w io.Writer) error {
	out := struct {
		Version    string                    `json:"squall"`
		Sources    []string                  `json:"sources"`
		Read       string                    `json:"read"`
		Anonymised bool                      `json:"anonymised"`
		Results    []resultJSON              `json:"results"`
		Left       map[string]map[string]int `json:"left_out"`
		Untold     []string                  `json:"cannot_tell,omitempty"`
		Samples    []sampleJSON              `json:"samples"`
	}{Version: c.Version, Sources: c.Sources, Read: c.Read, Anonymised: c.Anonymised, Left: map[string]map[string]int{}, Untold: c.untold(), Samples: []sampleJSON{}}
	for _, f := range c.Findings {
		for _, l := range f.Left {
			if out.Left[string(f.Measure)] == nil {
				out.Left[string(f.Measure)] = map[string]int{}
			}
			out.Left[string(f.Measure)][l.Reason] = l.Count
		}
		for _, r := range f.Rows() {
			j := resultJSON{Measure: f.Measure, On: kindWords(r), Samples: len(r.Samples), Unfinished: len(r.Samples) - r.Ended, Status: r.Status, Why: r.Why,
				Family: r.Family, Distance: r.Distance, P: r.P, Candidates: r.Candidates, Quantiles: map[string]float64{}}
			if r.Usable() {
				j.Dist = scenarios.DistText(r.Dist)
			}
			for _, p := range []float64{0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1} {
				if at, ok := r.Quantile(p); ok {
					j.Quantiles[fmt.Sprintf("p%g", 100*p)] = at.Seconds()
				}
			}
			out.Results = append(out.Results, j)
		}
		for _, r := range f.Types {
			for _, s := range r.Samples {
				out.Samples = append(out.Samples, sampleJSON{f.Measure, kindWords(r), s.Value.Seconds(), s.AtLeast, roundings[s.Rounding], s.Of})
			}
		}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(out); err != nil {
		return fmt.Errorf("write the calibration: %w", err)
	}
	return nil
}
