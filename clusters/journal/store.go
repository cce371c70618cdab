package journal

import (
	"context"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
)

// Ports records the calls of a replica. Clock and Meter are passed on. It goes innermost, as in the simulation: what a system under
// test puts in between is on the caller's side.
func (r *Recorder) Ports(p dispatcher.Ports) dispatcher.Ports {
	if p.Store != nil {
		p.Store = r.Store(p.Store)
	}
	if p.Workloads != nil {
		p.Workloads = recordedWorkloads{r, p.Workloads}
	}
	if p.Leases != nil {
		p.Leases = recordedLeases{r, p.Leases}
	}
	return p
}

// Store records the calls to a store.
func (r *Recorder) Store(s dispatcher.Store) dispatcher.Store {
	return recordedStore{recordedWorkers{r, s}, s}
}

// recordedStore is a store with a journal. The verbs, and what is told of each, are those of clusters/sim.
type recordedStore struct {
	recordedWorkers
	inner dispatcher.Store
}

// about is a call about one task, which may be none.
func about(verb history.Verb, id dispatcher.TaskID) Call {
	c := Call{Verb: verb}
	if id != "" {
		c.Rows = []Row{{Task: string(id)}}
	}
	return c
}

// see tells the row that came back.
func see(c *Call, t dispatcher.Task) {
	if len(c.Rows) == 0 {
		return
	}
	row := &c.Rows[0]
	row.Phase, row.Cancelling, row.Version = clusters.PhaseOf(t.Phase), t.Desired == dispatcher.DesiredCancel, t.Version
}

func (s recordedStore) Submit(ctx context.Context, spec dispatcher.Spec) (dispatcher.Task, error) {
	c := about(history.Submit, spec.ID)
	told := clusters.SpecOf(spec)
	c.Spec = &told
	return record(s.recorder, c, func() (dispatcher.Task, error) { return s.inner.Submit(ctx, spec) }, see)
}

func (s recordedStore) Cancel(ctx context.Context, id dispatcher.TaskID) (dispatcher.Task, error) {
	return record(s.recorder, about(history.Cancel, id), func() (dispatcher.Task, error) { return s.inner.Cancel(ctx, id) }, see)
}

func (s recordedStore) Resume(ctx context.Context, id dispatcher.TaskID) (dispatcher.Task, error) {
	return record(s.recorder, about(history.Resume, id), func() (dispatcher.Task, error) { return s.inner.Resume(ctx, id) }, see)
}

func (s recordedStore) Read(ctx context.Context, id dispatcher.TaskID) (dispatcher.Task, error) {
	return record(s.recorder, about(history.Read, id), func() (dispatcher.Task, error) { return s.inner.Read(ctx, id) },
		func(c *Call, t dispatcher.Task) {
			if see(c, t); len(c.Rows) > 0 {
				c.Rows[0].Token = uint64(t.Attempt.Token)
			}
		})
}

func (s recordedStore) Now(ctx context.Context) (time.Time, error) {
	return record(s.recorder, Call{Verb: history.Now}, func() (time.Time, error) { return s.inner.Now(ctx) }, nil)
}

func (s recordedStore) Lead(ctx context.Context, role dispatcher.Role, i dispatcher.InstanceID) (dispatcher.Term, error) {
	return record(s.recorder, Call{Verb: history.Lead, Detail: string(role)},
		func() (dispatcher.Term, error) { return s.inner.Lead(ctx, role, i) },
		func(c *Call, t dispatcher.Term) { c.Epoch = uint64(t.Epoch) })
}

func (s recordedStore) Confirm(ctx context.Context, t dispatcher.Term) (time.Time, error) {
	return record(s.recorder, Call{Verb: history.Confirm, Epoch: uint64(t.Epoch), Detail: string(t.Role)},
		func() (time.Time, error) { return s.inner.Confirm(ctx, t) }, nil)
}

func (s recordedStore) Claim(ctx context.Context, t dispatcher.Term, limit int) ([]dispatcher.Task, error) {
	return record(s.recorder, Call{Verb: history.Claim, Epoch: uint64(t.Epoch)},
		func() ([]dispatcher.Task, error) { return s.inner.Claim(ctx, t, limit) },
		func(c *Call, tasks []dispatcher.Task) {
			for _, t := range tasks {
				c.Rows = append(c.Rows, Row{Task: string(t.Spec.ID), Token: uint64(t.Attempt.Token), Phase: clusters.PhaseOf(t.Phase),
					Cancelling: t.Desired == dispatcher.DesiredCancel, Version: t.Version})
			}
		})
}

// write makes a leader's write.
func (s recordedStore) write(verb history.Verb, t dispatcher.Term, ref dispatcher.Ref, detail string,
	do func() (dispatcher.Task, error)) (dispatcher.Task, error) {
	c := about(verb, ref.ID)
	c.Epoch, c.Detail, c.Expected = uint64(t.Epoch), detail, ref.Version
	if verb == history.Launched {
		c.Expected = 0 // it is conditional on the token and the object alone
	}
	if len(c.Rows) > 0 {
		c.Rows[0].Token = uint64(ref.Token)
	}
	return record(s.recorder, c, do, see)
}

func (s recordedStore) Launched(ctx context.Context, t dispatcher.Term, ref dispatcher.Ref, uid dispatcher.UID) (dispatcher.Task, error) {
	return s.write(history.Launched, t, ref, string(uid), func() (dispatcher.Task, error) { return s.inner.Launched(ctx, t, ref, uid) })
}

func (s recordedStore) Unclaim(ctx context.Context, t dispatcher.Term, ref dispatcher.Ref, wait time.Duration) (dispatcher.Task, error) {
	return s.write(history.Unclaim, t, ref, "", func() (dispatcher.Task, error) { return s.inner.Unclaim(ctx, t, ref, wait) })
}

func (s recordedStore) Reject(ctx context.Context, t dispatcher.Term, ref dispatcher.Ref) (dispatcher.Task, error) {
	return s.write(history.Reject, t, ref, "", func() (dispatcher.Task, error) { return s.inner.Reject(ctx, t, ref) })
}

func (s recordedStore) Scan(ctx context.Context, q dispatcher.Scan) (dispatcher.Page, error) {
	return record(s.recorder, Call{Verb: history.Scan}, func() (dispatcher.Page, error) { return s.inner.Scan(ctx, q) }, nil)
}

func (s recordedStore) Observe(ctx context.Context, t dispatcher.Term, ref dispatcher.Ref, o dispatcher.Observation) (dispatcher.Task, error) {
	return s.write(history.Observe, t, ref, string(o.State), func() (dispatcher.Task, error) { return s.inner.Observe(ctx, t, ref, o) })
}

func (s recordedStore) Requeue(ctx context.Context, t dispatcher.Term, ref dispatcher.Ref, why dispatcher.Reason) (dispatcher.Task, error) {
	return s.write(history.Requeue, t, ref, string(why), func() (dispatcher.Task, error) { return s.inner.Requeue(ctx, t, ref, why) })
}

func (s recordedStore) Conclude(ctx context.Context, t dispatcher.Term, ref dispatcher.Ref, why dispatcher.Reason) (dispatcher.Task, error) {
	return s.write(history.Conclude, t, ref, string(why), func() (dispatcher.Task, error) { return s.inner.Conclude(ctx, t, ref, why) })
}

func (s recordedStore) Cleaned(ctx context.Context, t dispatcher.Term, ref dispatcher.Ref) (dispatcher.Task, error) {
	return s.write(history.Cleaned, t, ref, "", func() (dispatcher.Task, error) { return s.inner.Cleaned(ctx, t, ref) })
}

func (s recordedStore) Postpone(ctx context.Context, t dispatcher.Term, ref dispatcher.Ref, wait time.Duration) (dispatcher.Task, error) {
	return s.write(history.Postpone, t, ref, "", func() (dispatcher.Task, error) { return s.inner.Postpone(ctx, t, ref, wait) })
}

func (s recordedStore) Health(ctx context.Context) (dispatcher.Health, error) {
	return record(s.recorder, Call{Verb: history.Health}, func() (dispatcher.Health, error) { return s.inner.Health(ctx) }, nil)
}
