package experiment

import (
	"cmp"
	"slices"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/scenarios"
)

// Line is what a sweep shows of one setting, all others being held.
type Line struct {
	Axis  int
	Held  []int64 // the point that the line goes through
	Cells []int   // along the line, in order of the setting
	// Cliffs are where the verdict flips, each located to one tick.
	Cliffs []Cliff
	// Rules are where the settings' rules begin to hold or to be broken.
	Rules []Rule
	// From, To are the cells at both ends.
	From, To int
}

// Cliff is where the verdict flips: two cells one tick apart.
type Cliff struct {
	Unsafe, Safe int // cells
	// Rules are what was derived, beside what was seen: those that are enough, the nearest first; or, if none is, the nearest that flips
	// in the same direction. Empty: no rule says anything of it.
	Rules []Rule
	// Enough tells that they are.
	Enough bool
	// B is the bound at the safe side, with one task lost, and Worst the longest recovery seen there.
	B, Worst time.Duration
}

// Rule is where along a line one of the rules of settings begins to hold.
type Rule struct {
	Broken, Holds int64 // values one tick apart
	Finding       dispatcher.Finding
}

// mostCliffs is how many flips along one line are located: a verdict that flips more often does not depend on the setting alone.
const mostCliffs = 3

// lines follows every axis through a point, and locates the flips.
func (x *exploration) lines(through []int64, s *scenarios.Scenario) ([]Line, error) {
	var all []Line
	for i, a := range x.Axes {
		l := Line{Axis: i, Held: through, Rules: x.rules(i, through, s)}
		ends, err := x.at(moved(through, i, a.From), moved(through, i, a.last()), through)
		if err != nil {
			return nil, err
		}
		l.From, l.To = ends[0], ends[1]
		on := x.on(i, through)
		var flips [][2]int
		for k := 1; k < len(on); k++ {
			if x.unsafe(on[k-1]) != x.unsafe(on[k]) && len(flips) < mostCliffs {
				flips = append(flips, [2]int{on[k-1], on[k]})
			}
		}
		for _, f := range flips {
			c, err := x.locate(i, f[0], f[1])
			if err != nil {
				return nil, err
			}
			l.Cliffs = append(l.Cliffs, x.compared(c, i, l.Rules, s))
		}
		l.Cells = x.on(i, through)
		all = append(all, l)
	}
	return all, nil
}

// moved is the point with another value of one axis.
func moved(p []int64, axis int, v int64) []int64 {
	q := slices.Clone(p)
	q[axis] = v
	return q
}

// on lists the cells on a line, in order.
func (x *exploration) on(axis int, through []int64) []int {
	var on []int
	for i, c := range x.cells {
		if c.Point != nil && slices.Equal(moved(c.Point, axis, 0), moved(through, axis, 0)) {
			on = append(on, i)
		}
	}
	slices.SortFunc(on, func(i, j int) int { return cmp.Compare(x.cells[i].Point[axis], x.cells[j].Point[axis]) })
	return on
}

// locate halves the way between two cells of different verdicts until they are a tick apart.
func (x *exploration) locate(axis, low, high int) (Cliff, error) {
	tick := x.Axes[axis].Tick()
	for {
		from, to := x.cells[low].Point[axis], x.cells[high].Point[axis]
		if to-from <= tick {
			break
		}
		half := from + (to-from)/2/tick*tick
		if half == from {
			half += tick
		}
		at, err := x.at(moved(x.cells[low].Point, axis, half))
		if err != nil {
			return Cliff{}, err
		}
		if x.unsafe(at[0]) == x.unsafe(low) {
			low = at[0]
		} else {
			high = at[0]
		}
	}
	if x.unsafe(low) {
		return Cliff{Unsafe: low, Safe: high}, nil
	}
	return Cliff{Unsafe: high, Safe: low}, nil
}

// compared sets a cliff beside the rule that derives it, and beside B.
func (x *exploration) compared(c Cliff, axis int, rules []Rule, s *scenarios.Scenario) Cliff {
	safe := x.cells[c.Safe].Point[axis]
	rising := safe > x.cells[c.Unsafe].Point[axis]
	var short []Rule
	for _, r := range rules {
		switch {
		case r.Holds > r.Broken != rising:
		case r.Holds >= safe == rising || r.Holds == safe:
			c.Rules = append(c.Rules, r)
		default:
			short = append(short, r)
		}
	}
	c.Enough = len(c.Rules) > 0
	byDistance := func(a, b Rule) int { return cmp.Compare(apart(a.Holds, safe), apart(b.Holds, safe)) }
	slices.SortStableFunc(c.Rules, byDistance)
	if len(c.Rules) == 0 && len(short) > 0 {
		c.Rules = []Rule{slices.MinFunc(short, byDistance)}
	}
	if settings, _, err := x.cells[c.Safe].Check(s); err == nil {
		c.B = settings.Bound(0, 1)
	}
	for _, o := range x.seen[c.Safe] {
		for _, r := range o.Recoveries {
			c.Worst = max(c.Worst, r)
		}
	}
	return c
}

func apart(a, b int64) int64 { return max(a-b, b-a) }

// rules finds where along a line each rule flips, tick by tick.
func (x *exploration) rules(axis int, through []int64, s *scenarios.Scenario) []Rule {
	a := x.Axes[axis]
	if a.kind == share {
		return nil // no rule is about machines
	}
	step := a.Tick()
	if (a.To-a.From)/step > mostSteps {
		step = a.Step
	}
	var all []Rule
	before := x.broken(moved(through, axis, a.From), s)
	for v := a.From + step; v <= a.To; v += step {
		now := x.broken(moved(through, axis, v), s)
		for _, f := range before {
			if !breaks(now, f.Rule) {
				all = append(all, Rule{Broken: v - step, Holds: v, Finding: f})
			}
		}
		for _, f := range now {
			if !breaks(before, f.Rule) {
				all = append(all, Rule{Broken: v, Holds: v - step, Finding: f})
			}
		}
		before = now
	}
	return all
}

func breaks(found []dispatcher.Finding, rule string) bool {
	return slices.ContainsFunc(found, func(f dispatcher.Finding) bool { return f.Rule == rule })
}

// broken are the rules that a point breaks.
func (x *exploration) broken(p []int64, s *scenarios.Scenario) []dispatcher.Finding {
	_, found, err := x.cell(p).Check(s)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(found, func(f dispatcher.Finding) bool { return !isError(f) })
}
