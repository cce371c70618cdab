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

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/dispatchertest"
	"github.com/squall-chaos/squall/dispatcher/postgres/throwaway"
)

// server is the one that all tests share: that of DATABASE_URL, whose user must be allowed to create schemas, or one of our own.
// admin makes and removes the schemas, one for each test.
var (
	server string
	admin  *pgxpool.Pool
)

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
	url, stop, err := throwaway.Shared(ctx, "the store on a real Postgres")
	if err != nil || url == "" {
		return 0, err
	}
	defer stop()
	server = url
	if admin, err = pgxpool.New(ctx, server); err != nil {
		return 1, fmt.Errorf("DATABASE_URL: %w", err)
	}
	defer admin.Close()
	if err := admin.Ping(ctx); err != nil {
		return 1, fmt.Errorf("DATABASE_URL: %w", err)
	}
	return run(), nil
}

// newSchema returns the URL of a schema without tables, which is gone when the test is over.
func newSchema(t testing.TB) string {
	t.Helper()
	name := "squall_test_" + strings.ToLower(rand.Text())
	if _, err := admin.Exec(t.Context(), "CREATE SCHEMA "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := admin.Exec(context.Background(), "SET client_min_messages = warning; DROP SCHEMA "+name+" CASCADE"); err != nil {
			t.Error(err)
		}
	})
	// A test knows its own sessions by the application's name.
	return with(with(server, "search_path", name), "application_name", name)
}

// with adds a parameter to a URL, or to libpq's other form.
func with(where, parameter, value string) string {
	u, err := url.Parse(where)
	if err != nil || u.Scheme == "" {
		return where + " " + parameter + "=" + value
	}
	query := u.Query()
	query.Set(parameter, value)
	u.RawQuery = query.Encode()
	return u.String()
}

// serializable is the strictest default that a database can have: the store says itself what it needs.
func serializable(c *pgxpool.Config) {
	c.ConnConfig.RuntimeParams["default_transaction_isolation"] = "serializable"
}

// newTables returns the URL of a schema with empty tables.
func newTables(t testing.TB) string {
	t.Helper()
	url := newSchema(t)
	if err := Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	return url
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

// opener returns what opens stores for the cases of one test, which run one after the other: on the same tables, emptied in
// between, because to create them takes as long as several cases.
func opener(t *testing.T, adjust ...func(*pgxpool.Config)) func(*testing.T, dispatcher.Settings) (dispatcher.Store, dispatchertest.AdvanceClock) {
	t.Helper()
	shared := openAt(t, newTables(t), dispatchertest.DiffSettings(), append(adjust, plant)...)
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
