package kubernetes

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
)

// placed tells how many pods are bound per group, and how many are not.
func (w *world) placed() string {
	var od, spot, none int
	for _, p := range w.s.byName {
		switch {
		case strings.HasPrefix(p.w.Node, "od"):
			od++
		case strings.HasPrefix(p.w.Node, "spot"):
			spot++
		default:
			none++
		}
	}
	return fmt.Sprintf("od %d spot %d waiting %d", od, spot, none)
}

// kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration and assign-pod-node: on-demand work has a nodeSelector and no
// toleration for the spot taint; other work tolerates it and prefers it. Capacity is .status.allocatable.pods.
func TestPlacement(t *testing.T) {
	groups := []clusters.NodeGroup{pool("od", clusters.OnDemand, 2, 2), pool("spot", clusters.Spot, 1, 3)}
	for _, c := range []struct {
		onDemand, any int
		want          string
	}{
		{0, 3, "od 0 spot 3 waiting 0"},
		{0, 5, "od 2 spot 3 waiting 0"},
		{3, 0, "od 3 spot 0 waiting 0"},
		{5, 0, "od 4 spot 0 waiting 1"},
		{5, 4, "od 4 spot 3 waiting 2"},
	} {
		t.Run(c.want, func(t *testing.T) {
			w := newWorld(t, groups...)
			for i := range c.onDemand {
				w.create(fmt.Sprint("o", i), onDemand)
			}
			w.until(time.Second)
			for i := range c.any {
				w.create(fmt.Sprint("a", i))
			}
			w.until(time.Minute)
			if got := w.placed(); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestPodsSpreadOverNodes(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 3, 10))
	for i := range 9 {
		w.create(fmt.Sprint(i))
	}
	w.until(time.Second)
	for _, n := range w.s.nodes {
		if n.bound != 3 {
			t.Errorf("%s has %d pods", n.name, n.bound)
		}
	}
}

// kubernetes.io/docs/concepts/scheduling-eviction/kube-scheduler: a pod without a node is Pending until the scheduler has bound it.
func TestSchedulingTakesItsTime(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 1, 10))
	w.create("a")
	w.until(time.Second - 1)
	if w.get("a").Node != "" {
		t.Error("bound too early")
	}
	w.until(time.Second)
	if w.get("a").Node != "od-1" {
		t.Error("not bound")
	}
}

// A place is free when the pod ended or its object is gone, and not while it is terminating
// (pkg/scheduler/eventhandlers.go, assignedPod and terminal pods).
func TestWaitingPodsGetFreedPlaces(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 1, 1))
	w.create("a")
	w.until(20 * time.Second)
	w.create("b")
	w.until(30 * time.Second)
	w.create("c")
	w.until(60 * time.Second)
	w.delete("a", false)
	w.until(90 * time.Second)
	if got := w.get("b").Node; got != "" {
		t.Errorf("b is on %q while a is terminating", got)
	}
	w.until(91 * time.Second)
	if b, c := w.get("b").Node, w.get("c").Node; b != "od-1" || c != "" {
		t.Errorf("b is on %q, c on %q", b, c)
	}
}

// kubernetes.io/docs/concepts/scheduling-eviction/kube-scheduler: a pod that cannot be placed stays unscheduled until it can.
func TestHoldScheduling(t *testing.T) {
	w := newWorld(t, clusters.NodeGroup{Name: "od", Count: 1, Max: 5, Pods: 10})
	w.s.HoldScheduling(true)
	w.create("a")
	w.until(time.Minute)
	if w.get("a").Node != "" || len(w.s.upcoming) > 0 {
		t.Error("something happened while scheduling was held")
	}
	w.s.HoldScheduling(false)
	w.until(61 * time.Second)
	if w.get("a").Node == "" {
		t.Error("not bound after the hold")
	}
}

// A pod that was deleted while it waited is never bound (pkg/scheduler, skipPodSchedule).
func TestTerminatingPodIsNotBound(t *testing.T) {
	w := newWorld(t, pool("od", clusters.OnDemand, 1, 1))
	w.create("a")
	w.until(20 * time.Second)
	w.create("b", held)
	w.until(30 * time.Second)
	w.delete("b", false)
	w.delete("a", true)
	w.until(5 * time.Minute)
	if got := w.get("b"); got.Node != "" || got.State != dispatcher.WorkloadFailed {
		t.Errorf("b is %+v", got)
	}
}

// kubernetes.io/docs/concepts/cluster-administration/node-autoscaling: nodes are added for pods that fit nowhere.
func TestAutoscaler(t *testing.T) {
	p := steady
	p.Provisioning = clusters.Fixed(2 * time.Minute)
	od := clusters.NodeGroup{Name: "od", CapacityType: clusters.OnDemand, Count: 0, Max: 2, Pods: 2}
	spot := clusters.NodeGroup{Name: "spot", CapacityType: clusters.Spot, Count: 0, Max: 1, Pods: 2}
	t.Run("adds what is needed, spot first, up to Max", func(t *testing.T) {
		for _, c := range []struct {
			onDemand, any int
			want          string
			nodes         int
		}{
			{0, 2, "od 0 spot 2 waiting 0", 1},
			{0, 3, "od 1 spot 2 waiting 0", 2},
			{1, 0, "od 1 spot 0 waiting 0", 1},
			{1, 3, "od 2 spot 2 waiting 0", 2}, // on-demand room that is left serves the others
			{5, 0, "od 4 spot 0 waiting 1", 2},
		} {
			w := newWorldOn(t, p, od, spot)
			for i := range c.onDemand {
				w.create(fmt.Sprint("o", i), onDemand)
			}
			w.until(time.Second) // on-demand work is the first to fit nowhere
			for i := range c.any {
				w.create(fmt.Sprint("a", i))
			}
			w.until(2 * time.Minute)
			if len(w.s.nodes) != 0 {
				t.Error("a node came too early")
			}
			w.until(2*time.Minute + 3*time.Second)
			if got := w.placed(); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			if got := len(w.s.nodes) + len(w.s.upcoming); got != c.nodes {
				t.Errorf("%d nodes, want %d", got, c.nodes)
			}
		}
	})
	t.Run("no Max, no nodes", func(t *testing.T) {
		w := newWorldOn(t, p, pool("od", clusters.OnDemand, 1, 1))
		w.create("a")
		w.create("b")
		w.until(time.Hour)
		if len(w.s.nodes) != 1 {
			t.Errorf("%d nodes", len(w.s.nodes))
		}
	})
	t.Run("replaces a removed node under a new name", func(t *testing.T) {
		w := newWorldOn(t, p, clusters.NodeGroup{Name: "od", CapacityType: clusters.OnDemand, Count: 1, Max: 1, Pods: 1})
		w.until(time.Second)
		w.s.RemoveNode("od-1")
		w.create("a")
		w.until(5 * time.Minute)
		if got := w.get("a").Node; got != "od-2" {
			t.Errorf("on %q", got)
		}
		if at := w.nodeAt(history.NodeReady, "od-2", 0); at != 2*time.Minute+2*time.Second {
			t.Errorf("ready at %v", at)
		}
	})
	t.Run("a pod deleted meanwhile does not run", func(t *testing.T) { // argo-workflows #10658
		w := newWorldOn(t, p, od)
		w.create("a", held)
		w.until(time.Minute)
		w.delete("a", false)
		w.until(10 * time.Minute)
		w.wantAt(history.ContainerStarted, "a", never)
	})
}

// Taints and conditions keep new pods away (taint-and-toleration, taint based evictions); cordon too.
func TestUnfitNodesGetNothing(t *testing.T) {
	for _, c := range []struct {
		name string
		mar  func(n *node)
	}{
		{"cordoned", func(n *node) { n.cordoned = true }},
		{"NotReady", func(n *node) { n.ready = false }},
		{"tainted", func(n *node) { n.tainted = true }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, pool("od", clusters.OnDemand, 1, 10), pool("spot", clusters.Spot, 1, 10))
			c.mar(w.s.lookup("spot-1"))
			w.create("a")
			w.until(time.Minute)
			if got := w.get("a").Node; got != "od-1" {
				t.Errorf("on %q", got)
			}
		})
	}
}
