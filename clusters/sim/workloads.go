package sim

import (
	"context"
	"strings"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/dispatcher"
)

// workloads is the Kubernetes API as one caller reaches it.
type workloads struct{ by *caller }

var (
	_ dispatcher.Workloads = workloads{}
	_ dispatcher.Watch     = workloads{}
	_ dispatcher.Leases    = leases{}
)

// call begins a call about the object of that name; the task is part of the name.
func (a workloads) call(verb history.Verb, name string) (*call, *history.Operation) {
	task, _ := strings.CutPrefix(name, dispatcher.WorkloadName(""))
	return a.by.call(&a.by.world.ports.api, verb, task)
}

func (a workloads) Create(ctx context.Context, w dispatcher.Workload) (dispatcher.Workload, error) {
	c, op := a.by.call(&a.by.world.ports.api, history.Create, string(w.Task))
	op.Token = uint64(w.Token)
	return value(ctx, c, &c.world.spares.workloads, func(c *call) (dispatcher.Workload, error) {
		made, err := a.by.world.kube.Create(w)
		c.operation().Detail = string(made.UID)
		return made, err
	})
}

func (a workloads) Get(ctx context.Context, name string) (dispatcher.Workload, error) {
	c, _ := a.call(history.Get, name)
	c.request.name = name
	return value(ctx, c, &c.world.spares.workloads, (*call).get)
}

func (c *call) get() (dispatcher.Workload, error) {
	got, err := c.world.kube.Get(c.request.name)
	op := c.operation()
	op.Token, op.Detail = uint64(got.Token), string(got.UID)
	return got, err
}

func (a workloads) List(ctx context.Context, l dispatcher.List) (dispatcher.WorkloadPage, error) {
	c, _ := a.call(history.List, "")
	return value(ctx, c, &c.world.spares.lists, func(*call) (dispatcher.WorkloadPage, error) { return a.by.world.kube.List(l) })
}

func (a workloads) Delete(ctx context.Context, name string, uid dispatcher.UID, force bool) error {
	c, op := a.call(history.Delete, name)
	op.Detail = string(uid)
	return c.wait(ctx, acknowledged(func(*call) error { return a.by.world.kube.Delete(name, uid, force) }))
}

func (a workloads) Release(ctx context.Context, name string, uid dispatcher.UID) error {
	c, op := a.call(history.Release, name)
	op.Detail = string(uid)
	return c.wait(ctx, acknowledged(func(*call) error { return a.by.world.kube.Release(name, uid) }))
}

func (a workloads) NodeExists(ctx context.Context, node string) (bool, error) {
	c, op := a.call(history.NodeExists, "")
	op.Detail, c.request.name = node, node
	return value(ctx, c, &c.world.spares.found, (*call).nodeExists)
}

func (a workloads) Watch(ctx context.Context, after uint64) (dispatcher.Changes, error) {
	c, _ := a.call(history.Watch, "")
	return value(ctx, c, &c.world.spares.changes, func(*call) (dispatcher.Changes, error) { return a.by.world.kube.Changes(after) })
}

func (c *call) nodeExists() (bool, error) { return c.world.kube.NodeExists(c.request.name) }

// leases is the lease API as one caller reaches it.
type leases struct{ by *caller }

func (a leases) call(verb history.Verb, name string) *call {
	c, op := a.by.call(&a.by.world.ports.lease, verb, "")
	op.Detail = name
	return c
}

func (a leases) GetLease(ctx context.Context, name string) (dispatcher.Lease, error) {
	c := a.call(history.GetLease, name)
	c.request.name = name
	return value(ctx, c, &c.world.spares.leases, (*call).getLease)
}

func (c *call) getLease() (dispatcher.Lease, error) { return c.world.kube.GetLease(c.request.name) }

func (a leases) PutLease(ctx context.Context, l dispatcher.Lease) (dispatcher.Lease, error) {
	c := a.call(history.PutLease, l.Name)
	c.request.lease = l
	return value(ctx, c, &c.world.spares.leases, (*call).putLease)
}

func (c *call) putLease() (dispatcher.Lease, error) {
	put, err := c.world.kube.PutLease(c.request.lease)
	if err == nil {
		if x := c.world.explorer; x != nil {
			x.held(put)
		}
		c.world.held(put)
	}
	return put, err
}

// held records a new holder of a lease.
func (c *Cluster) held(l dispatcher.Lease) {
	if c.holders[l.Name] == l.Holder {
		return
	}
	c.holders[l.Name] = l.Holder
	c.record.event(history.Event{Kind: history.LeaseHeld, Process: c.record.processes.ID(instanceProcess(l.Holder)), Detail: l.Name})
}
