package kubernetes

import (
	"slices"
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
)

func restarts(n int) func(*dispatcher.Workload) {
	return func(x *dispatcher.Workload) { x.Restarts = n }
}

func (w *world) starts(task string) []time.Duration {
	var all []time.Duration
	for _, e := range w.events {
		if e.Kind == history.ContainerStarted && w.tasks.Name(e.Task) == task {
			all = append(all, e.At)
		}
	}
	return all
}

// kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle, container restarts: with OnFailure a container that fails is started again in
// place, after 10 s, 20 s, ...; its pod is Running meanwhile.
func TestRestartsOnFailure(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
	w.run, w.code = 5*time.Second, 1
	w.create("a", restarts(2))
	w.until(started + w.run + time.Second)
	w.wantState("a", dispatcher.WorkloadRunning, "")
	w.until(5 * time.Minute)
	if got, want := w.starts("a"), []time.Duration{started, started + 15*time.Second, started + 40*time.Second}; !slices.Equal(got, want) {
		t.Errorf("started at %v, want %v", got, want)
	}
	w.wantState("a", dispatcher.WorkloadFailed, dispatcher.FailureError)
}

func TestNoRestartAfterSuccessOrDeletionOrDeadline(t *testing.T) {
	for name, c := range map[string]struct {
		code   int
		option func(*dispatcher.Workload)
		do     func(*world)
		state  dispatcher.WorkloadState
		why    dispatcher.Failure
	}{
		"success":  {0, restarts(2), func(*world) {}, dispatcher.WorkloadSucceeded, ""},
		"deletion": {1, held, func(w *world) { w.delete("a", false) }, dispatcher.WorkloadFailed, dispatcher.FailureEvicted},
		"deadline": {1, deadline(20 * time.Second), func(*world) {}, dispatcher.WorkloadFailed, dispatcher.FailureDeadline},
	} {
		w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
		w.run, w.code = 5*time.Second, c.code
		w.create("a", restarts(2), c.option)
		w.until(started + w.run + time.Second) // it waits for its second start
		c.do(w)
		w.until(5 * time.Minute)
		if got := w.starts("a"); len(got) != 1 {
			t.Errorf("%s: started at %v, want one start", name, got)
		}
		w.wantState("a", c.state, c.why)
	}
}

// A request of a watch ends with what shows by now, and says where to go on.
func TestChanges(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
	opened, err := w.s.Changes(0)
	w.wantErr(err, nil)
	w.create("a")
	first, err := w.s.Changes(opened.Version)
	w.wantErr(err, nil)
	w.delete("a", false)
	second, err := w.s.Changes(first.Version)
	w.wantErr(err, nil)
	if len(first.Items) != 1 || first.Items[0].Gone || len(second.Items) != 1 || !second.Items[0].Gone || second.Version != w.s.Version()+1 {
		t.Errorf("got %+v, then %+v", first, second)
	}
	w.until(compactionAge + time.Second)
	_, err = w.s.Changes(first.Version)
	w.wantErr(err, dispatcher.ErrExpired)
}
