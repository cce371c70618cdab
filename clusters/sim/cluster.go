// Package sim is the world in which time, Postgres and Kubernetes are models: one seed decides
// everything, and half an hour passes in a few milliseconds.
//
// A Cluster is a kernel with processes that run the real loops as coroutines, a database model, a Kubernetes model, and a
// worker model inside each container. Between them is the call layer (call.go): every port call is three events, so
// that a fault can strike before the effect, after it, or between.
package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/sim/kernel"
	"github.com/squall-chaos/squall/clusters/sim/kubernetes"
	"github.com/squall-chaos/squall/clusters/sim/postgres"
	"github.com/squall-chaos/squall/dispatcher"
)

// Cluster is one simulated world with one run in it.
type Cluster struct {
	config    clusters.Config
	kernel    *kernel.Kernel
	labels    labels
	record    *record
	ports     struct{ api, lease, store port }
	processes []*process
	database  *postgres.Database
	store     dispatcher.Store // the database, behind the system's replacement
	kube      *kubernetes.Server

	rules    []*rule
	chance   *rand.Rand // of rules
	cuts     []cut
	outages  int     // what takes the whole API away
	spare    []*call // to be used again
	spares   spares
	contexts contexts
	room     *room
	holders  map[string]dispatcher.InstanceID
	runTimes map[string]time.Duration
	counted  map[dispatcher.Ticket]bool // effects that count
	groups   map[dispatcher.UID]int     // workers that execute, by the launcher whose group they are in
	shutdown *rand.Rand

	pct      *kernel.PCT // nil under another strategy
	explorer *explorer   // likewise
}

var _ clusters.Cluster = (*Cluster)(nil)

// New makes the world of the Config, whose Settings the system has already changed as it wants. The
// replicas start with the first Run.
func New(c clusters.Config) (*Cluster, error) { return newCluster(c, &Memory{}) }

func newCluster(c clusters.Config, m *Memory) (*Cluster, error) {
	if c.Dispatchers < 0 || c.Reconcilers < 0 {
		return nil, fmt.Errorf("simulation: %d dispatchers and %d reconcilers: neither may be negative", c.Dispatchers, c.Reconcilers)
	}
	if c.Order.Strategy == clusters.Explore {
		c.Platform = c.Platform.Steady()
	}
	k := m.kernel
	if k == nil {
		k = kernel.New(c.Seed)
	} else {
		k.Reset(c.Seed)
	}
	w := &Cluster{
		config: c, kernel: k, labels: newLabels(k), record: newRecord(k, m, c.Fork), chance: k.Stream("rules"),
		shutdown: k.Stream("worker: shutdown"), holders: map[string]dispatcher.InstanceID{},
		runTimes: map[string]time.Duration{}, counted: map[dispatcher.Ticket]bool{}, groups: map[dispatcher.UID]int{}, contexts: m.contexts, room: m.room,
	}
	if w.room == nil {
		w.room = &room{}
	}
	w.order(c.Order)
	api := &server{} // the leases are on it too
	w.ports.api = port{clusters.API, c.Platform.APILatency, k.Stream("latency: api"), api}
	w.ports.lease = port{clusters.Lease, c.Platform.APILatency, k.Stream("latency: lease"), api}
	w.ports.store = port{clusters.Store, c.Platform.StoreLatency, k.Stream("latency: store"), &server{}}
	w.database = postgres.New(postgres.Config{
		Settings: c.Settings, Clock: k.Time, Lag: c.Platform.ReplicaLag, Stream: k.Stream("postgres: lag"),
		OnCommit: w.record.committed, Rows: m.rows, Room: w.room.tasks.Take,
	})
	*m = Memory{} // it is this world's now
	w.store = w.database
	if hook := c.System.Store; hook != nil {
		w.store = hook(w.database)
	}
	w.kube = kubernetes.New(k, c, w, &w.room.objects)
	if w.explorer != nil {
		w.record.explorer, w.kube.OnChange = w.explorer, w.explorer.changed
	}
	for i := range c.Dispatchers {
		w.addProcess(fmt.Sprintf("dispatcher-%d", i+1), runDispatcher).start()
	}
	for i := range c.Reconcilers {
		w.addProcess(fmt.Sprintf("reconciler-%d", i+1), runReconciler).start()
	}
	return w, nil
}

// Now is the virtual time since the start.
func (c *Cluster) Now() time.Duration { return c.kernel.Now() }

// At has fn called at the offset, from within Run.
func (c *Cluster) At(at time.Duration, name string, fn func()) {
	c.kernel.After(at-c.kernel.Now(), c.kernel.Label(name), fn)
}

// Run lets virtual time pass.
func (c *Cluster) Run(ctx context.Context, until time.Duration, done func() bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	err := c.kernel.Run(until, func() bool {
		return ctx.Err() != nil || done != nil && done()
	})
	if err != nil {
		return fmt.Errorf("simulation, seed %d: %w", c.config.Seed, err)
	}
	if c.explorer != nil && c.explorer.until > 0 && c.kernel.Halted() {
		return clusters.ErrSeen
	}
	return ctx.Err()
}

// Quiet tells that nothing is left to do.
func (c *Cluster) Quiet() bool { return c.record.busy == 0 && c.kube.Alive() == 0 }

// Observe adds an event to the history.
func (c *Cluster) Observe(e history.Event) { c.record.event(e) }

// Processes interns names of processes.
func (c *Cluster) Processes() *history.Table { return c.record.processes }

// Tasks interns task IDs.
func (c *Cluster) Tasks() *history.Table { return c.record.tasks }

// Nodes interns names of nodes.
func (c *Cluster) Nodes() *history.Table { return c.record.nodes }

// History is what was recorded so far. Meta has what the world knows; the scenario is the harness's to add.
func (c *Cluster) History() *history.History { return c.record.history(&c.config) }

// Kernel gives tests access to the trace.
func (c *Cluster) Kernel() *kernel.Kernel { return c.kernel }

// Events is how many events the simulation has executed.
func (c *Cluster) Events() uint64 { return c.kernel.Events() }

// Close ends every process. The history stays as it is.
func (c *Cluster) Close() error {
	c.kernel.Close()
	return nil
}
