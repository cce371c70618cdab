package reports

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/squall-chaos/squall/scenarios/experiment"
)

// Kill is what the hunt for one planted defect came to.
type Kill struct {
	Defect   string   `json:"defect"`
	About    string   `json:"about"`
	Incident string   `json:"incident,omitempty"`       // the row of the catalogue that it comes from
	Second   bool     `json:"second_witness,omitempty"` // the hunt is for a second witness
	Scenario string   `json:"scenario"`
	Within   int      `json:"within_seeds"`       // it must be found within so many
	Seeds    int      `json:"seeds_to_detection"` // it was found under the seed of that place, counted from 1; 0: it was not
	Oracles  []string `json:"found_by"`           // invariants that were violated until then
	Control  string   `json:"control,omitempty"`  // what else was taken away from it and from its control
	SimOnly  string   `json:"sim_only,omitempty"` // why it cannot be had on real servers
	Lone     bool     `json:"-"`                  // it has no second witness
}

// Found tells whether it was.
func (k Kill) Found() bool { return k.Seeds > 0 }

// Kills are the planted defects of a suite.
type Kills struct {
	First  []Kill
	second map[string]Kill
}

// KillsOf gathers what the results say of planted defects, in their order.
func KillsOf(all []Summary) Kills {
	k := Kills{second: map[string]Kill{}}
	for _, s := range all {
		switch {
		case s.Kill == nil:
		case s.Kill.Second:
			k.second[s.Kill.Defect] = *s.Kill
		default:
			k.First = append(k.First, *s.Kill)
		}
	}
	return k
}

// All tells whether every defect was found.
func (k Kills) All() bool {
	return !slices.ContainsFunc(k.First, func(x Kill) bool { return !x.Found() })
}

// Lines say how well the suite sees; none where nothing was planted. The first is the kill rate.
func (k Kills) Lines() []string {
	var found []Kill
	var missed []string
	by := map[string]int{}
	for _, x := range k.First {
		if !x.Found() {
			missed = append(missed, x.Defect)
			continue
		}
		found = append(found, x)
		for _, name := range x.Oracles {
			by[name]++
		}
	}
	if len(k.First) == 0 {
		return nil
	}
	lines := []string{fmt.Sprintf("kill rate: %d of %s found (%s %%)", len(found), count(len(k.First), "planted defect", "planted defects"),
		strconv.FormatFloat(float64(len(found)*1000/len(k.First))/10, 'f', -1, 64))}
	if len(missed) > 0 {
		lines = append(lines, "not found: "+strings.Join(missed, ", "))
	}
	if len(found) == 0 {
		return lines
	}
	slices.SortStableFunc(found, func(a, b Kill) int { return a.Seeds - b.Seeds })
	worst := found[len(found)-1]
	lines[0] += fmt.Sprintf("; seeds to detection: median %d, worst %d (%s)", found[(len(found)-1)/2].Seeds, worst.Seeds, worst.Defect)
	return append(lines, "caught by: "+tally(by))
}

// tally lists how often each of the names was counted, the most frequent first.
func tally(by map[string]int) string {
	var names []string
	for name := range by {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if by[a] != by[b] {
			return by[b] - by[a]
		}
		return strings.Compare(a, b)
	})
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, by[name])
	}
	return strings.Join(names, ", ")
}

// killRow is a defect as the page shows it.
type killRow struct {
	Kill
	Look    look
	Again   *Kill // the second witness
	Seeing  string
	Seeing2 string
}

// rows are the defects, those that were not found first.
func (k Kills) rows() []killRow {
	var rows []killRow
	for _, x := range k.First {
		row := killRow{Kill: x, Look: look{"found", "✓", "good"}, Seeing: x.seen()}
		if !x.Found() {
			row.Look = look{"not found", "✗", "bad"}
		}
		if again, ok := k.second[x.Defect]; ok {
			row.Again, row.Seeing2 = &again, again.seen()
		}
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, func(a, b killRow) int { return strings.Compare(b.Look.Sign, a.Look.Sign) })
	return rows
}

func (k Kill) seen() string {
	if !k.Found() {
		return "not within " + count(k.Within, "seed", "seeds")
	}
	return "seed " + strconv.Itoa(k.Seeds) + " of " + strconv.Itoa(k.Within)
}

// atMost is the share of all seeds that may fail, given that none of these did; nil where some did, or one seed alone was run.
func (s Summary) atMost() *float64 {
	if s.Seeds < 2 || s.Valid < s.Seeds {
		return nil
	}
	high := experiment.ShareOf(0, s.Seeds).High
	return &high
}

// AtMost is the same in words; empty where it says nothing.
func (s Summary) AtMost() string {
	if s.atMost() == nil {
		return ""
	}
	return "at most " + experiment.ShareOf(0, s.Seeds).Most() + " fail (95 %)"
}
