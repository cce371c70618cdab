package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/scenarios"
)

// Coverage is what the runs of the reference in a suite have met, and what not: a gap is something about which they show nothing.
type Coverage struct {
	*scenarios.Coverage
	Exercised map[string]int // checks by invariant
}

// jsonCoverage is its shape for programs. Gaps list everything that was not met.
type jsonCoverage struct {
	Steps     []string       `json:"steps"`
	Strikes   []jsonStrikes  `json:"strikes"`
	Pairs     []jsonPair     `json:"pairs"`
	Sometimes []jsonReached  `json:"sometimes"`
	Exercised map[string]int `json:"exercised"`
	Gaps      jsonGaps       `json:"gaps"`
}

type jsonStrikes struct {
	Fault string `json:"fault"`
	Runs  []int  `json:"runs"` // by step
}

type jsonPair struct {
	Faults [2]string `json:"faults"`
	Runs   int       `json:"runs"`
	Steps  []int     `json:"steps"` // runs by step
}

type jsonReached struct {
	Name string `json:"name"`
	Does string `json:"does"`
	Runs int    `json:"runs"`
}

type jsonGaps struct {
	Faults     []string    `json:"faults"` // never struck
	Steps      []string    `json:"steps"`  // "fault in step": never, though the fault did strike
	Pairs      [][2]string `json:"pairs"`  // never at the same time
	Invariants []string    `json:"invariants"`
	Sometimes  []string    `json:"sometimes"`
}

// json lists everything in a fixed order.
func (c *Coverage) json() *jsonCoverage {
	if c == nil {
		return nil
	}
	j := &jsonCoverage{Steps: scenarios.Steps, Strikes: []jsonStrikes{}, Pairs: []jsonPair{}, Exercised: map[string]int{}, Gaps: jsonGaps{Faults: []string{}, Steps: []string{},
		Pairs: [][2]string{}, Invariants: []string{}, Sometimes: []string{}}}
	names := scenarios.FaultNames()
	slices.Sort(names)
	for i, name := range names {
		j.strikes(c, name)
		for _, other := range names[i:] {
			if t := c.Pairs[scenarios.Pair{A: name, B: other}]; t.Runs > 0 {
				j.Pairs = append(j.Pairs, jsonPair{[2]string{name, other}, t.Runs, t.Steps})
			} else if name != other {
				j.Gaps.Pairs = append(j.Gaps.Pairs, [2]string{name, other})
			}
		}
	}
	for _, a := range scenarios.Sometimes() {
		n := c.Reached[a.Name]
		j.Sometimes = append(j.Sometimes, jsonReached{a.Name, a.Does, n})
		if n == 0 {
			j.Gaps.Sometimes = append(j.Gaps.Sometimes, a.Name)
		}
	}
	for _, name := range checker.Names() {
		if j.Exercised[name] = c.Exercised[name]; c.Exercised[name] == 0 {
			j.Gaps.Invariants = append(j.Gaps.Invariants, name)
		}
	}
	return j
}

func (j *jsonCoverage) strikes(c *Coverage, name string) {
	runs := c.Strikes[name]
	if runs == nil {
		j.Gaps.Faults = append(j.Gaps.Faults, name)
		return
	}
	j.Strikes = append(j.Strikes, jsonStrikes{name, runs})
	for s, n := range runs {
		if n == 0 {
			j.Gaps.Steps = append(j.Gaps.Steps, name+" in "+scenarios.Steps[s])
		}
	}
}

// lines says it in a few words: what was met of how much, and what was not.
func (c *Coverage) lines() []string {
	j := c.json()
	all := len(scenarios.FaultNames())
	steps := len(j.Strikes)*len(scenarios.Steps) - len(j.Gaps.Steps)
	different := all * (all - 1) / 2
	lines := []string{fmt.Sprintf("coverage: %d of %d faults struck, in %d of %d steps of the protocol; %d of %d pairs of them at the same time, in %d of %d steps; %d of %d invariants put to the test",
		len(j.Strikes), all, steps, all*len(scenarios.Steps), different-len(j.Gaps.Pairs), different, j.pairedSteps(), different*len(scenarios.Steps),
		len(j.Exercised)-len(j.Gaps.Invariants), len(j.Exercised))}
	for _, gap := range []struct {
		what string
		of   []string
	}{{"never struck", j.Gaps.Faults}, {"never struck in a step", j.Gaps.Steps}, {"never put to the test", j.Gaps.Invariants}} {
		if len(gap.of) > 0 {
			lines = append(lines, "  "+gap.what+": "+firstFew(gap.of))
		}
	}
	met := len(j.Sometimes) - len(j.Gaps.Sometimes)
	line := fmt.Sprintf("sometimes: %d of %d reached", met, len(j.Sometimes))
	if len(j.Gaps.Sometimes) > 0 {
		line += "; never: " + strings.Join(j.Gaps.Sometimes, ", ")
	}
	return append(lines, line)
}

// pairedSteps counts the steps in which each pair of different faults was there, over all pairs.
func (j *jsonCoverage) pairedSteps() (n int) {
	for _, p := range j.Pairs {
		for _, runs := range p.Steps {
			if runs > 0 && p.Faults[0] != p.Faults[1] {
				n++
			}
		}
	}
	return n
}

// NeverReached names what must happen sometimes, and did not; none when nobody looked.
func (c *Coverage) NeverReached() []string {
	if c == nil {
		return nil
	}
	return c.json().Gaps.Sometimes
}

// firstFew are the first few, and how many more there are.
func firstFew(of []string) string {
	const most = 8
	text := strings.Join(of[:min(len(of), most)], ", ")
	if more := len(of) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// coverageSection is it on the page.
type coverageSection struct {
	Lines  []string
	Steps  []string
	Rows   []coverageRow
	Reach  []jsonReached
	Missed []string
	Pairs  []string
	// Together are the pairs that were there at the same time.
	Together []coverageRow
}

type coverageRow struct {
	Fault string
	Cells []int
	Never bool
}

func (x Suite) coverage() *coverageSection {
	if x.Coverage == nil {
		return nil
	}
	j := x.Coverage.json()
	s := &coverageSection{Lines: x.Coverage.lines(), Steps: j.Steps, Reach: j.Sometimes, Missed: j.Gaps.Sometimes}
	for _, r := range j.Strikes {
		s.Rows = append(s.Rows, coverageRow{Fault: r.Fault, Cells: r.Runs})
	}
	for _, name := range j.Gaps.Faults {
		s.Rows = append(s.Rows, coverageRow{Fault: name, Cells: make([]int, len(j.Steps)), Never: true})
	}
	for _, p := range j.Pairs {
		s.Together = append(s.Together, coverageRow{Fault: p.Faults[0] + " with " + p.Faults[1], Cells: p.Steps})
	}
	for _, p := range j.Gaps.Pairs {
		s.Pairs = append(s.Pairs, p[0]+" with "+p[1])
	}
	return s
}
