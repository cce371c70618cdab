package postgres

import (
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/squall-chaos/squall/dispatcher"
)

// beforeCommit says what an error means that came before COMMIT was sent, or from a statement that only reads: nothing
// happened and nothing will, because the server rolls back what it is not told to commit.
func beforeCommit(err error) error {
	if err == nil {
		return nil
	}
	if unstorable(err) {
		return fmt.Errorf("%w: %w", dispatcher.ErrRejected, err)
	}
	return fmt.Errorf("%w: %w", dispatcher.ErrUnavailable, err)
}

// atCommit says what an error of COMMIT means.
func atCommit(err error) error {
	switch {
	case err == nil:
		return nil
	case pgconn.SafeToRetry(err), rolledBack(err):
		return beforeCommit(err)
	}
	return fmt.Errorf("commit: %w: %w", dispatcher.ErrUnknown, err)
}

// rolledBack tells that the server answered COMMIT and did not commit. It takes an ERROR: a FATAL may come after the
// commit, when the server shuts down while it waits for a standby (SyncRepWaitForLSN in Postgres' syncrep.c).
func rolledBack(err error) bool {
	if errors.Is(err, pgx.ErrTxCommitRollback) {
		return true
	}
	var refusal *pgconn.PgError
	return errors.As(err, &refusal) && refusal.SeverityUnlocalized == "ERROR" &&
		!strings.HasPrefix(refusal.Code, "08") && refusal.Code != "40003" // these two say that the server does not know
}

// unstorable tells that the caller's data is to blame: SQLSTATE class 22 (data exception) or 23 (integrity constraint
// violation), see the appendix on error codes of the Postgres manual.
func unstorable(err error) bool {
	var refusal *pgconn.PgError
	return errors.As(err, &refusal) && (strings.HasPrefix(refusal.Code, "22") || strings.HasPrefix(refusal.Code, "23"))
}
