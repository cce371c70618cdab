package experiment

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/scenarios"
)

// Result is a comparison that is over.
type Result struct {
	Workloads []string // names of the scenarios
	From      uint64
	Count     int
	System    string
	Build     string
	Prices    Prices
	Baseline  int
	Cells     []CellResult
	Axes      []Axis
	Lines     []Line // one per axis
	Sampled   bool   // the grid was too large, and a part of it was run
	Recommendation

	horizons []time.Duration // of the workloads
}

// CellResult is what became of one cell.
type CellResult struct {
	Cell
	Chain      dispatcher.Settings  // under the first workload
	Findings   []dispatcher.Finding // what its settings break
	Seen       []Observation
	Verdict    checker.Verdict
	Unsafe     Share // runs with a violation that counts
	Unknown    int
	Violations []Violation
	Estimates  []Estimate  // one per measure
	Percentile [3]Interval // of all recoveries together: p50, p95, p99
	Recoveries int
	Worst      time.Duration
	B          time.Duration // the bound with one task lost
	Gained     []int         // blocks that are unsafe here and not under the baseline
	Healed     []int         // the reverse
	P          float64       // McNemar's exact test of the two, corrected for there being several cells
	Smallest   int           // the block of the smallest counterexample, -1: none
}

// Violation is an invariant and in how many runs it was violated.
type Violation struct {
	Invariant string `json:"invariant"`
	Runs      int    `json:"runs"`
}

// Percentiles are which percentiles of recoveries CellResult has.
var Percentiles = [3]float64{0.50, 0.95, 0.99}

// Broken are the rules that the cell's settings break.
func (c CellResult) Broken() []dispatcher.Finding {
	return slices.DeleteFunc(slices.Clone(c.Findings), func(f dispatcher.Finding) bool { return f.Severity != dispatcher.SeverityError })
}

// Compare runs all cells, refines the sweep if there is one, and sums up. The baseline is one of the cells given.
func Compare(ctx context.Context, e *Experiment, cells []Cell, baseline int, prices Prices, sweep *Sweep, more func(runs int)) (*Result, error) {
	r := begun(e, baseline, prices)
	run := func(some []Cell) ([][]Observation, error) {
		more(len(some) * e.Blocks())
		return e.Run(ctx, some)
	}
	if sweep != nil {
		cells = sweep.Cells(cells, e)
	}
	seen, err := run(cells)
	if err != nil {
		return nil, err
	}
	base := e.Workloads[0].Scenario
	if sweep != nil {
		x := &exploration{Sweep: *sweep, run: run, cells: cells, seen: seen}
		if err := x.refine(); err != nil {
			return nil, err
		}
		r.Axes, r.Sampled = sweep.Axes, len(sweep.points()) < gridSize(sweep.Axes)
		r.sum(e, x.cells, x.seen)
		if r.Lines, err = x.lines(r.through(x, base), base); err != nil {
			return nil, err
		}
		cells, seen = x.cells, x.seen
	}
	r.sum(e, cells, seen)
	return r, nil
}

// begun is a result without anything in it.
func begun(e *Experiment, baseline int, prices Prices) *Result {
	r := &Result{From: e.From, Count: e.Count, System: e.System.Name, Build: e.Build, Prices: prices, Baseline: baseline}
	for _, w := range e.Workloads {
		r.Workloads, r.horizons = append(r.Workloads, w.Scenario.Name), append(r.horizons, w.Scenario.Horizon)
	}
	return r
}

func gridSize(axes []Axis) int {
	n := 1
	for _, a := range axes {
		n *= a.steps()
	}
	return n
}

// through is the point that lines are drawn through: the recommended one, or the base's.
func (r *Result) through(x *exploration, s *scenarios.Scenario) []int64 {
	if r.Winner >= 0 && x.cells[r.Winner].Point != nil {
		return x.cells[r.Winner].Point
	}
	p := make([]int64, len(x.Axes))
	for i, a := range x.Axes {
		p[i] = a.snap(a.of(x.Base, s), a.Tick())
	}
	return p
}

// sum computes everything from the observations.
func (r *Result) sum(e *Experiment, cells []Cell, seen [][]Observation) {
	r.Cells = make([]CellResult, len(cells))
	s := scaleOf(e, r.Prices)
	columns := make([][]series, len(cells)) // by cell, by measure
	for i, c := range cells {
		r.Cells[i] = r.cell(e, c, seen[i])
		for _, m := range measures {
			columns[i] = append(columns[i], m.series(seen[i], s))
			r.Cells[i].Estimates = append(r.Cells[i].Estimates, columns[i][len(columns[i])-1].estimate(m.Counts))
		}
	}
	r.compareAll(columns)
	r.Recommendation = recommend(r.Cells, columns)
}

func scaleOf(e *Experiment, prices Prices) *scale {
	s := &scale{prices: prices, seeds: e.Count}
	for _, w := range e.Workloads {
		s.horizon = append(s.horizon, w.Scenario.Horizon)
	}
	return s
}

func (r *Result) cell(e *Experiment, c Cell, seen []Observation) CellResult {
	out := CellResult{Cell: c, Seen: seen, Smallest: smallest(seen)}
	settings, found, err := c.Check(e.Workloads[0].Scenario)
	if err == nil {
		out.Chain, out.Findings, out.B = settings, found, settings.Bound(0, 1)
	}
	v, invalid, unknown := verdictOf(seen)
	out.Verdict, out.Unknown, out.Unsafe = v, unknown, shareOf(invalid, len(seen))
	runs := map[string]int{}
	recoveries := make([][]time.Duration, len(seen))
	for i := range seen {
		for _, name := range seen[i].Violated {
			runs[name]++
		}
		recoveries[i] = seen[i].Recoveries
		out.Recoveries += len(seen[i].Recoveries)
		for _, d := range seen[i].Recoveries {
			out.Worst = max(out.Worst, d)
		}
	}
	for _, name := range checker.Names() {
		if runs[name] > 0 {
			out.Violations = append(out.Violations, Violation{name, runs[name]})
		}
	}
	copy(out.Percentile[:], percentiles(recoveries, Percentiles[:]))
	return out
}

// smallest is the block with the smallest counterexample: the fewest faults, then the shortest history.
func smallest(seen []Observation) int {
	best := -1
	for i := range seen {
		if seen[i].Verdict != checker.Invalid {
			continue
		}
		if best < 0 || cmp.Or(cmp.Compare(seen[i].Struck, seen[best].Struck), cmp.Compare(seen[i].Events, seen[best].Events)) < 0 {
			best = i
		}
	}
	return best
}

// compareAll compares every cell with the baseline, within blocks.
func (r *Result) compareAll(columns [][]series) {
	base := r.Baseline
	others := make([]int, 0, len(r.Cells))
	for i := range r.Cells {
		if i != base {
			others = append(others, i)
		}
	}
	for m := range measures {
		p := make([]float64, len(others))
		for k, i := range others {
			difference, chance := columns[i][m].against(columns[base][m])
			r.Cells[i].Estimates[m].Difference, p[k] = &difference, chance
		}
		for k, corrected := range holm(p) {
			r.Cells[others[k]].Estimates[m].P = &corrected
		}
	}
	p := make([]float64, len(others))
	for k, i := range others {
		c := &r.Cells[i]
		for b := range c.Seen {
			here, there := c.Seen[b].Verdict == checker.Invalid, r.Cells[base].Seen[b].Verdict == checker.Invalid
			switch {
			case here && !there:
				c.Gained = append(c.Gained, b)
			case there && !here:
				c.Healed = append(c.Healed, b)
			}
		}
		p[k] = signTest(len(c.Gained), len(c.Healed))
	}
	for k, corrected := range holm(p) {
		r.Cells[others[k]].P = corrected
	}
}

// Paired is the difference of a measure between any two cells, within blocks.
func Paired(a, b CellResult, measure int, r *Result) Interval {
	s := &scale{prices: r.Prices, seeds: r.Count, horizon: r.horizons}
	d, _ := measures[measure].series(a.Seen, s).against(measures[measure].series(b.Seen, s))
	return d
}

// Sum is the result of observations that are there already, without a sweep.
func Sum(e *Experiment, cells []Cell, seen [][]Observation, baseline int, prices Prices) *Result {
	r := begun(e, baseline, prices)
	r.sum(e, cells, seen)
	return r
}
