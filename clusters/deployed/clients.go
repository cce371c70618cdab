package deployed

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/squall-chaos/squall/clusters/journal"
	"github.com/squall-chaos/squall/clusters/journal/rowlog"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/hostclock"
	"github.com/squall-chaos/squall/dispatcher/postgres"
)

// client is a process of the harness: it reaches the database the way that replicas do, through the fault proxy.
type client struct {
	name   string
	work   func(ctx context.Context, p dispatcher.Ports)
	ports  dispatcher.Ports
	pages  pages
	closer func()
}

func (c *client) run(ctx context.Context) { c.work(ctx, c.ports) }

func (c *client) close() {
	if c.closer != nil {
		c.closer()
	}
}

// Go prepares a process of the harness; it starts with the first Run.
func (w *World) Go(name string, run func(ctx context.Context, p dispatcher.Ports)) {
	c := &client{name: name, work: run}
	w.clients = append(w.clients, c)
	ctx, cancel := w.Soon()
	defer cancel()
	store, err := postgres.Open(ctx, w.databaseURL(w.addresses.proxyStore), w.Config.Settings, w.tunnelled(name))
	if err != nil {
		w.Fail(fmt.Errorf("open the database for %s: %w", name, err))
		return
	}
	c.closer = store.Close
	var backend dispatcher.Store = store
	if hook := w.Config.System.Store; hook != nil {
		backend = hook(store)
	}
	var pages io.Writer = &c.pages
	if kept := w.ground.Pages(name); kept != nil {
		pages = kept
	}
	c.ports = journal.NewRecorder(pages, name).Ports(dispatcher.Ports{Clock: hostclock.New(), Store: backend})
	if !w.start.IsZero() {
		w.GoAside(func() { c.run(w.ctx) })
	}
}

// tunnelled has the pool reach into the cluster, under the name of a process.
func (w *World) tunnelled(process string) func(*pgxpool.Config) {
	return func(c *pgxpool.Config) {
		c.MaxConns = 2
		c.ConnConfig.RuntimeParams["application_name"] = process
		c.ConnConfig.DialFunc = func(ctx context.Context, _, address string) (net.Conn, error) { return w.ground.Dial(ctx, address) }
		c.ConnConfig.LookupFunc = func(_ context.Context, host string) ([]string, error) { return []string{host}, nil }
	}
}

// openDatabase connects past the proxy, and prepares the tables and the log of their rows.
func (w *World) openDatabase(ctx context.Context) error {
	config, err := pgxpool.ParseConfig(w.databaseURL(w.addresses.store))
	if err != nil {
		return err
	}
	w.tunnelled(harness)(config)
	if w.database, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return fmt.Errorf("reach Postgres: %w", err)
	}
	if err := untilItAnswers(ctx, w.database.Ping); err != nil {
		return fmt.Errorf("reach Postgres: %w", err)
	}
	return w.migrate(ctx)
}

// pages is a journal in memory.
type pages struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (p *pages) Write(line []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(line)
}

func (p *pages) copy() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return bytes.Clone(p.text.Bytes())
}

// harness is the name of our own sessions.
const harness = "squall-harness"

// migrating bounds the preparation of the tables.
const migrating = time.Minute

func (w *World) migrate(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, migrating)
	defer cancel()
	err := postgres.Migrate(ctx, w.databaseURL(w.addresses.store), func(c *pgx.ConnConfig) {
		c.DialFunc, c.LookupFunc = w.database.Config().ConnConfig.DialFunc, w.database.Config().ConnConfig.LookupFunc
	})
	if err != nil {
		return err
	}
	return rowlog.Install(ctx, w.database)
}
