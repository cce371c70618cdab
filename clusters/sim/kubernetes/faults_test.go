package kubernetes

import (
	"slices"
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
)

var (
	_ clusters.NodeFaults = (*Server)(nil)
	_ clusters.PodFaults  = (*Server)(nil)
)

// A machine that was off: what ran is dead and Failed (restartPolicy Never), what had ended keeps its result, what had not
// started yet starts, with the deadline of its old startTime.
func TestKillAndReturnNode(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
	w.create("ran", held)
	w.create("ended", held)
	w.until(20 * time.Second)
	w.s.CutNode("od-1", clusters.API) // so that the result is not reported
	w.s.ContainerOf("ended").Exit(0, "")
	w.until(21 * time.Second)
	w.s.JoinNode("od-1", clusters.API)
	w.s.lookup("od-1").pulled = false
	w.create("new")
	w.create("late", deadline(30*time.Second))
	w.until(25 * time.Second)
	w.s.KillNode("od-1")
	if w.s.Alive() != 0 || w.kills != 1 {
		t.Errorf("%d alive, %d killed", w.s.Alive(), w.kills)
	}
	w.wantAt(history.ContainerEnded, "ran", 25*time.Second, "killed")
	w.until(time.Minute)
	w.wantState("ran", dispatcher.WorkloadRunning, "")
	w.s.ReturnNode("od-1")
	w.until(5 * time.Minute)
	w.wantState("ran", dispatcher.WorkloadFailed, dispatcher.FailureUnknown)
	w.wantState("ended", dispatcher.WorkloadSucceeded, "")
	w.wantAt(history.ContainerStarted, "new", time.Minute+12*time.Second)
	w.wantAt(history.ContainerStarted, "late", never)
	w.wantState("late", dispatcher.WorkloadFailed, dispatcher.FailureDeadline)
}

// A machine that is off makes the API server believe nothing: NodeExists stays true; after RemoveNode it is false.
func TestRemoveNode(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 2, 10))
	w.s.KillNode("od-1")
	if ok, _ := w.s.NodeExists("od-1"); !ok {
		t.Error("gone with its power")
	}
	w.s.RemoveNode("od-1")
	if ok, _ := w.s.NodeExists("od-1"); ok {
		t.Error("still there")
	}
	w.s.ReturnNode("od-1")
	w.until(time.Hour)
	if got := w.s.NodesOf(""); !slices.Equal(got, []string{"od-2"}) {
		t.Errorf("nodes %v", got)
	}
	if at := w.nodeAt(history.NodeGone, "od-1", 0); at != 0 {
		t.Errorf("gone at %v", at)
	}
}

// kubernetes.io/docs/concepts/cluster-administration/node-shutdown, and spot reclaim with notice.
func TestReclaimNode(t *testing.T) {
	for _, c := range []struct {
		name   string
		notice time.Duration
		heed   time.Duration
		ended  time.Duration // after the notice
		phase  time.Duration
	}{
		{"heeded", 2 * time.Minute, 5 * time.Second, 5 * time.Second, 5 * time.Second},
		{"ignored", 2 * time.Minute, 0, 30 * time.Second, 30 * time.Second},
		// Nobody is left to report: podgc sets the phase.
		{"notice shorter than the grace", 10 * time.Second, 0, 10 * time.Second, 60 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, pool("od", clusters.OnDemand, 1, 10), pool("spot", clusters.Spot, 1, 10))
			w.heed = c.heed
			w.create("a", held)
			const at = 80 * time.Second
			w.until(at)
			w.s.ReclaimNode("spot-1", c.notice)
			w.create("b")
			if w.nodeAt(history.NodeNotReady, "spot-1", 0) != at {
				t.Error("not NotReady at once")
			}
			w.until(at + c.notice - 1)
			if ok, _ := w.s.NodeExists("spot-1"); !ok {
				t.Error("gone before the notice is over")
			}
			w.until(at + 10*time.Minute)
			w.wantAt(history.ContainerEnded, "a", at+c.ended)
			w.wantState("a", dispatcher.WorkloadFailed, dispatcher.FailureEvicted)
			if got := w.at(history.ObjectPhase, "a", "failed Evicted"); got != at+c.phase && c.phase < 60*time.Second {
				t.Errorf("Failed at %v", got-at)
			}
			if got := w.nodeAt(history.NodeGone, "spot-1", 0); got != at+c.notice {
				t.Errorf("gone after %v", got-at)
			}
			if !w.get("a").Deleting { // by podgc
				t.Error("the object is not deleted")
			}
			if got := w.get("b").Node; got != "od-1" {
				t.Errorf("a new pod is on %q", got)
			}
		})
	}
}

// A pod that was bound just before the shutdown is turned away (pkg/kubelet/nodeshutdown, Admit).
func TestShutdownTurnsNewPodsAway(t *testing.T) {
	p := steady
	p.APILatency = clusters.Fixed(2 * time.Second)
	w := newWorldOn(t, p, pool("od", clusters.OnDemand, 1, 10))
	w.create("a")
	w.until(time.Second) // bound; the kubelet sees it at 2 s
	w.s.ReclaimNode("od-1", time.Minute)
	w.until(30 * time.Second)
	w.wantState("a", dispatcher.WorkloadFailed, dispatcher.FailureEvicted)
	w.wantAt(history.ContainerStarted, "a", never)
}

// A cut node shuts down too; it cannot say so.
func TestReclaimOfANodeThatIsCutOff(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 2, 10))
	w.create("a")
	w.until(80 * time.Second)
	node := w.get("a").Node
	w.s.CutNode(node, clusters.API)
	w.s.ReclaimNode(node, 2*time.Minute)
	w.until(190 * time.Second)
	w.wantAt(history.ContainerEnded, "a", 110*time.Second)
	w.wantState("a", dispatcher.WorkloadRunning, "")
	w.until(10 * time.Minute)
	if w.exists("a") {
		t.Error("podgc left it")
	}
}

// kubernetes.io/docs/concepts/scheduling-eviction/api-eviction: a graceful deletion; held objects stay.
func TestEvictPod(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
	if w.s.EvictPod("a") {
		t.Error("there is no pod")
	}
	w.create("a", held)
	w.until(20 * time.Second)
	if !w.s.EvictPod("a") || w.s.EvictPod("a") {
		t.Error("evicts once")
	}
	w.until(time.Minute)
	w.wantAt(history.ContainerEnded, "a", 50*time.Second)
	w.wantState("a", dispatcher.WorkloadFailed, dispatcher.FailureEvicted)
	if !w.exists("a") {
		t.Error("the finalizer was ignored")
	}
}

// kubernetes.io/docs/concepts/overview/working-with-objects/finalizers (an operator who removes them by hand) and
// pod-lifecycle, forced deletion: the object is gone at once; a kubelet that sees it stops the container, one that is cut off does not.
func TestRemovePod(t *testing.T) {
	for _, terminating := range []bool{false, true} {
		w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
		if w.s.RemovePod("a") {
			t.Error("there is no pod")
		}
		w.create("a", held)
		w.until(20 * time.Second)
		w.s.CutNode("od-1", clusters.API)
		if terminating {
			w.delete("a", true)
		}
		if !w.s.RemovePod("a") || w.exists("a") {
			t.Error("the object is still there")
		}
		w.until(time.Hour)
		if w.s.Alive() != 1 {
			t.Error("the container should live on where its kubelet cannot see")
		}
		w.s.JoinNode("od-1", clusters.API)
		w.until(2 * time.Hour)
		if w.s.Alive() != 0 {
			t.Error("the container should be stopped now")
		}
	}
}

// kubernetes.io/docs/concepts/configuration/manage-resources-containers (OOM kill) and pod-lifecycle, container states: the
// process is gone with exit code 137, and the pod has Failed.
func TestKillContainer(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
	w.create("a")
	w.until(5 * time.Second)
	if w.s.KillContainer("a") {
		t.Error("it does not run yet")
	}
	w.until(20 * time.Second)
	if !w.s.KillContainer("a") || w.s.KillContainer("a") || w.kills != 1 {
		t.Error("kills once")
	}
	w.until(time.Minute)
	w.wantAt(history.ContainerEnded, "a", 20*time.Second, "exit 137")
	w.wantState("a", dispatcher.WorkloadFailed, dispatcher.FailureError)
	if w.get("a").Deleting {
		t.Error("the object was touched")
	}
}

// The pod of a task is found whatever its name is: the one of the newest attempt, and of several the one that has not ended.
func TestPodsOfAnyNameAreFound(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
	named := func(name string, token dispatcher.Token) dispatcher.UID {
		return w.create("a", func(x *dispatcher.Workload) { x.Name, x.Token = name, token }).UID
	}
	named("z-first", 3)
	second := named("x-second", 8)
	w.until(20 * time.Second)
	if found, _ := w.s.PodOf("a"); found.UID != second {
		t.Errorf("found %s of attempt %d", found.Name, found.Token)
	}
	third := named("y-third", 8)
	if found, _ := w.s.PodOf("a"); found.UID != third {
		t.Errorf("found %s, which was not made last", found.Name)
	}
	w.until(40 * time.Second)
	if !w.s.KillContainer("a") {
		t.Error("nothing to kill")
	}
	w.until(time.Minute)
	if found, _ := w.s.PodOf("a"); found.UID != second {
		t.Errorf("found %s, which has ended", found.Name)
	}
	if !w.s.EvictPod("a") || !w.s.RemovePod("a") {
		t.Error("nothing to evict, or to remove")
	}
}

// What a selector no longer finds is gone from lists, caches and watches, and there for those who know its name; so it is when it is
// changed again, and its end is nothing new.
func TestRelabelledPodsAreHidden(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
	w.create("a", held)
	w.create("b", held)
	w.create("c", held)
	w.until(20 * time.Second)
	watch, err := w.s.Watch(0)
	if err != nil {
		t.Fatal(err)
	}
	w.s.SetCacheLag(clusters.Fixed(time.Second))
	if !w.s.RelabelPod("b") || w.s.RelabelPod("b") || w.s.RelabelPod("x") {
		t.Error("one pod is relabelled once")
	}
	listed := func(l dispatcher.List) (names []string) {
		t.Helper()
		for {
			page, err := w.s.List(l)
			if err != nil {
				t.Fatal(err)
			}
			for _, item := range page.Items {
				names = append(names, item.Name)
			}
			if l.Continue = page.Continue; l.Continue == "" {
				return names
			}
		}
	}
	want := []string{"task-a", "task-c"}
	w.until(22 * time.Second)
	w.delete("b", false)
	w.until(time.Minute)
	for _, l := range []dispatcher.List{{}, {Limit: 1}, {Stale: true}} {
		if got := listed(l); !slices.Equal(got, want) {
			t.Errorf("%+v shows %v", l, got)
		}
	}
	if !w.exists("b") || w.get("b").State != dispatcher.WorkloadFailed {
		t.Errorf("by its name it is %+v", w.get("b"))
	}
	if err := w.s.Release("task-b", ""); err != nil || w.exists("b") {
		t.Errorf("it was not released: %v", err)
	}
	w.until(2 * time.Minute)
	var seen []WatchType
	for {
		e, more, err := watch.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			break
		}
		if e.Workload.Name == "task-b" {
			seen = append(seen, e.Type)
		}
	}
	if !slices.Equal(seen, []WatchType{Deleted}) || w.s.unselected != 0 {
		t.Errorf("a watch showed %v, and %d are still hidden", seen, w.s.unselected)
	}
	w.create("b")
	if got := listed(dispatcher.List{}); len(got) != 3 {
		t.Errorf("its name is still hidden: %v", got)
	}
}

func TestUnknownNamesAreIgnored(t *testing.T) {
	w := newWorld(t)
	w.s.KillNode("x")
	w.s.ReturnNode("x")
	w.s.RemoveNode("x")
	w.s.CutNode("x", clusters.API)
	w.s.JoinNode("x", clusters.API)
	w.s.ReclaimNode("x", 0)
	if w.s.KillContainer("x") {
		t.Error("killed")
	}
}

func TestQueries(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 1, 10), pool("spot", clusters.Spot, 1, 10))
	w.create("b")
	w.create("a")
	w.create("c", onDemand)
	w.until(time.Second)
	if got := w.s.ContainerOf("a"); got == nil || got.Alive() || got.Node != "spot-1" || w.nodes.Name(got.NodeID) != "spot-1" {
		t.Errorf("container %+v", got)
	}
	w.until(time.Minute)
	if got := w.s.RunningTasks(); !slices.Equal(got, []string{"a", "b", "c"}) || w.s.Alive() != 3 || w.s.Objects() != 3 {
		t.Errorf("running %v", got)
	}
	if got := w.s.NodesOf(clusters.Spot); !slices.Equal(got, []string{"spot-1"}) {
		t.Errorf("spot nodes %v", got)
	}
	w.s.KillNode("spot-1")
	if got := w.s.RunningTasks(); !slices.Equal(got, []string{"c"}) {
		t.Errorf("running %v", got)
	}
	if got := w.s.NodesOf(clusters.Spot); len(got) != 0 {
		t.Errorf("spot nodes %v", got)
	}
	if w.s.NodeOf("c") != "od-1" || w.s.NodeOf("x") != "" {
		t.Error("NodeOf")
	}
	if x, ok := w.s.PodOf("c"); !ok || x.Task != "c" {
		t.Error("PodOf")
	}
}
