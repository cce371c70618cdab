package scenarios

import (
	"context"
	"errors"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/dispatcher"
)

// clientRetry is how long a client waits after an answer that settles nothing.
const clientRetry = time.Second

// submit starts the clients: one hands in the tasks, the other does the steps.
func (r *runner) submit(s dispatcher.Settings) {
	arrivals, steps := r.scenario.Arrivals(r.options.Seed), r.scenario.ClientSteps(r.options.Seed)
	r.pending.Store(int64(len(arrivals) + len(steps)))
	r.cluster.Go("client-1", func(ctx context.Context, p dispatcher.Ports) {
		c := client{ports: p, timeout: s.StoreTimeout, now: r.cluster.Now}
		for _, a := range arrivals {
			c.at(ctx, a.At, func(ctx context.Context) error {
				_, err := p.Store.Submit(ctx, a.Spec)
				return err
			})
			r.pending.Add(-1)
		}
	})
	specs := map[dispatcher.TaskID]dispatcher.Spec{}
	for _, a := range arrivals {
		specs[a.Spec.ID] = a.Spec
	}
	if len(steps) == 0 {
		return
	}
	r.cluster.Go("client-2", func(ctx context.Context, p dispatcher.Ports) {
		c := client{ports: p, timeout: s.StoreTimeout, now: r.cluster.Now}
		for _, step := range steps {
			c.at(ctx, step.At, func(ctx context.Context) error { return step.do(ctx, p.Store, specs) })
			r.pending.Add(-1)
		}
	})
}

// do makes the step's call.
func (c ClientStep) do(ctx context.Context, store dispatcher.Clients, specs map[dispatcher.TaskID]dispatcher.Spec) error {
	var err error
	switch c.Verb {
	case history.Cancel:
		_, err = store.Cancel(ctx, c.Task)
	case history.Read:
		_, err = store.Read(ctx, c.Task)
	case history.Resume:
		_, err = store.Resume(ctx, c.Task)
	case history.Submit:
		_, err = store.Submit(ctx, specs[c.Task])
	}
	return err
}

// submitted tells that the clients have nothing left to do.
func (r *runner) submitted() bool { return r.pending.Load() == 0 }

type client struct {
	ports   dispatcher.Ports
	timeout time.Duration
	now     func() time.Duration
}

// at waits until the offset and calls until the answer is definite: everything a client does is idempotent.
func (c client) at(ctx context.Context, at time.Duration, call func(context.Context) error) {
	wait := at - c.now()
	for ctx.Err() == nil {
		if wait > 0 && c.ports.Clock.Sleep(ctx, wait) != nil {
			return
		}
		err := c.call(ctx, call)
		if !dispatcher.Unknown(err) && !errors.Is(err, dispatcher.ErrUnavailable) {
			return
		}
		wait = clientRetry
	}
}

func (c client) call(ctx context.Context, call func(context.Context) error) error {
	ctx, cancel := c.ports.Clock.WithTimeout(ctx, c.timeout)
	defer cancel()
	return call(ctx)
}
