package kubernetes

import (
	"context"
	"testing"
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/dispatchertest"
)

// ports is the Server as dispatchers see it: every call takes effect at once.
type ports struct{ s *Server }

func (p ports) Create(_ context.Context, w dispatcher.Workload) (dispatcher.Workload, error) {
	return p.s.Create(w)
}
func (p ports) Get(_ context.Context, name string) (dispatcher.Workload, error) { return p.s.Get(name) }
func (p ports) List(_ context.Context, l dispatcher.List) (dispatcher.WorkloadPage, error) {
	return p.s.List(l)
}
func (p ports) Delete(_ context.Context, name string, uid dispatcher.UID, force bool) error {
	return p.s.Delete(name, uid, force)
}
func (p ports) Release(_ context.Context, name string, uid dispatcher.UID) error {
	return p.s.Release(name, uid)
}
func (p ports) NodeExists(_ context.Context, node string) (bool, error) { return p.s.NodeExists(node) }
func (p ports) GetLease(_ context.Context, name string) (dispatcher.Lease, error) {
	return p.s.GetLease(name)
}
func (p ports) PutLease(_ context.Context, l dispatcher.Lease) (dispatcher.Lease, error) {
	return p.s.PutLease(l)
}

// conforming is the model as a dispatchertest.World.
type conforming struct{ *world }

func newConforming(t *testing.T) conforming {
	w := newWorld(t, pool("od", clusters.OnDemand, 1, 10), pool("spot", clusters.Spot, 1, 10))
	w.heed = time.Second
	return conforming{w}
}

func (w conforming) Workloads() dispatcher.Workloads { return ports{w.s} }

func (w conforming) Until(holds func() bool) bool {
	for range 600 {
		if holds() {
			return true
		}
		w.until(w.k.Now() + time.Second)
	}
	return false
}

func (w conforming) Exit(name string, code int) {
	w.s.ContainerOf(name[len("task-"):]).Exit(code, "")
}

func TestConformance(t *testing.T) {
	dispatchertest.ExerciseWorkloads(t, func(t *testing.T) dispatchertest.World { return newConforming(t) })
	dispatchertest.ExerciseLeases(t, func(t *testing.T) dispatcher.Leases { return ports{newConforming(t).s} })
}
