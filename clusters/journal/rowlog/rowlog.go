// Package rowlog has Postgres itself log every change of dispatcher/postgres's tables: in the transaction that makes the
// change, so that the log has what was committed and nothing else, whoever learned of it.
//
// It takes no locks beyond those of the rows, and the role of the system under test needs no rights to it. What it costs is one more
// row to insert for every change.
package rowlog

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/journal"
	"github.com/squall-chaos/squall/dispatcher"
)

// Conn is a connection or a pool.
type Conn interface {
	Begin(ctx context.Context) (pgx.Tx, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

//go:embed install.sql
var install string

// Install creates the log in a schema of its own, for the tables in the search path of the connection. Done again it changes
// nothing. The connection's role must own the tables.
func Install(ctx context.Context, conn Conn) error {
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, install) // without arguments: several statements at once
		return err
	})
	var refusal *pgconn.PgError
	if errors.As(err, &refusal) && refusal.Code == "42P01" { // undefined_table
		return fmt.Errorf("install the log of rows: there are no tables to log; migrate the database first: %w", err)
	}
	if err != nil {
		return fmt.Errorf("install the log of rows: %w", err)
	}
	return nil
}

// page is about how many changes one Read returns.
const page = 5000

// read selects whole transactions, and only those before the oldest one that is still open: whatever commits later has a
// larger number, so that nobody who goes on from the last one misses a change.
const read = `
SELECT transaction, at, backend, application, relation, deleted, content FROM squall_record.changes
WHERE transaction > $1 AND transaction < pg_snapshot_xmin(pg_current_snapshot())::text::bigint
ORDER BY transaction FETCH FIRST %d ROWS WITH TIES`

// Read returns the changes of the next transactions after the one given: 0 at first, then the Write.Transaction of the last event. No
// event means that there is nothing new yet.
func Read(ctx context.Context, conn Conn, after uint64) ([]journal.Event, error) {
	rows, err := conn.Query(ctx, fmt.Sprintf(read, page), int64(after))
	if err != nil {
		return nil, fmt.Errorf("read the log of rows: %w", err)
	}
	events, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return nil, fmt.Errorf("read the log of rows: %w", err)
	}
	return events, nil
}

// snapshot tells the oldest transaction that is open, and the first that has not begun.
const snapshot = `SELECT pg_snapshot_xmin(s)::text::bigint, pg_snapshot_xmax(s)::text::bigint FROM pg_current_snapshot() s`

// breath is between two looks at transactions that are still open.
const breath = 50 * time.Millisecond

// ReadAll returns the changes of every transaction that has begun by now. It waits for those that are open: while one is, Read
// holds back what was committed after it.
func ReadAll(ctx context.Context, conn Conn) ([]journal.Event, error) {
	_, until, err := look(ctx, conn)
	if err != nil {
		return nil, err
	}
	var all []journal.Event
	for after := uint64(0); ; {
		oldest, _, err := look(ctx, conn)
		if err != nil {
			return all, err
		}
		events, err := Read(ctx, conn, after)
		if err != nil {
			return all, err
		}
		if all = append(all, events...); len(events) > 0 {
			after = events[len(events)-1].Write.Transaction
			continue
		}
		if oldest >= until {
			return all, nil
		}
		select {
		case <-ctx.Done():
			return all, fmt.Errorf("read the log of rows: transaction %d is still open: %w", oldest, ctx.Err())
		case <-time.After(breath):
		}
	}
}

func look(ctx context.Context, conn Conn) (oldest, next int64, err error) {
	rows, err := conn.Query(ctx, snapshot)
	if err == nil {
		_, err = pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (struct{}, error) { return struct{}{}, row.Scan(&oldest, &next) })
	}
	if err != nil {
		err = fmt.Errorf("look which transactions are open: %w", err)
	}
	return oldest, next, err
}

// content is a row of either table, as far as it is recorded.
type content struct {
	Role  string `json:"role"`
	Epoch uint64 `json:"epoch"`

	ID               string     `json:"id"`
	Version          uint64     `json:"version"`
	Desired          string     `json:"desired"`
	Phase            string     `json:"phase"`
	Activity         string     `json:"activity"`
	Observed         string     `json:"observed"`
	ObservedVersion  int64      `json:"observed_version"` // the bits of an uint64
	Token            uint64     `json:"token"`
	Workload         string     `json:"workload"`
	Failures         int32      `json:"failures"`
	Disruptions      int32      `json:"disruptions"`
	Reason           string     `json:"reason"`
	StartedAt        *time.Time `json:"started_at"`
	HeartbeatAt      *time.Time `json:"heartbeat_at"`
	EndedAt          *time.Time `json:"ended_at"`
	CleanupAt        *time.Time `json:"cleanup_at"`
	DueAt            *time.Time `json:"due_at"`
	FinishedToken    uint64     `json:"finished_token"`
	FinishedWorkload string     `json:"finished_workload"`
	FinishedResult   string     `json:"finished_result"`
}

func scan(row pgx.CollectableRow) (journal.Event, error) {
	var transaction int64
	var relation string
	var deleted bool
	var text []byte
	var c content
	e := journal.Event{Write: &journal.Write{}}
	if err := row.Scan(&transaction, &e.At, &e.Write.Backend, &e.Write.Application, &relation, &deleted, &text); err != nil {
		return e, err
	}
	if err := json.Unmarshal(text, &c); err != nil {
		return e, fmt.Errorf("a row of %s: %w", relation, err)
	}
	e.At = e.At.UTC()
	e.Write.Transaction, e.Write.Version = uint64(transaction), c.Version
	switch {
	case relation == "leadership":
		e.Write.Role, e.Epoch = c.Role, c.Epoch
	case deleted:
		e.Kind, e.Task = history.Row, c.ID
	default:
		c.describe(&e)
	}
	return e, nil
}

// describe fills in a task's row as the simulation records it.
func (c *content) describe(e *journal.Event) {
	phase := dispatcher.Phase(c.Phase)
	e.Kind, e.Task, e.Phase, e.Detail = history.Row, c.ID, clusters.PhaseOf(phase), c.Reason
	e.Cancelling, e.Cleanup = c.Desired == string(dispatcher.DesiredCancel), c.CleanupAt != nil
	e.Failures, e.Disruptions, e.Token, e.Epoch = c.Failures, c.Disruptions, c.Token, c.Epoch
	switch {
	case phase == dispatcher.Pending:
		e.Due = stamp(c.DueAt)
	case phase.Stopped():
		e.Due = stamp(c.CleanupAt)
	}
	w := e.Write
	w.Activity, w.Workload, w.Observed, w.ObservedVersion = c.Activity, c.Workload, c.Observed, uint64(c.ObservedVersion)
	w.StartedAt, w.HeartbeatAt, w.EndedAt, w.CleanupAt = stamp(c.StartedAt), stamp(c.HeartbeatAt), stamp(c.EndedAt), stamp(c.CleanupAt)
	w.Finished = journal.Finished{Token: c.FinishedToken, Workload: c.FinishedWorkload, Result: c.FinishedResult}
}

// stamp is the zero time for NULL.
func stamp(at *time.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return at.UTC()
}
