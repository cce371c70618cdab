package reports

import (
	"strings"

	"github.com/squall-chaos/squall/reports/figure"
	"github.com/squall-chaos/squall/scenarios/causes"
)

// The files that commands about a failure add to its bundle.
const (
	MattersFile = "matters.json" // squall explain
	MinimalFile = "minimal.json" // squall shrink
)

// Minimal is the smallest scenario that still fails in the same way.
type Minimal struct {
	Invariant string `json:"invariant"`
	Scenario  string `json:"scenario"` // the file
	Seed      uint64 `json:"seed"`
	Before    string `json:"before"` // sizes, in words
	Now       string `json:"now"`
	Tried     int    `json:"candidates"`
	// Again are the ways to run it, in words: here, in a real cluster (or why not), as a Go test.
	Again []string `json:"again,omitempty"`
	Run   *Run     `json:"-"` // of the file; nil: not drawn
}

// mattersSection is what matters about a failure.
type mattersSection struct {
	*causes.Explanation
	Faults, Settings []mattersRow
	// Irrelevant and ByChance are the names of what does not matter.
	Irrelevant, ByChance string
}

type mattersRow struct {
	Name, Value string
	Flips       []string
}

func (r *Run) matters() *mattersSection {
	if r.Matters == nil {
		return nil
	}
	s := &mattersSection{Explanation: r.Matters}
	var irrelevant, chance []string
	for i, all := range [][]causes.Matter{r.Matters.Faults, r.Matters.Settings} {
		for _, m := range all {
			row := mattersRow{Name: m.Name, Value: m.Value}
			for _, f := range m.Flips {
				row.Flips = append(row.Flips, f.Words())
			}
			switch {
			case m.Verdict == causes.Irrelevant && i == 1:
				irrelevant = append(irrelevant, m.Name)
			case m.Verdict == causes.Chance && i == 1:
				chance = append(chance, m.Name)
			case i == 1:
				s.Settings = append(s.Settings, row)
			default:
				if m.Verdict != causes.Flips {
					row.Flips = []string{m.Verdict.Words()}
				}
				s.Faults = append(s.Faults, row)
			}
		}
	}
	s.Irrelevant, s.ByChance = strings.Join(irrelevant, ", "), strings.Join(chance, ", ")
	return s
}

// minimalSection is the minimal case, drawn.
type minimalSection struct {
	*Minimal
	Wide, Narrow *figure.Drawing
	Moments      []moment
	Table        []tableRow
}

func (r *Run) minimal() *minimalSection {
	if r.Minimal == nil {
		return nil
	}
	m := &minimalSection{Minimal: r.Minimal}
	if r.Minimal.Run != nil {
		s := setScene(r.Minimal.Run)
		m.Moments = s.moments()
		m.Wide, m.Narrow = s.timelines("minimal-figure", "The minimal case", m.Moments)
		m.Table = s.table(m.Moments)
	}
	return m
}
