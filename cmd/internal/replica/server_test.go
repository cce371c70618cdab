package replica

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/postgres/throwaway"
)

// As a child of a test this program is what the variable says.
const asReplica = "SQUALL_TEST_REPLICA"

var loops = map[string]Loop{
	"dispatcher": func(ctx context.Context, id dispatcher.InstanceID, s dispatcher.Settings, p dispatcher.Ports, _ dispatcher.System) error {
		return dispatcher.RunDispatcher(ctx, id, s, p)
	},
	"reconciler": func(ctx context.Context, id dispatcher.InstanceID, s dispatcher.Settings, p dispatcher.Ports, _ dispatcher.System) error {
		return dispatcher.RunReconciler(ctx, id, s, p, nil)
	},
}

// server is that of DATABASE_URL, whose user must be allowed to create schemas, or one of our own; empty: there is none.
var server string

func TestMain(m *testing.M) {
	if role := os.Getenv(asReplica); role != "" {
		os.Exit(Main(role, loops[role], os.Args[1:], os.LookupEnv, os.Stderr))
	}
	status, err := withServer(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = max(status, 1)
	}
	os.Exit(status)
}

func withServer(run func() int) (int, error) {
	url, stop, err := throwaway.Shared(context.Background(), "the replicas on a real Postgres")
	if err != nil {
		return 1, err
	}
	defer stop()
	server = url
	return run(), nil
}

// newDatabase is the URL of a schema without tables.
func newDatabase(t *testing.T) string {
	t.Helper()
	if server == "" {
		t.Skip("there is no Postgres server; see above")
	}
	name := "squall_test_" + strings.ToLower(rand.Text())
	statement(t, "CREATE SCHEMA "+name)
	t.Cleanup(func() { statement(t, "SET client_min_messages = warning; DROP SCHEMA "+name+" CASCADE") })
	u, err := url.Parse(server)
	if err != nil || u.Scheme == "" {
		return server + " search_path=" + name
	}
	query := u.Query()
	query.Set("search_path", name)
	u.RawQuery = query.Encode()
	return u.String()
}

func statement(t *testing.T, sql string) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), server)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(context.Background(), sql); err != nil {
		t.Error(err)
	}
}
