package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
)

const s = time.Second

func settings(t *testing.T) dispatcher.Settings {
	t.Helper()
	c, ok := dispatcher.Profile("tick-300s")
	if !ok {
		t.Fatal("no profile tick-300s")
	}
	return c
}

// inject runs the plan on a fresh board until two minutes, heals all, and returns the board.
func inject(t *testing.T, b *board, p Plan) *Injector {
	t.Helper()
	in, err := Arm(p, b, settings(t), rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Run(context.Background(), 120*s, nil); err != nil {
		t.Fatal(err)
	}
	in.HealAll()
	return in
}

func TestEveryKindStrikesAndHeals(t *testing.T) {
	for _, c := range []struct {
		fault Fault
		want  string
	}{
		{Fault{Kind: NodeKill, Target: Target{Node: "od-1"}, For: 5 * s}, "10s kill od-1, 15s return od-1"},
		{Fault{Kind: NodeKill, Target: Target{Node: "od-1"}}, "10s kill od-1, 2m0s return od-1"},
		{Fault{Kind: NodeRemove, Target: Target{Node: "od-1"}}, "10s remove od-1"},
		{Fault{Kind: NodePartition, Target: Target{Node: "od-1"}, For: 5 * s}, "10s cut od-1 api, 10s cut od-1 store, 15s join od-1 api, 15s join od-1 store"},
		{Fault{Kind: NodePartition, Target: Target{Node: "od-1"}, Ports: []clusters.Port{clusters.API}, For: 5 * s}, "10s cut od-1 api, 15s join od-1 api"},
		{Fault{Kind: SpotReclaim, Target: Target{Node: "spot-1"}, Notice: 30 * s}, "10s reclaim spot-1 30s"},
		{Fault{Kind: PodEvict, Target: Target{Task: "task-1"}}, "10s evict task-1"},
		{Fault{Kind: PodRemove, Target: Target{Task: "task-1"}}, "10s remove pod task-1"},
		{Fault{Kind: ContainerKill, Target: Target{Task: "task-1"}}, "10s kill container task-1"},
		{Fault{Kind: RunTime, Target: Target{Task: "task-1"}, Run: 9 * s, For: 5 * s}, "10s run time task-1 9s, 15s run time task-1 0s"},
		{Fault{Kind: SchedulingHold, For: 5 * s}, "10s hold true, 15s hold false"},
		{Fault{Kind: ProcessCrash, Target: Target{Process: "dispatcher-1"}, For: 5 * s}, "10s crash dispatcher-1, 15s restart dispatcher-1"},
		{Fault{Kind: ProcessPause, Target: Target{Process: "dispatcher*"}, For: 5 * s}, "10s pause dispatcher-1, 10s pause dispatcher-2, 15s resume dispatcher-1, 15s resume dispatcher-2"},
		{Fault{Kind: ClockSkew, Target: Target{Process: "dispatcher-1"}, By: -3 * s, For: 5 * s}, "10s skew dispatcher-1 -3s, 15s skew dispatcher-1 0s"},
		{Fault{Kind: LeaseUnreachable, Target: Target{Process: "dispatcher-1"}, For: 5 * s}, "10s rule refuse lease dispatcher-1, 15s unrule refuse lease dispatcher-1"},
		{Fault{Kind: LeaseHang, Target: Target{Process: "dispatcher-1"}, For: 5 * s}, "10s rule drop lease dispatcher-1, 15s unrule drop lease dispatcher-1"},
		{Fault{Kind: Call, Action: clusters.LoseReply, Target: Target{Port: clusters.API}, For: 5 * s}, "10s rule lose-reply api , 15s unrule lose-reply api "},
		{Fault{Kind: APIOutage, For: 5 * s}, "10s rule refuse api , 15s unrule refuse api "},
		{Fault{Kind: APISlow, Delay: clusters.Fixed(s), For: 5 * s}, "10s rule slow api , 15s unrule slow api "},
		{Fault{Kind: StoreOutage, For: 5 * s}, "10s rule refuse store , 15s unrule refuse store "},
		{Fault{Kind: StoreSlow, Delay: clusters.Fixed(s), For: 5 * s}, "10s rule slow store , 15s unrule slow store "},
		{Fault{Kind: APIPause, For: 5 * s}, "10s pause server api, 15s resume server api"},
		{Fault{Kind: StoreCrash, For: 5 * s}, "10s stop server store, 15s start server store"},
		{Fault{Kind: StorePause, For: 5 * s}, "10s pause server store, 15s resume server store"},
		{Fault{Kind: StoreFailover, Lost: 3 * s}, "10s fail over 3s"},
		{Fault{Kind: StaleCache, Lag: 3 * s, For: 5 * s}, "10s cache lag 3s, 15s cache lag 0s"},
		{Fault{Kind: StaleReplica, Lag: 3 * s, For: 5 * s}, "10s replica lag 3s, 15s replica lag 0s"},
	} {
		c.fault.At = 10 * s
		b := newBoard()
		in := inject(t, b, Plan{c.fault})
		if got := strings.Join(b.done, ", "); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.fault, got, c.want)
		}
		if !in.Done() {
			t.Errorf("%s: not done after HealAll", c.fault)
		}
		if got := ledger(b); !strings.HasPrefix(got, "planned 0s, struck 10s") || !strings.Contains(got, "healed") {
			t.Errorf("%s: the ledger says %s", c.fault, got)
		}
	}
}

// ledger is what the history says about faults.
func ledger(b *board) string {
	var out []string
	for _, e := range b.history.Events {
		if e.Kind >= history.FaultPlanned && e.Kind <= history.FaultHealed {
			out = append(out, strings.TrimPrefix(e.Kind.String(), "fault-")+" "+e.At.String())
		}
	}
	return strings.Join(out, ", ")
}

func TestOverlappingFaultsHealWithTheLast(t *testing.T) {
	for _, c := range []struct {
		name string
		plan Plan
		want string
	}{
		{"two states", Plan{
			{Kind: ProcessPause, Target: Target{Process: "dispatcher-1"}, At: 10 * s, For: 20 * s},
			{Kind: ProcessPause, Target: Target{Process: "dispatcher-1"}, At: 15 * s, For: 30 * s},
		}, "10s pause dispatcher-1, 15s pause dispatcher-1, 45s resume dispatcher-1"},
		{"servers", Plan{
			{Kind: StoreCrash, At: 10 * s, For: 20 * s},
			{Kind: StoreCrash, At: 15 * s, For: 30 * s},
			{Kind: StorePause, At: 20 * s, For: 5 * s},
		}, "10s stop server store, 15s stop server store, 20s pause server store, 25s resume server store, 45s start server store"},
		{"values", Plan{
			{Kind: StaleCache, Lag: 3 * s, At: 10 * s, For: 30 * s},
			{Kind: StaleCache, Lag: 9 * s, At: 15 * s, For: 5 * s},
		}, "10s cache lag 3s, 15s cache lag 9s, 20s cache lag 3s, 40s cache lag 0s"},
	} {
		b := newBoard()
		inject(t, b, c.plan)
		if got := strings.Join(b.done, ", "); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestLateTargetsAreResolvedWhenTheFaultStrikes(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault Fault
		at    time.Duration // when the world changes so that there is a victim
		event func(b *board) history.Event
		want  string
	}{
		{"leader", Fault{Kind: ProcessCrash, Target: Target{Process: "leader:dispatcher"}, For: s}, 5 * s,
			func(b *board) history.Event {
				return history.Event{Kind: history.LeaseHeld, Process: b.processes.ID("dispatcher-2"), Detail: "dispatcher"}
			}, "10s crash dispatcher-2"},
		{"leader yet to come", Fault{Kind: ProcessCrash, Target: Target{Process: "leader:dispatcher"}, For: s}, 30500 * time.Millisecond,
			func(b *board) history.Event {
				return history.Event{Kind: history.LeaseHeld, Process: b.processes.ID("dispatcher-2"), Detail: "dispatcher"}
			}, "31s crash dispatcher-2"},
		{"node of a task", Fault{Kind: NodeKill, Target: Target{Node: "task:task-1"}}, 5 * s, running("task-1", "spot-2"), "10s kill spot-2"},
		{"a running task", Fault{Kind: PodEvict, Target: Target{Task: "any:running"}}, 5 * s, running("task-1", "spot-2"), "10s evict task-1"},
		{"a node of a type", Fault{Kind: NodeKill, Target: Target{Node: "any:on-demand", Groups: []string{"od"}}}, 5 * s, running("task-1", "spot-2"), "10s kill od-1"},
	} {
		b := newBoard()
		b.At(c.at, "", func() { b.Observe(c.event(b)) })
		c.fault.At = 10 * s
		inject(t, b, Plan{c.fault})
		if len(b.done) == 0 || b.done[0] != c.want {
			t.Errorf("%s: got %s, want %s", c.name, b.done, c.want)
		}
	}
}

func running(task, node string) func(b *board) history.Event {
	return func(b *board) history.Event {
		return history.Event{Kind: history.ContainerStarted, Task: b.tasks.ID(task), Node: b.nodes.ID(node), Object: "u1"}
	}
}

func TestAFaultWithoutAVictimIsNeverStruck(t *testing.T) {
	b := newBoard()
	in := inject(t, b, Plan{{Kind: PodEvict, Target: Target{Task: "any:running"}, At: 10 * s}})
	if got := ledger(b); got != "planned 0s" || in.Done() || len(b.done) > 0 {
		t.Errorf("ledger %s, done %t, %s", got, in.Done(), b.done)
	}
}

// TestAFaultWaitsForItsWay: who evicts a pod asks the API server for it, and that of a real cluster may be frozen. The ledger says when
// the eviction really was, or that there was none and why.
func TestAFaultWaitsForItsWay(t *testing.T) {
	evict := Fault{Kind: PodEvict, Target: Target{Task: "task-1"}, At: 12500 * time.Millisecond}
	kill := Fault{Kind: ContainerKill, Target: Target{Task: "task-1"}, At: 13 * s}
	for _, c := range []struct {
		name   string
		frozen time.Duration
		done   string
		ledger string
	}{
		{"until the server goes on", 5 * s, "10s pause server api, 13s kill container task-1, 15s resume server api, 15.5s evict task-1",
			"1 planned, 2 planned, 3 planned, 1 struck, 1 observed, 3 struck, 3 observed, 3 healed, 1 healed, 2 struck, 2 observed, 2 healed"},
		{"in vain", 0, "10s pause server api, 13s kill container task-1, 2m0s resume server api",
			"1 planned, 2 planned, 3 planned, 1 struck, 1 observed, 3 struck, 3 observed, 3 healed, 2 missed, 1 healed"},
	} {
		b := newBoard()
		inject(t, b, Plan{{Kind: APIPause, At: 10 * s, For: c.frozen}, evict, kill})
		if got := strings.Join(b.done, ", "); got != c.done {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.done)
		}
		var told []string
		for _, e := range b.history.Events {
			if e.Fault > 0 {
				told = append(told, fmt.Sprintf("%d %s", e.Fault, strings.TrimPrefix(e.Kind.String(), "fault-")))
			}
			if e.Kind == history.FaultMissed && e.Detail != "the pod of task-1 is evicted: it did not strike, as the API server was frozen" {
				t.Errorf("%s: the ledger says %q", c.name, e.Detail)
			}
		}
		if got := strings.Join(told, ", "); got != c.ledger {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.ledger)
		}
	}
}

func TestOnlyWhatWasAffectedIsObserved(t *testing.T) {
	b := newBoard()
	b.nopod = true
	inject(t, b, Plan{{Kind: PodEvict, Target: Target{Task: "task-1"}, At: 10 * s}})
	if got := ledger(b); strings.Contains(got, "observed") {
		t.Errorf("evicting nothing was observed: %s", got)
	}
	b = newBoard()
	b.At(12*s, "", func() { b.rules[0].Hit() })
	b.At(13*s, "", func() { b.rules[0].Hit() })
	inject(t, b, Plan{{Kind: StoreOutage, At: 10 * s, For: 5 * s}})
	if got := ledger(b); got != "planned 0s, struck 10s, observed 12s, healed 15s" {
		t.Errorf("a call that was hit: %s", got)
	}
}

func TestACallerThatCrashedInACallIsRestarted(t *testing.T) {
	b := newBoard()
	b.At(12*s, "", func() { b.rules[0].Hit() })
	inject(t, b, Plan{
		{Kind: Call, Action: clusters.CrashCaller, Delay: clusters.Fixed(7 * s), Target: Target{Process: "dispatcher*", Port: clusters.API, Nth: 1}, At: 10 * s},
		{Kind: ProcessCrash, Target: Target{Process: "dispatcher-2"}, At: 11 * s, For: 60 * s},
	})
	if !slices.Contains(b.done, "19s restart dispatcher-1") {
		t.Errorf("the caller stays down: %s", b.done)
	}
	if slices.Contains(b.done, "19s restart dispatcher-2") {
		t.Errorf("restarted what another fault keeps down: %s", b.done)
	}
}

func TestArmRefusesWhatTheWorldCannotDo(t *testing.T) {
	b := newBoard()
	w := nodesOnly{b, b}
	if _, err := Arm(Plan{{Kind: NodeKill, Target: Target{Node: "od-1"}}}, w, settings(t), nil); err != nil {
		t.Errorf("a node fault: %v", err)
	}
	_, err := Arm(Plan{{Kind: ProcessPause, Target: Target{Process: "dispatcher-1"}}}, w, settings(t), nil)
	if err == nil || !strings.Contains(err.Error(), "dispatcher-1 is paused") {
		t.Errorf("a process fault: %v", err)
	}
}

// elsewhereWorld has pods evicted by something else than itself.
type elsewhereWorld struct{ *board }

func (w elsewhereWorld) Strikes(f Fault) (string, bool) { return "something else", f.Kind == PodEvict }
func (w elsewhereWorld) Strike(i int, f Fault, felt func()) {
	w.did("strike %d %s", i, f.Target.Task)
	felt()
}
func (w elsewhereWorld) Heal(i int) { w.did("heal %d", i) }

func TestAWorldMayHaveFaultsStruckByOtherMeans(t *testing.T) {
	b := newBoard()
	plan := Plan{{Kind: PodEvict, At: s, Target: Target{Task: "task-1"}}, {Kind: PodRemove, At: 2 * s, Target: Target{Task: "task-1"}}}
	in, err := Arm(plan, elsewhereWorld{b}, dispatcher.Settings{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Run(t.Context(), time.Minute, nil); err != nil {
		t.Fatal(err)
	}
	in.HealAll()
	if want := []string{"1s strike 0 task-1", "1s heal 0", "2s remove pod task-1"}; !slices.Equal(b.done, want) {
		t.Errorf("got %q, want %q", b.done, want)
	}
	var said []string
	for _, e := range b.history.Events {
		if e.Kind == history.FaultStruck {
			said = append(said, e.Detail)
		}
	}
	if want := []string{"the pod of task-1 is evicted, by something else", "the pod object of task-1 is removed by force"}; !slices.Equal(said, want) {
		t.Errorf("the record says %q, want %q", said, want)
	}
}
