package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/squall-chaos/squall/dispatcher"
)

// needsLook selects a page of what is a reconciler's business: running rows and rows whose cleanup is due, each by its
// own index. No row is both.
const needsLook = `
SELECT` + columns + ` FROM (
	(SELECT * FROM tasks WHERE phase = 'running' AND id > @after ORDER BY id LIMIT @limit)
	UNION ALL
	(SELECT * FROM tasks WHERE phase <> 'running' AND cleanup_at <= @now AND id > @after ORDER BY id LIMIT @limit)
) t ORDER BY t.id LIMIT @limit`

// needsLookCancels selects those of them that are requested cancels which are not done.
const needsLookCancels = `
SELECT` + columns + ` FROM tasks t
WHERE desired = 'cancel' AND phase IN ('pending', 'running', 'needs-attention') AND (phase = 'running' OR cleanup_at <= @now) AND id > @after
ORDER BY id LIMIT @limit`

// Scan implements dispatcher.Recovery. Limit 0 is no limit. The clock is read first: a row can only be newer than the
// page says, never older.
func (s *Store) Scan(ctx context.Context, q dispatcher.Scan) (dispatcher.Page, error) {
	pool, statement := s.pool, needsLook
	if q.Stale && s.Replica != nil {
		pool = s.Replica
	}
	if q.CancelsOnly {
		statement = needsLookCancels
	}
	var limit *int // NULL is no limit; one more row than asked for shows that there is more
	if q.Limit > 0 {
		n := q.Limit + 1
		limit = &n
	}
	page := dispatcher.Page{}
	err := pool.AcquireFunc(ctx, func(conn *pgxpool.Conn) error {
		if err := conn.QueryRow(ctx, taggedPart("scan", `SELECT squall_now()`)).Scan((*stamp)(&page.Now)); err != nil {
			return err
		}
		rows, err := conn.Query(ctx, tagged("scan", statement), pgx.StrictNamedArgs{"after": string(q.After), "now": page.Now, "limit": limit})
		if err != nil {
			return err
		}
		defer rows.Close()
		page.Tasks, err = scanRows(rows, nil)
		return err
	})
	if err != nil {
		return dispatcher.Page{}, fmt.Errorf("scan: %w", beforeCommit(err))
	}
	if q.Limit > 0 && len(page.Tasks) > q.Limit {
		page.Tasks, page.More = page.Tasks[:q.Limit], true
	}
	return page, nil
}
