package dispatchertest

import (
	"errors"

	"github.com/squall-chaos/squall/dispatcher"
)

var termCases = []storeCase{
	{name: "lead/each term has a larger epoch", run: func(f *fixture) {
		for _, old := range []dispatcher.Term{f.disp, f.rec} {
			next, err := f.store.Lead(f.ctx, old.Role, "successor")
			f.ok(err)
			f.equal("role", next.Role, old.Role)
			f.equal("instance", next.Instance, dispatcher.InstanceID("successor"))
			if next.Epoch <= old.Epoch {
				f.Fatalf("epoch %d after %d", next.Epoch, old.Epoch)
			}
		}
	}},
	{name: "lead/an unknown role is rejected", run: func(f *fixture) {
		_, err := f.store.Lead(f.ctx, "janitor", "suite")
		f.is(err, dispatcher.ErrRejected)
	}},
	{name: "confirm/tells the clock to the leader alone", run: func(f *fixture) {
		old := f.disp
		lo := f.now()
		at, err := f.store.Confirm(f.ctx, f.disp)
		f.ok(err)
		f.stamped("clock", lo, at, 0)
		f.lead(dispatcher.RoleDispatcher)
		_, err = f.store.Confirm(f.ctx, old)
		f.is(err, dispatcher.ErrFenced)
		_, err = f.store.Confirm(f.ctx, f.rec)
		f.ok(err) // roles have terms of their own
		_, err = f.store.Confirm(f.ctx, dispatcher.Term{Role: dispatcher.RoleDispatcher})
		f.is(err, dispatcher.ErrFenced)
	}},
	{name: "clock/goes on", run: func(f *fixture) {
		lo := f.now()
		f.advance(minute)
		f.stamped("clock", lo, f.now(), minute)
	}},
	{name: "fence/every leader write", run: everyFence},
	{name: "fence/a claim", run: func(f *fixture) {
		before := f.submit("a")
		for _, term := range f.wrongTerms(dispatcher.RoleDispatcher) {
			_, err := f.store.Claim(f.ctx, term, 1)
			f.is(err, dispatcher.ErrFenced)
		}
		f.unchanged(before)
	}},
}

// leaderWrite is a conditional write of a leader, and the state in which it is accepted.
type leaderWrite struct {
	name  string
	role  dispatcher.Role
	state string
	call  func(f *fixture, t dispatcher.Term, r dispatcher.Ref) (dispatcher.Task, error)
}

var leaderWrites = []leaderWrite{
	{"Launched", dispatcher.RoleDispatcher, "launching", func(f *fixture, t dispatcher.Term, r dispatcher.Ref) (dispatcher.Task, error) {
		return f.store.Launched(f.ctx, t, r, "uid")
	}},
	{"Unclaim", dispatcher.RoleDispatcher, "launching", func(f *fixture, t dispatcher.Term, r dispatcher.Ref) (dispatcher.Task, error) {
		return f.store.Unclaim(f.ctx, t, r, minute)
	}},
	{"Reject", dispatcher.RoleDispatcher, "launching", func(f *fixture, t dispatcher.Term, r dispatcher.Ref) (dispatcher.Task, error) {
		return f.store.Reject(f.ctx, t, r)
	}},
	{"Observe", dispatcher.RoleReconciler, "executing", func(f *fixture, t dispatcher.Term, r dispatcher.Ref) (dispatcher.Task, error) {
		return f.store.Observe(f.ctx, t, r, dispatcher.Observation{State: dispatcher.SightAlive})
	}},
	{"Requeue", dispatcher.RoleReconciler, "executing", func(f *fixture, t dispatcher.Term, r dispatcher.Ref) (dispatcher.Task, error) {
		return f.store.Requeue(f.ctx, t, r, dispatcher.ReasonLost)
	}},
	{"Conclude", dispatcher.RoleReconciler, "executing", func(f *fixture, t dispatcher.Term, r dispatcher.Ref) (dispatcher.Task, error) {
		return f.store.Conclude(f.ctx, t, r, dispatcher.ReasonDeadline)
	}},
	{"Cleaned", dispatcher.RoleReconciler, "requeued", func(f *fixture, t dispatcher.Term, r dispatcher.Ref) (dispatcher.Task, error) {
		return f.store.Cleaned(f.ctx, t, r)
	}},
	{"Postpone", dispatcher.RoleReconciler, "requeued", func(f *fixture, t dispatcher.Term, r dispatcher.Ref) (dispatcher.Task, error) {
		return f.store.Postpone(f.ctx, t, r, minute)
	}},
}

// everyFence holds each write against each reason to refuse it, in the order in which they are judged.
func everyFence(f *fixture) {
	at := f.everywhere()
	for _, w := range leaderWrites {
		before := at[w.state]
		ref := before.Ref()
		current := f.disp
		if w.role == dispatcher.RoleReconciler {
			current = f.rec
		}
		missing := ref
		missing.ID = "nobody"
		for _, term := range f.wrongTerms(w.role) {
			w.refused(f, term, ref, dispatcher.ErrFenced)
			w.refused(f, term, missing, dispatcher.ErrFenced)
		}
		w.refused(f, current, missing, dispatcher.ErrNotFound)
		for _, moved := range moves(ref) {
			if w.name == "Launched" && moved.Token == ref.Token {
				continue // conditional on the token alone
			}
			w.refused(f, current, moved, dispatcher.ErrConflict)
		}
		f.unchanged(before)
	}
}

func (w leaderWrite) refused(f *fixture, t dispatcher.Term, r dispatcher.Ref, want error) {
	f.Helper()
	if _, err := w.call(f, t, r); err == nil {
		f.Fatalf("%s with term %v and ref %v was accepted, want %v", w.name, t, r, want)
	} else if !errors.Is(err, want) {
		f.Fatalf("%s with term %v and ref %v: got %v, want %v", w.name, t, r, err, want)
	}
}

// wrongTerms are terms that are not the current one of the role, though one was and one is that of the other role.
func (f *fixture) wrongTerms(r dispatcher.Role) []dispatcher.Term {
	current, former, other := f.disp, f.formerDisp, f.rec
	if r == dispatcher.RoleReconciler {
		current, former, other = f.rec, f.formerRec, f.disp
	}
	zero, future, borrowed := current, current, other
	zero.Epoch = 0
	future.Epoch += 1000
	borrowed.Epoch = current.Epoch
	return []dispatcher.Term{zero, former, future, other, borrowed}
}

// moves are references to the row as it is not.
func moves(r dispatcher.Ref) []dispatcher.Ref {
	older, newer, superseded, none, later := r, r, r, r, r
	older.Version--
	newer.Version++
	superseded.Token--
	none.Token = 0
	later.Token++
	return []dispatcher.Ref{older, newer, superseded, none, later}
}
