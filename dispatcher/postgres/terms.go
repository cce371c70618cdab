package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/squall-chaos/squall/dispatcher"
)

// leads is the fence: part of every statement with which a leader writes.
const leads = `EXISTS (SELECT FROM leadership WHERE role = @role AND epoch = @epoch)`

// lockTerm keeps the term from ending before the transaction does. Without it a write could be judged in its own
// term and committed in the next one, after the successor's first look.
const lockTerm = `SELECT role FROM leadership WHERE role = @role AND epoch = @epoch FOR SHARE`

// leader is on whose behalf a write is made.
type leader struct {
	term dispatcher.Term
	role dispatcher.Role // whose write it is
}

// epoch is what the statements compare; a term of another role has none here.
func (l leader) epoch() int64 {
	if l.term.Role != l.role {
		return 0 // no term has it
	}
	return int64(l.term.Epoch)
}

func (l leader) args() pgx.StrictNamedArgs {
	return pgx.StrictNamedArgs{"role": string(l.role), "epoch": l.epoch()}
}

// conditional returns the leader's change of the row that ref points at, with the arguments that fence takes.
func conditional(verb string, l leader, ref dispatcher.Ref) change {
	args := l.args()
	args["id"], args["token"], args["version"] = string(ref.ID), int64(ref.Token), int64(ref.Version)
	return change{verb: verb, id: ref.ID, leader: &l, args: args, missing: dispatcher.ErrNotFound,
		unwritten: func(*row) error { return dispatcher.ErrConflict }}
}

func launchWrite(verb string, t dispatcher.Term, ref dispatcher.Ref) change {
	return conditional(verb, leader{t, dispatcher.RoleDispatcher}, ref)
}

func recoveryWrite(verb string, t dispatcher.Term, ref dispatcher.Ref) change {
	return conditional(verb, leader{t, dispatcher.RoleReconciler}, ref)
}

// unmoved is the condition that the row is exactly as its writer read it, and that the writer leads.
const unmoved = ` t.id = @id AND t.token = @token AND t.version = @version AND ` + leads

// isUnmoved is the part of it about the row.
func (r *row) isUnmoved(ref dispatcher.Ref) bool {
	return r.Attempt.Token == ref.Token && r.Version == ref.Version
}

// Now implements dispatcher.Terms.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	now, err := s.clock(ctx, tagged("now", `SELECT squall_now()`))
	if err != nil {
		return time.Time{}, fmt.Errorf("read the database clock: %w", beforeCommit(err))
	}
	return now, nil
}

// Confirm implements dispatcher.Terms.
func (s *Store) Confirm(ctx context.Context, t dispatcher.Term) (time.Time, error) {
	now, err := s.clock(ctx, tagged("confirm", `SELECT squall_now() FROM leadership WHERE role = @role AND epoch = @epoch`), leader{t, t.Role}.args())
	if errors.Is(err, pgx.ErrNoRows) {
		return time.Time{}, fmt.Errorf("confirm term %d of the %s: %w", t.Epoch, t.Role, dispatcher.ErrFenced)
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("confirm term %d of the %s: %w", t.Epoch, t.Role, beforeCommit(err))
	}
	return now, nil
}

func (s *Store) clock(ctx context.Context, statement string, args ...any) (time.Time, error) {
	var now stamp
	err := s.pool.QueryRow(ctx, statement, args...).Scan(&now)
	return time.Time(now), err
}

const lead = `
INSERT INTO leadership AS l (role, epoch, instance, since) VALUES (@role, 1, @instance, squall_now())
ON CONFLICT (role) DO UPDATE SET epoch = l.epoch + 1, instance = excluded.instance, since = excluded.since
RETURNING epoch`

// Lead implements dispatcher.Terms. It waits for the writes of the term before that are under way, but no longer than
// the server lets an idle transaction live (see session).
func (s *Store) Lead(ctx context.Context, r dispatcher.Role, i dispatcher.InstanceID) (dispatcher.Term, error) {
	if r != dispatcher.RoleDispatcher && r != dispatcher.RoleReconciler {
		return dispatcher.Term{}, fmt.Errorf("lead as %q: %w", r, dispatcher.ErrRejected)
	}
	term := dispatcher.Term{Role: r, Instance: i}
	err := s.transact(ctx, func(b *pgx.Batch) {
		b.Queue(tagged("lead", lead), pgx.StrictNamedArgs{"role": string(r), "instance": string(i)}).QueryRow(func(answer pgx.Row) error {
			return answer.Scan((*uint64)(&term.Epoch))
		})
	}, func() bool { return true })
	if err != nil {
		return dispatcher.Term{}, fmt.Errorf("lead as %s: %w", r, err)
	}
	return term, nil
}
