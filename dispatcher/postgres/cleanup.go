package postgres

import (
	"context"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

const observe = `
UPDATE tasks t SET version = t.version + 1, observed = @observed, observed_version = @observed_version
WHERE (t.phase = 'running' OR t.phase IN ('pending', 'needs-attention') AND t.cleanup_at IS NOT NULL) AND` + unmoved + returning

// Observe implements dispatcher.Recovery.
func (s *Store) Observe(ctx context.Context, t dispatcher.Term, ref dispatcher.Ref, o dispatcher.Observation) (dispatcher.Task, error) {
	c := recoveryWrite("observe", t, ref)
	c.statement, c.args["observed"], c.args["observed_version"] = observe, string(o.State), int64(o.Version)
	return s.write(ctx, c)
}

const cleaned = `
UPDATE tasks t SET version = t.version + 1, cleanup_at = NULL,
	phase      = CASE WHEN done THEN 'cancelled' ELSE phase END,
	reason     = CASE WHEN done THEN 'cancelled' ELSE reason END,
	ended_at   = CASE WHEN done THEN now ELSE ended_at END,
	not_before = CASE WHEN done THEN NULL ELSE not_before END,
	remedy     = CASE WHEN done THEN '' ELSE remedy END
FROM (SELECT desired = 'cancel' AND phase IN ('pending', 'needs-attention') AS done FROM tasks WHERE id = @id) AS waited,
	squall_now() AS now
WHERE t.cleanup_at IS NOT NULL AND` + unmoved + returning

// Cleaned implements dispatcher.Recovery. A cancel that waited for the cleanup is done with it.
func (s *Store) Cleaned(ctx context.Context, t dispatcher.Term, ref dispatcher.Ref) (dispatcher.Task, error) {
	c := recoveryWrite("cleaned", t, ref)
	c.statement = cleaned
	return s.write(ctx, c)
}

const postpone = `
UPDATE tasks t SET version = t.version + 1, cleanup_at = squall_now() + @wait::bigint * interval '1 microsecond'
WHERE t.cleanup_at IS NOT NULL AND` + unmoved + returning

// Postpone implements dispatcher.Recovery.
func (s *Store) Postpone(ctx context.Context, t dispatcher.Term, ref dispatcher.Ref, wait time.Duration) (dispatcher.Task, error) {
	c := recoveryWrite("postpone", t, ref)
	c.statement, c.args["wait"] = postpone, micros(wait)
	return s.write(ctx, c)
}
