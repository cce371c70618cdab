package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/dispatchertest"
)

func TestWhatErrorsMean(t *testing.T) {
	for _, c := range []struct {
		err            error
		before, commit error
	}{
		{io.ErrUnexpectedEOF, dispatcher.ErrUnavailable, dispatcher.ErrUnknown},
		{context.DeadlineExceeded, dispatcher.ErrUnavailable, dispatcher.ErrUnknown},
		{pgx.ErrTxCommitRollback, dispatcher.ErrUnavailable, dispatcher.ErrUnavailable},
		{said("ERROR", "40001"), dispatcher.ErrUnavailable, dispatcher.ErrUnavailable},
		{said("ERROR", "40P01"), dispatcher.ErrUnavailable, dispatcher.ErrUnavailable},
		{said("ERROR", "40003"), dispatcher.ErrUnavailable, dispatcher.ErrUnknown}, // statement_completion_unknown
		{said("ERROR", "08007"), dispatcher.ErrUnavailable, dispatcher.ErrUnknown}, // transaction_resolution_unknown
		{said("ERROR", "57014"), dispatcher.ErrUnavailable, dispatcher.ErrUnavailable},
		{said("ERROR", "42P01"), dispatcher.ErrUnavailable, dispatcher.ErrUnavailable},
		{said("ERROR", "25006"), dispatcher.ErrUnavailable, dispatcher.ErrUnavailable}, // a standby
		{said("ERROR", "22021"), dispatcher.ErrRejected, dispatcher.ErrRejected},
		{said("ERROR", "23514"), dispatcher.ErrRejected, dispatcher.ErrRejected},
		{said("FATAL", "57P01"), dispatcher.ErrUnavailable, dispatcher.ErrUnknown},
		{said("PANIC", "53100"), dispatcher.ErrUnavailable, dispatcher.ErrUnknown},
	} {
		if got := beforeCommit(c.err); !errors.Is(got, c.before) || !errors.Is(got, c.err) {
			t.Errorf("%v before COMMIT is %v, want %v", c.err, got, c.before)
		}
		if got := atCommit(c.err); !errors.Is(got, c.commit) || !errors.Is(got, c.err) {
			t.Errorf("%v at COMMIT is %v, want %v", c.err, got, c.commit)
		}
	}
}

func said(severity, code string) error {
	return &pgconn.PgError{Severity: "FEHLER", SeverityUnlocalized: severity, Code: code}
}

func TestNobodyListens(t *testing.T) {
	_, err := Open(t.Context(), "postgres://127.0.0.1:1/x", dispatchertest.DiffSettings())
	if !errors.Is(err, dispatcher.ErrUnavailable) || !dispatcher.Definite(err) {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), "postgres://127.0.0.1:none/x", dispatchertest.DiffSettings()); !errors.Is(err, dispatcher.ErrRejected) {
		t.Fatal(err)
	}
}

func TestCallerHasGivenUpBefore(t *testing.T) {
	t.Parallel()
	store := openAt(t, newTables(t), dispatchertest.DiffSettings())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := store.Submit(ctx, dispatcher.Spec{ID: "a"})
	if !errors.Is(err, dispatcher.ErrUnavailable) || !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

// TestServerRefuses has the server refuse a write that is in order, in the statement and at the COMMIT.
func TestServerRefuses(t *testing.T) {
	t.Parallel()
	l := newLossy(t)
	for _, c := range []struct {
		name, trigger, do string
		want              error
	}{
		{"serialization failure", "BEFORE UPDATE", raise("40001"), dispatcher.ErrUnavailable},
		{"deadlock", "BEFORE UPDATE", raise("40P01"), dispatcher.ErrUnavailable},
		{"connection killed", "BEFORE UPDATE", kill, dispatcher.ErrUnavailable},
		{"serialization failure at COMMIT", "AFTER UPDATE", raise("40001"), dispatcher.ErrUnavailable},
		{"connection killed at COMMIT", "AFTER UPDATE", kill, dispatcher.ErrUnknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := *l
			in.T = t
			in.empty()
			before := in.bring(dispatcher.Executing)
			in.other.run(t, refuseWrites(c.trigger, c.do))
			_, err := in.store.Finish(in.ctx, ticket(before), dispatcher.ResultSucceeded)
			in.other.run(t, "DROP FUNCTION refuse CASCADE")
			in.is(err, c.want)
			in.equal("row", in.read(before.Spec.ID), before)
			in.must(in.store.Finish(in.ctx, ticket(before), dispatcher.ResultSucceeded))
		})
	}
}

const kill = `PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(1);`

func raise(code string) string { return fmt.Sprintf(`RAISE 'refused' USING ERRCODE = '%s';`, code) }

// refuseWrites plants a trigger; one of AFTER is deferred to the COMMIT.
func refuseWrites(when, do string) string {
	kind, deferred := "TRIGGER", ""
	if when == "AFTER UPDATE" {
		kind, deferred = "CONSTRAINT TRIGGER", "DEFERRABLE INITIALLY DEFERRED"
	}
	return fmt.Sprintf(`
		CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN %s RETURN NEW; END $$;
		CREATE %s refuse %s ON tasks %s FOR EACH ROW EXECUTE FUNCTION refuse();`, do, kind, when, deferred)
}
