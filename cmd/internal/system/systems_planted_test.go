//go:build planted

package system_test

import (
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/squall-chaos/squall/cmd/internal/system"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/kube/environment"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/dispatcher/postgres"
	"github.com/squall-chaos/squall/dispatcher/postgres/throwaway"
)

// database is the URL of tables of the test's own.
func database(t *testing.T) string {
	t.Helper()
	server := os.Getenv(environment.DatabaseURL)
	if server == "" {
		own, err := throwaway.Start(t.Context(), throwaway.Options{})
		if errors.Is(err, throwaway.ErrNoBinaries) && os.Getenv("CI") == "" {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = own.Stop() })
		server = own.URL("postgres")
	}
	conn, err := pgx.Connect(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	schema := "squall_test_" + strings.ToLower(rand.Text())
	if _, err := conn.Exec(t.Context(), "CREATE SCHEMA "+schema); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = conn.Exec(context.Background(), "SET client_min_messages = warning; DROP SCHEMA "+schema+" CASCADE")
		_ = conn.Close(context.Background())
	})
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	query := u.Query()
	query.Set("search_path", schema)
	u.RawQuery = query.Encode()
	if err := postgres.Migrate(t.Context(), u.String()); err != nil {
		t.Fatal(err)
	}
	return u.String()
}

// Each replica has a store of its own here, unlike in the simulation: a deposed leader's write must count all the same.
func TestWithoutEpochADeposedLeadersClaimCounts(t *testing.T) {
	where := database(t)
	settings, _ := dispatcher.Profile("b0")
	for _, c := range []struct {
		name string
		want error
	}{{"reference", dispatcher.ErrFenced}, {"no-epoch", nil}, {"naive", nil}, {"leadership-in-a-boolean", nil}, {"release-on-cancel", nil}, {"host-clock-leases", nil},
		{"renew-without-timeout", nil}} {
		s, _ := planted.Lookup(c.name)
		replica := func() dispatcher.Store {
			store, err := postgres.Open(t.Context(), where, settings)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(store.Close)
			return system.Store(s, where, store)
		}
		old, successor := replica(), replica()
		term, err := old.Lead(t.Context(), dispatcher.RoleDispatcher, "dispatcher-1/1")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := successor.Lead(t.Context(), dispatcher.RoleDispatcher, "dispatcher-2/1"); err != nil {
			t.Fatal(err)
		}
		if _, err := old.Submit(t.Context(), dispatcher.Spec{ID: dispatcher.TaskID("of-" + c.name)}); err != nil {
			t.Fatal(err)
		}
		if _, err := old.Claim(t.Context(), term, 1); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

func TestAllSystemsAreInThisBuild(t *testing.T) {
	for _, name := range planted.Names() {
		r := environment.NewReader(func(string) (string, bool) { return name, true })
		s, err := system.Read(r), r.Err()
		if planted.SimOnly(name) != "" {
			if err == nil {
				t.Errorf("%s runs on a real store, but %s", name, planted.SimOnly(name))
			}
			continue
		}
		if s.Name != name || err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
