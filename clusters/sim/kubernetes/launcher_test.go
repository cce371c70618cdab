package kubernetes

import (
	"errors"
	"testing"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

func launcher(x *dispatcher.Workload) { x.Work.Launcher = true }
func owning(x *dispatcher.Workload)   { x.Work.Launcher, x.Owns = true, true }

// workStarted is when the part of a launcher runs on the steady platform: its image is there already when it is on the same node.
const workStarted = started + 3*time.Second

// part is the pod that the launcher of task a made.
func (w *world) part() (dispatcher.Workload, bool) {
	w.t.Helper()
	got, err := w.s.Get("task-a-7-work")
	if err != nil && !errors.Is(err, dispatcher.ErrNotFound) {
		w.t.Fatal(err)
	}
	return got, err == nil
}

func TestALauncherEndsAsItsPartDoes(t *testing.T) {
	for _, c := range []struct {
		name string
		code int
		end  dispatcher.WorkloadState
		exit int
	}{{"success", 0, dispatcher.WorkloadSucceeded, 0}, {"failure", 3, dispatcher.WorkloadFailed, 3}, {"killed", killedCode, dispatcher.WorkloadFailed, 1}} {
		w := newWorld(t, pool("od", "on-demand", 1, 5))
		w.run, w.code = time.Minute, c.code
		w.create("a", owning)
		w.until(workStarted)
		part, there := w.part()
		if !there || part.State != dispatcher.WorkloadRunning || w.get("a").State != dispatcher.WorkloadRunning {
			t.Fatalf("%s: the part is %+v, its launcher %s", c.name, part, w.get("a").State)
		}
		if page, err := w.s.List(dispatcher.List{}); err != nil || len(page.Items) != 1 {
			t.Errorf("%s: a list shows %+v, %v: the part has none of the dispatcher's labels", c.name, page.Items, err)
		}
		w.until(workStarted + time.Minute + time.Second)
		if l := w.get("a"); l.State != c.end || l.ExitCode != c.exit {
			t.Errorf("%s: the launcher is %s with exit code %d, expected %s with %d", c.name, l.State, l.ExitCode, c.end, c.exit)
		}
	}
}

// TestAGroupEndsAsAWhole: what fails in it ends it, and its launcher waits for the last.
func TestAGroupEndsAsAWhole(t *testing.T) {
	w := newWorld(t, pool("od", "on-demand", 1, 5))
	w.create("a", owning, grace(40*time.Second), func(x *dispatcher.Workload) { x.Work.Pods, x.Work.Stragglers = 3, 1 })
	w.until(workStarted + 10*time.Second)
	names := []string{"task-a-7-work", "task-a-7-work-2", "task-a-7-work-3"}
	for i, name := range names {
		part, err := w.s.Get(name)
		if err != nil || part.State != dispatcher.WorkloadRunning || part.Work.IgnoreTerm != (i == 2) || part.Work.NoResult != (i > 0) {
			t.Fatalf("%s is %+v, %v", name, part, err)
		}
	}
	w.s.pods[names[1]].container.Exit(3, "")
	w.until(workStarted + 15*time.Second)
	for i, name := range names {
		if part, _ := w.s.Get(name); part.Deleting != (i != 1) && part.Name != "" {
			t.Errorf("after a failure in the group %s is %+v", name, part)
		}
	}
	w.until(workStarted + 49*time.Second)
	if l := w.get("a"); l.State != dispatcher.WorkloadRunning {
		t.Errorf("the launcher is %s before the last of its group has ended", l.State)
	}
	w.until(workStarted + 55*time.Second)
	if l := w.get("a"); l.State != dispatcher.WorkloadFailed || l.ExitCode != 3 {
		t.Errorf("the launcher is %s with exit code %d, expected failed with 3", l.State, l.ExitCode)
	}
}

// TestAnOwnerStandsUntilItsPartsAreGone: foreground deletion
// (kubernetes.io/docs/concepts/architecture/garbage-collection, Foreground cascading deletion).
func TestAnOwnerStandsUntilItsPartsAreGone(t *testing.T) {
	w := newWorld(t, pool("od", "on-demand", 1, 5))
	w.create("a", owning, grace(40*time.Second)) // and SIGTERM is ignored
	w.until(30 * time.Second)
	if !w.s.KillContainer("a") {
		t.Fatal("the launcher does not run")
	}
	w.until(40 * time.Second)
	part, _ := w.part()
	if part.State != dispatcher.WorkloadRunning || w.get("a").State != dispatcher.WorkloadFailed {
		t.Fatalf("the launcher is %s and its part %s, expected the part to live on", w.get("a").State, part.State)
	}
	w.delete("a", false)
	w.until(79 * time.Second)
	if w.get("a").Name == "" || !w.get("a").Owns {
		t.Error("the launcher is gone before its part")
	}
	w.until(82 * time.Second)
	if _, there := w.part(); there || w.get("a").Name != "" {
		t.Error("part or launcher is still there")
	}
}

func TestPartsOfAnOwnerThatWasRemovedAreCollected(t *testing.T) {
	w := newWorld(t, pool("od", "on-demand", 1, 5))
	w.create("a", owning, grace(10*time.Second))
	w.until(30 * time.Second)
	w.s.RemovePod("a")
	w.until(35 * time.Second)
	if part, there := w.part(); w.get("a").Name != "" || !there || !part.Deleting {
		t.Errorf("launcher %q, part %+v: expected the first gone and the second terminating", w.get("a").Name, part)
	}
	w.until(45 * time.Second)
	if _, there := w.part(); there {
		t.Error("the part is still there")
	}
}

func TestAPartThatNobodyOwnsLivesOn(t *testing.T) {
	w := newWorld(t, pool("od", "on-demand", 1, 5))
	w.create("a", launcher, grace(10*time.Second))
	w.until(30 * time.Second)
	w.s.KillContainer("a")
	w.until(31 * time.Second)
	w.delete("a", false)
	w.until(10 * time.Minute)
	if part, there := w.part(); w.get("a").Name != "" || !there || part.State != dispatcher.WorkloadRunning || part.Deleting {
		t.Errorf("launcher %q, part %+v: expected the first gone and the second running", w.get("a").Name, part)
	}
}
