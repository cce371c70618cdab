package dispatcher

import (
	"context"
	"errors"
	"time"
)

// stepsMax bounds how far one task is taken in one pass: look, end, record, remove, release, confirm.
const stepsMax = 6

// settle takes one task, read at asOf, as far as it goes now, one look and one move at a time. It tells whether the
// pass may go on to the next task.
func (r *reconciler) settle(ctx context.Context, t Task, asOf, now time.Time) bool {
	began := r.ports.Clock.Elapsed()
	clock := func() time.Time { return now.Add(r.ports.Clock.Elapsed() - began) }
	for range stepsMax {
		if !r.ready(ctx) {
			return false
		}
		ev, err := r.witness.Look(ctx, t)
		if err != nil {
			return true // unknown: the next sweep looks again
		}
		if !r.ready(ctx) {
			return false
		}
		sent := clock()
		if news := r.observe(ctx, t, ev); news.Version != t.Version {
			t, asOf = news, sent
		}
		d := r.settings.decide(t, ev, asOf, clock())
		if d.move == wait || (d.move == requeue && r.budget == 0) {
			return true
		}
		sent = clock()
		next, err := r.act(ctx, t, ev, d)
		if err != nil {
			return !errors.Is(err, ErrFenced)
		}
		if d.move == cleaned || d.move == postpone {
			return true
		}
		if next.Version != t.Version {
			t, asOf = next, sent
		}
	}
	return true
}

// observe records a sighting that is news, for those who read the row. A failed write is no harm.
func (r *reconciler) observe(ctx context.Context, t Task, ev Evidence) Task {
	if t.Phase != Running || t.Observed.State == ev.Sighting {
		return t
	}
	o := Observation{State: ev.Sighting, Version: ev.Workload.Version}
	seen, err := bounded(ctx, &r.elector, r.settings.StoreTimeout, func(ctx context.Context) (Task, error) {
		return r.ports.Store.Observe(ctx, r.term, t.Ref(), o)
	})
	if err != nil {
		return t
	}
	return seen
}

// act carries out one move and returns the row after it.
func (r *reconciler) act(ctx context.Context, t Task, ev Evidence, d decision) (Task, error) {
	w, store := ev.Workload, r.ports.Store
	switch d.move {
	case requeue:
		r.budget--
		r.count(CountRequeues, 1)
		return r.write(ctx, func(ctx context.Context) (Task, error) { return store.Requeue(ctx, r.term, t.Ref(), d.why) })
	case conclude:
		return r.write(ctx, func(ctx context.Context) (Task, error) { return store.Conclude(ctx, r.term, t.Ref(), d.why) })
	case cleaned:
		return r.write(ctx, func(ctx context.Context) (Task, error) { return store.Cleaned(ctx, r.term, t.Ref()) })
	case postpone:
		return r.write(ctx, func(ctx context.Context) (Task, error) { return store.Postpone(ctx, r.term, t.Ref(), d.wait) })
	}
	return t, r.move(ctx, w, d.move)
}

// move changes the object.
func (r *reconciler) move(ctx context.Context, w Workload, m move) error {
	if m == remove || m == purge {
		if err := r.touch(ctx, func(ctx context.Context) error {
			return r.ports.Workloads.Delete(ctx, w.Name, w.UID, m == purge)
		}); err != nil {
			return err
		}
	}
	if m == release || (m == purge && w.Held) {
		return r.touch(ctx, func(ctx context.Context) error {
			return r.ports.Workloads.Release(ctx, w.Name, w.UID)
		})
	}
	return nil
}

// clearOrphan does for an object without a row what cleanup does for one with: as far as it goes now.
func (r *reconciler) clearOrphan(ctx context.Context, w Workload) {
	for range stepsMax {
		now, err := bounded(ctx, &r.elector, r.settings.StoreTimeout, r.ports.Store.Now)
		if err != nil || !r.ready(ctx) {
			return
		}
		seen, err := bounded(ctx, &r.elector, r.settings.CreateTimeout, func(ctx context.Context) (Workload, error) {
			return r.ports.Workloads.Get(ctx, w.Name)
		})
		if err != nil || seen.UID != w.UID || !r.ready(ctx) {
			return
		}
		d := r.settings.clear(seen, now)
		if d.move == wait || r.move(ctx, seen, d.move) != nil {
			return
		}
	}
}

func (r *reconciler) write(ctx context.Context, call func(context.Context) (Task, error)) (Task, error) {
	t, err := bounded(ctx, &r.elector, r.settings.StoreTimeout, call)
	r.refused(err)
	if errors.Is(err, ErrFenced) {
		r.stepDown()
	}
	return t, err
}

func (r *reconciler) touch(ctx context.Context, call func(context.Context) error) error {
	_, err := bounded(ctx, &r.elector, r.settings.CreateTimeout, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, call(ctx)
	})
	if errors.Is(err, ErrNotFound) {
		return nil // it is gone: what was wanted
	}
	return err
}
