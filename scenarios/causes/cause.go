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
	"slices"

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
	// Stage is told what is searched now, and how much of it is done. It may be called from any goroutine, and may be nil.
	Stage func(what string, done, of int)
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
	x.lookAround()
	e.Others = x.others
	settings, quantities := x.settings()
	e.Settings = settings
	e.Faults = x.withoutEach()
	quantities = slices.Concat(quantities, x.figuresOf(e.Faults))
	x.followAll(quantities)
	if x.needsFaults() && !slices.ContainsFunc(e.Faults, func(m Matter) bool { return m.Verdict == Flips }) {
		e.Enough = x.enough()
	}
	x.stage("point of no return", 0, 0)
	e.Point = x.noReturn(seqs)
	if o.System.Name != o.Reference.Name {
		e.ReferenceHolds = x.valid(o.Reference)
	}
	e.Runs, e.Interrupted = int(x.runs.Load()), ctx.Err() != nil
	e.remedy()
	e.Cause = e.sentence(o.System.Summary, x.plan)
	return e, nil
}
