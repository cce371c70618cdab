package memory

import (
	"context"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// Submit implements dispatcher.Clients. A repeated Submit returns the row as it is by now.
func (s *Store) Submit(_ context.Context, spec dispatcher.Spec) (dispatcher.Task, error) {
	if spec.ID == "" {
		return dispatcher.Task{}, refused("submit", spec.ID, dispatcher.ErrRejected)
	}
	if r := s.rows[spec.ID]; r != nil {
		if r.Spec != spec {
			return dispatcher.Task{}, refused("submit", spec.ID, dispatcher.ErrConflict)
		}
		return r.Task, nil
	}
	now := s.now()
	return s.insert(dispatcher.Task{
		Spec:        spec,
		Desired:     dispatcher.DesiredRun,
		Phase:       dispatcher.Pending,
		Activity:    dispatcher.Idle,
		SubmittedAt: now,
	}, now), nil
}

// Cancel implements dispatcher.Clients. It is done at once where nothing is left to stop or to remove, and
// else recorded as the goal, from which only Cancelled follows. Where it waits for a cleanup that was
// postponed, that becomes due.
func (s *Store) Cancel(_ context.Context, id dispatcher.TaskID) (dispatcher.Task, error) {
	r := s.rows[id]
	if r == nil {
		return dispatcher.Task{}, refused("cancel", id, dispatcher.ErrNotFound)
	}
	if r.Phase.Terminal() || r.cancelling() {
		return r.Task, nil
	}
	now := s.now()
	after := *r
	after.Desired, after.CancelRequestedAt = dispatcher.DesiredCancel, now
	after.hasten(now)
	if r.Phase != dispatcher.Running && r.CleanupAt.IsZero() {
		after.end(dispatcher.Cancelled, dispatcher.ReasonCancelled, now)
	}
	return s.commit(r, &after, now), nil
}

// Resume implements dispatcher.Clients. Both budgets start afresh; Reason stays until the next requeue, because
// it says why a person had to look. A cancel that waits for cleanup is not taken back: Conflict.
func (s *Store) Resume(_ context.Context, id dispatcher.TaskID) (dispatcher.Task, error) {
	r := s.rows[id]
	if r == nil {
		return dispatcher.Task{}, refused("resume", id, dispatcher.ErrNotFound)
	}
	if !r.wants(dispatcher.NeedsAttention) {
		return dispatcher.Task{}, refused("resume", id, dispatcher.ErrConflict)
	}
	now := s.now()
	after := *r
	after.Phase, after.EndedAt, after.NotBefore = dispatcher.Pending, time.Time{}, now
	after.Failures, after.Disruptions, after.Remedy = 0, 0, ""
	after.hasten(now)
	return s.commit(r, &after, now), nil
}

// Read implements dispatcher.Clients.
func (s *Store) Read(_ context.Context, id dispatcher.TaskID) (dispatcher.Task, error) {
	r := s.rows[id]
	if r == nil {
		return dispatcher.Task{}, refused("read", id, dispatcher.ErrNotFound)
	}
	return r.Task, nil
}

// hasten makes an owed cleanup due now: something waits for it.
func (r *row) hasten(now time.Time) {
	if r.CleanupAt.After(now) {
		r.CleanupAt = now
	}
}
