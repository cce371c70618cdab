package kubernetes

import (
	"errors"
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/sim/kernel"
	"github.com/squall-chaos/squall/dispatcher"
)

// world is a Host whose containers run for a while and then exit 0.
type world struct {
	t            testing.TB
	k            *kernel.Kernel
	s            *Server
	tasks, nodes *history.Table
	events       []history.Event
	terms, kills int

	run  time.Duration // true length of the work; 0: it never ends
	code int           // its exit code
	heed time.Duration // SIGTERM to exit; 0: SIGTERM is ignored
}

// steady is a platform whose every latency is known.
var steady = clusters.Platform{
	APILatency: clusters.Fixed(0),
	Scheduling: clusters.Fixed(time.Second),
	ImagePull:  clusters.Fixed(10 * time.Second),
	Startup:    clusters.Fixed(2 * time.Second),
}

// started is when the first container of a node runs on the steady platform, and startTime when its kubelet saw it.
const (
	startTime = time.Second
	started   = 13 * time.Second
)

func pool(name string, t clusters.CapacityType, count, pods int) clusters.NodeGroup {
	return clusters.NodeGroup{Name: name, CapacityType: t, Count: count, Pods: pods}
}

func newWorld(t testing.TB, groups ...clusters.NodeGroup) *world {
	return newWorldOn(t, steady, groups...)
}

func newWorldOn(t testing.TB, p clusters.Platform, groups ...clusters.NodeGroup) *world {
	w := &world{t: t, k: kernel.New(1), tasks: history.NewTable(), nodes: history.NewTable()}
	settings, _ := dispatcher.Profile("b0")
	w.s = New(w.k, clusters.Config{Platform: p, Nodes: groups, Settings: settings}, w, &Memory{})
	return w
}

func (w *world) Tasks() *history.Table { return w.tasks }
func (w *world) Nodes() *history.Table { return w.nodes }

func (w *world) Observe(e history.Event) {
	e.At = w.k.Now()
	w.events = append(w.events, e)
}

func (w *world) ContainerStarted(c *Container) {
	if w.run > 0 {
		w.k.After(w.run, 0, func() { c.Exit(w.code, "") })
	}
}

func (w *world) Terminate(c *Container) {
	w.terms++
	if w.heed > 0 {
		w.k.After(w.heed, 0, func() { c.Exit(143, "") })
	}
}

func (w *world) Killed(*Container) { w.kills++ }

// create makes the pod of a task, changed by the options.
func (w *world) create(task string, options ...func(*dispatcher.Workload)) dispatcher.Workload {
	w.t.Helper()
	made, err := w.s.Create(workload(task, options...))
	if err != nil {
		w.t.Fatalf("create %s: %v", task, err)
	}
	return made
}

func workload(task string, options ...func(*dispatcher.Workload)) dispatcher.Workload {
	x := dispatcher.Workload{Name: "task-" + task, Task: dispatcher.TaskID(task), Attempt: 1, Token: 7, Grace: 30 * time.Second}
	for _, o := range options {
		o(&x)
	}
	return x
}

func held(x *dispatcher.Workload)     { x.Held = true }
func onDemand(x *dispatcher.Workload) { x.OnDemand = true }
func deadline(d time.Duration) func(*dispatcher.Workload) {
	return func(x *dispatcher.Workload) { x.Deadline = d }
}
func grace(d time.Duration) func(*dispatcher.Workload) {
	return func(x *dispatcher.Workload) { x.Grace = d }
}

// until lets the world go on to the instant, everything that falls on it included.
func (w *world) until(at time.Duration) {
	w.t.Helper()
	if err := w.k.Run(at, nil); err != nil {
		w.t.Fatal(err)
	}
}

// get is the object as it is, the zero Workload when there is none.
func (w *world) get(task string) dispatcher.Workload {
	got, err := w.s.Get("task-" + task)
	if err != nil && !errors.Is(err, dispatcher.ErrNotFound) {
		w.t.Fatal(err)
	}
	return got
}

func (w *world) exists(task string) bool { return w.get(task).UID != "" }

// never is the time of what did not happen.
const never = time.Duration(-1)

// at is when the kind of event first happened to the task, and when it first happened with that detail if one is given.
func (w *world) at(kind history.Kind, task string, detail ...string) time.Duration {
	for _, e := range w.events {
		if e.Kind == kind && w.tasks.Name(e.Task) == task && (len(detail) == 0 || e.Detail == detail[0]) {
			return e.At
		}
	}
	return never
}

// nodeAt is when the kind of event first happened to the node at or after from.
func (w *world) nodeAt(kind history.Kind, node string, from time.Duration) time.Duration {
	for _, e := range w.events {
		if e.Kind == kind && w.nodes.Name(e.Node) == node && e.At >= from {
			return e.At
		}
	}
	return never
}

func (w *world) wantAt(kind history.Kind, task string, want time.Duration, detail ...string) {
	w.t.Helper()
	if got := w.at(kind, task, detail...); got != want {
		w.t.Errorf("event %d %v of %s: at %v, want %v", kind, detail, task, got, want)
	}
}

func (w *world) wantState(task string, state dispatcher.WorkloadState, failure dispatcher.Failure) {
	w.t.Helper()
	if got := w.get(task); got.State != state || got.Failure != failure {
		w.t.Errorf("at %v %s is %q %q, want %q %q", w.k.Now(), task, got.State, got.Failure, state, failure)
	}
}

func (w *world) wantErr(err, want error) {
	w.t.Helper()
	if !errors.Is(err, want) {
		w.t.Errorf("got error %v, want %v", err, want)
	}
}

func (w *world) delete(task string, force bool) {
	w.t.Helper()
	if err := w.s.Delete("task-"+task, "", force); err != nil {
		w.t.Fatal(err)
	}
}
