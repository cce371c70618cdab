package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/scenarios"
)

// worldListing is what one world can do.
type worldListing struct {
	World   string   `json:"world"`
	Summary string   `json:"summary"`
	Here    bool     `json:"in_this_build"`
	Get     string   `json:"get,omitempty"` // the command that gets a build that has it
	Scale   float64  `json:"scale"`
	Limits  []string `json:"limits,omitempty"`
	// Faults and Scenarios are all there are, with the reason why the world cannot do it; empty: it can.
	Faults    []worldCan `json:"faults"`
	Scenarios []worldCan `json:"scenarios"`
}

type worldCan struct {
	Name string `json:"name"`
	Why  string `json:"cannot,omitempty"`
}

func listWorld(name string) (worldListing, error) {
	w, err := knownWorld(name)
	if err != nil {
		return worldListing{}, err
	}
	l := worldListing{World: w.name, Summary: w.summary, Here: w.here(), Scale: w.scale.Factor, Limits: w.scale.Limits.Table()}
	if !w.here() {
		l.Get = w.get
	}
	for _, k := range faults.Kinds() {
		l.Faults = append(l.Faults, worldCan{string(k), w.cannot(k)})
	}
	for _, r := range w.ability.Cannot {
		if r.String() != string(r.Kind) { // not the kind as a whole, which stands above
			l.Faults = append(l.Faults, worldCan{r.String(), r.Why})
		}
	}
	for _, s := range scenarios.Library() {
		l.Scenarios = append(l.Scenarios, worldCan{s.Name, strings.Join(w.misfits(s), "; ")})
	}
	return l, nil
}

// cannot says why the world cannot do the kind at all; empty: it can, but for what it refuses of it.
func (w worldEntry) cannot(k faults.Kind) string {
	if !w.ability.Faults.Has(k.Need()) {
		return fmt.Sprintf("it has no faults of %s", k.Need())
	}
	why, _, _ := w.ability.Cannot.Of(faults.Fault{Kind: k})
	return why
}

// misfits says why the world cannot do the scenario; empty: it can.
func (w worldEntry) misfits(s *scenarios.Scenario) []string {
	_, why := w.fitted(s, w.scaleOf(s))
	return why
}

// fitted is the scenario scaled so, or why the world cannot do that.
func (w worldEntry) fitted(s *scenarios.Scenario, sc scenarios.Scale) (*scenarios.Scenario, []string) {
	scaled, err := s.Scaled(sc)
	if err != nil {
		return nil, []string{inOneLine(err)}
	}
	return scaled, scaled.Misfits(w.ability, 1)
}

func (l worldListing) write(out io.Writer) error {
	fmt.Fprintf(out, "%s: %s\n", l.World, l.Summary)
	if !l.Here {
		fmt.Fprintf(out, "not in this build; get it with: %s\n", l.Get)
	}
	if l.Scale != 1 {
		fmt.Fprintf(out, "times are divided by %g, within these limits:\n", l.Scale)
		for _, line := range l.Limits {
			fmt.Fprintf(out, "  %s\n", line)
		}
	}
	t := &tables{w: tabwriter.NewWriter(out, 0, 0, 2, ' ', 0), begun: true}
	for _, part := range []struct {
		head string
		all  []worldCan
	}{{"FAULT", l.Faults}, {"SCENARIO", l.Scenarios}} {
		t.head(part.head, "CAN")
		for _, x := range part.all {
			t.row(x.Name, either(x.Why, "yes"))
		}
	}
	return t.w.Flush()
}
