package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/scenarios"
)

// Workload is a scenario whose tasks, machines and faults all cells meet.
type Workload struct {
	Scenario *scenarios.Scenario
	Text     []byte // its file
}

// Experiment is what cells are compared in.
type Experiment struct {
	Workloads []Workload
	System    dispatcher.System
	World     scenarios.World
	// From is the first seed, and Count how many there are, of each workload.
	From  uint64
	Count int
	// Build says which program runs it: results of another one are not taken for its own.
	Build   string
	Workers int
	// Store keeps results from run to run; nil: nothing is kept.
	Store *Store
	// drawn keeps what a block's seed decides, so that it is drawn once and not once per cell.
	drawn *draws
	// Step is called after so many runs, bad of them invalid, from any goroutine; kept tells that they were in the store. May be nil.
	Step func(n, bad int, kept bool)
}

// Blocks is how many runs a cell has.
func (e *Experiment) Blocks() int { return len(e.Workloads) * e.Count }

// Block is the workload and the seed of one run of a cell.
func (e *Experiment) Block(i int) (workload int, seed uint64) {
	return i / e.Count, e.From + uint64(i%e.Count)
}

// batch is how many seeds are run and kept together: a fraction of a second's work, which is all that an interruption costs.
const batch = 50

// unit is the smallest piece of work: a batch of seeds of one workload for one cell.
type unit struct {
	cell, workload int
	from           uint64
	count          int
}

// units lists all work for that many cells, in an order that depends on nothing else.
func (e *Experiment) units(cells int) []unit {
	var all []unit
	for c := range cells {
		for w := range e.Workloads {
			for done := 0; done < e.Count; done += batch {
				all = append(all, unit{c, w, e.From + uint64(done), min(batch, e.Count-done)})
			}
		}
	}
	return all
}

// Run returns the observations of every cell, one per block. What the store has is taken from there, and the rest put there. Once the
// context ends, what is under way is dropped; what was kept is found again by the next Run.
func (e *Experiment) Run(ctx context.Context, cells []Cell) ([][]Observation, error) {
	all := make([][]Observation, len(cells))
	for i := range all {
		all[i] = make([]Observation, e.Blocks())
	}
	missing, err := e.recall(cells, all)
	if err != nil {
		return nil, err
	}
	err = e.work(ctx, cells, missing, func(u unit, got []Observation) {
		copy(all[u.cell][u.workload*e.Count+int(u.from-e.From):], got)
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// RunShard runs one of the shards that the work is split into, and leaves its results in the store.
func (e *Experiment) RunShard(ctx context.Context, cells []Cell, shard, shards int) error {
	all := make([][]Observation, len(cells))
	for i := range all {
		all[i] = make([]Observation, e.Blocks())
	}
	missing, err := e.recall(cells, all)
	if err != nil {
		return err
	}
	mine := missing[:0:0]
	for _, u := range missing {
		if e.shardOf(u)%shards == shard {
			mine = append(mine, u)
		}
	}
	return e.work(ctx, cells, mine, func(unit, []Observation) {})
}

// Debt is how many runs a shard has, and how many of them the store lacks.
type Debt struct{ Owed, Of int }

// OwedByShard tells of every shard what the store lacks of it.
func (e *Experiment) OwedByShard(cells []Cell, shards int) ([]Debt, error) {
	quiet := *e
	quiet.Step = nil
	all := make([][]Observation, len(cells))
	for i := range all {
		all[i] = make([]Observation, e.Blocks())
	}
	missing, err := quiet.recall(cells, all)
	if err != nil {
		return nil, err
	}
	debts := make([]Debt, shards)
	for _, u := range missing {
		debts[e.shardOf(u)%shards].Owed += u.count
	}
	for _, u := range e.units(len(cells)) {
		debts[e.shardOf(u)%shards].Of += u.count
	}
	return debts, nil
}

// Owed is what the store lacks of one shard, and of how many runs.
func (e *Experiment) Owed(cells []Cell, shard, shards int) (owed, of int, err error) {
	debts, err := e.OwedByShard(cells, shards)
	if err != nil {
		return 0, 0, err
	}
	return debts[shard].Owed, debts[shard].Of, nil
}

// shardOf deals units out like cards: neighbours, which take about as long, go to different shards.
func (e *Experiment) shardOf(u unit) int {
	batches := (e.Count + batch - 1) / batch
	return (u.cell*len(e.Workloads)+u.workload)*batches + int(u.from-e.From)/batch
}

// recall fills in what the store has and returns what it has not.
func (e *Experiment) recall(cells []Cell, into [][]Observation) ([]unit, error) {
	units := e.units(len(cells))
	if e.Store == nil {
		return units, nil
	}
	var missing []unit
	for c, cell := range cells {
		for w := range e.Workloads {
			known, err := e.Store.load(e.key(cell, w))
			if err != nil {
				return nil, err
			}
			for _, u := range units[c*e.perCell() : (c+1)*e.perCell()] {
				if u.workload != w {
					continue
				}
				if !e.take(u, known, into[c]) {
					missing = append(missing, u)
				}
			}
		}
	}
	return missing, nil
}

// perCell is how many units a cell has.
func (e *Experiment) perCell() int { return len(e.Workloads) * ((e.Count + batch - 1) / batch) }

// take copies a unit's results, if all of them are known.
func (e *Experiment) take(u unit, known map[uint64]Observation, into []Observation) bool {
	bad := 0
	for i := range u.count {
		o, ok := known[u.from+uint64(i)]
		if !ok {
			return false
		}
		if o.Verdict == checker.Invalid {
			bad++
		}
		into[u.workload*e.Count+int(u.from-e.From)+i] = o
	}
	if e.Step != nil {
		e.Step(u.count, bad, true)
	}
	return true
}

// work runs units side by side, those of the same seeds one after another: what a seed decides is then drawn once for all cells. The
// results of each are handed over under a lock.
func (e *Experiment) work(ctx context.Context, cells []Cell, units []unit, done func(unit, []Observation)) error {
	if e.drawn == nil {
		e.drawn = &draws{all: map[block]draw{}}
	}
	units = slices.Clone(units)
	slices.SortStableFunc(units, func(a, b unit) int {
		return cmp.Or(cmp.Compare(a.workload, b.workload), cmp.Compare(a.from, b.from), cmp.Compare(a.cell, b.cell))
	})
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	next := make(chan unit)
	var mu sync.Mutex
	var failed error
	var workers sync.WaitGroup
	for range max(min(e.Workers, len(units)), 1) {
		workers.Go(func() {
			for u := range next {
				got, err := e.runUnit(ctx, cells[u.cell], u)
				mu.Lock()
				if err == nil {
					done(u, got)
				} else if failed == nil || errors.Is(failed, context.Canceled) {
					failed = err
					cancel()
				}
				mu.Unlock()
			}
		})
	}
	for _, u := range units {
		select {
		case next <- u:
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
	}
	close(next)
	workers.Wait()
	if failed == nil {
		return ctx.Err()
	}
	return failed
}

// runUnit runs a batch of seeds and keeps the results.
func (e *Experiment) runUnit(ctx context.Context, cell Cell, u unit) ([]Observation, error) {
	base := e.Workloads[u.workload].Scenario
	s := cell.Scenario(base)
	got := make([]Observation, 0, u.count)
	for i := range u.count {
		d, err := e.draw(u.workload, u.from+uint64(i))
		if err != nil {
			return nil, err
		}
		r := scenarios.Run(ctx, s, scenarios.Options{System: e.System, Seed: u.from + uint64(i), World: e.World,
			Plan: cell.plan(slices.Clone(d.plan), base.Nodes), Demand: d.demand})
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case r.Err != nil:
			return nil, fmt.Errorf("settings %s: %w", cell.Name, r.Err)
		}
		o := observe(r, d.overruns)
		r.Forget()
		got = append(got, o)
		if e.Step != nil {
			bad := 0
			if o.Verdict == checker.Invalid {
				bad = 1
			}
			e.Step(1, bad, false)
		}
	}
	if e.Store == nil {
		return got, nil
	}
	return got, e.Store.save(e.key(cell, u.workload), got)
}

// draws is what blocks have in common, by workload and seed.
type draws struct {
	mu  sync.Mutex
	all map[block]draw
}

// block names one.
type block struct {
	scenario *scenarios.Scenario
	seed     uint64
}

// draw is what a seed decides of a workload: nobody may change it.
type draw struct {
	plan     faults.Plan
	demand   *scenarios.Demand
	overruns map[string]bool
}

// mostDraws is how many are kept: all cells meet a block one after another, so that the latest are enough.
const mostDraws = 2000

// draw returns what the seed decides of a workload.
func (e *Experiment) draw(workload int, seed uint64) (draw, error) {
	s := e.Workloads[workload].Scenario
	at := block{s, seed}
	if e.drawn != nil {
		e.drawn.mu.Lock()
		d, ok := e.drawn.all[at]
		e.drawn.mu.Unlock()
		if ok {
			return d, nil
		}
	}
	plan, err := s.Plan(seed)
	if err != nil {
		return draw{}, err
	}
	if plan == nil {
		plan = faults.Plan{} // a run without faults, not one that draws its own
	}
	demand := s.Demand(seed)
	d := draw{plan, demand, overruns(s, demand)}
	if e.drawn != nil {
		e.drawn.mu.Lock()
		if len(e.drawn.all) >= mostDraws {
			clear(e.drawn.all)
		}
		e.drawn.all[at] = d
		e.drawn.mu.Unlock()
	}
	return d, nil
}

// Plan is the faults of a block as the cell meets them. They are drawn for the scenario's own settings: were they drawn for the cell's,
// no two cells would meet the same.
func (e *Experiment) Plan(cell Cell, workload int, seed uint64) (faults.Plan, error) {
	d, err := e.draw(workload, seed)
	if err != nil {
		return nil, err
	}
	return cell.plan(slices.Clone(d.plan), e.Workloads[workload].Scenario.Nodes), nil
}
