package sim

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
)

// launch claims a task with that work and creates its pod, as attempt number attempts.
func launch(t *testing.T, w *Cluster, work dispatcher.Work, attempts int) dispatcher.Workload {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	_, err := w.database.Submit(background, dispatcher.Spec{ID: "t1", Work: work})
	must(err)
	term, err := w.database.Lead(background, dispatcher.RoleDispatcher, "x/1")
	must(err)
	tasks, err := w.database.Claim(background, term, 1)
	must(err)
	made, err := w.kube.Create(dispatcher.Workload{Name: "task-t1", Task: "t1", Attempt: attempts, Token: tasks[0].Attempt.Token,
		Deadline: 10 * time.Minute, Grace: 30 * time.Second, Work: work})
	must(err)
	return made
}

// truth lists the ground truth: at which second the container did what.
func truth(w *Cluster) string {
	words := map[history.Kind]string{history.ContainerEnded: "", history.WorkStarted: "work", history.WorkEnded: "end",
		history.EffectCounted: "counted", history.EffectRefused: "refused", history.EffectLost: "lost"}
	var all []string
	for _, e := range w.History().Events {
		word, ok := words[e.Kind]
		if e.Kind == history.ContainerEnded {
			word = e.Detail
		}
		if ok {
			all = append(all, fmt.Sprintf("%.0f %s", e.At.Seconds(), word))
		}
	}
	return strings.Join(all, ", ")
}

// workerCase is one behaviour of the worker: what it is told to do, what strikes, and the truth that follows.
type workerCase struct {
	name    string
	work    dispatcher.Work
	attempt int
	change  func(*clusters.Config)
	fault   func(*Cluster)
	want    string
}

const s = time.Second

// cut severs the worker's node from the database for a while.
func cutStore(from, to time.Duration) func(w *Cluster) {
	return func(w *Cluster) {
		w.At(from, "cut", func() { w.CutNode("od-1", clusters.Store) })
		w.At(to, "join", func() { w.JoinNode("od-1", clusters.Store) })
	}
}

func at(d time.Duration, fn func(w *Cluster)) func(w *Cluster) {
	return func(w *Cluster) { w.At(d, "fault", func() { fn(w) }) }
}

func ruled(r clusters.Rule) func(w *Cluster) { return func(w *Cluster) { w.Intercept(r) } }

func cancel(w *Cluster) { w.database.Cancel(background, "t1") }

func evict(w *Cluster) { w.EvictPod("t1") }

func noHeartbeats(c *clusters.Config) { c.Settings.HeartbeatInterval, c.Settings.WorkerLease = 0, 0 }

// Settings are those of b0, http_timeout 540 s, but with heartbeats every 10 s and a lease of 40 s. The container starts
// at 0 s, its first call takes effect 5 ms later.
var workerCases = []workerCase{
	{name: "success", work: dispatcher.Work{Run: 60 * s}, want: "0 work, 60 counted, 60 end, 60 exit 0"},
	{name: "instant success", work: dispatcher.Work{}, want: "0 work, 0 counted, 0 end, 0 exit 0"},
	{name: "failure", work: dispatcher.Work{Run: 60 * s, FailUntil: 1}, want: "0 work, 60 end, 60 exit 1"},
	{name: "failure is over", work: dispatcher.Work{Run: 60 * s, FailUntil: 1}, attempt: 2, want: "0 work, 60 counted, 60 end, 60 exit 0"},
	{name: "no result", work: dispatcher.Work{Run: 60 * s, NoResult: true}, want: "0 work, 60 end, 60 exit 0"},
	{name: "crash", work: dispatcher.Work{Run: 60 * s, CrashAt: 20 * s}, want: "0 work, 20 end, 20 exit 137"},
	{name: "crash planned for after the end", work: dispatcher.Work{Run: 60 * s, CrashAt: 70 * s}, want: "0 work, 60 counted, 60 end, 60 exit 0"},
	{name: "hangs until the kubelet's deadline", work: dispatcher.Work{Hang: true}, want: "0 work, 601 end, 601 exit 143"},
	{name: "HTTP timeout", work: dispatcher.Work{Run: 900 * s}, want: "0 work, 540 end, 540 exit 1"},
	{name: "step timeout, shorter by mistake", work: dispatcher.Work{Run: 900 * s},
		change: func(c *clusters.Config) { c.Settings.StepTimeout = 100 * s }, want: "0 work, 100 end, 100 exit 1"},
	{name: "ignores timeouts, and so meets the deadline", work: dispatcher.Work{Run: 900 * s, IgnoreTimeouts: true, IgnoreTerm: true},
		want: "0 work, 630 killed, 630 end"},
	{name: "run time of a fault", work: dispatcher.Work{Run: 60 * s}, fault: func(w *Cluster) { w.SetRunTime("t1", 90*s) },
		want: "0 work, 90 counted, 90 end, 90 exit 0"},
	{name: "run time restored", work: dispatcher.Work{Run: 60 * s}, fault: func(w *Cluster) { w.SetRunTime("t1", 90*s); w.SetRunTime("t1", 0) },
		want: "0 work, 60 counted, 60 end, 60 exit 0"},

	{name: "refused at the start", work: dispatcher.Work{Run: 60 * s}, fault: cancel, want: "0 exit 75"},
	{name: "store unreachable at first", work: dispatcher.Work{Run: 60 * s}, fault: cutStore(0, 12*s), want: "12 work, 72 counted, 72 end, 72 exit 0"},
	{name: "store refuses connections at first", work: dispatcher.Work{Run: 60 * s},
		fault: func(w *Cluster) {
			w.At(12*s, "heal", w.Intercept(clusters.Rule{Port: clusters.Store, Action: clusters.Refuse}))
		},
		want: "12 work, 72 counted, 72 end, 72 exit 0"},
	{name: "store unreachable for a lease", work: dispatcher.Work{Run: 60 * s}, fault: cutStore(0, 900*s), want: "41 exit 75"},
	{name: "store unreachable for the start timeout", work: dispatcher.Work{Run: 60 * s}, change: noHeartbeats, fault: cutStore(0, 900*s), want: "299 exit 75"},
	{name: "the accepted start's reply is lost", work: dispatcher.Work{Run: 60 * s},
		fault: ruled(clusters.Rule{Verb: history.Start, Nth: 1, Action: clusters.LoseReply}), want: "0 work, 66 counted, 66 end, 66 exit 0"},

	{name: "killed before it knew that it was let in", work: dispatcher.Work{Run: 60 * s},
		fault: func(w *Cluster) {
			w.Intercept(clusters.Rule{Verb: history.Start, Nth: 1, Action: clusters.LoseReply})
			at(3*s, func(w *Cluster) { w.KillContainer("t1") })(w)
		},
		want: "0 work, 3 exit 137, 3 end"},

	{name: "short cut", work: dispatcher.Work{Run: 60 * s}, fault: cutStore(15*s, 40*s), want: "0 work, 60 counted, 60 end, 60 exit 0"},
	{name: "fences itself a lease after the last sign of life", work: dispatcher.Work{Run: 300 * s}, fault: cutStore(15*s, 900*s),
		want: "0 work, 50 end, 50 lease over"},
	{name: "the lease counts from the sending", work: dispatcher.Work{Run: 300 * s},
		fault: ruled(clusters.Rule{Verb: history.Heartbeat, Action: clusters.LoseReply}), want: "0 work, 40 end, 40 lease over"},
	{name: "and not from the reply", work: dispatcher.Work{Run: 300 * s},
		fault: func(w *Cluster) {
			w.Intercept(clusters.Rule{Verb: history.Heartbeat, Nth: 1, Action: clusters.Slow, Delay: clusters.Fixed(4 * s)})
			cutStore(15*s, 900*s)(w)
		},
		want: "0 work, 50 end, 50 lease over"},
	{name: "cannot fence itself", work: dispatcher.Work{Run: 300 * s, IgnoreFence: true}, fault: cutStore(15*s, 900*s), want: "0 work, 601 end, 601 exit 143"},
	{name: "no heartbeats, no fence", work: dispatcher.Work{Run: 300 * s}, change: noHeartbeats, fault: cutStore(15*s, 250*s),
		want: "0 work, 300 counted, 300 end, 300 exit 0"},
	{name: "stops when it is superseded", work: dispatcher.Work{Run: 300 * s}, fault: at(35*s, cancel), want: "0 work, 40 end, 40 exit 75"},
	{name: "superseded and cannot stop", work: dispatcher.Work{Run: 300 * s, IgnoreFence: true}, fault: at(35*s, cancel),
		want: "0 work, 300 refused, 300 end, 300 exit 75"},

	{name: "hands in its result again and again", work: dispatcher.Work{Run: 60 * s}, fault: cutStore(58*s, 75*s), want: "0 work, 78 counted, 78 end, 78 exit 0"},
	{name: "the accepted result's reply is lost", work: dispatcher.Work{Run: 60 * s},
		fault: ruled(clusters.Rule{Verb: history.Finish, Nth: 1, Action: clusters.LoseReply}), want: "0 work, 60 counted, 66 end, 66 exit 0"},
	{name: "the result is applied after the worker's death", work: dispatcher.Work{Run: 60 * s}, change: noHeartbeats,
		fault: func(w *Cluster) {
			w.Intercept(clusters.Rule{Verb: history.Finish, Nth: 1, Action: clusters.Late, Delay: clusters.Fixed(20 * s)})
			w.At(61*s, "kill", func() { w.KillContainer("t1") })
		},
		want: "0 work, 61 exit 137, 61 end, 80 counted"},
	{name: "crash between the commit and its reply", work: dispatcher.Work{Run: 60 * s},
		fault: ruled(clusters.Rule{Verb: history.Finish, Nth: 1, Action: clusters.CrashCaller}), want: "0 work, 60 counted, 60 end, 60 crashed"},

	{name: "heeds SIGTERM", work: dispatcher.Work{Run: 60 * s}, fault: at(20*s, evict), want: "0 work, 21 end, 21 exit 143"},
	{name: "heeds SIGTERM and asks no more", work: dispatcher.Work{Run: 60 * s},
		fault: func(w *Cluster) {
			w.At(2950*ms, "heal", w.Intercept(clusters.Rule{Port: clusters.Store, Action: clusters.Refuse}))
			at(2900*ms, evict)(w)
		},
		want: "4 exit 143"},
	{name: "ignores SIGTERM", work: dispatcher.Work{Run: 60 * s, IgnoreTerm: true}, fault: at(20*s, evict), want: "0 work, 50 killed, 50 end"},
	{name: "its last word while it ignores SIGTERM", work: dispatcher.Work{Run: 30 * s, IgnoreTerm: true}, fault: at(20*s, evict),
		want: "0 work, 30 counted, 30 end, 30 exit 0"},
	{name: "killed", work: dispatcher.Work{Run: 60 * s}, fault: at(20*s, func(w *Cluster) { w.KillContainer("t1") }), want: "0 work, 20 exit 137, 20 end"},
	{name: "machine off", work: dispatcher.Work{Run: 60 * s}, fault: at(20*s, func(w *Cluster) { w.KillNode("od-1") }), want: "0 work, 20 killed, 20 end"},
}

func TestWorker(t *testing.T) {
	for _, c := range workerCases {
		t.Run(c.name, func(t *testing.T) {
			w := still(t, func(k *clusters.Config) {
				k.Settings.HeartbeatInterval, k.Settings.WorkerLease = 10*s, 40*s
				if c.change != nil {
					c.change(k)
				}
			})
			launch(t, w, c.work, max(c.attempt, 1))
			if c.fault != nil {
				c.fault(w)
			}
			run(t, w, 20*time.Minute)
			if got := truth(w); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			for _, op := range w.History().Operations {
				if op.Task != 1 || op.Token == 0 || w.Processes().Name(op.Process) != "worker-t1" {
					t.Errorf("recorded %+v", op)
				}
			}
		})
	}
}

// skipsStart begins to work without asking.
type skipsStart struct{ dispatcher.Workers }

func (skipsStart) Start(context.Context, dispatcher.Ticket) (dispatcher.Task, error) {
	return dispatcher.Task{}, nil
}

// TestReplacedWorkerIsGroundTruthToo: what a planted worker does is an execution whether or not the store was asked.
func TestReplacedWorkerIsGroundTruthToo(t *testing.T) {
	w := still(t, func(c *clusters.Config) {
		c.System.Workers = func(real dispatcher.Workers) dispatcher.Workers { return skipsStart{real} }
	})
	launch(t, w, dispatcher.Work{Run: 100 * time.Second, IgnoreFence: true}, 1)
	run(t, w, 20*time.Minute)
	if got, want := truth(w), "0 work, 100 refused, 100 end, 100 exit 75"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if len(operations(w, history.Start)) > 0 {
		t.Error("the record has a call that was never made")
	}
}

// plain passes everything on.
type plain struct{ dispatcher.Workers }

// TestReplacedWorkerDoesTheSame: the way through a coroutine must not change what happens.
func TestReplacedWorkerDoesTheSame(t *testing.T) {
	for _, work := range []dispatcher.Work{{Run: 100 * time.Second}, {Run: 100 * time.Second, FailUntil: 1}, {CrashAt: time.Second, Run: time.Minute}, {Hang: true}} {
		var got [2]string
		for i, hook := range []func(dispatcher.Workers) dispatcher.Workers{nil, func(real dispatcher.Workers) dispatcher.Workers { return plain{real} }} {
			w := still(t, func(c *clusters.Config) { c.System.Workers = hook })
			launch(t, w, work, 1)
			w.At(30*time.Second, "cut", func() { w.CutNode("od-1", clusters.Store) })
			w.At(50*time.Second, "join", func() { w.JoinNode("od-1", clusters.Store) })
			run(t, w, 20*time.Minute)
			got[i] = truth(w)
		}
		if got[0] != got[1] {
			t.Errorf("%+v: direct   %s\nreplaced %s", work, got[0], got[1])
		}
	}
}
