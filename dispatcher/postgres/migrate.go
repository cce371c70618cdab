package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/squall-chaos/squall/dispatcher"
)

// The migrations, applied in the order of their names; a published one is never changed. They are run by the few lines
// below rather than by tern, whose migrate package brings a template library with eleven modules of its own.
//
//go:embed migrations/*.sql
var migrations embed.FS

// ErrSchema says that the tables are not those that this program was written for.
var ErrSchema = errors.New("schema of the database")

// migrating is the advisory lock under which migrations run: programs that start at the same time queue up.
const migrating = 0x73_71_75_61_6c_6c // "squall"

// Migrate creates the tables in the first schema of the search path, or brings them up to date. All or nothing is done; done
// again it changes nothing. A database that is ahead of this program is left alone: ErrSchema. adjust sees the configuration of the
// connection before it is used.
func Migrate(ctx context.Context, url string, adjust ...func(*pgx.ConnConfig)) error {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return fmt.Errorf("read the database URL: %w: %w", dispatcher.ErrRejected, err)
	}
	for _, change := range adjust {
		change(config)
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("migrate: %w", beforeCommit(err))
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}) // to see what was migrated while it waited
	if err != nil {
		return fmt.Errorf("migrate: %w", beforeCommit(err))
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	if err := migrate(ctx, tx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("migrate: %w", atCommit(err))
	}
	return nil
}

func migrate(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(migrating)); err != nil {
		return beforeCommit(err)
	}
	if _, err := tx.Exec(ctx, `CREATE TABLE IF NOT EXISTS squall_migrations (
		number int PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`); err != nil {
		return beforeCommit(err)
	}
	applied, err := applied(ctx, tx)
	if err != nil {
		return err
	}
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	if applied > len(files) {
		return fmt.Errorf("%w: migration %d was applied, this program knows %d: use a newer one", ErrSchema, applied, len(files))
	}
	for i, file := range files[applied:] {
		if err := apply(ctx, tx, applied+i+1, file); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

func apply(ctx context.Context, tx pgx.Tx, number int, file string) error {
	statements, err := migrations.ReadFile(file)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, string(statements)); err != nil { // without arguments: several statements at once
		return beforeCommit(err)
	}
	_, err = tx.Exec(ctx, `INSERT INTO squall_migrations (number, name) VALUES ($1, $2)`, number, file)
	return beforeCommit(err)
}

// querier is a pool or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// applied returns the number of the last migration that was applied.
func applied(ctx context.Context, q querier) (int, error) {
	var n int
	err := q.QueryRow(ctx, `SELECT COALESCE(max(number), 0) FROM squall_migrations`).Scan(&n)
	return n, beforeCommit(err)
}

// checkSchema demands the tables that this program was written for, so that a wrong database is noticed at the start and
// not by the first statement that fails.
func checkSchema(ctx context.Context, pool *pgxpool.Pool) error {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	n, err := applied(ctx, pool)
	var refusal *pgconn.PgError
	if errors.As(err, &refusal) && refusal.Code == "42P01" { // undefined_table
		n, err = 0, nil
	}
	if err != nil {
		return fmt.Errorf("look at the schema: %w", err)
	}
	if n != len(files) {
		return fmt.Errorf("%w: migration %d was applied last, this program needs %d: run Migrate", ErrSchema, n, len(files))
	}
	return nil
}
