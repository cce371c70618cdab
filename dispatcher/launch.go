package dispatcher

import (
	"context"
	"errors"
	"time"
)

// launch makes sure that the one workload of a claimed attempt exists and is recorded. It tells whether
// the launch is settled; an open one stays Launching in the store, where the next claim finds it.
func (d *dispatcher) launch(ctx context.Context, t Task) bool {
	made, err := bounded(ctx, &d.elector, d.settings.CreateTimeout, func(ctx context.Context) (Workload, error) {
		return d.ports.Workloads.Create(ctx, d.settings.workload(t))
	})
	switch {
	case err == nil:
		d.count(CountLaunches, 1)
		return d.launched(ctx, t, made.UID)
	case errors.Is(err, ErrThrottled):
		return d.unclaim(ctx, t)
	case errors.Is(err, ErrRejected):
		return d.reject(ctx, t)
	case errors.Is(err, ErrUnavailable):
		return false // nothing happened; the same create again, later
	}
	return d.adopt(ctx, t) // the name is taken, or the reply was lost: read by name, then decide
}

// workload is the object for a task's current attempt.
func (s Settings) workload(t Task) Workload {
	return Workload{
		Name:     WorkloadName(t.Spec.ID),
		Task:     t.Spec.ID,
		Attempt:  t.Attempt.Number,
		Token:    t.Attempt.Token,
		OnDemand: t.Spec.OnDemand(),
		Deadline: s.deadline(t.Spec),
		Grace:    s.PodGrace,
		Restarts: s.PlatformRetries,
		Work:     t.Spec.Work,
		Held:     true,
		Owns:     t.Spec.Work.Launcher,
	}
}

// deadline is the workflow deadline of one task.
func (s Settings) deadline(t Spec) time.Duration {
	if t.Deadline > 0 {
		return t.Deadline
	}
	return s.WorkflowDeadline
}

// adopt decides by what stands under the task's name.
func (d *dispatcher) adopt(ctx context.Context, t Task) bool {
	if !d.ready(ctx) {
		return false
	}
	found, err := bounded(ctx, &d.elector, d.settings.CreateTimeout, func(ctx context.Context) (Workload, error) {
		return d.ports.Workloads.Get(ctx, WorkloadName(t.Spec.ID))
	})
	switch {
	case err != nil:
		return false // absent: create again under the same name; unknown: look again
	case found.Token == t.Attempt.Token:
		d.count(CountAdopted, 1)
		return d.launched(ctx, t, found.UID)
	case found.Token > t.Attempt.Token:
		return true // this claim was superseded; its successor launches
	}
	d.retire(ctx, found)
	return false
}

// retire removes the object of an earlier attempt: it must be gone before its name is free.
func (d *dispatcher) retire(ctx context.Context, old Workload) {
	if !d.ready(ctx) {
		return
	}
	if !old.Deleting {
		_, _ = bounded(ctx, &d.elector, d.settings.CreateTimeout, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, d.ports.Workloads.Delete(ctx, old.Name, old.UID, false)
		})
	}
	if old.State.Ended() && old.Held && d.ready(ctx) {
		_, _ = bounded(ctx, &d.elector, d.settings.CreateTimeout, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, d.ports.Workloads.Release(ctx, old.Name, old.UID)
		})
	}
}

func (d *dispatcher) launched(ctx context.Context, t Task, uid UID) bool {
	return d.record(ctx, func(ctx context.Context) (Task, error) {
		return d.ports.Store.Launched(ctx, d.term, t.Ref(), uid)
	})
}

// unclaim gives the task back for as long as it has been waiting: the wait doubles by itself, and needs no memory.
func (d *dispatcher) unclaim(ctx context.Context, t Task) bool {
	age := t.Attempt.ClaimedAt.Sub(t.SubmittedAt)
	wait := min(max(age, d.settings.Backoff), d.settings.MaxBackoff)
	return d.record(ctx, func(ctx context.Context) (Task, error) {
		return d.ports.Store.Unclaim(ctx, d.term, t.Ref(), wait)
	})
}

func (d *dispatcher) reject(ctx context.Context, t Task) bool {
	return d.record(ctx, func(ctx context.Context) (Task, error) {
		return d.ports.Store.Reject(ctx, d.term, t.Ref())
	})
}

// record writes one conclusion; a conflict means that somebody else drew theirs first.
func (d *dispatcher) record(ctx context.Context, write func(context.Context) (Task, error)) bool {
	if !d.ready(ctx) {
		return false
	}
	_, err := bounded(ctx, &d.elector, d.settings.StoreTimeout, write)
	if err != nil {
		d.failed(err)
	}
	return err == nil || errors.Is(err, ErrConflict)
}
