package memory

import (
	"context"
	"fmt"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

const roleCount = 2

// terms is the leadership of one role.
type terms struct {
	current dispatcher.Epoch // whose writes count; 0: nobody has led yet
	granted dispatcher.Epoch // the last one handed out
}

// roleIndex numbers the roles; false for a role that does not exist.
func roleIndex(r dispatcher.Role) (int, bool) {
	switch r {
	case dispatcher.RoleDispatcher:
		return 0, true
	case dispatcher.RoleReconciler:
		return 1, true
	}
	return 0, false
}

// Now implements dispatcher.Terms.
func (s *Store) Now(context.Context) (time.Time, error) { return s.now(), nil }

// Lead implements dispatcher.Terms.
func (s *Store) Lead(_ context.Context, r dispatcher.Role, i dispatcher.InstanceID) (dispatcher.Term, error) {
	n, known := roleIndex(r)
	if !known {
		return dispatcher.Term{}, fmt.Errorf("lead as %q: %w", r, dispatcher.ErrRejected)
	}
	if s.KeepUndo {
		c := s.undo.add(s.now())
		c.role, c.epoch = n, s.terms[n].current
	}
	s.terms[n].granted++
	s.terms[n].current = s.terms[n].granted
	return dispatcher.Term{Role: r, Epoch: s.terms[n].current, Instance: i}, nil
}

// Confirm implements dispatcher.Terms.
func (s *Store) Confirm(_ context.Context, t dispatcher.Term) (time.Time, error) {
	if !s.leads(t, t.Role) {
		return time.Time{}, fmt.Errorf("confirm term %d of the %s: %w", t.Epoch, t.Role, dispatcher.ErrFenced)
	}
	return s.now(), nil
}

// Current returns the role's current epoch, 0 before the first term.
func (s *Store) Current(r dispatcher.Role) dispatcher.Epoch {
	n, known := roleIndex(r)
	if !known {
		return 0
	}
	return s.terms[n].current
}

// leads tells whether the term is the role's current one.
func (s *Store) leads(t dispatcher.Term, r dispatcher.Role) bool {
	return t.Role == r && t.Epoch != 0 && t.Epoch == s.Current(r)
}

// write is a leader's conditional write.
type write struct {
	verb string
	term dispatcher.Term
	role dispatcher.Role // whose write it is
	ref  dispatcher.Ref
}

// launchWrite and recoveryWrite are the writes of the two roles.
func launchWrite(verb string, t dispatcher.Term, ref dispatcher.Ref) write {
	return write{verb: verb, term: t, role: dispatcher.RoleDispatcher, ref: ref}
}

func recoveryWrite(verb string, t dispatcher.Term, ref dispatcher.Ref) write {
	return write{verb: verb, term: t, role: dispatcher.RoleReconciler, ref: ref}
}

func (w write) refused(err error) error { return refused(w.verb, w.ref.ID, err) }

// find returns the write's row if the term leads and the row exists: in this order, since a fenced
// writer learns nothing about rows.
func (s *Store) find(w write) (*row, error) {
	if !s.leads(w.term, w.role) {
		return nil, w.refused(dispatcher.ErrFenced)
	}
	r := s.rows[w.ref.ID]
	if r == nil {
		return nil, w.refused(dispatcher.ErrNotFound)
	}
	return r, nil
}

// unmoved returns the write's row if, on top of find, it is exactly as its writer read it.
func (s *Store) unmoved(w write) (*row, error) {
	r, err := s.find(w)
	if err != nil {
		return nil, err
	}
	if r.Attempt.Token != w.ref.Token || r.Version != w.ref.Version {
		return nil, w.refused(dispatcher.ErrConflict)
	}
	return r, nil
}
