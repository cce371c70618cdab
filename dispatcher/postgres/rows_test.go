package postgres

import (
	"errors"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/dispatchertest"
)

// TestEverySpecFieldIsStored fails when a field is added to Spec or Work and not to the table.
func TestEverySpecFieldIsStored(t *testing.T) {
	t.Parallel()
	store := openAt(t, newTables(t), dispatchertest.DiffSettings())
	spec := dispatcher.Spec{ID: "a"}
	fill(t, reflect.ValueOf(&spec).Elem())
	stored := submit(t, store, spec)
	if stored.Spec != spec {
		t.Fatalf("stored\n%+v\nas\n%+v", spec, stored.Spec)
	}
}

// fill sets every field to something that is not its zero value, durations to what no interval of Postgres can hold.
func fill(t *testing.T, v reflect.Value) {
	for _, field := range v.Fields() {
		switch field.Kind() {
		case reflect.String:
			field.SetString("Ünïcode 🌩 'quoted' \\")
		case reflect.Bool:
			field.SetBool(true)
		case reflect.Int, reflect.Int64:
			field.SetInt(math.MaxInt64 - 1)
		case reflect.Struct:
			fill(t, field)
		default:
			t.Fatalf("a field of kind %v: say here how to fill it", field.Kind())
		}
	}
}

func submit(t testing.TB, s *Store, spec dispatcher.Spec) dispatcher.Task {
	t.Helper()
	if _, err := s.Submit(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	task, err := s.Read(t.Context(), spec.ID)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

// TestUnstorableDataIsRejected: Postgres' text has no NUL, and is valid UTF-8.
func TestUnstorableDataIsRejected(t *testing.T) {
	t.Parallel()
	store := openAt(t, newTables(t), dispatchertest.DiffSettings())
	for _, id := range []dispatcher.TaskID{"a\x00b", "a\xff"} {
		if _, err := store.Submit(t.Context(), dispatcher.Spec{ID: id}); !errors.Is(err, dispatcher.ErrRejected) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// TestLargestNumbers: tokens, versions and epochs that were never handed out match nothing, however large they are, and a
// resourceVersion is kept bit by bit.
func TestLargestNumbers(t *testing.T) {
	t.Parallel()
	l := newLossy(t)
	before := l.bring(dispatcher.Executing)
	for _, ref := range []dispatcher.Ref{
		{ID: before.Spec.ID, Token: math.MaxUint64, Version: before.Version},
		{ID: before.Spec.ID, Token: before.Attempt.Token, Version: math.MaxUint64},
	} {
		_, err := l.store.Requeue(l.ctx, l.rec, ref, dispatcher.ReasonLost)
		l.is(err, dispatcher.ErrConflict)
	}
	l.is(l.store.Heartbeat(l.ctx, dispatcher.Ticket{ID: before.Spec.ID, Token: math.MaxUint64, Workload: "uid"}), dispatcher.ErrRefused)
	_, err := l.store.Confirm(l.ctx, dispatcher.Term{Role: dispatcher.RoleDispatcher, Epoch: math.MaxUint64})
	l.is(err, dispatcher.ErrFenced)
	seen := dispatcher.Observation{State: dispatcher.SightAlive, Version: math.MaxUint64}
	l.must(l.store.Observe(l.ctx, l.rec, before.Ref(), seen))
	l.equal("observed", l.read(before.Spec.ID).Observed, seen)
}

// TestWaitsAreNotCutShort: the database counts microseconds, durations nanoseconds.
func TestWaitsAreNotCutShort(t *testing.T) {
	for wait, want := range map[time.Duration]int64{0: 0, 1: 1, 1000: 1, 1001: 2, time.Hour: 3_600_000_000, -1: 0, -1000: -1} {
		if got := micros(wait); got != want {
			t.Errorf("%d ns are %d us, want %d", wait, got, want)
		}
	}
}

// TestTicketNamesAnObject: a worker that does not say which object it is binds nothing.
func TestTicketNamesAnObject(t *testing.T) {
	t.Parallel()
	l := newLossy(t)
	before := l.bring(dispatcher.Launching)
	_, err := l.store.Start(l.ctx, dispatcher.Ticket{ID: before.Spec.ID, Token: before.Attempt.Token})
	l.is(err, dispatcher.ErrRefused)
	l.equal("row", l.read(before.Spec.ID), before)
}
