package kind

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters/deployed"
	"github.com/squall-chaos/squall/clusters/journal"
	"github.com/squall-chaos/squall/clusters/kind/testbed"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/kube"
)

// watch follows what the API server and the container runtimes say, beyond the run's own objects.
func (w *World) watch(ctx context.Context) error {
	if err := w.Watch(ctx); err != nil {
		return err
	}
	all := informers.NewSharedInformerFactory(w.API, 0)
	kubelets := informers.NewSharedInformerFactoryWithOptions(w.API, 0, informers.WithNamespace(corev1.NamespaceNodeLease))
	err := w.Follow(ctx, []informers.SharedInformerFactory{all, kubelets}, []deployed.Followed{
		{Informer: all.Core().V1().Nodes().Informer(), Handler: deployed.Handler(w.nodeSeen)},
		{Informer: kubelets.Coordination().V1().Leases().Informer(), Handler: deployed.Handler(w.kubeletSeen)},
	})
	if err != nil {
		return err
	}
	return onAll(w.bed.Nodes(), func(n *testbed.Node) error {
		watching := make(chan struct{})
		w.GoAside(func() { w.watchContainers(n, watching) })
		select {
		case <-watching:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("watch the containers of node %s: %w", n.Name(), ctx.Err())
		}
	})
}

// kubeletSeen remembers when a node gave its last sign of life.
func (w *World) kubeletSeen(_, now *coordinationv1.Lease, _ time.Time) {
	if now != nil && now.Spec.RenewTime != nil {
		w.Post(func() { w.heard[now.Name] = now.Spec.RenewTime.Time })
	}
}

// nodeSeen records what the API server says of nodes.
func (w *World) nodeSeen(before, now *corev1.Node, at time.Time) {
	tell := func(kind history.Kind, node string) {
		m := w.machines.of(node)
		if m == nil {
			return
		}
		w.Post(func() {
			if w.Started().IsZero() {
				return
			}
			e := journal.Event{At: at, Kind: kind, Node: m.name}
			switch heard := w.heard[node]; {
			case kind == history.NodeAdded:
				e.Detail = string(m.node.CapacityType())
			case kind == history.NodeNotReady && !heard.IsZero():
				e.Delay = max(at.Sub(heard), 0)
			}
			w.Record(e)
		})
	}
	switch {
	case now == nil:
		tell(history.NodeGone, before.Name)
	case before == nil:
		tell(history.NodeAdded, now.Name)
		if ready(now) {
			tell(history.NodeReady, now.Name)
		}
	case ready(before) != ready(now) && ready(now):
		tell(history.NodeReady, now.Name)
	case ready(before) != ready(now):
		tell(history.NodeNotReady, now.Name)
	}
}

func ready(n *corev1.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// watchContainers follows the container runtime of one node, the second witness beside what workers write.
func (w *World) watchContainers(n *testbed.Node, watching chan<- struct{}) {
	err := n.Watch(w.Context(), func(e testbed.Event) {
		switch {
		case e.Kind == testbed.Watching && watching != nil:
			close(watching)
			watching = nil
		case e.Namespace == w.Namespace() && e.Name == kube.Container:
			w.Post(func() { w.containerSeen(e) })
		}
	})
	if err != nil && w.Context().Err() == nil {
		w.Fail(fmt.Errorf("watch the containers of node %s: %w", n.Name(), err))
	}
}

func (w *World) containerSeen(e testbed.Event) {
	about := journal.Event{At: e.At, Process: journal.Runtime, Node: w.machines.alias(e.Node), Object: e.UID}
	switch e.Kind {
	case testbed.Started:
		about.Kind = history.ContainerStarted
		about.Task, about.Token = w.workloadOf(e)
		w.ContainerStarted(deployed.Container{ID: e.ID, Object: e.UID, Task: about.Task, Node: about.Node, Token: about.Token}, about)
	case testbed.Exited:
		about.Kind, about.Detail = history.ContainerEnded, fmt.Sprintf("exit %d", e.ExitCode)
		w.ContainerEnded(e.UID, about)
	}
}

// workloadOf is the task and the token of a container, by the labels of its Pod. The name has to do when the API server has not been
// heard of it yet.
func (w *World) workloadOf(e testbed.Event) (task string, token uint64) {
	for _, seen := range slices.Backward(w.Recorded()) {
		if seen.Kind == history.ObjectCreated && seen.Object == e.UID {
			return seen.Task, seen.Token
		}
	}
	task, _ = strings.CutPrefix(e.Pod, dispatcher.WorkloadName(""))
	return task, 0
}
