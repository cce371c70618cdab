package journal

import (
	"context"
	"strings"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/dispatcher"
)

type recordedWorkloads struct {
	recorder *Recorder
	inner    dispatcher.Workloads
}

// named is a call about the object of that name; the task is part of the name.
func named(verb history.Verb, name string) Call {
	task, _ := strings.CutPrefix(name, dispatcher.WorkloadName(""))
	return about(verb, dispatcher.TaskID(task))
}

func (w recordedWorkloads) Create(ctx context.Context, o dispatcher.Workload) (dispatcher.Workload, error) {
	c := about(history.Create, o.Task)
	if len(c.Rows) > 0 {
		c.Rows[0].Token = uint64(o.Token)
	}
	return record(w.recorder, c, func() (dispatcher.Workload, error) { return w.inner.Create(ctx, o) },
		func(c *Call, made dispatcher.Workload) { c.Detail = string(made.UID) })
}

func (w recordedWorkloads) Get(ctx context.Context, name string) (dispatcher.Workload, error) {
	return record(w.recorder, named(history.Get, name), func() (dispatcher.Workload, error) { return w.inner.Get(ctx, name) },
		func(c *Call, got dispatcher.Workload) {
			if c.Detail = string(got.UID); len(c.Rows) > 0 {
				c.Rows[0].Token = uint64(got.Token)
			}
		})
}

func (w recordedWorkloads) List(ctx context.Context, l dispatcher.List) (dispatcher.WorkloadPage, error) {
	return record(w.recorder, Call{Verb: history.List}, func() (dispatcher.WorkloadPage, error) { return w.inner.List(ctx, l) }, nil)
}

func (w recordedWorkloads) Delete(ctx context.Context, name string, uid dispatcher.UID, force bool) error {
	c := named(history.Delete, name)
	c.Detail = string(uid)
	return acknowledged(w.recorder, c, func() error { return w.inner.Delete(ctx, name, uid, force) })
}

func (w recordedWorkloads) Release(ctx context.Context, name string, uid dispatcher.UID) error {
	c := named(history.Release, name)
	c.Detail = string(uid)
	return acknowledged(w.recorder, c, func() error { return w.inner.Release(ctx, name, uid) })
}

func (w recordedWorkloads) NodeExists(ctx context.Context, node string) (bool, error) {
	return record(w.recorder, Call{Verb: history.NodeExists, Detail: node},
		func() (bool, error) { return w.inner.NodeExists(ctx, node) }, nil)
}

type recordedLeases struct {
	recorder *Recorder
	inner    dispatcher.Leases
}

func (l recordedLeases) GetLease(ctx context.Context, name string) (dispatcher.Lease, error) {
	return record(l.recorder, Call{Verb: history.GetLease, Detail: name},
		func() (dispatcher.Lease, error) { return l.inner.GetLease(ctx, name) }, nil)
}

func (l recordedLeases) PutLease(ctx context.Context, lease dispatcher.Lease) (dispatcher.Lease, error) {
	return record(l.recorder, Call{Verb: history.PutLease, Detail: lease.Name, Object: string(lease.Holder)},
		func() (dispatcher.Lease, error) { return l.inner.PutLease(ctx, lease) }, nil)
}
