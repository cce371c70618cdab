package memory

import (
	"context"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// Observe implements dispatcher.Recovery. There is something to observe while the attempt runs or its workload
// awaits removal; what was last seen of a terminal task is part of its record and stays.
func (s *Store) Observe(_ context.Context, t dispatcher.Term, ref dispatcher.Ref, o dispatcher.Observation) (dispatcher.Task, error) {
	w := recoveryWrite("observe", t, ref)
	r, err := s.unmoved(w)
	if err != nil {
		return dispatcher.Task{}, err
	}
	if r.Phase.Terminal() || r.Phase != dispatcher.Running && r.CleanupAt.IsZero() {
		return dispatcher.Task{}, w.refused(dispatcher.ErrConflict)
	}
	after := *r
	after.Observed = o
	return s.commit(r, &after, s.now()), nil
}

// Cleaned implements dispatcher.Recovery. A cancel that waited for the cleanup is done with it.
func (s *Store) Cleaned(_ context.Context, t dispatcher.Term, ref dispatcher.Ref) (dispatcher.Task, error) {
	r, err := s.owing(recoveryWrite("record cleanup of", t, ref))
	if err != nil {
		return dispatcher.Task{}, err
	}
	now := s.now()
	after := *r
	after.CleanupAt = time.Time{}
	if r.cancelling() {
		after.end(dispatcher.Cancelled, dispatcher.ReasonCancelled, now)
	}
	return s.commit(r, &after, now), nil
}

// Postpone implements dispatcher.Recovery.
func (s *Store) Postpone(_ context.Context, t dispatcher.Term, ref dispatcher.Ref, wait time.Duration) (dispatcher.Task, error) {
	r, err := s.owing(recoveryWrite("postpone cleanup of", t, ref))
	if err != nil {
		return dispatcher.Task{}, err
	}
	now := s.now()
	after := *r
	after.CleanupAt = now.Add(wait)
	return s.commit(r, &after, now), nil
}

// owing returns the write's row if, on top of unmoved, it owes cleanup.
func (s *Store) owing(w write) (*row, error) {
	r, err := s.unmoved(w)
	if err != nil {
		return nil, err
	}
	if r.CleanupAt.IsZero() {
		return nil, w.refused(dispatcher.ErrConflict)
	}
	return r, nil
}
