package postgres

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/dispatchertest"
)

// lossy is a store whose connections can be lost, with one that cannot be beside it on the same database.
type lossy struct {
	*testing.T
	ctx   context.Context
	wire  *wire
	store *Store // over the wire
	other *Store
	disp  dispatcher.Term
	rec   dispatcher.Term
}

func newLossy(t *testing.T) *lossy {
	t.Helper()
	l := &lossy{T: t, ctx: t.Context(), wire: &wire{edit: planted()}}
	url := newTables(t)
	l.store = openAt(t, url, dispatchertest.DiffSettings(), l.wire.install)
	l.other = openAt(t, url, dispatchertest.DiffSettings())
	l.empty()
	return l
}

// empty leaves nothing but two leaders.
func (l *lossy) empty() {
	l.Helper()
	l.other.run(l, "DELETE FROM tasks")
	l.disp, l.rec = l.lead(dispatcher.RoleDispatcher), l.lead(dispatcher.RoleReconciler)
}

func (l *lossy) lead(r dispatcher.Role) dispatcher.Term {
	l.Helper()
	term, err := l.other.Lead(l.ctx, r, "test")
	l.ok(err)
	return term
}

func (l *lossy) ok(err error) {
	l.Helper()
	if err != nil {
		l.Fatal(err)
	}
}

func (l *lossy) must(t dispatcher.Task, err error) dispatcher.Task {
	l.Helper()
	l.ok(err)
	return t
}

func (l *lossy) is(err, want error) {
	l.Helper()
	if !errors.Is(err, want) {
		l.Fatalf("got error %v, want %v", err, want)
	}
}

func (l *lossy) equal(what string, got, want any) {
	l.Helper()
	if got != want {
		l.Fatalf("%s is %v, want %v", what, got, want)
	}
}

func (l *lossy) read(id dispatcher.TaskID) dispatcher.Task {
	l.Helper()
	return l.must(l.other.Read(l.ctx, id))
}

// lost makes a call that loses its connection, and waits until the server has noticed.
func (l *lossy) lost(how loss, call func() error) {
	l.Helper()
	l.wire.lose(how)
	want := dispatcher.ErrUnknown
	if how == unsent || how == beforeAll {
		want = dispatcher.ErrUnavailable
	}
	err := call()
	l.is(err, want)
	l.equal("unknown", dispatcher.Unknown(err), want == dispatcher.ErrUnknown)
	l.other.run(l, "BEGIN; LOCK TABLE leadership, tasks; COMMIT")
}

// bring returns a new task in the given activity, or pending.
func (l *lossy) bring(to dispatcher.Activity) dispatcher.Task {
	l.Helper()
	id := dispatcher.TaskID(fmt.Sprint("task-", time.Now().UnixNano()))
	t := l.must(l.other.Submit(l.ctx, dispatcher.Spec{ID: id}))
	if to == dispatcher.Idle {
		return t
	}
	_, err := l.other.Claim(l.ctx, l.disp, 100)
	l.ok(err)
	if t = l.read(id); to == dispatcher.Launching {
		return t
	}
	if t = l.must(l.other.Launched(l.ctx, l.disp, t.Ref(), "uid")); to == dispatcher.Launched {
		return t
	}
	return l.must(l.other.Start(l.ctx, ticket(t)))
}

func ticket(t dispatcher.Task) dispatcher.Ticket {
	return dispatcher.Ticket{ID: t.Spec.ID, Token: t.Attempt.Token, Workload: "uid"}
}

// losses are the ways in which a write can be lost around its commit, and whether it is applied.
var losses = []struct {
	name    string
	how     loss
	applied bool
}{
	{"the connection is lost before COMMIT", beforeAll, false},
	{"COMMIT cannot be sent", unsent, false},
	{"COMMIT is lost", notApplied, false},
	{"the reply to COMMIT is lost", withoutWord, true},
}

// TestLostCommits follows the table "what each failure leads to" of package dispatcher.
func TestLostCommits(t *testing.T) {
	t.Parallel()
	l := newLossy(t)
	for _, c := range lossCases {
		for _, way := range losses {
			t.Run(c.name+"/"+way.name, func(t *testing.T) {
				in := *l
				in.T = t
				in.empty()
				c.run(&in, way.how, way.applied)
			})
		}
	}
}

var lossCases = []struct {
	name string
	run  func(l *lossy, how loss, applied bool)
}{
	{"Claim is taken over by the next one, same token", func(l *lossy, how loss, applied bool) {
		l.bring(dispatcher.Launched) // not to be claimed
		before := l.bring(dispatcher.Idle)
		l.lost(how, func() error { _, err := l.store.Claim(l.ctx, l.disp, 100); return err })
		row := l.read(before.Spec.ID)
		l.equal("claimed", row.Attempt.Number, number(applied))
		next, err := l.store.Claim(l.ctx, l.disp, 100)
		l.ok(err)
		l.equal("rows of the next claim", len(next), 1)
		l.equal("attempt", next[0].Attempt.Number, 1)
		if applied {
			l.equal("token", next[0].Attempt.Token, row.Attempt.Token)
		}
		l.must(l.store.Launched(l.ctx, l.disp, next[0].Ref(), "uid"))
	}},
	{"Claim is taken over by the next leader", func(l *lossy, how loss, applied bool) {
		before := l.bring(dispatcher.Idle)
		l.lost(how, func() error { _, err := l.store.Claim(l.ctx, l.disp, 100); return err })
		row := l.read(before.Spec.ID)
		successor := l.lead(dispatcher.RoleDispatcher)
		next, err := l.store.Claim(l.ctx, successor, 100)
		l.ok(err)
		l.equal("rows of the next leader's first claim", len(next), 1)
		l.equal("epoch", next[0].Attempt.Epoch, successor.Epoch)
		if applied {
			l.equal("token", next[0].Attempt.Token, row.Attempt.Token)
		}
		_, err = l.store.Launched(l.ctx, l.disp, row.Ref(), "uid")
		l.is(err, dispatcher.ErrFenced)
		l.must(l.store.Launched(l.ctx, successor, next[0].Ref(), "uid"))
	}},
	{"Launched is repeated", func(l *lossy, how loss, applied bool) {
		before := l.bring(dispatcher.Launching)
		launch := func() (dispatcher.Task, error) { return l.store.Launched(l.ctx, l.disp, before.Ref(), "uid") }
		l.lost(how, func() error { _, err := launch(); return err })
		l.repeated(before, applied, launch)
	}},
	{"Start is asked again, and binds one object once", func(l *lossy, how loss, applied bool) {
		before := l.bring(dispatcher.Launching)
		k := ticket(before)
		start := func() (dispatcher.Task, error) { return l.store.Start(l.ctx, k) }
		l.lost(how, func() error { _, err := start(); return err })
		started := l.repeated(before, applied, start)
		l.equal("activity", started.Activity, dispatcher.Executing)
		k.Workload = "uid-other"
		_, err := l.store.Start(l.ctx, k)
		l.is(err, dispatcher.ErrRefused)
	}},
	{"Finish is asked again, a success counts once", func(l *lossy, how loss, applied bool) {
		before := l.bring(dispatcher.Executing)
		finish := func() (dispatcher.Task, error) {
			return l.store.Finish(l.ctx, ticket(before), dispatcher.ResultSucceeded)
		}
		l.lost(how, func() error { _, err := finish(); return err })
		done := l.repeated(before, applied, finish)
		l.equal("phase", done.Phase, dispatcher.Succeeded)
	}},
	{"Finish is asked again, a failure is charged once", func(l *lossy, how loss, applied bool) {
		before := l.bring(dispatcher.Executing)
		finish := func() (dispatcher.Task, error) { return l.store.Finish(l.ctx, ticket(before), dispatcher.ResultFailed) }
		l.lost(how, func() error { _, err := finish(); return err })
		done := l.repeated(before, applied, finish)
		l.equal("failures", done.Failures, 1)
	}},
	{"Requeue shows in the next sweep, charged once", func(l *lossy, how loss, applied bool) {
		before := l.bring(dispatcher.Executing)
		l.lost(how, func() error { _, err := l.store.Requeue(l.ctx, l.rec, before.Ref(), dispatcher.ReasonLost); return err })
		seen := l.sweep(before.Spec.ID)
		again, err := l.store.Requeue(l.ctx, l.rec, before.Ref(), dispatcher.ReasonLost)
		if applied {
			l.equal("phase in the sweep", seen.Phase, dispatcher.Pending)
			l.is(err, dispatcher.ErrConflict)
			again = l.read(before.Spec.ID)
		} else {
			l.equal("row in the sweep", seen, before)
			l.ok(err)
		}
		l.equal("disruptions", again.Disruptions, 1)
		l.equal("owing", again.CleanupAt.IsZero(), false)
	}},
	{"Cleaned is a conflict when it was applied", func(l *lossy, how loss, applied bool) {
		before := l.must(l.other.Finish(l.ctx, ticket(l.bring(dispatcher.Executing)), dispatcher.ResultSucceeded))
		l.lost(how, func() error { _, err := l.store.Cleaned(l.ctx, l.rec, before.Ref()); return err })
		_, err := l.store.Cleaned(l.ctx, l.rec, before.Ref())
		if applied {
			l.is(err, dispatcher.ErrConflict)
		} else {
			l.ok(err)
		}
		l.equal("owing", l.read(before.Spec.ID).CleanupAt.IsZero(), true)
	}},
	{"Submit is repeated", func(l *lossy, how loss, applied bool) {
		spec := dispatcher.Spec{ID: dispatcher.TaskID(fmt.Sprint("new-", how)), MaxFailures: 7}
		l.lost(how, func() error { _, err := l.store.Submit(l.ctx, spec); return err })
		_, err := l.other.Read(l.ctx, spec.ID)
		l.equal("there", err == nil, applied)
		l.equal("version", l.must(l.store.Submit(l.ctx, spec)).Version, uint64(1))
	}},
	{"Lead is repeated, with a larger epoch", func(l *lossy, how loss, _ bool) {
		l.lost(how, func() error { _, err := l.store.Lead(l.ctx, dispatcher.RoleReconciler, "test"); return err })
		next := l.lead(dispatcher.RoleReconciler)
		l.equal("larger", next.Epoch > l.rec.Epoch, true)
		_, err := l.store.Confirm(l.ctx, next)
		l.ok(err)
		_, err = l.store.Confirm(l.ctx, l.rec)
		l.is(err, dispatcher.ErrFenced)
	}},
}

// repeated demands that a lost call which is made again is accepted, and that it wrote once in all.
func (l *lossy) repeated(before dispatcher.Task, applied bool, call func() (dispatcher.Task, error)) dispatcher.Task {
	l.Helper()
	between := l.read(before.Spec.ID)
	l.equal("applied", between != before, applied)
	after := l.must(call())
	l.equal("writes", after.Version, before.Version+1)
	l.equal("row", l.read(before.Spec.ID), after)
	if applied {
		l.equal("row", after, between)
	}
	return after
}

// sweep returns the task as the reconciler's next sweep finds it.
func (l *lossy) sweep(id dispatcher.TaskID) dispatcher.Task {
	l.Helper()
	page, err := l.store.Scan(l.ctx, dispatcher.Scan{})
	l.ok(err)
	for _, t := range page.Tasks {
		if t.Spec.ID == id {
			return t
		}
	}
	l.Fatalf("task %s is not in the sweep", id)
	return dispatcher.Task{}
}

func number(applied bool) int {
	if applied {
		return 1
	}
	return 0
}
