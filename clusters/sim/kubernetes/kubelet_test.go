package kubernetes

import (
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
)

// kubernetes.io/docs/concepts/containers/images: an image that is present is not pulled again, and pulls are serialized.
func TestImageIsPulledOncePerNode(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
	w.create("a")
	w.until(5 * time.Second)
	w.create("b")
	w.until(20 * time.Second)
	w.create("c")
	w.until(time.Minute)
	w.wantAt(history.ContainerStarted, "a", 13*time.Second) // 1 s bind, 10 s pull, 2 s startup
	w.wantAt(history.ContainerStarted, "b", 13*time.Second) // waits for the pull that is under way
	w.wantAt(history.ContainerStarted, "c", 23*time.Second)
}

// kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle, pod phase, with restartPolicy Never.
func TestPhaseFollowsTheExitCode(t *testing.T) {
	for _, c := range []struct {
		code    int
		state   dispatcher.WorkloadState
		failure dispatcher.Failure
		detail  string
	}{
		{0, dispatcher.WorkloadSucceeded, dispatcher.FailureNone, "succeeded"},
		{1, dispatcher.WorkloadFailed, dispatcher.FailureError, "failed Error"},
		{137, dispatcher.WorkloadFailed, dispatcher.FailureError, "failed Error"},
	} {
		p := steady
		p.APILatency = clusters.Fixed(200 * time.Millisecond)
		w := newWorldOn(t, p, pool("od", clusters.OnDemand, 1, 10))
		w.run, w.code = time.Minute, c.code
		w.create("a")
		end := started + w.run + 100*time.Millisecond // the kubelet's watch took one way
		w.until(end)
		w.wantState("a", dispatcher.WorkloadRunning, "")
		w.until(end + 100*time.Millisecond)
		w.wantState("a", c.state, c.failure)
		w.wantAt(history.ContainerEnded, "a", end, exitDetail(c.code))
		w.wantAt(history.ObjectPhase, "a", started+200*time.Millisecond, "running")
		w.wantAt(history.ObjectPhase, "a", end+100*time.Millisecond, c.detail)
	}
}

func TestExitOfADeadContainerIsNothing(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
	w.create("a")
	w.until(20 * time.Second)
	c := w.s.ContainerOf("a")
	w.s.KillContainer("a")
	c.Exit(0, "")
	w.until(time.Minute)
	w.wantState("a", dispatcher.WorkloadFailed, dispatcher.FailureError)
}

// kubernetes.io/docs/concepts/workloads/controllers/job (activeDeadlineSeconds) and pkg/kubelet/active_deadline.go: counted from
// status.startTime. The wait for a place is before it, the image pull after it. Then SIGTERM, grace, SIGKILL.
func TestDeadline(t *testing.T) {
	for _, c := range []struct {
		name     string
		deadline time.Duration
		heed     time.Duration
		wait     time.Duration // for a place
		ended    time.Duration // after startTime
		how      string
	}{
		{"ignored SIGTERM", time.Minute, 0, 0, 90 * time.Second, "killed"},
		{"heeded SIGTERM", time.Minute, 5 * time.Second, 0, 65 * time.Second, "exit 143"},
		{"waiting for a place is free", time.Minute, 5 * time.Second, 10 * time.Minute, 65 * time.Second, "exit 143"},
		{"passed during the pull", 5 * time.Second, 0, 0, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
			w.heed = c.heed
			w.s.HoldScheduling(c.wait > 0)
			w.create("a", deadline(c.deadline))
			w.until(c.wait)
			w.s.HoldScheduling(false)
			w.until(c.wait + 5*time.Minute)
			w.wantState("a", dispatcher.WorkloadFailed, dispatcher.FailureDeadline)
			if c.how == "" {
				w.wantAt(history.ContainerStarted, "a", never)
				w.wantAt(history.ObjectPhase, "a", c.wait+startTime+c.deadline)
				return
			}
			w.wantAt(history.ContainerEnded, "a", c.wait+startTime+c.ended, c.how)
		})
	}
}

// A kubelet needs no API server to enforce a deadline: it compares its clock with status.startTime.
func TestDeadlineOfAKubeletThatIsCutOff(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 2, 10))
	w.create("a", deadline(time.Minute))
	w.until(20 * time.Second)
	w.s.CutNode(w.get("a").Node, clusters.API)
	w.until(10 * time.Minute)
	w.wantAt(history.ContainerEnded, "a", 91*time.Second, "killed")
	w.wantState("a", dispatcher.WorkloadRunning, "") // nobody told
}

// The first cause stays: a pod past its deadline is DeadlineExceeded, although it is deleted while it stops, and so it is the other way round.
func TestFirstCauseStays(t *testing.T) {
	for _, c := range []struct {
		deleted time.Duration
		failure dispatcher.Failure
	}{{70 * time.Second, dispatcher.FailureDeadline}, {50 * time.Second, dispatcher.FailureEvicted}} {
		w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
		w.create("a", held, deadline(time.Minute))
		w.until(c.deleted)
		w.delete("a", false)
		w.until(5 * time.Minute)
		w.wantState("a", dispatcher.WorkloadFailed, c.failure)
		if w.terms != 1 || w.kills != 1 {
			t.Errorf("%d SIGTERM, %d SIGKILL", w.terms, w.kills)
		}
	}
}

// pkg/kubelet/status, TerminatePod: a pod that never ran becomes Failed when it is deleted.
func TestDeletionBeforeTheContainerStarts(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
	w.create("a", held)
	w.until(5 * time.Second)
	w.delete("a", false)
	w.until(5 * time.Minute)
	w.wantAt(history.ContainerStarted, "a", never)
	w.wantAt(history.ObjectPhase, "a", 5*time.Second, "failed Evicted")
	w.wantErr(w.s.Release("task-a", ""), nil)
	if w.exists("a") {
		t.Error("the object stays")
	}
}

// A container that ended by itself before the deletion keeps its phase.
func TestDeletionAfterTheEnd(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 2, 10))
	w.run = 10 * time.Second
	w.create("a", held)
	w.until(20 * time.Second)
	node := w.get("a").Node
	w.s.CutNode(node, clusters.API)
	w.until(30 * time.Second)
	w.delete("a", false)
	w.s.JoinNode(node, clusters.API)
	w.until(time.Minute)
	w.wantState("a", dispatcher.WorkloadSucceeded, "")
}

// kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle, forced deletion: "the API server does not wait for confirmation from the
// kubelet"; the container gets its grace period all the same, beside a successor of the same name.
func TestContainerOutlivesItsForcedDeletion(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
	w.create("a")
	w.until(20 * time.Second)
	w.delete("a", true)
	w.create("a")
	w.until(40 * time.Second)
	if w.s.Alive() != 2 {
		t.Errorf("%d containers run", w.s.Alive())
	}
	w.until(2 * time.Minute)
	w.wantAt(history.ContainerEnded, "a", 50*time.Second, "killed")
	if w.s.Alive() != 1 {
		t.Errorf("%d containers run", w.s.Alive())
	}
	w.wantState("a", dispatcher.WorkloadRunning, "")
}

// pkg/kubelet/pod_workers.go: "no matter what, we always supply a grace period of 1".
func TestLeastGraceIsASecond(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
	w.create("a", grace(0), deadline(time.Minute))
	w.until(2 * time.Minute)
	w.wantAt(history.ContainerEnded, "a", startTime+time.Minute+time.Second, "killed")
}

// kubernetes.io/docs/concepts/architecture/nodes, and issue kubernetes/kubernetes #30972: on a node that is cut off the containers run on,
// whatever becomes of their objects, until the kubelet sees the API server again.
func TestKubeletThatIsCutOff(t *testing.T) {
	cut := func(t *testing.T, options ...func(*dispatcher.Workload)) (*world, string) {
		w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
		w.create("a", options...)
		w.until(20 * time.Second)
		w.s.CutNode("od-1", clusters.API)
		return w, "od-1"
	}
	t.Run("reports late", func(t *testing.T) {
		w, node := cut(t)
		w.until(time.Minute)
		w.s.ContainerOf("a").Exit(0, "")
		w.until(2 * time.Minute)
		w.wantState("a", dispatcher.WorkloadRunning, "")
		w.s.JoinNode(node, clusters.API)
		w.until(2 * time.Minute)
		w.wantState("a", dispatcher.WorkloadSucceeded, "")
	})
	t.Run("sees a deletion late", func(t *testing.T) {
		w, node := cut(t)
		w.delete("a", false)
		w.until(5 * time.Minute)
		if w.terms != 0 || !w.get("a").Deleting {
			t.Errorf("%d SIGTERM", w.terms)
		}
		w.s.JoinNode(node, clusters.API)
		w.until(10 * time.Minute)
		w.wantAt(history.ContainerEnded, "a", 5*time.Minute+30*time.Second, "killed")
		w.wantAt(history.ObjectGone, "a", 5*time.Minute+30*time.Second)
	})
	t.Run("runs on after its object is gone", func(t *testing.T) {
		w, node := cut(t)
		w.delete("a", true)
		if w.exists("a") {
			t.Error("the object exists")
		}
		w.until(time.Hour)
		if w.s.Alive() != 1 {
			t.Error("the container does not run")
		}
		w.s.JoinNode(node, clusters.API)
		w.until(2 * time.Hour)
		w.wantAt(history.ContainerEnded, "a", time.Hour+30*time.Second, "killed")
	})
	t.Run("starts what it saw before, not what came after", func(t *testing.T) {
		w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
		w.create("a")
		w.until(5 * time.Second)
		w.s.CutNode("od-1", clusters.API)
		w.create("b")
		w.create("c")
		w.until(30 * time.Second)
		w.delete("c", false)
		w.wantAt(history.ContainerStarted, "a", started)
		w.wantState("a", dispatcher.WorkloadPending, "")
		if got := w.get("b").Node; got != "od-1" {
			t.Errorf("b is on %q: the node was still Ready", got)
		}
		w.s.JoinNode("od-1", clusters.API)
		w.until(time.Minute)
		w.wantAt(history.ContainerStarted, "b", 32*time.Second)
		w.wantAt(history.ContainerStarted, "c", never)
		w.wantAt(history.ObjectGone, "c", 30*time.Second)
	})
	t.Run("neither hears nor says what was on its way", func(t *testing.T) {
		p := steady
		p.APILatency = clusters.Fixed(2 * time.Second)
		w := newWorldOn(t, p, pool("od", clusters.OnDemand, 1, 10))
		w.create("a", held)
		w.create("b", held)
		w.until(20 * time.Second)
		w.delete("a", false)
		w.s.KillContainer("b")
		w.s.CutNode("od-1", clusters.API)
		w.until(time.Hour)
		if w.terms != 0 {
			t.Error("it heard")
		}
		w.wantState("b", dispatcher.WorkloadRunning, "")
	})
	t.Run("other ports are not the kubelet's", func(t *testing.T) {
		w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
		w.s.CutNode("od-1", clusters.Store)
		w.create("a")
		w.until(time.Minute)
		w.wantState("a", dispatcher.WorkloadRunning, "")
	})
}

// kubernetes.io/docs/concepts/architecture (kubelet): containers need no control plane to go on running; controllers and reports do.
func TestOutageStopsTheControlPlaneOnly(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 2, 10))
	w.create("a", deadline(time.Minute))
	w.until(20 * time.Second)
	w.create("b")
	w.s.SetOutage(true)
	w.until(10 * time.Minute)
	w.wantAt(history.ContainerEnded, "a", 91*time.Second, "killed")
	w.wantState("a", dispatcher.WorkloadRunning, "")
	if got := w.get("b").Node; got != "" {
		t.Errorf("b was bound to %s without an API server", got)
	}
	w.s.SetOutage(false)
	w.until(11 * time.Minute)
	w.wantState("a", dispatcher.WorkloadFailed, dispatcher.FailureDeadline)
	w.wantState("b", dispatcher.WorkloadRunning, "")
	if at := w.nodeAt(history.NodeNotReady, "od-1", 0); at != never {
		t.Errorf("NotReady at %v: the judge was out too", at)
	}
}
