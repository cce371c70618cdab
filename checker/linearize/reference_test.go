package linearize

import (
	"context"

	"github.com/squall-chaos/squall/checker/history"
)

// referenceVerdict is porcupine's verdict on the ledger, task by task.
func referenceVerdict(h *history.History, o Options) Verdict {
	o = o.filled()
	p := partition(h, o.Narrow)
	c := &ledgerCheck{translator: translator{h: h, narrow: o.Narrow, astray: p.astray}}
	for task := 1; task <= p.tasks(); task++ {
		c.task(history.ID(task), p.of(task))
		c.widen()
		if byPorcupine(c.ops, reference([]row{{}}, c.model.step, hashRow, unbounded()), unbounded()) != going {
			return Illegal
		}
	}
	return Ok
}

func unbounded() *meter {
	m := &meter{ctx: context.Background(), budget: Budget{Steps: 1 << 40, Configurations: 1 << 40}}
	m.begin()
	return m
}

// bruteForce tries every order: an operation may come next if no other that is still to come returned before its
// call. It stops where all that must have happened has.
func bruteForce[S comparable](state S, left []*op, step func(S, *op, int) (S, bool)) bool {
	needed := false
	for _, o := range left {
		needed = needed || !o.optional
	}
	if !needed {
		return true
	}
	for i, o := range left {
		if !mayBeNext(o, left) {
			continue
		}
		rest := append(append([]*op(nil), left[:i]...), left[i+1:]...)
		for choice := range int(o.choices) {
			if next, ok := step(state, o, choice); ok && bruteForce(next, rest, step) {
				return true
			}
		}
		if o.optional && bruteForce(state, rest, step) {
			return true
		}
	}
	return false
}

func mayBeNext(o *op, left []*op) bool {
	for _, other := range left {
		if other.ret < o.call {
			return false
		}
	}
	return true
}

func pointers(ops []op) []*op {
	list := make([]*op, len(ops))
	for i := range ops {
		list[i] = &ops[i]
	}
	return list
}
