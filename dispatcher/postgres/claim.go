package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/squall-chaos/squall/dispatcher"
)

// claim does three things to three disjoint sets of rows, all of them found by an index and none of them locked by
// somebody else: it fails what missed its start deadline, takes over what an earlier claim left half launched, and starts
// new attempts of what is due, the longest due first.
//
// The IDs go through arrays because a planner that does not know the limit takes it for a tenth of the table, and then
// joins by reading all of it; of an array it expects ten. Tokens are drawn after the sort and the lock: in the order of the
// answer, and larger than those of the task's earlier attempts.
const claim = `
WITH clock AS MATERIALIZED (SELECT squall_now() AS now),
late AS (
	UPDATE tasks t SET version = t.version + 1, phase = 'failed', reason = 'start deadline missed', ended_at = now, not_before = NULL
	FROM clock, unnest(ARRAY(
		SELECT id FROM tasks
		WHERE phase = 'pending' AND desired = 'run' AND start_by < (SELECT now FROM clock) AND ` + leads + `
		FOR UPDATE SKIP LOCKED
	)) AS late(id)
	WHERE t.id = late.id
),
half AS MATERIALIZED (
	SELECT id, place FROM unnest(ARRAY(
		SELECT id FROM tasks
		WHERE phase = 'running' AND activity = 'launching' AND desired = 'run' AND ` + leads + `
		ORDER BY id LIMIT @limit
		FOR UPDATE SKIP LOCKED
	)) WITH ORDINALITY AS half(id, place)
),
room AS MATERIALIZED (
	SELECT GREATEST(0, LEAST(
		@limit - (SELECT count(*) FROM half),
		CASE WHEN @most::bigint > 0 THEN @most - (SELECT count(*) FROM tasks WHERE phase = 'running') END
	)) AS places
),
due AS MATERIALIZED (
	SELECT id, place, nextval('task_token') AS token FROM unnest(ARRAY(
		SELECT id FROM tasks
		WHERE phase = 'pending' AND desired = 'run' AND cleanup_at IS NULL AND due_at <= (SELECT now FROM clock)
			AND (start_by IS NULL OR start_by >= (SELECT now FROM clock)) AND ` + leads + `
		ORDER BY due_at, id LIMIT (SELECT places FROM room)
		FOR UPDATE SKIP LOCKED
	)) WITH ORDINALITY AS due(id, place)
),
taken_over AS (
	UPDATE tasks t SET version = t.version + 1, epoch = @epoch
	FROM half WHERE t.id = half.id
	RETURNING 0 AS turn, half.place,` + columns + `
),
begun AS (
	UPDATE tasks t SET version = t.version + 1, phase = 'running', activity = 'launching', not_before = NULL,
		observed = '', observed_version = 0, attempt = t.attempt + 1, token = due.token, epoch = @epoch, workload = '',
		claimed_at = now, started_at = NULL, heartbeat_at = NULL
	FROM due, clock WHERE t.id = due.id
	RETURNING 1 AS turn, due.place,` + columns + `
)
SELECT` + columns + ` FROM (SELECT * FROM taken_over UNION ALL SELECT * FROM begun) t ORDER BY turn, place`

// queueForTerm is lockTerm for claims that have to count what is in flight: one after the other.
const queueForTerm = `SELECT role FROM leadership WHERE role = @role AND epoch = @epoch FOR NO KEY UPDATE`

// Claim implements dispatcher.Claims.
func (s *Store) Claim(ctx context.Context, t dispatcher.Term, limit int) ([]dispatcher.Task, error) {
	l := leader{t, dispatcher.RoleDispatcher}
	lock := lockTerm
	if s.settings.MaxInFlight > 0 {
		lock = queueForTerm
	}
	args := l.args()
	args["limit"], args["most"] = max(0, limit), s.settings.MaxInFlight
	var tasks []dispatcher.Task
	leading := false
	err := s.transact(ctx, func(b *pgx.Batch) {
		b.Queue(lock, l.args()).Query(anyRow(&leading))
		b.Queue(tagged("claim", claim), args).Query(func(rows pgx.Rows) (err error) { // its snapshot is taken after the lock
			tasks, err = scanRows(rows, nil)
			return err
		})
	}, func() bool { return leading })
	if err == nil && !leading {
		err = dispatcher.ErrFenced
	}
	if err != nil {
		return nil, fmt.Errorf("claim in term %d of the %s: %w", t.Epoch, t.Role, err)
	}
	return tasks, nil
}
