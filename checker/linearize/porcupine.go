package linearize

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/squall-chaos/squall/checker/history"
)

// reference is a model as porcupine sees it: the same step function, and every state that an
// operation may lead to. An operation that may not have happened leads to the state before it, too.
func reference[S comparable](initial []S, step func(S, *op, int) (S, bool), hash func(S) uint64, m *meter) porcupine.Model {
	next := func(_ context.Context, state, input, _ any) []any {
		s, o := state.(S), input.(*op)
		m.steps += porcupineStep
		if !m.allows(int(m.steps-m.begun) / porcupineStep) {
			return nil
		}
		var states []any
		if o.optional {
			states = append(states, s)
		}
		for choice := range int(o.choices) {
			if n, ok := step(s, o, choice); ok {
				states = append(states, n)
			}
		}
		return states
	}
	model := porcupine.NondeterministicModel{
		Init: func() []any {
			states := make([]any, len(initial))
			for i, s := range initial {
				states[i] = s
			}
			return states
		},
		StepContext: next,
		Hash:        func(state any) uint64 { return hash(state.(S)) },
	}
	return model.ToModel()
}

// porcupineStep is what a step of porcupine's costs in steps of the search.
const porcupineStep = 16

// byPorcupine decides the operations with the reference. It obeys the budget by refusing every step once it is used
// up: porcupine itself has no bound but time, and none on memory (its issue 3: 128 GB for 5,000 events), of which
// every step may cost one entry of its memo.
func byPorcupine(ops []op, model porcupine.Model, m *meter) progress {
	result := porcupine.CheckOperations(model, entries(ops))
	switch {
	case result:
		return going
	case m.exhausted:
		return spent
	}
	return stuck
}

// entries are the operations for porcupine. Stamps are positions in the one order of the history, never times.
func entries(ops []op) []porcupine.Operation {
	list := make([]porcupine.Operation, len(ops))
	for i := range ops {
		o := &ops[i]
		list[i] = porcupine.Operation{Input: o, Call: int64(o.call), Return: int64(min(o.ret, math.MaxInt64))}
	}
	return list
}

// fallback lets porcupine decide what has more operations open at once than the search has slots. It begins at the last
// point at which none was open: what came before is decided already.
func (c *ledgerCheck) fallback() progress {
	ops, initial := c.search.rest(c.ops, row{})
	return byPorcupine(ops, reference(initial, c.model.step, hashRow, &c.meter), &c.meter)
}

func (c *leadershipCheck) fallback(r *roleCheck) progress {
	ops, initial := r.search.rest(c.operations(r), term(0))
	return byPorcupine(ops, reference(initial, r.model.step, hashTerm, &c.meter), &c.meter)
}

// rest returns what the search could not take, from its last quiet point on, and the states possible there.
func (s *search[S]) rest(ops []op, initial S) ([]op, []S) {
	quiet := s.quiet
	s.run(ops[:quiet], initial)
	states := make([]S, len(s.now.items))
	for i, c := range s.now.items {
		states[i] = c.state
	}
	return ops[quiet:], states
}

// visualizeFor bounds porcupine's search for partial orders to draw.
const visualizeFor = 2 * time.Second

// Visualize writes porcupine's interactive page about a failure of the ledger: what was called when, and how far any
// order gets. Its axis shows the order of calls and returns, not time.
func Visualize(w io.Writer, h *history.History, narrow bool, f Failure) error {
	if f.Task == 0 {
		return fmt.Errorf("visualize leadership of %s: only tasks can be drawn", f.Role)
	}
	t := translator{h: h, narrow: narrow}
	index := make([]int32, len(f.Operations))
	for i, n := range f.Operations {
		index[i] = int32(n)
	}
	t.task(f.Task, index)
	m := meter{ctx: context.Background(), budget: DefaultBudget()}
	m.begin()
	model := reference([]row{{}}, t.model.step, hashRow, &m)
	model.DescribeOperation = func(input, _ any) string { return sentence(h, input.(*op)) }
	model.DescribeState = func(state any) string {
		return eitherOf(state.([]any), func(s any) string { return s.(row).String() })
	}
	drawn := entries(t.ops)
	for i := range drawn {
		drawn[i].ClientId = int(h.Operations[t.ops[i].index].Process)
	}
	_, info := porcupine.CheckOperationsVerbose(model, drawn, visualizeFor)
	if err := porcupine.Visualize(model, info, w); err != nil {
		return fmt.Errorf("visualize task %d: %w", f.Task, err)
	}
	return nil
}
