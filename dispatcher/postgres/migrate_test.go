package postgres

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/dispatchertest"
)

func execute(t *testing.T, url, statements string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if _, err := conn.Exec(t.Context(), statements); err != nil {
		t.Fatal(err)
	}
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	url := newSchema(t)
	if _, err := Open(t.Context(), url, dispatchertest.DiffSettings()); !errors.Is(err, ErrSchema) {
		t.Fatalf("opened without tables: %v", err)
	}
	var wait sync.WaitGroup
	for range 4 { // replicas that start at the same time
		wait.Go(func() {
			if err := Migrate(t.Context(), with(url, "default_transaction_isolation", "serializable")); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	store := openAt(t, url, dispatchertest.DiffSettings())
	submit(t, store, dispatcher.Spec{ID: "a"})
	if err := Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Read(t.Context(), "a"); err != nil {
		t.Fatalf("migrating again lost the row: %v", err)
	}
}

func TestDatabaseAheadOfTheProgramIsLeftAlone(t *testing.T) {
	t.Parallel()
	url := newTables(t)
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	execute(t, url, fmt.Sprintf("INSERT INTO squall_migrations VALUES (%d, 'of tomorrow')", len(files)+1))
	if err := Migrate(t.Context(), url); !errors.Is(err, ErrSchema) {
		t.Error(err)
	}
	if _, err := Open(t.Context(), url, dispatchertest.DiffSettings()); !errors.Is(err, ErrSchema) {
		t.Error(err)
	}
}

// TestFailedMigrationChangesNothing has a table of somebody else in the way.
func TestFailedMigrationChangesNothing(t *testing.T) {
	t.Parallel()
	url := newSchema(t)
	execute(t, url, "CREATE TABLE leadership (mine int)")
	if err := Migrate(t.Context(), url); err == nil {
		t.Fatal("it migrated over a table of somebody else")
	}
	execute(t, url, "DROP TABLE leadership")
	if err := Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
}

func TestTablesRefuseWhatTheProtocolDoes(t *testing.T) {
	t.Parallel()
	l := newLossy(t)
	l.bring(dispatcher.Executing)
	for _, nonsense := range []string{
		"cleanup_at = now()", "activity = 'idle'", "phase = 'succeeded'", "phase = 'lost'", "token = 0", "workload = ''",
		"remedy = 'pray'", "desired = 'maybe'",
	} {
		if _, err := l.other.pool.Exec(l.ctx, "UPDATE tasks SET "+nonsense); !unstorable(err) {
			t.Errorf("%s: %v", nonsense, err)
		}
	}
}

// TestPromotion: after a failover that lost commits nothing is handed out that was handed out before.
func TestPromotion(t *testing.T) {
	t.Parallel()
	l := newLossy(t)
	before := l.bring(dispatcher.Executing)
	l.other.run(t, "SELECT squall_promoted()")
	_, err := l.store.Confirm(l.ctx, l.disp)
	l.is(err, dispatcher.ErrFenced)
	_, err = l.store.Requeue(l.ctx, l.lead(dispatcher.RoleReconciler), before.Ref(), dispatcher.ReasonLost)
	l.is(err, dispatcher.ErrConflict)
	l.must(l.store.Finish(l.ctx, ticket(before), dispatcher.ResultSucceeded)) // the attempt itself goes on
	l.disp = l.lead(dispatcher.RoleDispatcher)
	after := l.bring(dispatcher.Launching)
	l.equal("larger tokens", after.Attempt.Token > before.Attempt.Token+1000, true)
	l.equal("larger epochs", l.disp.Epoch > before.Attempt.Epoch+1000, true)
	l.equal("larger versions", after.Version > before.Version+1000, true)
}

func TestWhatPeopleRead(t *testing.T) {
	t.Parallel()
	l := newLossy(t)
	running := l.bring(dispatcher.Executing)
	stopped := l.must(l.other.Submit(l.ctx, dispatcher.Spec{ID: "stopped", MaxFailures: 1}))
	claimed, err := l.other.Claim(l.ctx, l.disp, 1)
	l.ok(err)
	l.must(l.other.Start(l.ctx, ticket(claimed[0])))
	stopped = l.must(l.other.Finish(l.ctx, ticket(claimed[0]), dispatcher.ResultFailed))
	var id, reason, remedy string
	l.ok(l.other.pool.QueryRow(l.ctx, "SELECT id, reason, what_to_run FROM needs_attention").Scan(&id, &reason, &remedy))
	l.equal("needs attention", id+": "+reason+": "+remedy, "stopped: "+string(stopped.Reason)+": "+stopped.Remedy)
	l.ok(l.other.pool.QueryRow(l.ctx, "SELECT id, activity FROM in_flight").Scan(&id, &reason))
	l.equal("in flight", id+": "+reason, string(running.Spec.ID)+": executing")
}
