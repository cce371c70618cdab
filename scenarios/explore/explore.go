// Package explore runs a small scenario in every way that it can go, within bounds: with every placement of up to so many faults,
// and in every order of events up to so many reversals of what races. Nothing in it is left to chance.
//
// It is a search over runs, each made anew from the start (stateless model checking; Godefroid, "Model Checking for Programming
// Languages using VeriSoft", POPL 1997). The first run has no fault and is first come, first served, with fixed latencies. From each run there
// lead others that depart from it in one more way:
//
//   - a fault in a call that the run made: its reply is lost, its caller crashes, ...;
//   - a reversal of two accesses to the same thing on a server that race: they conflict, lie within the window, and neither
//     follows from the other (dynamic partial-order reduction; Flanagan and Godefroid, POPL 2005). Events that do not conflict are never
//     reordered: it would make no difference.
//
// A run that comes into a state that is known, with no more departures left than there were when it became known, is not followed further (clusters/sim says
// what a state is, and what it leaves out). Runs with fewer departures come first, so that the first failure found is one of the smallest.
//
// What it shows holds within its bounds: the scenario's tasks and times, the faults' kinds and number, the number of reversals (unless no run had as many
// as it might), the window, and states that count times in whole seconds.
package explore

import (
	"context"
	"errors"
	"time"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/scenarios"
)

// Bounds are how far a search goes.
type Bounds struct {
	Faults    int           // placed in one run, besides the scenario's own
	Reversals int           // of racing accesses in one run
	Kinds     []string      // of faults, see Kinds
	Window    time.Duration // that an event may be delayed by
}

// Search is what is to be explored.
type Search struct {
	Scenario *scenarios.Scenario
	Options  scenarios.Options // of each run; Plan, Order and Seen are the search's own
	Bounds   Bounds
	Workers  int // runs side by side; the result does not depend on it
	// Most, when positive, is a number of runs after which no further batch is begun.
	Most int
	// Until, when set, is the moment after which no further batch of runs is begun.
	Until time.Time
	// Each is told of the progress, between batches. May be nil.
	Each func(Progress)
	// All goes on after the first failure, to the end.
	All bool
}

// Progress is how far a search is.
type Progress struct {
	Runs, States, Waiting int // Waiting are runs that are known of and have not been made
	Departures            int // of the runs that are being made
	Failures              int
}

// Outcome is what a search came to.
type Outcome struct {
	Progress
	// Exhausted tells that everything within the bounds was run.
	Exhausted bool
	// Deepest is the most races that were reversed in one run. Below the bound when exhausted: a higher bound would make no difference.
	Deepest int
	// Cut is how many runs ended in a state that was known.
	Cut int
	// Most is what the largest run was like, in accesses; Races is how many reversals there were to try.
	Most, Races, Placements int
	// Calls are all that processes and workers made.
	Calls int
	// Violations counts the failing runs by invariant.
	Violations map[string]int
	Exercised  map[string]int
	// First is a failing run with the fewest departures; nil when there is none.
	First *Path
	// Unknown are runs without a verdict.
	Unknown int
	// Failed is the first failure of the harness.
	Failed      error
	Interrupted bool
	Wall        time.Duration
}

// Path is one run of a search: what it takes to make it again.
type Path struct {
	Plan  faults.Plan
	Order clusters.Order
	// Result is what it came to, without its history.
	Result    scenarios.Result
	TraceHash uint64
	// Number says how many runs had been made, with this one.
	Number int
	// Calls are those of all these runs.
	Calls int

	placed    int // faults of Plan that the search placed
	position  int // of the last departure, in accesses
	reversals int
}

// Violated names the invariants that the run violated.
func (p *Path) Violated() []string {
	return violated(&p.Result)
}

// departures is in how many ways the run departs from the first.
func (p *Path) departures() int { return p.placed + p.reversals }

// Run searches. Its result follows from the scenario, the dispatcher, the seed and the bounds; what a budget or an interruption
// cuts short is reported as far as it came.
func Run(ctx context.Context, s Search) Outcome {
	return (&search{Search: s, known: map[uint64]uint8{}}).run(ctx)
}

func (x *search) run(ctx context.Context) Outcome {
	began, s := time.Now(), &x.Search
	x.outcome.Violations, x.outcome.Exercised = map[string]int{}, map[string]int{}
	plan, err := s.Scenario.Plan(s.Options.Seed)
	if err != nil {
		x.outcome.Failed = err
		return x.outcome
	}
	if x.settings, err = s.Scenario.DispatcherSettings(); err != nil {
		x.outcome.Failed = err
		return x.outcome
	}
	x.levels = make([][]*Path, s.Bounds.Faults+s.Bounds.Reversals+1)
	x.levels[0] = []*Path{{Plan: plan, Order: clusters.Order{Strategy: clusters.Explore, Window: s.Bounds.Window}}}
	for level := range x.levels {
		if !x.level(ctx, level) {
			break
		}
		x.outcome.Exhausted = level == len(x.levels)-1 && (s.All || x.outcome.First == nil)
	}
	x.outcome.Interrupted = ctx.Err() != nil
	x.outcome.Wall = time.Since(began)
	return x.outcome
}

// search is a Search under way.
type search struct {
	Search
	levels [][]*Path // runs that are to be made, by departures
	// known are states, and the fewest reversals with which each was met, by state and number of faults placed.
	known    map[uint64]uint8
	settings dispatcher.Settings
	outcome  Outcome
	// learned is told of every run, and of where what was known begins. Only of tests.
	learned func(p *Path, accesses []clusters.Access, end int)
}

// batch is how many runs are made before what they found becomes known to the next: a fixed number, so that nothing depends on how
// many are made side by side.
const batch = 256

// level makes all runs of as many departures, and tells whether to go on.
func (x *search) level(ctx context.Context, level int) bool {
	for len(x.levels[level]) > 0 {
		if ctx.Err() != nil || !x.Until.IsZero() && time.Now().After(x.Until) || x.Most > 0 && x.outcome.Runs >= x.Most {
			return false
		}
		n := min(batch, len(x.levels[level]))
		paths := x.levels[level][:n]
		x.levels[level] = x.levels[level][n:]
		found := x.runAll(ctx, paths)
		for i := range found {
			if ctx.Err() != nil && found[i].result.Interrupted {
				return false
			}
			x.take(paths[i], &found[i])
		}
		x.tell(level)
		if x.outcome.Failed != nil || x.outcome.First != nil && !x.All {
			return false
		}
	}
	return true
}

func (x *search) tell(level int) {
	p := &x.outcome.Progress
	p.Departures, p.States, p.Waiting = level, len(x.known), 0
	for _, l := range x.levels {
		p.Waiting += len(l)
	}
	if x.Each != nil {
		x.Each(*p)
	}
}

// take adds what a run found, in the order of runs.
func (x *search) take(p *Path, f *finding) {
	o := &x.outcome
	o.Runs++
	o.Most = max(o.Most, len(f.accesses))
	o.Calls += len(f.calls)
	o.Deepest = max(o.Deepest, p.reversals)
	r := &f.result
	cut := errors.Is(r.Err, clusters.ErrSeen)
	switch {
	case cut:
		o.Cut++
	case r.Err != nil:
		o.Failed = r.Err
		return
	case r.Verdict != checker.Valid && r.Verdict != checker.Invalid:
		o.Unknown++
	}
	for _, inv := range r.Report.Invariants {
		o.Exercised[inv.Name] += inv.Exercised
		if inv.Verdict == checker.Invalid {
			o.Violations[inv.Name]++
		}
	}
	if r.Verdict == checker.Invalid {
		o.Failures++
		if o.First == nil {
			p.Result, p.TraceHash, p.Number, p.Calls = *r, f.hash, o.Runs, o.Calls
			o.First = p
		}
	}
	end := x.learn(p, f)
	if x.learned != nil {
		x.learned(p, f.accesses, end)
	}
	if end >= p.position {
		x.depart(p, f, end)
	}
}

// learn makes the states of a run known, and returns the index of the first that was so already: what lies behind it is another run's.
func (x *search) learn(p *Path, f *finding) int {
	for i := p.position; i < len(f.accesses); i++ {
		state := f.accesses[i].State
		if x.knows(p, state) {
			return i
		}
		x.known[key(state, p.placed)] = uint8(p.reversals)
	}
	return len(f.accesses)
}

// knows tells whether the state was met with no fewer departures left of either kind.
func (x *search) knows(p *Path, state uint64) bool {
	for placed := range p.placed + 1 {
		if reversals, ok := x.known[key(state, placed)]; ok && int(reversals) <= p.reversals {
			return true
		}
	}
	return false
}

func key(state uint64, placed int) uint64 { return state + uint64(placed)*0x9e3779b97f4a7c15 }
