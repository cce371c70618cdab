package memory

import (
	"context"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// Requeue implements dispatcher.Recovery.
func (s *Store) Requeue(_ context.Context, t dispatcher.Term, ref dispatcher.Ref, why dispatcher.Reason) (dispatcher.Task, error) {
	w := recoveryWrite("requeue", t, ref)
	r, err := s.attempting(w)
	if err != nil {
		return dispatcher.Task{}, err
	}
	if !failure(why) && !disruption(why) {
		return dispatcher.Task{}, w.refused(dispatcher.ErrRejected)
	}
	now := s.now()
	after := *r
	s.endAttempt(&after, why, now)
	return s.commit(r, &after, now), nil
}

// Conclude implements dispatcher.Recovery.
func (s *Store) Conclude(_ context.Context, t dispatcher.Term, ref dispatcher.Ref, why dispatcher.Reason) (dispatcher.Task, error) {
	w := recoveryWrite("conclude", t, ref)
	r, err := s.attempting(w)
	if err != nil {
		return dispatcher.Task{}, err
	}
	switch why {
	case dispatcher.ReasonDeadline, dispatcher.ReasonStartDeadline:
	case dispatcher.ReasonCancelled:
		if !r.cancelling() {
			return dispatcher.Task{}, w.refused(dispatcher.ErrConflict)
		}
	default:
		return dispatcher.Task{}, w.refused(dispatcher.ErrRejected)
	}
	now := s.now()
	after := *r
	after.CleanupAt = now
	after.endOr(dispatcher.Failed, why, now)
	return s.commit(r, &after, now), nil
}

// attempting returns the write's row if, on top of unmoved, it has an attempt that can be ended.
func (s *Store) attempting(w write) (*row, error) {
	r, err := s.unmoved(w)
	if err != nil {
		return nil, err
	}
	if r.Phase != dispatcher.Running {
		return nil, w.refused(dispatcher.ErrConflict)
	}
	return r, nil
}

// failure tells that an attempt which ended so is charged to the failure budget.
func failure(why dispatcher.Reason) bool {
	return why == dispatcher.ReasonWorkFailed || why == dispatcher.ReasonNoResult
}

// disruption tells that it is charged to the disruption budget: never to the failures, because the work
// is not to blame for an attempt that was taken from it or never began.
func disruption(why dispatcher.Reason) bool {
	return why == dispatcher.ReasonLost || why == dispatcher.ReasonDisrupted || why == dispatcher.ReasonStartTimeout
}

// endAttempt charges the ended attempt and says what becomes of the task: Cancelled when that was the goal,
// NeedsAttention when the budget is spent, else pending again.
func (s *Store) endAttempt(r *row, why dispatcher.Reason, now time.Time) {
	r.Activity = dispatcher.Idle
	r.CleanupAt = now
	if r.cancelling() {
		r.end(dispatcher.Cancelled, dispatcher.ReasonCancelled, now)
		return
	}
	spent, wait := s.charge(r, why)
	if spent != dispatcher.ReasonNone {
		r.end(dispatcher.NeedsAttention, spent, now)
		return
	}
	r.Phase, r.Reason = dispatcher.Pending, why
	r.NotBefore = now.Add(wait)
}

// charge counts the ended attempt. It returns which budget is spent by it, if one is, and how long the next
// attempt waits: a failure backs off further each time, a disruption does not wait, and an attempt that
// never began waits once, since what kept it from starting is likely still there.
func (s *Store) charge(r *row, why dispatcher.Reason) (spent dispatcher.Reason, wait time.Duration) {
	if failure(why) {
		r.Failures++
		if r.Failures >= orDefault(r.Spec.MaxFailures, s.settings.MaxFailures) {
			spent = dispatcher.ReasonFailuresSpent
		}
		return spent, backoff(s.settings, r.Failures)
	}
	r.Disruptions++
	if r.Disruptions > orDefault(r.Spec.MaxDisruptions, s.settings.MaxDisruptions) {
		spent = dispatcher.ReasonDisruptionsSpent
	}
	if why == dispatcher.ReasonStartTimeout {
		wait = s.settings.Backoff
	}
	return spent, wait
}

// orDefault returns the task's own budget if it has one.
func orDefault(own, settings int) int {
	if own > 0 {
		return own
	}
	return settings
}

// backoff is the wait after the n-th failure: doubled each time, up to MaxBackoff.
func backoff(s dispatcher.Settings, n int) time.Duration {
	wait := s.Backoff
	for i := 1; i < n && wait < s.MaxBackoff; i++ {
		wait *= 2
	}
	return min(wait, s.MaxBackoff)
}
