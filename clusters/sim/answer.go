package sim

import (
	"context"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// effect is what the server does for a call. It fills in what only the server knows.
type effect interface {
	apply(c *call) error
	// recycle is told that nobody refers to the effect any more.
	recycle()
}

// acknowledged is an effect without an answer.
type acknowledged func(c *call) error

func (a acknowledged) apply(c *call) error { return a(c) }

func (acknowledged) recycle() {}

// answered is an effect that answers with a T.
type answered[T any] struct {
	answer T
	do     func(c *call) (T, error)
	home   *answers[T]
}

func (a *answered[T]) apply(c *call) (err error) {
	a.answer, err = a.do(c)
	return err
}

func (a *answered[T]) recycle() { *a.home = append(*a.home, a) }

// answers are effects to be used again: an effect outlives its caller's patience, so that it cannot be on a stack. Together
// with requests (below) they spare half of all allocations of a run.
type answers[T any] []*answered[T]

func (all *answers[T]) take() *answered[T] {
	n := len(*all)
	if n == 0 {
		return &answered[T]{home: all}
	}
	a := (*all)[n-1]
	*all = (*all)[:n-1]
	return a
}

// spares are the answers of one world, by what they answer with.
type spares struct {
	times     answers[time.Time]
	terms     answers[dispatcher.Term]
	rows      answers[dispatcher.Task]
	claims    answers[[]dispatcher.Task]
	pages     answers[dispatcher.Page]
	health    answers[dispatcher.Health]
	workloads answers[dispatcher.Workload]
	lists     answers[dispatcher.WorkloadPage]
	found     answers[bool]
	leases    answers[dispatcher.Lease]
	changes   answers[dispatcher.Changes]
}

// value makes a call that answers with a T. A lost reply must not leak it.
func value[T any](ctx context.Context, c *call, spare *answers[T], do func(*call) (T, error)) (T, error) {
	a := spare.take()
	a.do = do
	if err := c.wait(ctx, a); err != nil {
		var none T
		return none, err
	}
	return a.answer, nil // it may be back among the spare ones, but nobody has run since
}

// request is what the calls that are made all the time ask for. They have it here and not in a closure.
type request struct {
	term   dispatcher.Term
	ref    dispatcher.Ref
	ticket dispatcher.Ticket
	result dispatcher.Result
	scan   dispatcher.Scan
	name   string
	lease  dispatcher.Lease
}
