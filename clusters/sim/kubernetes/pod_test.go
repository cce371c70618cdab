package kubernetes

import (
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
)

// kubernetes.io/docs/concepts/overview/working-with-objects/names: "Only one object of a given kind can have a given name at a
// time", and a terminating object still has it; "every object has a distinct UID over the whole lifetime of the cluster".
func TestNameIsTakenUntilTheObjectIsGone(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
	first := w.create("a")
	_, err := w.s.Create(workload("a"))
	w.wantErr(err, dispatcher.ErrExists)
	w.until(started)
	w.delete("a", false)
	w.until(started + 29*time.Second)
	_, err = w.s.Create(workload("a"))
	w.wantErr(err, dispatcher.ErrExists)
	w.until(started + 30*time.Second)
	second := w.create("a")
	if first.UID == second.UID || second.UID == "" {
		t.Errorf("UIDs %q and %q", first.UID, second.UID)
	}
}

// kubernetes.io/docs/reference/using-api/api-concepts, resource versions: every change gives a larger one, across all objects.
func TestVersionsGrowWithEveryChange(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
	w.run = time.Minute
	last := w.create("a").Version
	for _, at := range []time.Duration{startTime, started, started + w.run} {
		w.until(at)
		now := w.get("a").Version
		if now <= last {
			t.Errorf("at %v the version is %d, was %d", at, now, last)
		}
		last = now
	}
	if l, _ := w.s.PutLease(dispatcher.Lease{Name: "l", TTL: time.Second}); l.Version <= last {
		t.Errorf("a lease has version %d after %d", l.Version, last)
	}
}

func TestStatusIsNotTheCreatorsToSet(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
	made := w.create("a", func(x *dispatcher.Workload) {
		x.State, x.Failure, x.Node, x.Deleting = dispatcher.WorkloadFailed, dispatcher.FailureError, "elsewhere", true
	})
	if made.State != dispatcher.WorkloadPending || made.Failure != "" || made.Node != "" || made.Deleting {
		t.Errorf("created as %+v", made)
	}
}

// k8s.io/apimachinery DeleteOptions.Preconditions: a mismatch is 409 Conflict, absence 404.
func TestUIDPreconditions(t *testing.T) {
	for _, call := range []struct {
		name string
		do   func(s *Server, name string, uid dispatcher.UID) error
	}{
		{"delete", func(s *Server, name string, uid dispatcher.UID) error { return s.Delete(name, uid, false) }},
		{"delete by force", func(s *Server, name string, uid dispatcher.UID) error { return s.Delete(name, uid, true) }},
		{"release", func(s *Server, name string, uid dispatcher.UID) error { return s.Release(name, uid) }},
	} {
		t.Run(call.name, func(t *testing.T) {
			w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
			made := w.create("a", held)
			w.until(started)
			w.wantErr(call.do(w.s, "task-b", made.UID), dispatcher.ErrNotFound)
			w.wantErr(call.do(w.s, "task-a", "another"), dispatcher.ErrConflict)
			if got := w.get("a"); got.Deleting || !got.Held {
				t.Errorf("a refused call changed the object: %+v", got)
			}
			w.wantErr(call.do(w.s, "task-a", made.UID), nil)
			if got := w.get("a"); !got.Deleting && got.Held {
				t.Errorf("the call changed nothing: %+v", got)
			}
		})
	}
}

// kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle, pod termination: deletionTimestamp is set, the kubelet stops the container,
// and only its last word removes the object.
func TestGracefulDeletion(t *testing.T) {
	for _, c := range []struct {
		name string
		heed time.Duration
		gone time.Duration // after the deletion
		how  string
	}{
		{"heeded", 5 * time.Second, 5 * time.Second, "exit 143"},
		{"ignored until SIGKILL", 0, 30 * time.Second, "killed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
			w.heed = c.heed
			w.create("a")
			w.until(20 * time.Second)
			w.delete("a", false)
			if got := w.get("a"); !got.Deleting || !got.DeletedAt.Equal(w.k.Time()) {
				t.Errorf("deleting %v at %v", got.Deleting, got.DeletedAt)
			}
			w.until(20*time.Second + c.gone - 1)
			w.wantState("a", dispatcher.WorkloadRunning, "")
			w.until(2 * time.Minute)
			w.wantAt(history.ObjectDeleting, "a", 20*time.Second)
			w.wantAt(history.ContainerEnded, "a", 20*time.Second+c.gone, c.how)
			w.wantAt(history.ObjectPhase, "a", 20*time.Second+c.gone, "failed Evicted")
			w.wantAt(history.ObjectGone, "a", 20*time.Second+c.gone)
		})
	}
}

// A second deletion changes nothing (rest.BeforeDelete: "graceful deletion is pending, do nothing"); force
// shortens the wait to nothing, and the container outlives its object.
func TestDeletingAgain(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
	w.create("a")
	w.until(20 * time.Second)
	w.delete("a", false)
	was := w.get("a")
	w.until(30 * time.Second)
	w.delete("a", false)
	if now := w.get("a"); now != was {
		t.Errorf("the second deletion made %+v of %+v", now, was)
	}
	w.delete("a", true)
	if w.exists("a") || w.s.Alive() != 1 {
		t.Errorf("after force the object exists: %v, containers: %d", w.exists("a"), w.s.Alive())
	}
	w.until(2 * time.Minute)
	w.wantAt(history.ContainerEnded, "a", 50*time.Second, "killed")
}

// staging/src/k8s.io/apiserver/pkg/registry/rest/delete.go, BeforeDelete: a shorter grace never puts the stamp into the past, so
// what held the object sees the deletion as if it had been asked for just then.
func TestAShorterGraceMovesTheDeletionTime(t *testing.T) {
	asked := func(w *world, after time.Duration) time.Time {
		w.until(20*time.Second + after)
		return w.get("a").DeletedAt
	}
	t.Run("by force", func(t *testing.T) {
		w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
		w.create("a", held)
		w.until(20 * time.Second)
		w.delete("a", false)
		first := asked(w, 9500*time.Millisecond)
		w.delete("a", true)
		w.delete("a", true) // there is no grace left to shorten
		if got := asked(w, 10*time.Second).Sub(first); got != 9*time.Second {
			t.Errorf("moved by %s", got)
		}
	})
	t.Run("by the kubelet's last word", func(t *testing.T) {
		w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
		w.heed = 5 * time.Second
		w.create("a", held)
		w.until(20 * time.Second)
		w.delete("a", false)
		first := asked(w, time.Second)
		if got := asked(w, 10*time.Second).Sub(first); got != 5*time.Second {
			t.Errorf("moved by %s", got)
		}
		w.wantState("a", dispatcher.WorkloadFailed, dispatcher.FailureEvicted)
	})
}

// kubernetes.io/docs/concepts/overview/working-with-objects/finalizers: the object stays until its finalizers are gone; and
// registry/generic/registry/store.go, ShouldDeleteDuringUpdate: losing the last one before the kubelet's word removes nothing.
func TestFinalizerHoldsTheObject(t *testing.T) {
	t.Run("released after the end", func(t *testing.T) {
		w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
		w.create("a", held)
		w.until(20 * time.Second)
		w.delete("a", false)
		w.until(5 * time.Minute)
		w.wantState("a", dispatcher.WorkloadFailed, dispatcher.FailureEvicted)
		w.wantErr(w.s.Release("task-a", w.get("a").UID), nil)
		w.wantAt(history.ObjectGone, "a", 5*time.Minute)
	})
	t.Run("released before the end", func(t *testing.T) {
		w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
		w.create("a", held)
		w.until(20 * time.Second)
		w.delete("a", false)
		w.wantErr(w.s.Release("task-a", w.get("a").UID), nil)
		w.until(49 * time.Second)
		if !w.exists("a") {
			t.Error("the object went before its container")
		}
		w.until(time.Minute)
		w.wantAt(history.ObjectGone, "a", 50*time.Second)
	})
	t.Run("honoured by force", func(t *testing.T) {
		w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
		w.create("a", held)
		w.until(20 * time.Second)
		w.delete("a", true)
		if !w.get("a").Deleting {
			t.Error("not terminating")
		}
		w.wantErr(w.s.Release("task-a", ""), nil)
		if w.exists("a") {
			t.Error("the object stays without finalizer and grace")
		}
	})
	t.Run("released without deletion", func(t *testing.T) {
		w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
		w.create("a", held)
		w.wantErr(w.s.Release("task-a", ""), nil)
		if got := w.get("a"); got.Held || got.Deleting {
			t.Errorf("the object is %+v", got)
		}
	})
}

// pkg/registry/core/pod/strategy.go, CheckGracefulDelete: no grace for a pod that is not bound or has ended; nor
// for one whose terminationGracePeriodSeconds is 0.
func TestImmediateDeletion(t *testing.T) {
	for _, c := range []struct {
		name  string
		run   time.Duration
		at    time.Duration
		grace time.Duration
	}{
		{"not bound", 0, 0, 30 * time.Second},
		{"ended", time.Second, time.Minute, 30 * time.Second},
		{"grace of zero", 0, time.Minute, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
			w.run = c.run
			w.create("a", grace(c.grace))
			w.until(c.at)
			w.delete("a", false)
			if w.exists("a") {
				t.Error("the object still exists")
			}
			w.until(c.at + 5*time.Minute)
			if c.at == 0 {
				w.wantAt(history.ContainerStarted, "a", never)
			}
			if w.s.Alive() != 0 {
				t.Error("its container still runs")
			}
		})
	}
}

// podgc, gcUnscheduledTerminating: a finalizer can keep a terminating pod that was never bound; the next sweep sets its phase.
func TestHeldPodDeletedBeforeItIsBound(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
	w.create("a", held)
	w.delete("a", false)
	w.until(19 * time.Second)
	w.wantState("a", dispatcher.WorkloadPending, "")
	w.until(5 * time.Minute)
	w.wantAt(history.ObjectPhase, "a", 20*time.Second, "failed Evicted")
	if got := w.get("a"); got.Node != "" {
		t.Errorf("it was bound to %s", got.Node)
	}
	w.wantErr(w.s.Release("task-a", ""), nil)
	if w.exists("a") {
		t.Error("it outlives its finalizer")
	}
}

// kubernetes.io/docs/concepts/policy/resource-quotas: "the total number of Pods in the namespace that are in a non-terminal state".
func TestQuota(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
	w.run = time.Minute
	w.s.SetQuota(1)
	w.create("a")
	_, err := w.s.Create(workload("b"))
	w.wantErr(err, dispatcher.ErrThrottled)
	// Admission judges the quota before storage looks at the name.
	_, err = w.s.Create(workload("a"))
	w.wantErr(err, dispatcher.ErrThrottled)
	w.until(2 * time.Minute)
	w.create("b")
	w.s.SetQuota(0)
	w.create("c")
}

// pkg/apis/core/validation, ValidatePodCreate: the API server refuses these for good.
func TestInvalidObjects(t *testing.T) {
	for _, c := range []struct {
		name string
		bad  func(*dispatcher.Workload)
	}{
		{"upper case", func(x *dispatcher.Workload) { x.Name = "task-A" }},
		{"empty name", func(x *dispatcher.Workload) { x.Name = "" }},
		{"ends with a dash", func(x *dispatcher.Workload) { x.Name = "task-" }},
		{"empty part", func(x *dispatcher.Workload) { x.Name = "task..a" }},
		{"too long", func(x *dispatcher.Workload) { x.Name = strings.Repeat("a", 254) }},
		{"part ends with a dash", func(x *dispatcher.Workload) { x.Name = "task-.a" }},
		{"part begins with a dash", func(x *dispatcher.Workload) { x.Name = "task.-a" }},
		{"task begins with a dash", func(x *dispatcher.Workload) { x.Task = "-a" }},
		{"task ends with a dash", func(x *dispatcher.Workload) { x.Task = "a-" }},
		{"task with a slash", func(x *dispatcher.Workload) { x.Task = "a/b" }},
		{"task too long", func(x *dispatcher.Workload) { x.Task = dispatcher.TaskID(strings.Repeat("a", 64)) }},
		{"deadline below a second", deadline(time.Millisecond)},
		{"negative grace", grace(-1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
			_, err := w.s.Create(workload("a", c.bad))
			w.wantErr(err, dispatcher.ErrRejected)
		})
	}
	w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
	w.create("a.b-1", deadline(time.Second))
}

// kubernetes.io/docs/concepts/architecture/leases, and optimistic locking by resourceVersion.
func TestLeases(t *testing.T) {
	w := newWorld(t)
	_, err := w.s.GetLease("l")
	w.wantErr(err, dispatcher.ErrNotFound)
	_, err = w.s.PutLease(dispatcher.Lease{Name: "l", TTL: time.Second, Version: 3})
	w.wantErr(err, dispatcher.ErrNotFound)
	made, err := w.s.PutLease(dispatcher.Lease{Name: "l", TTL: time.Second, Holder: "a"})
	w.wantErr(err, nil)
	_, err = w.s.PutLease(dispatcher.Lease{Name: "l", TTL: time.Second, Holder: "b"})
	w.wantErr(err, dispatcher.ErrExists)
	_, err = w.s.PutLease(made)
	w.wantErr(err, nil)
	made.Holder = "b"
	_, err = w.s.PutLease(made) // at the version before the update
	w.wantErr(err, dispatcher.ErrConflict)
	if got, _ := w.s.GetLease("l"); got.Holder != "a" {
		t.Errorf("held by %s", got.Holder)
	}
}
