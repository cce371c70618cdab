package faults

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
)

// board is a world that does nothing but keep a list of what was done to it.
type board struct {
	now                     time.Duration
	timers                  []timer
	done                    []string
	rules                   []clusters.Rule
	nopod                   bool
	frozen                  bool // the API server
	processes, tasks, nodes *history.Table
	history                 history.History
}

type timer struct {
	at time.Duration
	fn func()
}

func newBoard() *board {
	b := &board{processes: history.NewTable(), tasks: history.NewTable(), nodes: history.NewTable()}
	for _, p := range []string{"dispatcher-1", "dispatcher-2", "reconciler-1", "client-1"} {
		b.processes.ID(p)
	}
	for _, n := range []string{"od-1", "spot-1", "spot-2"} {
		b.Observe(history.Event{Kind: history.NodeAdded, Node: b.nodes.ID(n)})
	}
	b.tasks.ID("task-1")
	return b
}

func (b *board) did(format string, args ...any) {
	b.done = append(b.done, fmt.Sprintf("%s ", b.now)+fmt.Sprintf(format, args...))
}

func (b *board) Now() time.Duration { return b.now }

func (b *board) At(at time.Duration, _ string, fn func()) {
	b.timers = append(b.timers, timer{at, fn})
}

func (b *board) Run(_ context.Context, until time.Duration, _ func() bool) error {
	for {
		next := -1
		for i, t := range b.timers {
			if t.at <= until && (next < 0 || t.at < b.timers[next].at) {
				next = i
			}
		}
		if next < 0 {
			b.now = until
			return nil
		}
		t := b.timers[next]
		b.timers = slices.Delete(b.timers, next, next+1)
		b.now = max(b.now, t.at)
		t.fn()
	}
}

func (b *board) Observe(e history.Event) {
	e.Seq, e.At = history.Seq(len(b.history.Events)+1), b.now
	b.history.Events = append(b.history.Events, e)
}

func (b *board) Go(string, func(context.Context, dispatcher.Ports)) {}
func (b *board) Quiet() bool                                        { return true }
func (b *board) Processes() *history.Table                          { return b.processes }
func (b *board) Tasks() *history.Table                              { return b.tasks }
func (b *board) Nodes() *history.Table                              { return b.nodes }
func (b *board) History() *history.History                          { return &b.history }
func (b *board) Close() error                                       { return nil }

func (b *board) KillNode(n string)                          { b.did("kill %s", n) }
func (b *board) ReturnNode(n string)                        { b.did("return %s", n) }
func (b *board) RemoveNode(n string)                        { b.did("remove %s", n) }
func (b *board) CutNode(n string, p clusters.Port)          { b.did("cut %s %s", n, p) }
func (b *board) JoinNode(n string, p clusters.Port)         { b.did("join %s %s", n, p) }
func (b *board) ReclaimNode(n string, notice time.Duration) { b.did("reclaim %s %s", n, notice) }

func (b *board) EvictPod(t string) bool      { b.did("evict %s", t); return !b.nopod }
func (b *board) RelabelPod(t string) bool    { b.did("relabel %s", t); return !b.nopod }
func (b *board) RemovePod(t string) bool     { b.did("remove pod %s", t); return !b.nopod }
func (b *board) KillContainer(t string) bool { b.did("kill container %s", t); return !b.nopod }

func (b *board) Crash(p string) {
	b.did("crash %s", p)
	b.Observe(history.Event{Kind: history.ProcessCrashed, Process: b.processes.ID(p)})
}
func (b *board) Restart(p string)                     { b.did("restart %s", p) }
func (b *board) Pause(p string)                       { b.did("pause %s", p) }
func (b *board) Resume(p string)                      { b.did("resume %s", p) }
func (b *board) SkewClock(p string, by time.Duration) { b.did("skew %s %s", p, by) }

func (b *board) Intercept(r clusters.Rule) func() {
	b.did("rule %s %s %s", r.Action, r.Port, r.Process)
	b.rules = append(b.rules, r)
	return func() { b.did("unrule %s %s %s", r.Action, r.Port, r.Process) }
}

func (b *board) SetCacheLag(d clusters.Dist)          { b.did("cache lag %s", d.A) }
func (b *board) SetReplicaLag(d clusters.Dist)        { b.did("replica lag %s", d.A) }
func (b *board) SetRunTime(t string, d time.Duration) { b.did("run time %s %s", t, d) }
func (b *board) HoldScheduling(hold bool)             { b.did("hold %t", hold) }
func (b *board) FailOver(lost time.Duration)          { b.did("fail over %s", lost) }

func (b *board) StopServer(p clusters.Port, felt func()) { b.did("stop server %s", p); felt() }
func (b *board) StartServer(p clusters.Port)             { b.did("start server %s", p) }
func (b *board) PauseServer(p clusters.Port, felt func()) {
	b.did("pause server %s", p)
	b.frozen = b.frozen || p == clusters.API
	felt()
}
func (b *board) ResumeServer(p clusters.Port) {
	b.did("resume server %s", p)
	b.frozen = b.frozen && p != clusters.API
}

func (b *board) Hindrance(p clusters.Port) string {
	if p == clusters.API && b.frozen {
		return "the API server was frozen"
	}
	return ""
}

// nodesOnly is a world that can break machines and nothing else.
type nodesOnly struct {
	clusters.Cluster
	clusters.NodeFaults
}
