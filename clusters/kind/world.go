package kind

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"k8s.io/client-go/kubernetes"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/journal"
	"github.com/squall-chaos/squall/clusters/kind/images"
	"github.com/squall-chaos/squall/clusters/kind/testbed"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/faults/proxy"
)

// Options are what a World needs besides its Config.
type Options struct {
	Namespace string       // of this run alone; made, and removed by Close
	Programs  images.Image // with the planted defects when the system under test is one
	Log       *slog.Logger // what runs, what was injected, what was seen; nil: silent
}

// World is one run in one namespace of a testbed.
type World struct {
	*loop
	site      *Site
	shell     *testbed.Shell // in the control plane, where the replicas are
	config    clusters.Config
	options   Options
	bed       *testbed.Cluster
	api       kubernetes.Interface
	namespace string
	log       *slog.Logger

	// ctx is that of everything that goes on beside the loop; Close ends it and waits.
	ctx    context.Context
	cancel context.CancelFunc
	beside sync.WaitGroup

	addresses addresses
	database  *pgxpool.Pool // straight to the database, past the proxy
	proxy     *proxy.Client
	secrets   secrets
	access    access

	names      names
	live       live
	machines   machines
	heard      map[string]time.Time // when the kubelet of each of the cluster's nodes last renewed its lease
	replicas   []*replica
	clients    []*client
	rules      map[string]*rule
	runTimes   map[string]bool // tasks with a run time of their own
	schedulers []string        // containers of paused schedulers
	servers    servers
	lateness   time.Duration // the longest that a call was held back
	waits      *rand.Rand    // of pods for their nodes
	barriers   []string      // rules of the proxy that hold the replicas until the run begins
	final      *history.History
	closed     bool
}

var (
	_ clusters.Cluster   = (*World)(nil)
	_ clusters.Collector = (*World)(nil)
)

// New prepares a run: its namespace, a database, a fault proxy. The replicas start with the first Run. What was made is removed again
// when something fails.
func (s *Site) New(ctx context.Context, c clusters.Config, o Options) (*World, error) {
	w := &World{
		loop: newLoop(), site: s, config: c, options: o, bed: s.bed, api: s.api, namespace: o.Namespace, log: o.Log,
		waits: rand.New(rand.NewPCG(c.Seed, 0)),
		names: newNames(), rules: map[string]*rule{}, runTimes: map[string]bool{}, heard: map[string]time.Time{},
		servers: servers{frozen: map[string][]string{}},
	}
	if w.log == nil {
		w.log = slog.New(slog.DiscardHandler)
	}
	w.live.world = w
	w.ctx, w.cancel = context.WithCancel(context.WithoutCancel(ctx))
	var err error
	if w.machines, err = assign(s.bed, c.Nodes); err != nil {
		return nil, err
	}
	if err := w.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("prepare namespace %s: %w", o.Namespace, err), w.Close())
	}
	return w, nil
}

func (w *World) prepare(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		w.makeNamespace, w.makeAccess, w.makeServices, w.openShell, w.watch, w.awaitServices, w.openDatabase, w.openProxy, w.line,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// line has the replicas stand at the starting line: their processes run, and the proxy lets none of them to the database, without
// which they do nothing. How long a machine takes to start a pod is no part of a run.
func (w *World) line(ctx context.Context) (err error) {
	for i := range w.config.Dispatchers {
		w.replicas = append(w.replicas, &replica{name: fmt.Sprintf("dispatcher-%d", i+1), role: dispatcher.RoleDispatcher})
	}
	for i := range w.config.Reconcilers {
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
		if err := w.awaitPod(ctx, r.pod); err != nil {
			return err
		}
	}
	return nil
}

func (w *World) openShell(ctx context.Context) (err error) {
	w.shell, err = w.bed.ControlPlane().Shell(ctx)
	return err
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
	w.start = time.Now()
	w.machines.introduce(&w.live)
	for _, c := range w.clients {
		w.goAside(func() { c.run(w.ctx) })
	}
	for _, id := range w.barriers {
		if err := w.proxy.Disarm(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// goAside runs something beside the loop; Close waits for it.
func (w *World) goAside(do func()) {
	w.beside.Add(1)
	go func() {
		defer w.beside.Done()
		do()
	}()
}

// soon bounds an action on the cluster that the loop waits for.
func (w *World) soon() (context.Context, context.CancelFunc) {
	return context.WithTimeout(w.ctx, 30*time.Second)
}

// do is an action of a fault: it either works, or the run has failed.
func (w *World) do(what string, action func(ctx context.Context) error) {
	ctx, cancel := w.soon()
	defer cancel()
	began := time.Now()
	err := action(ctx)
	if err != nil && w.ctx.Err() == nil {
		w.fail(fmt.Errorf("%s: %w", what, err))
	}
	w.log.Info("did", "what", what, "at", w.now().Round(time.Millisecond), "took", time.Since(began).Round(time.Millisecond), "error", err)
}

// Observe adds an event of the harness.
func (w *World) Observe(e history.Event) {
	w.log.Info("event", "kind", e.Kind.String(), "at", w.now().Round(time.Millisecond), "detail", e.Detail)
	w.live.add(journal.Event{
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

// Close removes all that the run made, and mends what it broke. It may be called again.
func (w *World) Close() error {
	if w.closed {
		return nil
	}
	w.closed = true
	ctx, cancel := context.WithTimeout(context.WithoutCancel(w.ctx), 2*time.Minute)
	defer cancel()
	w.cancel()
	err := w.mend(ctx)
	for _, c := range w.clients {
		c.close()
	}
	w.beside.Wait()
	if w.shell != nil {
		_ = w.shell.Close()
	}
	if w.database != nil {
		w.database.Close()
	}
	return errors.Join(err, w.removeNamespace(ctx))
}
