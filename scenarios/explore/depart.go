package explore

import (
	"slices"
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/faults"
)

// depart adds the runs that depart from one in one more way, behind its last departure and before the access at end.
func (x *search) depart(p *Path, f *finding, end int) {
	level := p.departures() + 1
	if p.reversals < x.Bounds.Reversals {
		for _, r := range races(f.accesses, p.position, end, x.Bounds.Window) {
			x.outcome.Races++
			next := *p
			next.reversals, next.position = p.reversals+1, r.first
			a, b := &f.accesses[r.first], &f.accesses[r.second]
			next.Order.Delays = append(slices.Clone(p.Order.Delays), clusters.Delay{Event: a.Step, Past: b.Step})
			x.levels[level] = append(x.levels[level], &next)
		}
	}
	if p.placed == x.Bounds.Faults {
		return
	}
	for i := range f.calls {
		c := &f.calls[i]
		if c.Position < p.position || c.Position > end {
			continue
		}
		for _, fault := range placements(c, x.Bounds.Kinds, &x.settings) {
			x.outcome.Placements++
			next := *p
			next.placed, next.position = p.placed+1, c.Position
			next.Plan = append(slices.Clone(p.Plan), fault)
			slices.SortStableFunc(next.Plan, func(a, b faults.Fault) int { return int(a.At - b.At) })
			x.levels[level] = append(x.levels[level], &next)
		}
	}
}

// race is a pair of accesses, by their indexes, whose order could be the other.
type race struct{ first, second int }

// races finds the accesses from position up to end that a later one could have come before: they conflict, the first can wait for the
// second, and nothing in between makes the second follow from the first.
func races(all []clusters.Access, position, end int, window time.Duration) []race {
	var found []race
	for i := position; i < end; i++ {
		first := &all[i]
		after := []int{i} // what follows from the first
		for j := i + 1; j < len(all) && all[j].At <= first.Due+window; j++ {
			follows, conflicts := false, first.Conflict(&all[j])
			for _, k := range after {
				if all[k].Owner == all[j].Owner || all[j].Cause == k || k != i && all[k].Conflict(&all[j]) {
					follows = true
					break
				}
			}
			if conflicts && !follows {
				found = append(found, race{i, j})
			}
			if conflicts || follows {
				after = append(after, j)
			}
		}
	}
	return found
}
