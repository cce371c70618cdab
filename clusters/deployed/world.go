package deployed

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/journal"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/faults/proxy"
)

// Options are what a World needs besides its Config.
type Options struct {
	Namespace string       // that of the run
	Programs  string       // name of their image; with the planted defects when the system under test is one
	Postgres  string       // likewise
	Password  string       // of the database
	Log       *slog.Logger // what runs, what was injected, what was seen; nil: silent
	// ClusterWide tells that the rights that the manifests ask for beyond the namespace are to be granted.
	ClusterWide bool
	// Gated tells that every workload waits behind a gate until the world lets it be scheduled, however short that is.
	Gated bool
	// Seen is told of every version of a workload's pod, nil for one that is gone, from any goroutine. May be nil.
	Seen func(before, now *corev1.Pod, at time.Time)
}

// World is one run in one namespace.
type World struct {
	*loop
	Options
	API    kubernetes.Interface
	Config clusters.Config
	ground Ground

	// ctx is that of everything that goes on beside the loop; Stop ends it, and Leave waits.
	ctx    context.Context
	cancel context.CancelFunc
	beside sync.WaitGroup

	addresses addresses
	database  *pgxpool.Pool // straight to the database, past the proxy
	proxy     *proxy.Client
	secrets   secrets
	access    access

	names    names
	live     live
	replicas []*replica
	clients  []*client
	rules    map[string]*rule
	lateness time.Duration // the longest that a call was held back
	waits    *rand.Rand    // of pods for their nodes
	barriers []string      // rules of the proxy that hold the replicas until the run begins
	ahead    time.Duration // see Ahead
	held     bool          // the gates of workloads are kept shut
	shut     []*corev1.Pod // whose gates would be open by now
	final    *history.History
	closed   bool
}

var _ clusters.Collector = (*World)(nil)

// New is a run that nothing was made for yet.
func New(ctx context.Context, api kubernetes.Interface, g Ground, c clusters.Config, o Options) *World {
	w := &World{
		loop: newLoop(), Options: o, API: api, Config: c, ground: g, waits: rand.New(rand.NewPCG(c.Seed, 0)),
		names: newNames(), rules: map[string]*rule{},
	}
	if w.Log == nil {
		w.Log = slog.New(slog.DiscardHandler)
	}
	w.live.world = w
	w.ctx, w.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return w
}

// Install makes what a run consists of besides its replicas, in a namespace that is there: rights, services, secrets.
func (w *World) Install(ctx context.Context) error {
	if err := w.makeAccess(ctx); err != nil {
		return err
	}
	return w.makeServices(ctx)
}

// Connect returns when the database and the fault proxy answer, and the tables are made.
func (w *World) Connect(ctx context.Context) error {
	for _, step := range []func(context.Context) error{w.awaitServices, w.openDatabase, w.openProxy} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Line has the replicas stand at the starting line: their processes run, and the proxy lets none of them to the database, without
// which they do nothing. How long a machine takes to start a pod is no part of a run.
func (w *World) Line(ctx context.Context) (err error) {
	for i := range w.Config.Dispatchers {
		w.replicas = append(w.replicas, &replica{name: fmt.Sprintf("dispatcher-%d", i+1), role: dispatcher.RoleDispatcher})
	}
	for i := range w.Config.Reconcilers {
		w.replicas = append(w.replicas, &replica{name: fmt.Sprintf("reconciler-%d", i+1), role: dispatcher.RoleReconciler})
	}
	for _, role := range []dispatcher.Role{dispatcher.RoleDispatcher, dispatcher.RoleReconciler} {
		id, err := w.proxy.Arm(ctx, proxy.Rule{Port: clusters.Store, Process: string(role) + "-*", Action: clusters.Refuse})
		if err != nil {
			return err
		}
		w.barriers = append(w.barriers, id)
	}
	for _, r := range w.replicas {
		if err := w.launch(ctx, r); err != nil {
			return err
		}
	}
	for _, r := range w.replicas {
		if err := w.AwaitPod(ctx, r.pod); err != nil {
			return err
		}
	}
	return nil
}

// Now is the time since the first Run.
func (w *World) Now() time.Duration { return w.now() }

// At has fn called at the offset, from within Run.
func (w *World) At(at time.Duration, _ string, fn func()) { w.at(at, fn) }

// Run lets real time pass.
func (w *World) Run(ctx context.Context, until time.Duration, done func() bool) error {
	if w.start.IsZero() {
		if err := w.early(); err != nil {
			return err
		}
		if err := w.begin(ctx); err != nil {
			return err
		}
	}
	return w.run(ctx, until, done)
}

// begin starts the clock: the nodes as the history knows them, the clients, and the replicas, which are there already.
func (w *World) begin(ctx context.Context) error {
	w.Start(time.Now())
	w.ground.Introduce()
	for _, c := range w.clients {
		w.GoAside(func() { c.run(w.ctx) })
	}
	for _, id := range w.barriers {
		if err := w.proxy.Disarm(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// GoAside runs something beside the loop; Leave waits for it.
func (w *World) GoAside(do func()) {
	w.beside.Add(1)
	go func() {
		defer w.beside.Done()
		do()
	}()
}

// Soon bounds an action on the cluster that the loop waits for.
func (w *World) Soon() (context.Context, context.CancelFunc) {
	return context.WithTimeout(w.ctx, 30*time.Second)
}

// Do carries out an action of a fault: it either works, or the run has failed. Only what the loop has called may call it.
func (w *World) Do(what string, action func(ctx context.Context) error) {
	ctx, cancel := w.Soon()
	defer cancel()
	began := time.Now()
	err := action(ctx)
	if err != nil && w.ctx.Err() == nil {
		w.Fail(fmt.Errorf("%s: %w", what, err))
	}
	w.Log.Info("did", "what", what, "at", w.now().Round(time.Millisecond), "took", time.Since(began).Round(time.Millisecond), "error", err)
}

// Observe adds an event of the harness.
func (w *World) Observe(e history.Event) {
	w.Log.Info("event", "kind", e.Kind.String(), "at", w.now().Round(time.Millisecond), "detail", e.Detail)
	w.Record(journal.Event{
		At: time.Now(), Kind: e.Kind, Process: w.names.processes.Name(e.Process), Task: w.names.tasks.Name(e.Task),
		Node: w.names.nodes.Name(e.Node), Fault: e.Fault, Delay: e.Due, Detail: e.Detail, Object: e.Object, Token: e.Token,
	})
}

// names are those that the harness has met, by the IDs that it was given.
type names struct{ processes, tasks, nodes *history.Table }

func newNames() names {
	return names{history.NewTable(), history.NewTable(), history.NewTable()}
}

// Processes interns names of processes.
func (w *World) Processes() *history.Table { return w.names.processes }

// Tasks interns task IDs.
func (w *World) Tasks() *history.Table { return w.names.tasks }

// Nodes interns names of nodes, as the scenario calls them.
func (w *World) Nodes() *history.Table { return w.names.nodes }

// History is what was collected, or what was seen so far.
func (w *World) History() *history.History {
	if w.final != nil {
		return w.final
	}
	return &w.live.history
}

// Quiet asks the database whether any task is owed something, and the nodes whether a container lives.
func (w *World) Quiet() bool {
	if len(w.live.containers) > 0 || w.database == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(w.ctx, 5*time.Second)
	defer cancel()
	var busy int
	// A cleanup that is due after the task's end was postponed: the finished workload is kept for a while.
	err := w.database.QueryRow(ctx, `SELECT count(*) FROM tasks
		WHERE phase IN ('pending', 'running') OR cleanup_at IS NOT NULL AND cleanup_at <= ended_at`).Scan(&busy)
	return err == nil && busy == 0
}

// Drain does what others have posted to the loop, where that does not run.
func (w *World) Drain() { w.drain() }

// Namespace is where the run is.
func (w *World) Namespace() string { return w.Options.Namespace }

// Pod names the pod that a replica is in; false when it is down.
func (w *World) Pod(process string) (string, bool) {
	if r := w.replica(process); r != nil && r.pod != "" {
		return r.pod, true
	}
	return "", false
}

// Addresses are host and port at which pods reach the API server and the database: those of the fault proxy.
func (w *World) Addresses() (api, store string) { return w.addresses.proxyAPI, w.addresses.proxyStore }

// Context is that of all that goes on beside the loop.
func (w *World) Context() context.Context { return w.ctx }

// Database is the run's, past the proxy; nil before Connect.
func (w *World) Database() *pgxpool.Pool { return w.database }

// Start says when the run began, from which its time counts.
func (w *World) Start(at time.Time) { w.start = at }

// Started is when the run began; zero: not yet.
func (w *World) Started() time.Time { return w.start }

// Closed tells whether the run is over.
func (w *World) Closed() bool { return w.closed }

// Ahead says by how much the clock that the record is stamped with is ahead of ours, where that is another one.
func (w *World) Ahead(by time.Duration) { w.ahead = by }

// Stop ends what goes on beside the loop. It tells whether that had not been done yet.
func (w *World) Stop() bool {
	if w.closed {
		return false
	}
	w.closed = true
	w.cancel()
	return true
}

// Leave waits for what Stop has ended, and closes the connections.
func (w *World) Leave() {
	for _, c := range w.clients {
		c.close()
	}
	w.beside.Wait()
	if w.database != nil {
		w.database.Close()
	}
}
