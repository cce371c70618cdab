package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/squall-chaos/squall/dispatcher"
)

// endAttempt charges the ended attempt of a task and says what becomes of it: cancelled when that was the goal, a
// stop when the budget is spent, else pending again after a wait. A failure backs off further each time; what a disruption
// waits is the caller's to say. The task's own budgets come before those of the settings.
const endAttempt = `
WITH charged AS (
	SELECT id, desired,
		failures + (desired = 'run' AND @failure::boolean)::int AS failures,
		disruptions + (desired = 'run' AND NOT @failure)::int AS disruptions,
		CASE WHEN max_failures > 0 THEN max_failures ELSE @max_failures END AS most_failures,
		CASE WHEN max_disruptions > 0 THEN max_disruptions ELSE @max_disruptions END AS most_disruptions
	FROM tasks WHERE id = @id
),
judged AS (
	SELECT *, CASE
		WHEN desired = 'cancel' THEN 'cancelled'
		WHEN @failure AND failures >= most_failures THEN 'failure budget spent'
		WHEN NOT @failure AND disruptions > most_disruptions THEN 'disruption budget spent'
		ELSE @why END AS reason
	FROM charged
),
outcome AS (
	SELECT id, failures, disruptions, reason,
		CASE reason
			WHEN 'cancelled' THEN 'cancelled'
			WHEN 'failure budget spent' THEN 'needs-attention'
			WHEN 'disruption budget spent' THEN 'needs-attention'
			ELSE 'pending' END AS phase,
		interval '1 microsecond' * CASE
			WHEN @failure THEN LEAST(@backoff::bigint * power(2, LEAST(failures - 1, 60)), @max_backoff::bigint)
			ELSE @wait::bigint END AS wait
	FROM judged
)
UPDATE tasks t SET version = t.version + 1, activity = 'idle', cleanup_at = now,
	phase = o.phase, reason = o.reason, failures = o.failures, disruptions = o.disruptions,
	remedy     = CASE WHEN o.phase = 'needs-attention' THEN @remedy ELSE '' END,
	ended_at   = CASE WHEN o.phase = 'pending' THEN NULL ELSE now END,
	not_before = CASE WHEN o.phase = 'pending' THEN now + o.wait END`

const requeue = endAttempt + `
FROM outcome o, squall_now() AS now
WHERE o.id = t.id AND t.phase = 'running' AND` + unmoved + returning

// chargeTo adds what endAttempt takes besides its conditions.
func (s *Store) chargeTo(args pgx.StrictNamedArgs, id dispatcher.TaskID, why dispatcher.Reason) {
	wait := int64(0)
	if why == dispatcher.ReasonStartTimeout {
		wait = micros(s.settings.Backoff) // what kept it from starting is likely still there
	}
	args["why"], args["failure"], args["remedy"] = string(why), failure(why), dispatcher.Remedy(id)
	args["max_failures"], args["max_disruptions"] = s.settings.MaxFailures, s.settings.MaxDisruptions
	args["wait"], args["backoff"], args["max_backoff"] = wait, micros(s.settings.Backoff), micros(s.settings.MaxBackoff)
}

// Requeue implements dispatcher.Recovery.
func (s *Store) Requeue(ctx context.Context, t dispatcher.Term, ref dispatcher.Ref, why dispatcher.Reason) (dispatcher.Task, error) {
	c := recoveryWrite("requeue", t, ref)
	s.chargeTo(c.args, ref.ID, why)
	return s.write(ctx, c.ending(ref, requeue, failure(why) || disruption(why)))
}

// failure tells that an attempt which ended so is charged to the failure budget.
func failure(why dispatcher.Reason) bool {
	return why == dispatcher.ReasonWorkFailed || why == dispatcher.ReasonNoResult
}

// disruption tells that it is charged to the disruption budget.
func disruption(why dispatcher.Reason) bool {
	return why == dispatcher.ReasonLost || why == dispatcher.ReasonDisrupted || why == dispatcher.ReasonStartTimeout
}

const conclude = `
UPDATE tasks t SET version = t.version + 1, activity = 'idle', ended_at = now, not_before = NULL, cleanup_at = now,
	phase  = CASE WHEN desired = 'cancel' THEN 'cancelled' ELSE 'failed' END,
	reason = CASE WHEN desired = 'cancel' THEN 'cancelled' ELSE @why END
FROM squall_now() AS now
WHERE t.phase = 'running' AND (@why::text <> 'cancelled' OR t.desired = 'cancel') AND` + unmoved + returning

// Conclude implements dispatcher.Recovery.
func (s *Store) Conclude(ctx context.Context, t dispatcher.Term, ref dispatcher.Ref, why dispatcher.Reason) (dispatcher.Task, error) {
	c := recoveryWrite("conclude", t, ref)
	c.args["why"] = string(why)
	known := why == dispatcher.ReasonDeadline || why == dispatcher.ReasonStartDeadline || why == dispatcher.ReasonCancelled
	return s.write(ctx, c.ending(ref, conclude, known))
}

// ending completes a change that ends the attempt by the statement. For a reason that the method does not know it is
// without one, and a row that it could have changed says Rejected.
func (c change) ending(ref dispatcher.Ref, statement string, known bool) change {
	if known {
		c.statement = statement
		return c
	}
	c.unwritten = func(r *row) error {
		if r.isUnmoved(ref) && r.Phase == dispatcher.Running {
			return dispatcher.ErrRejected
		}
		return dispatcher.ErrConflict
	}
	return c
}
