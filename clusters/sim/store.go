package sim

import (
	"context"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/dispatcher"
)

// store is the database as one caller reaches it. The effects run on the world's store, without a context: what has
// reached the server is no longer bound by its caller's patience.
type store struct{ by *caller }

var (
	_          dispatcher.Store = store{}
	background                  = context.Background()
)

func (s store) server() dispatcher.Store { return s.by.world.store }

func (s store) call(verb history.Verb, task dispatcher.TaskID) (*call, *history.Operation) {
	return s.by.call(&s.by.world.ports.store, verb, string(task))
}

// value makes a call that answers with a T. A lost reply must not leak it.
func value[T any](ctx context.Context, c *call, do func(*call) (T, error)) (T, error) {
	a := &answered[T]{do: do}
	if err := c.wait(ctx, a); err != nil {
		var none T
		return none, err
	}
	return a.answer, nil
}

// task makes a call that answers with a row.
func task(ctx context.Context, c *call, do func() (dispatcher.Task, error)) (dispatcher.Task, error) {
	return value(ctx, c, func(c *call) (dispatcher.Task, error) {
		t, err := do()
		if err == nil {
			c.see(&t)
		}
		return t, err
	})
}

func (s store) Submit(ctx context.Context, spec dispatcher.Spec) (dispatcher.Task, error) {
	c, _ := s.call(history.Submit, spec.ID)
	s.by.world.record.spec(spec)
	return task(ctx, c, func() (dispatcher.Task, error) { return s.server().Submit(background, spec) })
}

func (s store) Cancel(ctx context.Context, id dispatcher.TaskID) (dispatcher.Task, error) {
	c, _ := s.call(history.Cancel, id)
	return task(ctx, c, func() (dispatcher.Task, error) { return s.server().Cancel(background, id) })
}

func (s store) Resume(ctx context.Context, id dispatcher.TaskID) (dispatcher.Task, error) {
	c, _ := s.call(history.Resume, id)
	return task(ctx, c, func() (dispatcher.Task, error) { return s.server().Resume(background, id) })
}

func (s store) Read(ctx context.Context, id dispatcher.TaskID) (dispatcher.Task, error) {
	c, _ := s.call(history.Read, id)
	return value(ctx, c, func(c *call) (dispatcher.Task, error) {
		t, err := s.server().Read(background, id)
		if err == nil {
			c.see(&t)
			c.operation().Token = uint64(t.Attempt.Token)
		}
		return t, err
	})
}

func (s store) Now(ctx context.Context) (time.Time, error) {
	c, _ := s.call(history.Now, "")
	return value(ctx, c, func(*call) (time.Time, error) { return s.server().Now(background) })
}

func (s store) Lead(ctx context.Context, r dispatcher.Role, i dispatcher.InstanceID) (dispatcher.Term, error) {
	c, op := s.call(history.Lead, "")
	op.Detail = string(r)
	return value(ctx, c, func(c *call) (dispatcher.Term, error) {
		t, err := s.server().Lead(background, r, i)
		c.operation().Epoch = uint64(t.Epoch)
		return t, err
	})
}

func (s store) Confirm(ctx context.Context, t dispatcher.Term) (time.Time, error) {
	c, op := s.call(history.Confirm, "")
	op.Epoch, op.Detail = uint64(t.Epoch), string(t.Role)
	return value(ctx, c, func(*call) (time.Time, error) { return s.server().Confirm(background, t) })
}

func (s store) Claim(ctx context.Context, t dispatcher.Term, limit int) ([]dispatcher.Task, error) {
	c, op := s.call(history.Claim, "")
	op.Epoch = uint64(t.Epoch)
	return value(ctx, c, func(c *call) ([]dispatcher.Task, error) {
		tasks, err := s.server().Claim(background, t, limit)
		if err == nil {
			c.claimed(tasks)
		}
		return tasks, err
	})
}

// claimed records each task of a Claim as an operation of its own.
func (c *call) claimed(tasks []dispatcher.Task) {
	r := c.world.record
	ops := r.spread(c, len(tasks))
	for i := range tasks {
		t := &tasks[i]
		ops[i].Task = r.tasks.ID(string(t.Spec.ID))
		ops[i].Token = uint64(t.Attempt.Token)
		ops[i].Phase, ops[i].Cancelling = phaseOf(t.Phase), t.Desired == dispatcher.DesiredCancel
	}
}

// write begins a leader's write.
func (s store) write(verb history.Verb, t dispatcher.Term, r dispatcher.Ref, detail string) *call {
	c, op := s.call(verb, r.ID)
	op.Token, op.Epoch, op.Detail = uint64(r.Token), uint64(t.Epoch), detail
	return c
}

func (s store) Launched(ctx context.Context, t dispatcher.Term, r dispatcher.Ref, uid dispatcher.UID) (dispatcher.Task, error) {
	c := s.write(history.Launched, t, r, string(uid))
	return task(ctx, c, func() (dispatcher.Task, error) { return s.server().Launched(background, t, r, uid) })
}

func (s store) Unclaim(ctx context.Context, t dispatcher.Term, r dispatcher.Ref, wait time.Duration) (dispatcher.Task, error) {
	c := s.write(history.Unclaim, t, r, "")
	return task(ctx, c, func() (dispatcher.Task, error) { return s.server().Unclaim(background, t, r, wait) })
}

func (s store) Reject(ctx context.Context, t dispatcher.Term, r dispatcher.Ref) (dispatcher.Task, error) {
	c := s.write(history.Reject, t, r, "")
	return task(ctx, c, func() (dispatcher.Task, error) { return s.server().Reject(background, t, r) })
}

func (s store) Scan(ctx context.Context, q dispatcher.Scan) (dispatcher.Page, error) {
	c, _ := s.call(history.Scan, "")
	return value(ctx, c, func(*call) (dispatcher.Page, error) { return s.server().Scan(background, q) })
}

func (s store) Observe(ctx context.Context, t dispatcher.Term, r dispatcher.Ref, o dispatcher.Observation) (dispatcher.Task, error) {
	c := s.write(history.Observe, t, r, string(o.State))
	return task(ctx, c, func() (dispatcher.Task, error) { return s.server().Observe(background, t, r, o) })
}

func (s store) Requeue(ctx context.Context, t dispatcher.Term, r dispatcher.Ref, why dispatcher.Reason) (dispatcher.Task, error) {
	c := s.write(history.Requeue, t, r, string(why))
	return task(ctx, c, func() (dispatcher.Task, error) { return s.server().Requeue(background, t, r, why) })
}

func (s store) Conclude(ctx context.Context, t dispatcher.Term, r dispatcher.Ref, why dispatcher.Reason) (dispatcher.Task, error) {
	c := s.write(history.Conclude, t, r, string(why))
	return task(ctx, c, func() (dispatcher.Task, error) { return s.server().Conclude(background, t, r, why) })
}

func (s store) Cleaned(ctx context.Context, t dispatcher.Term, r dispatcher.Ref) (dispatcher.Task, error) {
	c := s.write(history.Cleaned, t, r, "")
	return task(ctx, c, func() (dispatcher.Task, error) { return s.server().Cleaned(background, t, r) })
}

func (s store) Health(ctx context.Context) (dispatcher.Health, error) {
	c, _ := s.call(history.Health, "")
	return value(ctx, c, func(*call) (dispatcher.Health, error) { return s.server().Health(background) })
}

func (s store) Postpone(ctx context.Context, t dispatcher.Term, r dispatcher.Ref, wait time.Duration) (dispatcher.Task, error) {
	c := s.write(history.Postpone, t, r, "")
	return task(ctx, c, func() (dispatcher.Task, error) { return s.server().Postpone(background, t, r, wait) })
}

// show begins a worker's call.
func (s store) show(verb history.Verb, k dispatcher.Ticket, detail string) *call {
	c, op := s.call(verb, k.ID)
	op.Token, op.Detail = uint64(k.Token), detail
	return c
}

// The workers' methods wait; the worker model has the same effects call it back unless a planted defect stands between.

func (s store) Start(ctx context.Context, k dispatcher.Ticket) (dispatcher.Task, error) {
	return value(ctx, s.show(history.Start, k, string(k.Workload)), func(c *call) (dispatcher.Task, error) { return c.startWork(k) })
}

func (s store) Heartbeat(ctx context.Context, k dispatcher.Ticket) error {
	return s.show(history.Heartbeat, k, "").wait(ctx, acknowledged(func(*call) error { return s.server().Heartbeat(background, k) }))
}

func (s store) Finish(ctx context.Context, k dispatcher.Ticket, r dispatcher.Result) (dispatcher.Task, error) {
	return value(ctx, s.show(history.Finish, k, string(r)), func(c *call) (dispatcher.Task, error) { return c.finishWork(k, r) })
}
