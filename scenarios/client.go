package scenarios

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/dispatcher"
)

// clientRetry is how long a client waits after an answer that settles nothing.
const clientRetry = time.Second

// Demand is what the clients of a run ask for. It depends on the scenario's tasks and clients and on the seed, on no setting, so that runs
// of one seed may share it: nobody changes it.
type Demand struct {
	arrivals []Arrival
	steps    []ClientStep
	specs    map[dispatcher.TaskID]dispatcher.Spec // for steps that hand in a task
}

// Demand draws what the clients ask for under a seed.
func (s *Scenario) Demand(seed uint64) *Demand {
	d := &Demand{arrivals: s.Arrivals(seed), steps: s.ClientSteps(seed)}
	if !slices.ContainsFunc(d.steps, func(c ClientStep) bool { return c.Verb == history.Submit }) {
		return d
	}
	d.specs = make(map[dispatcher.TaskID]dispatcher.Spec, len(d.arrivals))
	for _, a := range d.arrivals {
		d.specs[a.Spec.ID] = a.Spec
	}
	return d
}

// Arrivals are the tasks in order of submission.
func (d *Demand) Arrivals() []Arrival { return d.arrivals }

// submit starts the clients: one hands in the tasks, the other does the steps.
func (r *runner) submit(s dispatcher.Settings) {
	demand := r.options.Demand
	if demand == nil {
		demand = r.scenario.Demand(r.options.Seed)
	}
	r.pending.Store(int64(len(demand.arrivals) + len(demand.steps)))
	r.cluster.Go("client-1", func(ctx context.Context, p dispatcher.Ports) {
		c := client{ports: p, timeout: s.StoreTimeout, now: r.cluster.Now}
		for _, a := range demand.arrivals {
			c.at(ctx, a.At, func(ctx context.Context) error {
				_, err := p.Store.Submit(ctx, a.Spec)
				return err
			})
			r.pending.Add(-1)
		}
	})
	if len(demand.steps) == 0 {
		return
	}
	r.cluster.Go("client-2", func(ctx context.Context, p dispatcher.Ports) {
		c := client{ports: p, timeout: s.StoreTimeout, now: r.cluster.Now}
		for _, step := range demand.steps {
			c.at(ctx, step.At, func(ctx context.Context) error { return step.do(ctx, p.Store, demand.specs) })
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
