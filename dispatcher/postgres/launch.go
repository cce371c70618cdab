package postgres

import (
	"context"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

const launched = `
UPDATE tasks t SET version = t.version + 1, activity = 'launched', workload = @workload
WHERE t.id = @id AND t.token = @token AND @workload <> '' AND t.phase = 'running' AND t.workload = '' AND ` + leads + returning

// Launched implements dispatcher.Claims. It is conditional on the token and the object, not on the version, see package
// memory.
func (s *Store) Launched(ctx context.Context, t dispatcher.Term, ref dispatcher.Ref, workload dispatcher.UID) (dispatcher.Task, error) {
	c := launchWrite("launched", t, ref)
	delete(c.args, "version")
	c.statement, c.args["workload"] = launched, string(workload)
	c.unwritten = func(r *row) error {
		if ref.Token > 0 && r.Attempt.Token == ref.Token && workload != "" && r.Attempt.Workload == workload {
			return nil
		}
		return dispatcher.ErrConflict
	}
	return s.write(ctx, c)
}

// unlaunched is the condition that, on top of unmoved, the workload is not known to exist.
const unlaunched = ` t.phase = 'running' AND t.activity = 'launching' AND` + unmoved

const unclaim = `
UPDATE tasks t SET version = t.version + 1, activity = 'idle', observed = '', observed_version = 0,
	attempt = attempt - 1, token = 0, epoch = 0, workload = '', claimed_at = NULL, started_at = NULL, heartbeat_at = NULL,
	phase      = CASE WHEN desired = 'cancel' THEN 'cancelled' ELSE 'pending' END,
	reason     = CASE WHEN desired = 'cancel' THEN 'cancelled' ELSE reason END,
	ended_at   = CASE WHEN desired = 'cancel' THEN now END,
	not_before = CASE WHEN desired = 'cancel' THEN NULL ELSE now + @wait::bigint * interval '1 microsecond' END
FROM squall_now() AS now
WHERE` + unlaunched + returning

// Unclaim implements dispatcher.Claims.
func (s *Store) Unclaim(ctx context.Context, t dispatcher.Term, ref dispatcher.Ref, wait time.Duration) (dispatcher.Task, error) {
	c := launchWrite("unclaim", t, ref)
	c.statement, c.args["wait"] = unclaim, micros(wait)
	return s.write(ctx, c)
}

const reject = `
UPDATE tasks t SET version = t.version + 1, activity = 'idle', ended_at = now, not_before = NULL, cleanup_at = now,
	phase  = CASE WHEN desired = 'cancel' THEN 'cancelled' ELSE 'failed' END,
	reason = CASE WHEN desired = 'cancel' THEN 'cancelled' ELSE 'rejected' END
FROM squall_now() AS now
WHERE` + unlaunched + returning

// Reject implements dispatcher.Claims.
func (s *Store) Reject(ctx context.Context, t dispatcher.Term, ref dispatcher.Ref) (dispatcher.Task, error) {
	c := launchWrite("reject", t, ref)
	c.statement = reject
	return s.write(ctx, c)
}
