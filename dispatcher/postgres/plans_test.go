package postgres

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/squall-chaos/squall/dispatcher/dispatchertest"
)

// TestEveryStatementHasItsIndex asks the server how it would execute each statement on a table of which most rows are over and
// done with, without knowing the arguments: as it does from the sixth time on.
func TestEveryStatementHasItsIndex(t *testing.T) {
	t.Parallel()
	store := openAt(t, newTables(t), dispatchertest.DiffSettings())
	store.run(t, manyTasks)
	store.run(t, "ANALYZE")
	for name, statement := range map[string]string{
		"claim": claim, "lock": lockTask, "read": selectTask, "cancel": cancel, "resume": resume, "launched": launched, "unclaim": unclaim,
		"reject": reject, "observe": observe, "requeue": requeue, "conclude": conclude, "cleaned": cleaned, "postpone": postpone,
		"start": start, "heartbeat": heartbeat, "finish": finishSucceeded, "finish as failed": finishFailed,
		"scan": needsLook, "scan cancels": needsLookCancels, "health": health,
		"view needs_attention": "SELECT * FROM needs_attention", "view in_flight": "SELECT * FROM in_flight",
	} {
		if plan := explain(t, store, statement); strings.Contains(plan, "Seq Scan on tasks") {
			t.Errorf("%s reads the whole table:\n%s", name, plan)
		}
	}
	if plan := explain(t, store, "SELECT FROM tasks WHERE failures = 17"); !strings.Contains(plan, "Seq Scan on tasks") {
		t.Errorf("this test would not notice:\n%s", plan)
	}
}

// manyTasks are ten thousand tasks, one in a hundred of each kind that something has to be done about.
const manyTasks = `
INSERT INTO tasks (id, start_deadline_ns, deadline_ns, max_failures, max_disruptions, work, submitted_at, start_by,
	phase, desired, activity, token, attempt, workload, claimed_at, ended_at, cleanup_at, remedy)
SELECT 'task-' || n, 0, 0, 0, 0, '{}', now() - n * interval '1 second', CASE WHEN n % 7 = 0 THEN now() END,
	CASE WHEN kind = 'done' THEN 'succeeded' ELSE kind END,
	CASE WHEN kind = 'running' AND n % 5 = 0 THEN 'cancel' ELSE 'run' END,
	CASE WHEN kind <> 'running' THEN 'idle' WHEN n % 3 = 0 THEN 'launching' ELSE 'executing' END,
	n, 1, 'uid', now(),
	CASE WHEN kind IN ('done', 'needs-attention') THEN now() END,
	CASE WHEN kind = 'done' AND n % 50 = 0 THEN now() END,
	CASE WHEN kind = 'needs-attention' THEN 'resume' ELSE '' END
FROM generate_series(1, 10000) AS n,
	LATERAL (SELECT CASE n % 100 WHEN 1 THEN 'pending' WHEN 2 THEN 'running' WHEN 3 THEN 'needs-attention' ELSE 'done' END AS kind) AS kinds`

// explain returns the plan for arguments that are not known yet.
func explain(t *testing.T, s *Store, statement string) string {
	t.Helper()
	conn, err := s.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	sql, args, err := pgx.NamedArgs{}.RewriteQuery(t.Context(), conn.Conn(), statement, nil)
	if err != nil {
		t.Fatal(err)
	}
	nulls := ""
	if len(args) > 0 {
		nulls = "(" + strings.TrimSuffix(strings.Repeat("NULL,", len(args)), ",") + ")"
	}
	for _, command := range []string{"SET plan_cache_mode = force_generic_plan", "PREPARE planned AS " + sql} {
		if _, err := conn.Exec(t.Context(), command); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := conn.Query(t.Context(), "EXPLAIN EXECUTE planned"+nulls, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "DEALLOCATE planned"); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(strings.Join(lines, "\n"))
}
