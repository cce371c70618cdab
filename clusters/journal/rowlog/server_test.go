package rowlog_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/squall-chaos/squall/clusters/journal/rowlog"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/postgres"
	"github.com/squall-chaos/squall/dispatcher/postgres/throwaway"
)

var server *throwaway.Server

func TestMain(m *testing.M) { os.Exit(throwaway.Own(&server, m)) }

// database is one of the server's own, with tables and their log.
type database struct {
	*testing.T
	name  string
	admin *pgxpool.Pool
}

func newDatabase(t *testing.T, name string) *database {
	t.Helper()
	postgresql, err := pgxpool.New(t.Context(), server.URL("postgres"))
	ok(t, err)
	defer postgresql.Close()
	_, err = postgresql.Exec(t.Context(), "CREATE DATABASE "+name)
	ok(t, err)
	ok(t, postgres.Migrate(t.Context(), server.URL(name)))
	admin, err := pgxpool.New(t.Context(), server.URL(name))
	ok(t, err)
	t.Cleanup(admin.Close)
	ok(t, rowlog.Install(t.Context(), admin))
	return &database{T: t, name: name, admin: admin}
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (d *database) exec(statements string, args ...any) {
	d.Helper()
	_, err := d.admin.Exec(d.Context(), statements, args...)
	ok(d, err)
}

// open opens a store as the process does, as the superuser or as a role of its own.
func (d *database) open(process string, s dispatcher.Settings, user *url.Userinfo, adjust ...func(*pgxpool.Config)) *postgres.Store {
	d.Helper()
	where, err := url.Parse(server.URL(d.name))
	ok(d, err)
	query := where.Query()
	query.Set("application_name", process)
	if where.RawQuery = query.Encode(); user != nil {
		where.User = user
	}
	store, err := postgres.Open(d.Context(), where.String(), s, adjust...)
	ok(d, err)
	d.Cleanup(store.Close)
	return store
}

// loss is what becomes of the next COMMIT.
type loss int

const (
	none  loss = iota
	asked      // it does not reach the server
	reply      // its reply does not reach us
)

// wire is the network between a store and its server.
type wire struct {
	mu   sync.Mutex
	next loss
}

func (w *wire) lose(l loss) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next = l
}

func (w *wire) install(c *pgxpool.Config) {
	c.ConnConfig.AfterNetConnect = func(_ context.Context, _ *pgconn.Config, conn net.Conn) (net.Conn, error) {
		return &wiredConn{Conn: conn, wire: w}, nil
	}
}

type wiredConn struct {
	net.Conn
	wire *wire
	dead atomic.Bool // for its client
}

// commit is a Query message.
var commit = []byte("Q\x00\x00\x00\x0bcommit\x00")

// Write loses what is to be lost. A COMMIT whose reply is lost is the last that the server hears: it commits, and when it has
// closed its side too that is done.
func (c *wiredConn) Write(p []byte) (int, error) {
	c.wire.mu.Lock()
	struck := none
	if bytes.Equal(p, commit) {
		struck, c.wire.next = c.wire.next, none
	}
	c.wire.mu.Unlock()
	if struck == none {
		return c.Conn.Write(p)
	}
	c.dead.Store(true)
	defer func() { _ = c.Conn.Close() }()
	if struck == asked {
		return len(p), nil
	}
	if _, err := c.Conn.Write(p); err != nil {
		return 0, err
	}
	if err := c.Conn.(*net.TCPConn).CloseWrite(); err != nil {
		return 0, err
	}
	_, err := io.Copy(io.Discard, c.Conn)
	return len(p), err
}

// Read may be under way while Write is.
func (c *wiredConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.dead.Load() {
		return 0, syscall.ECONNRESET
	}
	return n, err
}
