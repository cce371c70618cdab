package memory

import (
	"context"
	"fmt"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// Claim implements dispatcher.Claims. Pending tasks that missed their start deadline are Failed first, all of
// them, so that a full house (MaxInFlight) or a small limit does not hide them.
func (s *Store) Claim(_ context.Context, t dispatcher.Term, limit int) ([]dispatcher.Task, error) {
	if !s.leads(t, dispatcher.RoleDispatcher) {
		return nil, fmt.Errorf("claim in term %d of the %s: %w", t.Epoch, t.Role, dispatcher.ErrFenced)
	}
	now := s.now()
	s.failLate(now)
	most := min(limit, s.indexes[launching].len()+s.indexes[claimable].len())
	if most <= 0 {
		return nil, nil
	}
	claimed := s.page(most)
	claimed = s.takeOver(claimed, t.Epoch, limit, now)
	return s.claimDue(claimed, t.Epoch, limit, now), nil
}

// failLate gives up on pending tasks that can no longer begin in time.
func (s *Store) failLate(now time.Time) {
	for {
		r := s.indexes[deadlined].first()
		if r == nil || !r.tooLate(now) {
			return
		}
		after := *r
		after.end(dispatcher.Failed, dispatcher.ReasonStartDeadline, now)
		s.commit(r, &after, now)
	}
}

// takeOver claims what an earlier claim left half launched. The token stays: the object may exist, and
// then it is the right one.
func (s *Store) takeOver(claimed []dispatcher.Task, e dispatcher.Epoch, limit int, now time.Time) []dispatcher.Task {
	rows := s.indexes[launching].entries()
	for _, entry := range rows[:min(limit, len(rows))] {
		after := *entry.row
		after.Attempt.Epoch = e
		claimed = append(claimed, s.commit(entry.row, &after, now))
	}
	return claimed
}

// claimDue starts new attempts of pending tasks, the longest due first.
func (s *Store) claimDue(claimed []dispatcher.Task, e dispatcher.Epoch, limit int, now time.Time) []dispatcher.Task {
	for len(claimed) < limit && s.room() {
		r := s.indexes[claimable].first()
		if r == nil || r.dueAt().After(now) {
			break
		}
		s.token++
		after := *r
		after.Phase, after.Activity = dispatcher.Running, dispatcher.Launching
		after.NotBefore = time.Time{}
		after.Observed = dispatcher.Observation{}
		after.Attempt = dispatcher.Attempt{
			Number:    r.Attempt.Number + 1,
			Token:     s.token,
			Epoch:     e,
			ClaimedAt: now,
		}
		claimed = append(claimed, s.commit(r, &after, now))
	}
	return claimed
}

// room tells whether one more task may run.
func (s *Store) room() bool {
	return s.settings.MaxInFlight == 0 || s.indexes[running].len() < s.settings.MaxInFlight
}

// dueAt is when a pending task may be claimed.
func (r *row) dueAt() time.Time {
	if r.NotBefore.IsZero() {
		return r.SubmittedAt
	}
	return r.NotBefore
}

// Launched implements dispatcher.Claims. It is conditional on the token and the object, not on the version:
// between the claim and this call the worker may have started (and even finished), and a client may have
// cancelled. Both move the version, neither makes it less true that this object executes the attempt. If the
// attempt is bound to the object already there is nothing to write.
func (s *Store) Launched(_ context.Context, t dispatcher.Term, ref dispatcher.Ref, workload dispatcher.UID) (dispatcher.Task, error) {
	w := launchWrite("record launch of", t, ref)
	r, err := s.find(w)
	if err != nil {
		return dispatcher.Task{}, err
	}
	if ref.Token == 0 || r.Attempt.Token != ref.Token || workload == "" {
		return dispatcher.Task{}, w.refused(dispatcher.ErrConflict)
	}
	if r.Attempt.Workload == workload {
		return r.Task, nil
	}
	if r.Phase != dispatcher.Running || r.Attempt.Workload != "" {
		return dispatcher.Task{}, w.refused(dispatcher.ErrConflict)
	}
	after := *r
	after.Activity = dispatcher.Launched
	after.Attempt.Workload = workload
	return s.commit(r, &after, s.now()), nil
}

// Unclaim implements dispatcher.Claims. The token is used up but no longer the row's: should an object of it turn
// up in spite of all, its worker is refused. The attempt's number is free again, so that numbers count
// launches. Nothing is owed, since nothing was made; and so a cancel that came in between is done.
func (s *Store) Unclaim(_ context.Context, t dispatcher.Term, ref dispatcher.Ref, wait time.Duration) (dispatcher.Task, error) {
	r, err := s.unlaunched(launchWrite("unclaim", t, ref))
	if err != nil {
		return dispatcher.Task{}, err
	}
	now := s.now()
	after := *r
	after.Attempt = dispatcher.Attempt{Number: r.Attempt.Number - 1}
	after.Observed = dispatcher.Observation{}
	if r.cancelling() {
		after.end(dispatcher.Cancelled, dispatcher.ReasonCancelled, now)
	} else {
		after.Phase, after.Activity = dispatcher.Pending, dispatcher.Idle
		after.NotBefore = now.Add(wait)
	}
	return s.commit(r, &after, now), nil
}

// Reject implements dispatcher.Claims. Cleanup is owed: the refused call may have been a repeat of one
// whose reply was lost, so an object may exist after all.
func (s *Store) Reject(_ context.Context, t dispatcher.Term, ref dispatcher.Ref) (dispatcher.Task, error) {
	r, err := s.unlaunched(launchWrite("reject", t, ref))
	if err != nil {
		return dispatcher.Task{}, err
	}
	now := s.now()
	after := *r
	after.CleanupAt = now
	after.endOr(dispatcher.Failed, dispatcher.ReasonRejected, now)
	return s.commit(r, &after, now), nil
}

// unlaunched returns the write's row if, on top of unmoved, its workload is not known to exist.
func (s *Store) unlaunched(w write) (*row, error) {
	r, err := s.unmoved(w)
	if err != nil {
		return nil, err
	}
	if r.Phase != dispatcher.Running || r.Activity != dispatcher.Launching {
		return nil, w.refused(dispatcher.ErrConflict)
	}
	return r, nil
}
