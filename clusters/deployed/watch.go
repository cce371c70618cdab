package deployed

import (
	"context"
	"strconv"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters/journal"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/kube"
)

// Watch follows the run's pods and leases. Watchers post to the loop, which alone records.
func (w *World) Watch(ctx context.Context) error {
	own := informers.NewSharedInformerFactoryWithOptions(w.API, 0, informers.WithNamespace(w.Namespace()))
	return w.Follow(ctx, []informers.SharedInformerFactory{own}, []Followed{
		{own.Core().V1().Pods().Informer(), Handler(w.PodSeen)},
		{own.Coordination().V1().Leases().Informer(), Handler(w.leaseSeen)},
	})
}

// Followed is what a watcher is told of.
type Followed struct {
	Informer cache.SharedIndexInformer
	Handler  cache.ResourceEventHandlerFuncs
}

// Follow starts watchers, and returns when each has seen what there is.
func (w *World) Follow(ctx context.Context, factories []informers.SharedInformerFactory, what []Followed) error {
	for _, s := range what {
		if _, err := s.Informer.AddEventHandler(s.Handler); err != nil {
			return err
		}
	}
	for _, f := range factories {
		f.Start(w.ctx.Done())
	}
	for _, f := range factories {
		if err := f.WaitForCacheSyncWithContext(ctx).AsError(); err != nil {
			return err
		}
	}
	return nil
}

// Handler is told of every version of an object, nil for one that is gone.
func Handler[T any](seen func(before, now *T, at time.Time)) cache.ResourceEventHandlerFuncs {
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

// PodSeen records the lives of workloads as the API server tells them.
func (w *World) PodSeen(before, now *corev1.Pod, at time.Time) {
	last := now
	if last == nil {
		last = before
	}
	if last.Labels[kube.LabelTask] == "" {
		w.Post(func() { w.replicaSeen(last, now == nil) })
		return
	}
	if w.Seen != nil {
		w.Seen(before, now, at)
	}
	e := journal.Event{
		At: at, Task: last.Labels[kube.LabelTask], Token: tokenOf(last), Object: string(last.UID),
	}
	tell := func(kind history.Kind, detail string) {
		told := e
		told.Kind, told.Detail = kind, detail
		w.Post(func() { w.Record(told) })
	}
	if before == nil {
		tell(history.ObjectCreated, last.Name)
		w.Post(func() { w.admit(last) })
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
		e.Node = w.ground.Alias(now.Spec.NodeName)
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
	w.Post(func() { w.Record(journal.Event{At: at, Kind: history.LeaseHeld, Process: process, Detail: now.Name}) })
}
