package kubernetes

import (
	"fmt"
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
)

// kubernetes.io/docs/concepts/architecture/nodes: a heartbeat every 10 s, judged every 5 s, NotReady after 40 s (node_grace of
// the profile) without one.
func TestSilentNodeBecomesNotReady(t *testing.T) {
	for _, silence := range []struct {
		name string
		of   func(s *Server, node string)
	}{
		{"machine off", func(s *Server, n string) { s.KillNode(n) }},
		{"kubelet cut off", func(s *Server, n string) { s.CutNode(n, clusters.API) }},
	} {
		t.Run(silence.name, func(t *testing.T) {
			w := newWorld(t, pool("od", clusters.OnDemand, 3, 10))
			const at = 95 * time.Second
			w.until(at)
			silence.of(w.s, "od-2")
			w.until(time.Hour)
			got := w.nodeAt(history.NodeNotReady, "od-2", 0)
			if got < at+40*time.Second-heartbeatPeriod || got > at+40*time.Second+2*monitorPeriod {
				t.Errorf("NotReady %v after the silence began", got-at)
			}
			if ok, _ := w.s.NodeExists("od-2"); !ok {
				t.Error("the Node object is gone")
			}
			if other := w.nodeAt(history.NodeNotReady, "od-1", 0); other != never {
				t.Error("another node is NotReady")
			}
		})
	}
}

// kubernetes.io/docs/concepts/architecture/nodes, heartbeats: a node is Ready for as long as it renews within node-monitor-grace-period.
func TestShortSilenceIsForgiven(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 3, 10))
	for range 20 {
		w.s.CutNode("od-1", clusters.API)
		w.until(w.k.Now() + 25*time.Second)
		w.s.JoinNode("od-1", clusters.API)
		w.until(w.k.Now() + 11*time.Second)
	}
	if at := w.nodeAt(history.NodeNotReady, "od-1", 0); at != never {
		t.Errorf("NotReady at %v", at)
	}
}

// A node that is back for less than the time to its next heartbeat and gone again was silent all along.
func TestSilenceIsCountedFromTheLastHeartbeat(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 3, 10))
	w.until(w.s.lookup("od-1").firstBeat + 2*heartbeatPeriod + 1)
	cut := w.k.Now()
	w.s.CutNode("od-1", clusters.API)
	w.until(cut + 21*time.Second)
	w.s.JoinNode("od-1", clusters.API)
	w.until(cut + 22*time.Second)
	w.s.CutNode("od-1", clusters.API)
	w.until(time.Hour)
	if got := w.nodeAt(history.NodeNotReady, "od-1", 0) - cut; got > 50*time.Second {
		t.Errorf("NotReady %v after the first cut", got)
	}
}

// The clock starts anew with every heartbeat that was heard, however often the node came and went before it.
func TestHeardHeartbeatStartsTheClockAnew(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 3, 10))
	beat := w.s.lookup("od-1").firstBeat + 2*heartbeatPeriod
	for _, step := range []struct {
		at  time.Duration
		cut bool
	}{{1, true}, {2, false}, {3, true}, {4, false}, {38, true}} {
		w.until(beat + step.at*time.Second)
		if step.cut {
			w.s.CutNode("od-1", clusters.API)
		} else {
			w.s.JoinNode("od-1", clusters.API)
		}
	}
	w.until(time.Hour)
	if got := w.nodeAt(history.NodeNotReady, "od-1", 0) - beat; got < 70*time.Second {
		t.Errorf("NotReady %v after the first heartbeat; it was heard until 30 s after it", got)
	}
}

// A kubelet that is back renews at once (k8s.io/component-helpers/apimachinery/lease retries with a short back-off).
func TestReturnAtTheLastMoment(t *testing.T) {
	cut := func(back time.Duration) time.Duration {
		w := newWorld(t, pool("od", clusters.OnDemand, 3, 10))
		w.until(w.s.lookup("od-1").firstBeat + 2*heartbeatPeriod + 1)
		w.s.CutNode("od-1", clusters.API)
		w.until(back)
		w.s.JoinNode("od-1", clusters.API)
		w.until(2 * time.Hour)
		return w.nodeAt(history.NodeNotReady, "od-1", 0)
	}
	late := cut(time.Hour)
	if got := cut(late - 1); late == never || got != never {
		t.Errorf("NotReady at %v, and at %v when it was back just before", late, got)
	}
}

// kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration, taint based evictions: the pods are deleted after
// tolerationSeconds (300); without kubelet nobody confirms, and the objects stay (architecture/nodes).
func TestEvictionFromAnUnreachableNode(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 3, 10))
	w.create("a")
	w.until(95 * time.Second)
	node := w.get("a").Node
	w.s.KillNode(node)
	w.until(time.Hour)
	notReady := w.nodeAt(history.NodeNotReady, node, 0)
	w.wantAt(history.ContainerEnded, "a", 95*time.Second, "killed")
	w.wantAt(history.ObjectDeleting, "a", notReady+300*time.Second)
	w.wantAt(history.ObjectGone, "a", never)
	w.wantState("a", dispatcher.WorkloadRunning, "") // as the API server has it
	w.s.ReturnNode(node)
	w.until(2 * time.Hour)
	w.wantAt(history.ObjectPhase, "a", time.Hour, "failed Evicted") // DisruptionTarget, DeletionByTaintManager
	w.wantAt(history.ObjectGone, "a", time.Hour)
	if at := w.nodeAt(history.NodeReady, node, time.Minute); at < time.Hour || at > time.Hour+heartbeatPeriod {
		t.Errorf("Ready at %v", at)
	}
}

// kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration, tolerationSeconds: a taint that is removed before the
// time is over evicts nobody.
func TestReturnBeforeTheEvictionCancelsIt(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 3, 10))
	w.create("a")
	w.until(95 * time.Second)
	node := w.get("a").Node
	w.s.CutNode(node, clusters.API)
	w.until(5 * time.Minute)
	if w.nodeAt(history.NodeNotReady, node, 0) == never {
		t.Fatal("the node stayed Ready")
	}
	w.s.JoinNode(node, clusters.API)
	w.until(time.Hour)
	w.wantAt(history.ObjectDeleting, "a", never)
	w.wantAt(history.ContainerEnded, "a", never)
}

// An ended pod on a tainted node is deleted too (pkg/controller/tainteviction asks for no phase), and at once.
func TestEvictionOfEndedPods(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 3, 10))
	w.run = 10 * time.Second
	w.create("a")
	w.until(95 * time.Second)
	w.s.KillNode(w.get("a").Node)
	w.until(time.Hour)
	w.wantAt(history.ObjectPhase, "a", started+w.run, "succeeded")
	if w.exists("a") {
		t.Error("the ended pod is still there")
	}
}

// pkg/controller/nodelifecycle: --node-eviction-rate 0.1 taints one node per 10 s.
func TestNodesAreTaintedOneByOne(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 6, 1))
	for i := range 6 {
		w.create(fmt.Sprint(i))
	}
	w.until(95 * time.Second)
	for _, n := range []string{"od-1", "od-2", "od-3"} {
		w.s.KillNode(n)
	}
	w.until(time.Hour)
	var at []time.Duration
	for _, e := range w.events {
		if e.Kind == history.ObjectDeleting {
			at = append(at, e.At)
		}
	}
	if len(at) != 3 || at[1]-at[0] < taintEvery || at[2]-at[1] < taintEvery {
		t.Errorf("evictions at %v", at)
	}
}

// kubernetes.io/docs/concepts/architecture/nodes, rate limits on eviction: none when all nodes are unhealthy, nor, in a cluster of
// up to 50 nodes, when at least 55 % of them are (and at least 3, ComputeZoneState).
func TestNoEvictionsWhileMostNodesAreSilent(t *testing.T) {
	for _, c := range []struct {
		nodes, killed   int
		atLeast, atMost int
	}{
		{1, 1, 0, 0}, // all
		{2, 1, 1, 1},
		{3, 2, 2, 2}, // 67 %, but fewer than 3
		{5, 3, 0, 2}, // those tainted before the third fell silent stay so
		{6, 3, 3, 3}, // 50 %
		{4, 4, 0, 0},
	} {
		t.Run(fmt.Sprintf("%d of %d", c.killed, c.nodes), func(t *testing.T) {
			w := newWorld(t, pool("od", clusters.OnDemand, c.nodes, 1))
			for i := range c.nodes {
				w.create(fmt.Sprint(i))
			}
			w.until(95 * time.Second)
			for i := range c.killed {
				w.s.KillNode(fmt.Sprint("od-", i+1))
			}
			w.until(time.Hour)
			evictions := 0
			for _, e := range w.events {
				if e.Kind == history.ObjectDeleting {
					evictions++
				}
			}
			if evictions < c.atLeast || evictions > c.atMost {
				t.Errorf("%d evictions", evictions)
			}
			// When enough nodes are back, those that stay silent are evicted after all.
			for i := range c.killed - 1 {
				w.s.ReturnNode(fmt.Sprint("od-", i+1))
			}
			w.until(2 * time.Hour)
			if !w.s.lookup(fmt.Sprint("od-", c.killed)).tainted && c.nodes > 1 {
				t.Error("the last silent node is not tainted")
			}
		})
	}
}

// A cluster of more than 50 nodes goes on evicting, one node per 100 s (--secondary-node-eviction-rate 0.01).
func TestLargeClusterEvictsSlowly(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 60, 1))
	w.until(95 * time.Second)
	for i := range 40 {
		w.s.KillNode(fmt.Sprint("od-", i+1))
	}
	w.until(3 * time.Minute)
	tainted := func() int {
		n := 0
		for _, x := range w.s.nodes {
			if x.tainted {
				n++
			}
		}
		return n
	}
	before := tainted()
	w.until(3*time.Minute + 1000*time.Second)
	if got := tainted() - before; got < 9 || got > 11 {
		t.Errorf("%d nodes were tainted in 1000 s", got)
	}
	// Once most nodes are back the rate is one per 10 s again, from now on.
	for i := range 32 {
		w.s.ReturnNode(fmt.Sprint("od-", i+1))
	}
	w.until(w.k.Now() + 2*heartbeatPeriod + 8*taintEvery)
	if got := tainted(); got != 8 {
		t.Errorf("%d of 8 silent nodes are tainted", got)
	}
}

// pkg/controller/podgc/gc_controller.go: sweeps every 20 s, 40 s of quarantine from the first that missed the node;
// markFailedAndDeletePod with DisruptionTarget.
func TestPodGarbageCollection(t *testing.T) {
	for _, removed := range []time.Duration{81 * time.Second, 99 * time.Second} {
		w := newWorld(t, pool("od", clusters.OnDemand, 2, 10))
		w.create("a")
		w.create("held", held)
		w.until(removed)
		w.s.RemoveNode(w.get("a").Node)
		w.s.RemoveNode(w.get("held").Node)
		w.wantAt(history.ContainerEnded, "a", removed, "killed")
		w.until(139 * time.Second)
		w.wantState("a", dispatcher.WorkloadRunning, "")
		w.until(time.Hour)
		w.wantAt(history.ObjectPhase, "a", 140*time.Second, "failed Evicted")
		w.wantAt(history.ObjectGone, "a", 140*time.Second)
		w.wantAt(history.ObjectPhase, "held", 140*time.Second, "failed Evicted")
		if got := w.get("held"); !got.Deleting || !got.Held {
			t.Errorf("the held pod is %+v", got)
		}
		w.wantErr(w.s.Release("task-held", ""), nil)
		w.wantAt(history.ObjectGone, "held", time.Hour)
	}
}

// Neither a node that is only NotReady nor an ended pod's phase is podgc's to change.
func TestPodGarbageCollectionLeavesAlone(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 3, 10))
	w.run = 10 * time.Second
	w.create("a", held)
	w.until(95 * time.Second)
	node := w.get("a").Node
	w.s.KillNode(node)
	w.until(4 * time.Minute)
	if !w.exists("a") {
		t.Error("collected although the Node object exists")
	}
	w.s.RemoveNode(node)
	w.until(time.Hour)
	w.wantState("a", dispatcher.WorkloadSucceeded, "")
}
