// Package reduction finds the smallest scenario that still fails in the same way: delta debugging (Zeller and Hildebrandt, "Simplifying and
// Isolating Failure-Inducing Input", IEEE TSE 28(2), 2002) over what a seed has drawn, by kind of thing: faults, tasks, steps of clients,
// replicas, nodes, settings, and then figures.
package reduction

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/scenarios"
)

// Options is what a reduction needs besides the failing scenario.
type Options struct {
	System    dispatcher.System
	World     scenarios.World
	Invariant string // what must stay violated
	Workers   int    // candidates tried side by side; the result is the same for any number; below 1 counts as 1
	// Tried is told after each batch how many candidates were tried in it, and the size of the smallest so far. May be nil.
	Tried func(candidates int, smallest Size)
}

// Result is the smallest scenario found.
type Result struct {
	Scenario    *scenarios.Scenario // parsed from Text
	Text        []byte
	Seed        uint64
	From, To    Size
	Interrupted bool // To is the smallest until then
}

// Shrink reduces the run of a scenario under a seed; a nil plan is what the seed draws. It is an error when that run does not
// violate the invariant in the world given.
func Shrink(ctx context.Context, s *scenarios.Scenario, seed uint64, plan faults.Plan, o Options) (Result, error) {
	explicit, err := s.Explicit(seed, plan)
	if err != nil {
		return Result{}, err
	}
	r := &reducer{ctx: ctx, options: o, tried: map[string]bool{}}
	first := r.prepare(*explicit)
	if first == nil {
		return Result{}, fmt.Errorf("the scenario with its draws written out is not valid:\n%s", explicit.Written())
	}
	if !r.fails(first) {
		if ctx.Err() != nil {
			return Result{}, ctx.Err()
		}
		return Result{}, fmt.Errorf("with its draws written out the run does not violate %s any more", o.Invariant)
	}
	r.best = *first
	r.toFixpoint()
	for r.ctx.Err() == nil && r.writtenAnew() {
		r.toFixpoint()
	}
	return Result{Scenario: r.best.scenario, Text: r.best.text, Seed: seedOf(r.best.scenario), From: first.size, To: r.best.size,
		Interrupted: ctx.Err() != nil}, nil
}

// writtenAnew writes out what is now drawn: what a file says and nothing depends on (a notice of no length) is gone then, and the passes may
// find more. It tells whether that made a difference.
func (r *reducer) writtenAnew() bool {
	explicit, err := r.best.scenario.Explicit(seedOf(r.best.scenario), nil)
	if err != nil {
		return false
	}
	c := r.prepare(*explicit)
	if c == nil || bytes.Equal(c.text, r.best.text) || r.best.size.less(c.size) || !r.fails(c) {
		return false
	}
	r.best = *c
	return true
}

func seedOf(s *scenarios.Scenario) uint64 { return uint64(max(s.From, 1)) }

// candidate is a scenario as its own file says it: what is tried is what is written.
type candidate struct {
	scenario *scenarios.Scenario
	text     []byte
	size     Size
}

type reducer struct {
	ctx     context.Context
	options Options
	best    candidate
	tried   map[string]bool // texts that did not fail
}

// prepare reads a candidate from its own text; nil when it is no valid scenario.
func (r *reducer) prepare(s scenarios.Scenario) *candidate {
	inOrder(&s)
	s.UnsafeSettings = ""
	if err := s.Nests(); err != nil {
		s.UnsafeSettings = "the failing run had these settings"
	}
	text := s.Written()
	parsed, err := scenarios.Parse("minimal.yaml", text)
	if err != nil {
		return nil
	}
	return &candidate{scenario: parsed, text: bytes.Clone(text), size: sizeOf(parsed)}
}

// inOrder puts everything in the order in which it happens, as the run does: written out again, the file is the same.
func inOrder(s *scenarios.Scenario) {
	s.Faults, s.Tasks, s.Clients = slices.Clone(s.Faults), slices.Clone(s.Tasks), slices.Clone(s.Clients)
	slices.SortStableFunc(s.Faults, func(a, b scenarios.Fault) int { return cmp.Compare(a.At.A, b.At.A) })
	slices.SortStableFunc(s.Tasks, func(a, b scenarios.TaskGroup) int { return cmp.Compare(a.Arrive.At.A, b.Arrive.At.A) })
	slices.SortStableFunc(s.Clients, func(a, b scenarios.Step) int { return cmp.Compare(a.At.A, b.At.A) })
}

// fails runs a candidate and tells whether the invariant is violated.
func (r *reducer) fails(c *candidate) bool {
	result := scenarios.Run(r.ctx, c.scenario, scenarios.Options{System: r.options.System, Seed: seedOf(c.scenario), World: r.options.World})
	defer result.Forget()
	if result.Err != nil || result.Interrupted {
		return false
	}
	return slices.ContainsFunc(result.Fatal(), func(v checker.Violation) bool { return v.Invariant == r.options.Invariant })
}

// take tries candidates in order and keeps the first that is smaller and still fails. Which one that is does not depend on how many are
// tried at once. It returns its place in the list, or -1.
func (r *reducer) take(all []scenarios.Scenario) int {
	workers := max(r.options.Workers, 1)
	for from := 0; from < len(all) && r.ctx.Err() == nil; from += workers {
		batch := all[from:min(from+workers, len(all))]
		found := make([]*candidate, len(batch))
		done := make(chan struct{})
		for i := range batch {
			go func() {
				defer func() { done <- struct{}{} }()
				c := r.prepare(batch[i])
				if c != nil && c.size.less(r.best.size) && !r.tried[string(c.text)] {
					found[i] = c
				}
			}()
		}
		await(done, len(batch))
		failed := make([]bool, len(batch))
		for i := range batch {
			go func() {
				defer func() { done <- struct{}{} }()
				failed[i] = found[i] != nil && r.fails(found[i])
			}()
		}
		await(done, len(batch))
		if i := slices.Index(failed, true); i >= 0 {
			r.best = *found[i]
			r.tell(len(batch))
			return from + i
		}
		if r.ctx.Err() == nil {
			for _, c := range found {
				if c != nil {
					r.tried[string(c.text)] = true
				}
			}
		}
		r.tell(len(batch))
	}
	return -1
}

func await(done chan struct{}, n int) {
	for range n {
		<-done
	}
}

func (r *reducer) tell(n int) {
	if r.options.Tried != nil {
		r.options.Tried(n, r.best.size)
	}
}
