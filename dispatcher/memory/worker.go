package memory

import (
	"context"

	"github.com/squall-chaos/squall/dispatcher"
)

// Start implements dispatcher.Workers. The first object that asks is bound to the attempt, whether or not
// Launched was recorded yet; every other one is refused from then on. How long ago the claim was does not matter:
// only the reconciler decides that an attempt took too long to begin, by ending it.
func (s *Store) Start(_ context.Context, k dispatcher.Ticket) (dispatcher.Task, error) {
	r := s.admitted(k)
	if r == nil || r.Attempt.Workload != "" && r.Attempt.Workload != k.Workload {
		return dispatcher.Task{}, refused("start", k.ID, dispatcher.ErrRefused)
	}
	if r.Activity == dispatcher.Executing {
		return r.Task, nil
	}
	now := s.now()
	if r.tooLate(now) {
		return dispatcher.Task{}, refused("start", k.ID, dispatcher.ErrRefused)
	}
	after := *r
	after.Activity = dispatcher.Executing
	after.Attempt.Workload = k.Workload
	after.Attempt.StartedAt = now
	return s.commit(r, &after, now), nil
}

// Heartbeat implements dispatcher.Workers. A refusal is how a cancel, or a successor, reaches the worker; it
// also stops one whose Start the store no longer knows, since its result would not count.
func (s *Store) Heartbeat(_ context.Context, k dispatcher.Ticket) error {
	r := s.admitted(k)
	if r == nil || !r.executedBy(k) {
		return refused("heartbeat of", k.ID, dispatcher.ErrRefused)
	}
	now := s.now()
	after := *r
	after.Attempt.HeartbeatAt = now
	s.commit(r, &after, now)
	return nil
}

// Finish implements dispatcher.Workers. A success that comes after a cancel was acknowledged is refused:
// the client was told first. A failure is charged as by Requeue.
func (s *Store) Finish(_ context.Context, k dispatcher.Ticket, result dispatcher.Result) (dispatcher.Task, error) {
	if r := s.rows[k.ID]; r != nil && k.Token != 0 && r.finished == (finished{k.Token, k.Workload, result}) {
		return r.Task, nil
	}
	r := s.admitted(k)
	if r == nil || !r.executedBy(k) {
		return dispatcher.Task{}, refused("finish", k.ID, dispatcher.ErrRefused)
	}
	now := s.now()
	after := *r
	after.finished = finished{k.Token, k.Workload, result}
	switch result {
	case dispatcher.ResultSucceeded:
		after.CleanupAt = now
		after.end(dispatcher.Succeeded, dispatcher.ReasonNone, now)
	case dispatcher.ResultFailed:
		s.endAttempt(&after, dispatcher.ReasonWorkFailed, now)
	default:
		return dispatcher.Task{}, refused("finish", k.ID, dispatcher.ErrRejected)
	}
	return s.commit(r, &after, now), nil
}

// admitted returns the ticket's row if the ticket is for its current, wanted attempt.
func (s *Store) admitted(k dispatcher.Ticket) *row {
	r := s.rows[k.ID]
	if r == nil || !r.wants(dispatcher.Running) || r.Attempt.Token != k.Token || k.Workload == "" {
		return nil
	}
	return r
}

// executedBy tells that the store let in the ticket's object, and no other, to execute the attempt.
func (r *row) executedBy(k dispatcher.Ticket) bool {
	return r.Activity == dispatcher.Executing && r.Attempt.Workload == k.Workload
}
