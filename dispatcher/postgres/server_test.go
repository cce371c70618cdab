package postgres

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/dispatchertest"
	"github.com/squall-chaos/squall/dispatcher/postgres/throwaway"
)

// server is the one that all tests share: that of DATABASE_URL, whose user must be allowed to create databases, or one of our own.
// template is a database with the tables and nothing in them.
var server, template string

func TestMain(m *testing.M) {
	status, err := withServer(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = max(status, 1)
	}
	os.Exit(status)
}

func withServer(run func() int) (int, error) {
	ctx := context.Background()
	if server = os.Getenv("DATABASE_URL"); server == "" {
		own, err := throwaway.Start(ctx, throwaway.Options{})
		if err != nil {
			return 1, fmt.Errorf("the tests need a Postgres server; set DATABASE_URL or let them start one: %w", err)
		}
		defer func() { _ = own.Stop() }()
		server = own.URL("postgres")
	}
	if template = os.Getenv(useTemplate); template != "" {
		return run(), nil // a child of a test
	}
	template = newName()
	if err := onServer(ctx, "CREATE DATABASE "+template); err != nil {
		return 1, fmt.Errorf("the tests create databases on %s: %w", hidePassword(server), err)
	}
	if err := Migrate(ctx, at(server, template)); err != nil {
		return 1, err
	}
	status := run()
	return status, onServer(ctx, "DROP DATABASE "+template)
}

func newName() string { return "squall_test_" + strings.ToLower(rand.Text()) }

// at is the server's other database of that name.
func at(server, database string) string {
	u, err := url.Parse(server)
	if err != nil || u.Scheme == "" {
		return server + " dbname=" + database // libpq's other form
	}
	u.Path = "/" + database
	return u.String()
}

func hidePassword(server string) string {
	if u, err := url.Parse(server); err == nil {
		return u.Redacted()
	}
	return "DATABASE_URL"
}

// onServer runs a statement outside of any test's database.
func onServer(ctx context.Context, statement string) error {
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, statement)
	return err
}

// newDatabase returns the URL of an empty database with the tables, which is gone when the test is over.
func newDatabase(t testing.TB) string {
	t.Helper()
	name := newName()
	if err := onServer(t.Context(), "CREATE DATABASE "+name+" TEMPLATE "+template); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := onServer(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
	})
	return at(server, name)
}

func openAt(t testing.TB, url string, s dispatcher.Settings, adjust ...func(*pgxpool.Config)) *Store {
	t.Helper()
	store, err := Open(t.Context(), url, s, adjust...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	return store
}

// opener returns what opens stores for the cases of one test, which run one after the other: on one database, emptied in
// between, because to create one takes as long as several cases.
func opener(t *testing.T) func(*testing.T, dispatcher.Settings) (dispatcher.Store, dispatchertest.AdvanceClock) {
	t.Helper()
	shared := openAt(t, newDatabase(t), dispatchertest.DiffSettings(), plant)
	return func(t *testing.T, s dispatcher.Settings) (dispatcher.Store, dispatchertest.AdvanceClock) {
		t.Helper()
		shared.run(t, "DELETE FROM tasks; DELETE FROM leadership; UPDATE squall_clock SET ahead = '0'")
		store := &Store{pool: shared.pool, settings: s}
		return store, advance(t, store)
	}
}

// run executes statements behind the store's back.
func (s *Store) run(t testing.TB, statements string, args ...any) {
	t.Helper()
	if _, err := s.pool.Exec(t.Context(), statements, args...); err != nil {
		t.Fatal(err)
	}
}

func advance(t *testing.T, s *Store) dispatchertest.AdvanceClock {
	return func(d time.Duration) {
		t.Helper()
		s.run(t, "UPDATE squall_clock SET ahead = ahead + $1 * interval '1 microsecond'", d.Microseconds())
	}
}
