package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// health reads the rows that are not over and done with, each kind by its own index, so that the finished ones, which
// are most, cost nothing. The kinds are disjoint, and a pending row is of one of them (see the constraints of the table).
const health = `
SELECT squall_now(), min(claimed_at) FILTER (WHERE phase = 'running'),
	count(*) FILTER (WHERE phase = 'pending'),
	count(*) FILTER (WHERE phase = 'running'),
	count(*) FILTER (WHERE phase IN ('pending', 'running') AND failures > 1),
	count(*) FILTER (WHERE phase = 'needs-attention'),
	count(*) FILTER (WHERE cleanup_at <= (SELECT squall_now()))
FROM (
	SELECT phase, failures, claimed_at, cleanup_at FROM tasks WHERE phase = 'running'
	UNION ALL
	SELECT phase, failures, claimed_at, cleanup_at FROM tasks WHERE phase = 'pending' AND desired = 'run' AND cleanup_at IS NULL
	UNION ALL
	SELECT phase, failures, claimed_at, cleanup_at FROM tasks WHERE phase = 'needs-attention' AND cleanup_at IS NULL
	UNION ALL
	SELECT phase, failures, claimed_at, cleanup_at FROM tasks WHERE cleanup_at IS NOT NULL
) open`

// Health implements dispatcher.Recovery.
func (s *Store) Health(ctx context.Context) (dispatcher.Health, error) {
	var h dispatcher.Health
	var now, oldest stamp
	err := s.pool.QueryRow(ctx, tagged("health", health)).Scan(&now, &oldest, &h.Pending, &h.Running, &h.RepeatedFailures, &h.NeedsAttention, &h.CleanupOwed)
	if err != nil {
		return dispatcher.Health{}, fmt.Errorf("sum the rows up: %w", beforeCommit(err))
	}
	if h.Running > 0 {
		h.OldestRunning = time.Time(now).Sub(time.Time(oldest))
	}
	return h, nil
}
