package causes

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/scenarios"
)

// outcome is what one run came to.
type outcome struct {
	ran      bool // false: interrupted, or nothing can be run so
	violated bool
	then     string
	trace    uint64 // its hash
}

// search is one explanation in the making.
type search struct {
	ctx      context.Context
	options  Options
	scenario *scenarios.Scenario
	seed     uint64
	plan     faults.Plan
	others   Share  // at the present values
	forks    []int  // the other interleavings, those first that violate the invariant at the present values
	trace    uint64 // hash of the run that is explained
	runs     atomic.Int64
}

// failing makes sure that there is something to explain. It returns the last sequence number that the failure can be later than.
func (x *search) failing() (history.Seq, error) {
	r := scenarios.Run(x.ctx, x.scenario, scenarios.Options{System: x.options.System, Seed: x.seed, World: x.options.World, Plan: x.plan})
	defer r.Forget()
	if r.Err != nil {
		return 0, r.Err
	}
	if x.ctx.Err() != nil {
		return 0, x.ctx.Err()
	}
	if !violates(r, x.options.Invariant) {
		return 0, fmt.Errorf("the run does not violate %s any more: verdict %s", x.options.Invariant, r.Verdict)
	}
	x.trace = r.History.Meta.TraceHash
	if n := len(r.History.Events); n > 0 {
		return r.History.Events[n-1].Seq, nil // the end
	}
	return 1, nil
}

func violates(r scenarios.Result, invariant string) bool {
	return slices.ContainsFunc(r.Fatal(), func(v checker.Violation) bool { return v.Invariant == invariant })
}

// run runs the scenario once with one thing changed.
func (x *search) run(s *scenarios.Scenario, plan faults.Plan, fork clusters.Fork) outcome {
	return x.runAs(x.options.System, s, plan, fork)
}

func (x *search) runAs(system dispatcher.System, s *scenarios.Scenario, plan faults.Plan, fork clusters.Fork) outcome {
	if x.ctx.Err() != nil {
		return outcome{}
	}
	if plan == nil {
		plan = faults.Plan{} // none at all, not those of the seed
	}
	r := scenarios.Run(x.ctx, s, scenarios.Options{System: system, Seed: x.seed, World: x.options.World, Plan: plan, Fork: fork})
	defer r.Forget()
	x.runs.Add(1)
	if x.options.Ran != nil {
		x.options.Ran()
	}
	if r.Err != nil || r.Interrupted {
		return outcome{}
	}
	o := outcome{ran: true, violated: violates(r, x.options.Invariant), then: r.Verdict.String(), trace: r.History.Meta.TraceHash}
	if fatal := r.Fatal(); len(fatal) > 0 {
		o.then = fatal[0].Invariant
	}
	return o
}

func (x *search) valid(system dispatcher.System) bool {
	o := x.runAs(system, x.scenario, x.plan, clusters.Fork{})
	return o.ran && o.then == checker.Valid.String()
}

// alternatives is how many other interleavings are looked at.
const alternatives = 12

// screened is how many of them a value has to hold in before it is worth looking at all.
const screened = 3

// lookAround sees how the run fares in other interleavings. Those that fail are the first that a change is held to later: one that makes no
// difference to them shows it there.
func (x *search) lookAround() {
	found := make([]outcome, alternatives)
	x.eachSideBySide("other interleavings", alternatives, func(i int) { found[i] = x.run(x.scenario, x.plan, fork(1, i)) })
	for _, failing := range []bool{true, false} {
		for i, o := range found {
			if o.violated == failing {
				x.forks = append(x.forks, i)
			}
			if o.ran && failing {
				x.others.Of++
			}
			if o.violated && failing {
				x.others.Violated++
			}
		}
	}
}

// fork is the i-th other continuation from a record on.
func fork(at history.Seq, i int) clusters.Fork { return clusters.Fork{At: at, Seed: uint64(i) + 1} }

// averts tells whether a change keeps the invariant, in this interleaving and in all the others that are looked at.
func (x *search) averts(s *scenarios.Scenario, plan faults.Plan) (here, everywhere bool, o outcome) {
	return x.avertsIn(alternatives, s, plan)
}

// avertsIn is averts in the first so many of the others. Where none of those fails without the change either there is nothing to compare with,
// and this interleaving has to do.
func (x *search) avertsIn(others int, s *scenarios.Scenario, plan faults.Plan) (here, everywhere bool, o outcome) {
	if o = x.run(s, plan, clusters.Fork{}); !o.ran || o.violated {
		return false, false, o
	}
	if x.others.Violated == 0 {
		return true, true, o
	}
	for _, i := range x.forks[:others] {
		if one := x.run(s, plan, fork(1, i)); !one.ran || one.violated {
			return true, false, o
		}
	}
	return true, true, o
}

func (x *search) stage(what string, done, of int) {
	if x.options.Stage != nil {
		x.options.Stage(what, done, of)
	}
}

// eachSideBySide does n things on all workers, and tells how far that is.
func (x *search) eachSideBySide(what string, n int, do func(i int)) {
	var done atomic.Int64
	x.stage(what, 0, n)
	x.sideBySide(n, func(i int) {
		do(i)
		x.stage(what, int(done.Add(1)), n)
	})
}

// sideBySide does n things on all workers.
func (x *search) sideBySide(n int, do func(i int)) {
	var next atomic.Int64
	done := make(chan struct{})
	workers := min(max(x.options.Workers, 1), n)
	for range workers {
		go func() {
			defer func() { done <- struct{}{} }()
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		}()
	}
	for range workers {
		<-done
	}
}
