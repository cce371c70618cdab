package kind

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters/journal"
	"github.com/squall-chaos/squall/clusters/kind/testbed"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/kube"
)

// watch follows what the API server and the container runtimes say. Watchers post to the loop, which alone records.
func (w *World) watch(ctx context.Context) error {
	own := informers.NewSharedInformerFactoryWithOptions(w.api, 0, informers.WithNamespace(w.namespace))
	all := informers.NewSharedInformerFactory(w.api, 0)
	kubelets := informers.NewSharedInformerFactoryWithOptions(w.api, 0, informers.WithNamespace(corev1.NamespaceNodeLease))
	for _, s := range []struct {
		informer cache.SharedIndexInformer
		handler  cache.ResourceEventHandlerFuncs
	}{
		{own.Core().V1().Pods().Informer(), handler(w.podSeen)},
		{own.Coordination().V1().Leases().Informer(), handler(w.leaseSeen)},
		{all.Core().V1().Nodes().Informer(), handler(w.nodeSeen)},
		{kubelets.Coordination().V1().Leases().Informer(), handler(w.kubeletSeen)},
	} {
		if _, err := s.informer.AddEventHandler(s.handler); err != nil {
			return err
		}
	}
	for _, f := range []informers.SharedInformerFactory{own, all, kubelets} {
		f.Start(w.ctx.Done())
	}
	for _, f := range []informers.SharedInformerFactory{own, all, kubelets} {
		if err := f.WaitForCacheSyncWithContext(ctx).AsError(); err != nil {
			return err
		}
	}
	return onAll(w.bed.Nodes(), func(n *testbed.Node) error {
		watching := make(chan struct{})
		w.goAside(func() { w.watchContainers(n, watching) })
		select {
		case <-watching:
			return nil
		case <-ctx.Done():
			return fmt.Errorf("watch the containers of node %s: %w", n.Name(), ctx.Err())
		}
	})
}

// handler is told of every version of an object, nil for one that is gone.
func handler[T any](seen func(before, now *T, at time.Time)) cache.ResourceEventHandlerFuncs {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { seen(nil, o.(*T), time.Now()) },
		UpdateFunc: func(old, o any) { seen(old.(*T), o.(*T), time.Now()) },
		DeleteFunc: func(o any) {
			if last, ok := o.(cache.DeletedFinalStateUnknown); ok {
				o = last.Obj
			}
			seen(o.(*T), nil, time.Now())
		},
	}
}

// podSeen records the lives of workloads as the API server tells them.
func (w *World) podSeen(before, now *corev1.Pod, at time.Time) {
	last := now
	if last == nil {
		last = before
	}
	if last.Labels[kube.LabelTask] == "" {
		w.post(func() { w.replicaSeen(last, now == nil) })
		return
	}
	e := journal.Event{
		At: at, Task: last.Labels[kube.LabelTask], Token: tokenOf(last), Object: string(last.UID),
	}
	tell := func(kind history.Kind, detail string) {
		told := e
		told.Kind, told.Detail = kind, detail
		w.post(func() { w.live.add(told) })
	}
	if before == nil {
		tell(history.ObjectCreated, last.Name)
		w.post(func() { w.admit(last) })
	}
	if now == nil {
		tell(history.ObjectGone, last.Name)
		return
	}
	if now.Spec.NodeName != "" && before != nil && before.Spec.NodeName == "" {
		detail := ""
		if w.gated() {
			detail = history.Gated
		}
		e.Node = w.machines.alias(now.Spec.NodeName)
		tell(history.ObjectBound, detail)
		e.Node = "" // of what else the API server says, no place is told
	}
	if now.DeletionTimestamp != nil && (before == nil || before.DeletionTimestamp == nil) {
		tell(history.ObjectDeleting, last.Name)
	}
	was := ""
	if before != nil {
		was = phaseDetail(before)
	}
	if is := phaseDetail(now); is != was && (before != nil || is != string(dispatcher.WorkloadPending)) {
		tell(history.ObjectPhase, is)
	}
}

// phaseDetail is the state of a workload, and its failure after a space.
func phaseDetail(p *corev1.Pod) string {
	state, failure := kube.Life(p)
	return strings.TrimSpace(string(state) + " " + string(failure))
}

func tokenOf(p *corev1.Pod) uint64 {
	token, _ := strconv.ParseUint(p.Labels[kube.LabelToken], 10, 64) // 0 for what is not a number: no attempt has it
	return token
}

// leaseSeen records who holds a lease.
func (w *World) leaseSeen(before, now *coordinationv1.Lease, at time.Time) {
	holder := func(l *coordinationv1.Lease) string {
		if l == nil || l.Spec.HolderIdentity == nil {
			return ""
		}
		return *l.Spec.HolderIdentity
	}
	if now == nil || holder(before) == holder(now) {
		return
	}
	process, _, _ := strings.Cut(holder(now), "/")
	w.post(func() { w.live.add(journal.Event{At: at, Kind: history.LeaseHeld, Process: process, Detail: now.Name}) })
}

// kubeletSeen remembers when a node gave its last sign of life.
func (w *World) kubeletSeen(_, now *coordinationv1.Lease, _ time.Time) {
	if now != nil && now.Spec.RenewTime != nil {
		w.post(func() { w.heard[now.Name] = now.Spec.RenewTime.Time })
	}
}

// nodeSeen records what the API server says of nodes.
func (w *World) nodeSeen(before, now *corev1.Node, at time.Time) {
	tell := func(kind history.Kind, node string) {
		m := w.machines.of(node)
		if m == nil {
			return
		}
		w.post(func() {
			if w.start.IsZero() {
				return
			}
			e := journal.Event{At: at, Kind: kind, Node: m.name}
			switch heard := w.heard[node]; {
			case kind == history.NodeAdded:
				e.Detail = string(m.node.CapacityType())
			case kind == history.NodeNotReady && !heard.IsZero():
				e.Delay = max(at.Sub(heard), 0)
			}
			w.live.add(e)
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
	err := n.Watch(w.ctx, func(e testbed.Event) {
		switch {
		case e.Kind == testbed.Watching && watching != nil:
			close(watching)
			watching = nil
		case e.Namespace == w.namespace && e.Name == kube.Container:
			w.post(func() { w.containerSeen(e) })
		}
	})
	if err != nil && w.ctx.Err() == nil {
		w.fail(fmt.Errorf("watch the containers of node %s: %w", n.Name(), err))
	}
}

func (w *World) containerSeen(e testbed.Event) {
	about := journal.Event{At: e.At, Process: journal.Runtime, Node: w.machines.alias(e.Node), Object: e.UID}
	switch e.Kind {
	case testbed.Started:
		about.Kind = history.ContainerStarted
		about.Task, about.Token = w.workloadOf(e)
		w.live.started(liveContainer{id: e.ID, object: e.UID, task: about.Task, node: about.Node, token: about.Token}, about)
	case testbed.Exited:
		about.Kind, about.Detail = history.ContainerEnded, fmt.Sprintf("exit %d", e.ExitCode)
		w.live.ended(e.UID, about)
	}
}

// workloadOf is the task and the token of a container, by the labels of its Pod. The name has to do when the API server has not been
// heard of it yet.
func (w *World) workloadOf(e testbed.Event) (task string, token uint64) {
	for _, seen := range slices.Backward(w.live.events) {
		if seen.Kind == history.ObjectCreated && seen.Object == e.UID {
			return seen.Task, seen.Token
		}
	}
	task, _ = strings.CutPrefix(e.Pod, dispatcher.WorkloadName(""))
	return task, 0
}
