// Package causes says what matters about a failing run: which settings and which faults, at what value the verdict flips, from when on
// the failure was inevitable, and which single change averts it. All of it is searched for by running the scenario again with one thing
// changed, never guessed.
//
// A change of anything shifts the interleaving of everything, and a failure that takes a rare interleaving is gone by that alone. So a value
// counts as one that averts the failure only if it also does so in other interleavings of the same faults (forks of the run, see
// clusters.Fork).
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

// Options is what an explanation needs besides the failing scenario.
type Options struct {
	System    dispatcher.System
	Reference dispatcher.System // what is known to be right
	World     scenarios.World   // one that can fork
	Invariant string            // the violation to explain
	Plan      faults.Plan       // the faults; nil: those that the seed draws
	Workers   int               // the result is the same for any number; below 1 counts as 1
	Ran       func()            // is told of every run, from any goroutine. May be nil.
}

// Explanation is what matters about one failing run.
type Explanation struct {
	Invariant  string `json:"invariant"`
	Dispatcher string `json:"dispatcher"`
	Cause      string `json:"cause"` // one sentence
	// Remedy is the single change that averts it at the smallest price; empty: none was found.
	Remedy string   `json:"remedy,omitempty"`
	Faults []Matter `json:"faults"`
	// Enough are the numbers of a smallest set of faults that suffices, where no single one of them is needed.
	Enough   []int    `json:"enough,omitempty"`
	Settings []Matter `json:"settings"`
	// Others is how the same scenario with the same faults fares in other interleavings.
	Others Share  `json:"other_interleavings"`
	Point  *Point `json:"point_of_no_return,omitempty"`
	// ReferenceHolds: the reference dispatcher is valid under the same seed and the same faults.
	ReferenceHolds bool `json:"reference_holds"`
	Runs           int  `json:"runs"`
	Interrupted    bool `json:"interrupted,omitempty"` // not everything was searched
}

// Verdict is what a setting or a fault has to do with the failure.
type Verdict string

// The verdicts. Chance: some values avert it in this interleaving, and none does so in others.
const (
	Irrelevant Verdict = "irrelevant"
	Flips      Verdict = "flips"
	Chance     Verdict = "chance"
)

// Matter is one setting or one fault.
type Matter struct {
	Name    string  `json:"name"`
	Value   string  `json:"value"` // in the failing run
	Verdict Verdict `json:"verdict"`
	Tried   string  `json:"tried,omitempty"` // the range that was searched
	Flips   []Flip  `json:"flips,omitempty"`
}

// Flip is a change that averts the failure.
type Flip struct {
	What   string `json:"what"`            // the figure of a fault, or empty: the thing itself
	At     string `json:"at"`              // the value nearest to the present one at which the invariant holds
	Edge   string `json:"still,omitempty"` // the last value before it at which it is violated
	Upward bool   `json:"upward,omitempty"`
	// Patchy: beyond At it does not hold at every value that was tried.
	Patchy bool   `json:"patchy,omitempty"`
	Then   string `json:"then"`            // valid, or what else comes of it
	Rules  Rules  `json:"rules,omitempty"` // of nested timeouts and the like, at that value
	// Safe is the nearest value beyond At that keeps all rules and averts it, where At does not keep them.
	Safe string `json:"safe,omitempty"`

	price float64 // how far it is from the present value
}

// Rules is what becomes of the rules of settings.
type Rules string

// What can become of them; empty: it is no setting.
const (
	Kept     Rules = "kept"
	AsBefore Rules = "broken as before"
	Broken   Rules = "broken"
)

// Share is how many of a number of runs violate the invariant.
type Share struct {
	Violated int `json:"violated"`
	Of       int `json:"of"`
}

// outcome is what one run came to.
type outcome struct {
	ran      bool // false: interrupted, or nothing can be run so
	violated bool
	then     string
}

// search is one explanation in the making.
type search struct {
	ctx      context.Context
	options  Options
	scenario *scenarios.Scenario
	seed     uint64
	plan     faults.Plan
	others   Share // at the present values
	runs     atomic.Int64
}

// Explain explains the run of a scenario under a seed. It is an error when that run does not violate the invariant.
func Explain(ctx context.Context, s *scenarios.Scenario, seed uint64, o Options) (Explanation, error) {
	x := &search{ctx: ctx, options: o, scenario: s, seed: seed, plan: o.Plan}
	if x.plan == nil {
		var err error
		if x.plan, err = s.Plan(seed); err != nil {
			return Explanation{}, err
		}
	}
	seqs, err := x.failing()
	if err != nil {
		return Explanation{}, err
	}
	e := Explanation{Invariant: o.Invariant, Dispatcher: o.System.Name}
	x.others = x.share(x.scenario, x.plan, alternatives)
	e.Others = x.others
	settings, quantities := x.settings()
	e.Settings = settings
	e.Faults = x.withoutEach()
	quantities = slices.Concat(quantities, x.figuresOf(e.Faults))
	x.followAll(quantities)
	if x.needsFaults() && !slices.ContainsFunc(e.Faults, func(m Matter) bool { return m.Verdict == Flips }) {
		e.Enough = x.enough()
	}
	e.Point = x.noReturn(seqs)
	if o.System.Name != o.Reference.Name {
		e.ReferenceHolds = x.valid(o.Reference)
	}
	e.Runs, e.Interrupted = int(x.runs.Load()), ctx.Err() != nil
	e.remedy()
	e.Cause = e.sentence(o.System.Summary, x.plan)
	return e, nil
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
	o := outcome{ran: true, violated: violates(r, x.options.Invariant), then: r.Verdict.String()}
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

// share looks at other interleavings from the start on.
func (x *search) share(s *scenarios.Scenario, plan faults.Plan, of int) Share {
	found := make([]outcome, of)
	x.sideBySide(of, func(i int) { found[i] = x.run(s, plan, fork(1, i)) })
	var all Share
	for _, o := range found {
		if o.ran {
			all.Of++
		}
		if o.violated {
			all.Violated++
		}
	}
	return all
}

// fork is the i-th other continuation from a record on.
func fork(at history.Seq, i int) clusters.Fork { return clusters.Fork{At: at, Seed: uint64(i) + 1} }

// averts tells whether a change keeps the invariant, in this interleaving and in all the others that are looked at. Where none of those fails
// without the change either there is nothing to compare with, and this one has to do.
func (x *search) averts(s *scenarios.Scenario, plan faults.Plan) (here, everywhere bool, o outcome) {
	if o = x.run(s, plan, clusters.Fork{}); !o.ran || o.violated {
		return false, false, o
	}
	if x.others.Violated == 0 {
		return true, true, o
	}
	for i := range alternatives {
		if one := x.run(s, plan, fork(1, i)); !one.ran || one.violated {
			return true, false, o
		}
	}
	return true, true, o
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
