package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/squall-chaos/squall/dispatcher"
)

// transact runs what queue puts into the batch as one transaction. It commits if wrote says so once all answers are
// there, and else rolls back. Both take one round trip.
func (s *Store) transact(ctx context.Context, queue func(*pgx.Batch), wrote func() bool) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return beforeCommit(err)
	}
	defer conn.Release() // one that is not idle is closed
	batch := &pgx.Batch{}
	batch.BeginTx(pgx.TxOptions{IsoLevel: pgx.ReadCommitted}) // each statement sees what was committed before it, see Claim
	queue(batch)
	answers := conn.SendBatch(ctx, batch)
	err = answers.Close()
	tx := answers.Tx()
	if err != nil || !wrote() {
		_ = tx.Rollback(ctx)
		return beforeCommit(err)
	}
	return atCommit(tx.Commit(ctx))
}

// change is a conditional write of one row.
type change struct {
	verb string // the method of dispatcher.Store
	id   dispatcher.TaskID
	// leader is whose write it is; nil: not a leader's.
	leader *leader
	// statement writes on its conditions, and returns the row it wrote. Empty: it is known before that nothing may
	// be written.
	statement string
	args      pgx.StrictNamedArgs
	// missing is the refusal when there is no row.
	missing error
	// unwritten says what it means that the row, as it is, was not written: nil when the work is done already.
	unwritten func(r *row) error
}

// write makes the change. The order in which refusals are judged is that of package memory.
func (s *Store) write(ctx context.Context, c change) (dispatcher.Task, error) {
	var found, written *row
	leads := c.leader == nil
	err := s.transact(ctx, func(b *pgx.Batch) {
		if c.leader != nil {
			b.Queue(lockTerm, c.leader.args()).Query(anyRow(&leads))
		}
		b.Queue(taggedTask(c.verb, lockTask), pgx.StrictNamedArgs{"id": string(c.id)}).QueryRow(into(&found))
		if c.statement != "" {
			b.Queue(c.statement, c.args).QueryRow(into(&written))
		}
	}, func() bool { return written != nil })
	switch {
	case err != nil:
	case written != nil:
		return written.Task, nil
	case !leads:
		err = dispatcher.ErrFenced
	case found == nil:
		err = c.missing
	default:
		if err = c.unwritten(found); err == nil {
			return found.Task, nil
		}
	}
	return dispatcher.Task{}, refused(c.verb, c.id, err)
}

// lockTask holds the row until the end of the transaction, so that the statement after it does not have to wait: its clock
// is then not older than the row.
const lockTask = `SELECT` + columns + ` FROM tasks t WHERE t.id = @id FOR UPDATE`

// into keeps the one row of an answer, or nil when there is none.
func into(kept **row) func(pgx.Row) error {
	return func(answer pgx.Row) error {
		r, err := scanRow(answer)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		*kept = &r
		return err
	}
}

// anyRow notes whether the answer has a row.
func anyRow(any *bool) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		*any = rows.Next()
		rows.Close()
		return rows.Err()
	}
}
