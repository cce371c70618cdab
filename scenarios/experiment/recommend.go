package experiment

import (
	"cmp"
	"slices"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/dispatcher"
)

// Recommendation is which setting to take, and what it costs. Indexes are those of cells, -1 where there is none.
type Recommendation struct {
	// Winner is the cheapest setting that was valid in all runs and breaks no rule.
	Winner int
	// Like are other such settings that no difference in cost and recovery to the winner is shown of.
	Like []int
	// NoDifference tells that no difference is shown between any two that could be recommended.
	NoDifference bool
	// Sound is how many could be recommended. OnPrice tells that the winner is cheaper than some of them, and OnSpeed that it recovers
	// faster than some of those that cost no less.
	Sound            int
	OnPrice, OnSpeed bool
	// Unruly is, of those that were valid in all runs although their settings break a rule, the fastest that is shown to be cheaper or
	// faster than the winner: that nothing happened in these runs is no proof. Where nothing can be recommended it is the cheapest.
	Unruly int
	// Fastest is the unsafe setting that recovers fastest: what safety is paid against.
	Fastest int
	// CostPaid and RecoveryPaid are the winner's less those of Fastest, within blocks.
	CostPaid, RecoveryPaid *Interval
	// Least is, where nothing is safe, the setting with the fewest unsafe runs.
	Least int
}

// measureAt is where a measure stands.
func measureAt(key string) int {
	return slices.IndexFunc(measures, func(m Measure) bool { return m.Key == key })
}

// differs tells whether a paired difference is shown.
func differs(a, b series) bool {
	d, p := a.against(b)
	return d.N > 1 && !d.Holds(0) && p < alpha
}

func recommend(cells []CellResult, columns [][]series) Recommendation {
	r := Recommendation{Winner: -1, Unruly: -1, Fastest: -1, Least: -1}
	price, speed := measureAt("cost"), measureAt("recovery")
	mean := func(m int) func(a, b int) int {
		return func(a, b int) int {
			return cmp.Compare(cells[a].Estimates[m].Mean.Value, cells[b].Estimates[m].Mean.Value)
		}
	}
	var sound, unruly, unsafe []int
	for i, c := range cells {
		switch {
		case c.Verdict == checker.Valid && !slices.ContainsFunc(c.Findings, isError):
			sound = append(sound, i)
		case c.Verdict == checker.Valid:
			unruly = append(unruly, i)
		case c.Verdict == checker.Invalid:
			unsafe = append(unsafe, i)
		}
	}
	r.Sound = len(sound)
	if len(unsafe) > 0 {
		r.Fastest = slices.MinFunc(unsafe, mean(speed))
		r.Least = slices.MinFunc(unsafe, func(a, b int) int { return cmp.Compare(cells[a].Unsafe.Count, cells[b].Unsafe.Count) })
	}
	if len(sound) == 0 {
		if len(unruly) > 0 {
			r.Unruly = slices.MinFunc(unruly, mean(price))
		}
		return r
	}
	r.choose(sound, columns, price, speed, mean)
	better := slices.DeleteFunc(unruly, func(u int) bool {
		return !slices.ContainsFunc([]int{price, speed}, func(m int) bool {
			return mean(m)(u, r.Winner) < 0 && differs(columns[u][m], columns[r.Winner][m])
		})
	})
	if len(better) > 0 {
		r.Unruly = slices.MinFunc(better, mean(speed))
	}
	if r.Fastest >= 0 {
		for m, to := range map[int]**Interval{price: &r.CostPaid, speed: &r.RecoveryPaid} { // order does not matter: each has its own place
			d, _ := columns[r.Winner][m].against(columns[r.Fastest][m])
			*to = &d
		}
	}
	return r
}

func isError(f dispatcher.Finding) bool { return f.Severity == dispatcher.SeverityError }

// choose takes the cheapest; of those that no difference in cost is shown of, the fastest to recover; and of those that neither is shown
// of, the one that comes first, which is the baseline where it is among them.
func (r *Recommendation) choose(sound []int, columns [][]series, price, speed int, mean func(int) func(a, b int) int) {
	like := func(m int, of []int) []int {
		best := slices.MinFunc(of, mean(m))
		return slices.DeleteFunc(slices.Clone(of), func(i int) bool { return i != best && differs(columns[i][m], columns[best][m]) })
	}
	cheap := like(price, sound)
	best := like(speed, cheap)
	r.OnPrice, r.OnSpeed = len(cheap) < len(sound), len(best) < len(cheap)
	r.Winner, r.Like = best[0], best[1:]
	r.NoDifference = len(sound) > 1 && len(best) == len(sound)
}

// NearestUnsafe is the unsafe cell nearest to the winner: on the other side of a cliff, or in the sweep, or else the fastest; -1: none.
func (r *Result) NearestUnsafe() int {
	if r.Winner < 0 {
		return r.Fastest
	}
	w := r.Cells[r.Winner]
	x := exploration{Sweep: Sweep{Axes: r.Axes}}
	best := -1
	for i, c := range r.Cells {
		if c.Verdict != checker.Invalid || c.Point == nil || w.Point == nil {
			continue
		}
		if best < 0 || x.distance(c.Point, w.Point) < x.distance(r.Cells[best].Point, w.Point) {
			best = i
		}
	}
	if best < 0 {
		return r.Fastest
	}
	return best
}
