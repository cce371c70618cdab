package sim

import (
	"context"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
)

// store is the database as one caller reaches it. The effects run on the world's store, see call.server.
type store struct{ by *caller }

var (
	_          dispatcher.Store = store{}
	background                  = context.Background()
)

func (s store) call(verb history.Verb, task dispatcher.TaskID) (*call, *history.Operation) {
	return s.by.call(&s.by.world.ports.store, verb, string(task))
}

// rowAnswer makes a call that answers with a row.
func rowAnswer(ctx context.Context, c *call, do func(*call) (dispatcher.Task, error)) (dispatcher.Task, error) {
	return value(ctx, c, &c.world.spares.rows, do)
}

func (s store) Submit(ctx context.Context, spec dispatcher.Spec) (dispatcher.Task, error) {
	c, _ := s.call(history.Submit, spec.ID)
	s.by.world.record.spec(spec)
	return rowAnswer(ctx, c, func(c *call) (dispatcher.Task, error) { return c.seen(c.server().Submit(background, spec)) })
}

func (s store) Cancel(ctx context.Context, id dispatcher.TaskID) (dispatcher.Task, error) {
	c, _ := s.call(history.Cancel, id)
	return rowAnswer(ctx, c, func(c *call) (dispatcher.Task, error) { return c.seen(c.server().Cancel(background, id)) })
}

func (s store) Resume(ctx context.Context, id dispatcher.TaskID) (dispatcher.Task, error) {
	c, _ := s.call(history.Resume, id)
	return rowAnswer(ctx, c, func(c *call) (dispatcher.Task, error) { return c.seen(c.server().Resume(background, id)) })
}

func (s store) Read(ctx context.Context, id dispatcher.TaskID) (dispatcher.Task, error) {
	c, _ := s.call(history.Read, id)
	return rowAnswer(ctx, c, (*call).read)
}

func (c *call) read() (dispatcher.Task, error) {
	t, err := c.seen(c.server().Read(background, dispatcher.TaskID(c.task)))
	c.operation().Token = uint64(t.Attempt.Token)
	return t, err
}

func (s store) Now(ctx context.Context) (time.Time, error) {
	c, _ := s.call(history.Now, "")
	return value(ctx, c, &c.world.spares.times, (*call).now)
}

func (c *call) now() (time.Time, error) { return c.server().Now(background) }

func (s store) Lead(ctx context.Context, r dispatcher.Role, i dispatcher.InstanceID) (dispatcher.Term, error) {
	c, op := s.call(history.Lead, "")
	op.Detail = string(r)
	return value(ctx, c, &c.world.spares.terms, func(c *call) (dispatcher.Term, error) {
		t, err := c.server().Lead(background, r, i)
		c.operation().Epoch = uint64(t.Epoch)
		return t, err
	})
}

func (s store) Confirm(ctx context.Context, t dispatcher.Term) (time.Time, error) {
	c, op := s.call(history.Confirm, "")
	op.Epoch, op.Detail = uint64(t.Epoch), string(t.Role)
	c.request.term = t
	return value(ctx, c, &c.world.spares.times, (*call).confirm)
}

func (c *call) confirm() (time.Time, error) { return c.server().Confirm(background, c.request.term) }

func (s store) Claim(ctx context.Context, t dispatcher.Term, limit int) ([]dispatcher.Task, error) {
	c, op := s.call(history.Claim, "")
	op.Epoch = uint64(t.Epoch)
	return value(ctx, c, &c.world.spares.claims, func(c *call) ([]dispatcher.Task, error) {
		tasks, err := c.server().Claim(background, t, limit)
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
		ops[i].Phase, ops[i].Cancelling = clusters.PhaseOf(t.Phase), t.Desired == dispatcher.DesiredCancel
	}
}

// write begins a leader's write.
func (s store) write(verb history.Verb, t dispatcher.Term, r dispatcher.Ref, detail string) *call {
	c, op := s.call(verb, r.ID)
	op.Token, op.Epoch, op.Detail = uint64(r.Token), uint64(t.Epoch), detail
	c.request.term, c.request.ref = t, r
	return c
}

func (s store) Launched(ctx context.Context, t dispatcher.Term, r dispatcher.Ref, uid dispatcher.UID) (dispatcher.Task, error) {
	c := s.write(history.Launched, t, r, string(uid))
	return rowAnswer(ctx, c, func(c *call) (dispatcher.Task, error) {
		return c.seen(c.server().Launched(background, c.request.term, c.request.ref, uid))
	})
}

func (s store) Unclaim(ctx context.Context, t dispatcher.Term, r dispatcher.Ref, wait time.Duration) (dispatcher.Task, error) {
	c := s.write(history.Unclaim, t, r, "")
	return rowAnswer(ctx, c, func(c *call) (dispatcher.Task, error) {
		return c.seen(c.server().Unclaim(background, c.request.term, c.request.ref, wait))
	})
}

func (s store) Reject(ctx context.Context, t dispatcher.Term, r dispatcher.Ref) (dispatcher.Task, error) {
	c := s.write(history.Reject, t, r, "")
	return rowAnswer(ctx, c, func(c *call) (dispatcher.Task, error) {
		return c.seen(c.server().Reject(background, c.request.term, c.request.ref))
	})
}

func (s store) Scan(ctx context.Context, q dispatcher.Scan) (dispatcher.Page, error) {
	c, _ := s.call(history.Scan, "")
	c.request.scan = q
	return value(ctx, c, &c.world.spares.pages, (*call).scan)
}

func (c *call) scan() (dispatcher.Page, error) { return c.server().Scan(background, c.request.scan) }

func (s store) Observe(ctx context.Context, t dispatcher.Term, r dispatcher.Ref, o dispatcher.Observation) (dispatcher.Task, error) {
	c := s.write(history.Observe, t, r, string(o.State))
	return rowAnswer(ctx, c, func(c *call) (dispatcher.Task, error) {
		return c.seen(c.server().Observe(background, c.request.term, c.request.ref, o))
	})
}

func (s store) Requeue(ctx context.Context, t dispatcher.Term, r dispatcher.Ref, why dispatcher.Reason) (dispatcher.Task, error) {
	c := s.write(history.Requeue, t, r, string(why))
	return rowAnswer(ctx, c, func(c *call) (dispatcher.Task, error) {
		return c.seen(c.server().Requeue(background, c.request.term, c.request.ref, why))
	})
}

func (s store) Conclude(ctx context.Context, t dispatcher.Term, r dispatcher.Ref, why dispatcher.Reason) (dispatcher.Task, error) {
	c := s.write(history.Conclude, t, r, string(why))
	return rowAnswer(ctx, c, func(c *call) (dispatcher.Task, error) {
		return c.seen(c.server().Conclude(background, c.request.term, c.request.ref, why))
	})
}

func (s store) Cleaned(ctx context.Context, t dispatcher.Term, r dispatcher.Ref) (dispatcher.Task, error) {
	c := s.write(history.Cleaned, t, r, "")
	return rowAnswer(ctx, c, (*call).cleaned)
}

func (c *call) cleaned() (dispatcher.Task, error) {
	return c.seen(c.server().Cleaned(background, c.request.term, c.request.ref))
}

func (s store) Health(ctx context.Context) (dispatcher.Health, error) {
	c, _ := s.call(history.Health, "")
	return value(ctx, c, &c.world.spares.health, func(c *call) (dispatcher.Health, error) { return c.server().Health(background) })
}

func (s store) Postpone(ctx context.Context, t dispatcher.Term, r dispatcher.Ref, wait time.Duration) (dispatcher.Task, error) {
	c := s.write(history.Postpone, t, r, "")
	return rowAnswer(ctx, c, func(c *call) (dispatcher.Task, error) {
		return c.seen(c.server().Postpone(background, c.request.term, c.request.ref, wait))
	})
}

// show begins a worker's call.
func (s store) show(verb history.Verb, k dispatcher.Ticket, detail string) *call {
	c, op := s.call(verb, k.ID)
	op.Token, op.Detail = uint64(k.Token), detail
	c.request.ticket = k
	return c
}

// The workers' methods wait; the worker model has the same effects call it back unless a planted defect stands between.

func (s store) Start(ctx context.Context, k dispatcher.Ticket) (dispatcher.Task, error) {
	return rowAnswer(ctx, s.show(history.Start, k, string(k.Workload)), (*call).startWork)
}

func (s store) Heartbeat(ctx context.Context, k dispatcher.Ticket) error {
	return s.show(history.Heartbeat, k, "").wait(ctx, heartbeat)
}

func (s store) Finish(ctx context.Context, k dispatcher.Ticket, r dispatcher.Result) (dispatcher.Task, error) {
	c := s.show(history.Finish, k, string(r))
	c.request.result = r
	return rowAnswer(ctx, c, (*call).finishWork)
}
