package sim

import (
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/sim/kernel"
	"github.com/squall-chaos/squall/clusters/sim/kubernetes"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/memory"
)

// Memory is what a history is written into, for those who run many simulations one after the other: growing it
// anew is a good part of a short run. It belongs to one goroutine. The zero Memory is ready for use.
type Memory struct {
	kernel   *kernel.Kernel
	record   *record
	contexts contexts
	rows     *memory.Store
	room     *room
}

// room is what else a run is made in.
type room struct {
	objects kubernetes.Memory
	workers kernel.Arena[worker]
	tasks   kernel.Arena[dispatcher.Task] // on pages
}

func (r *room) again() {
	r.objects.Again()
	r.workers.Again()
	r.tasks.Again()
}

// New is New with the memory of an earlier simulation, if one was recycled.
func (m *Memory) New(c clusters.Config) (*Cluster, error) { return newCluster(c, m) }

// Recycle closes the world and gives the memory of its history to m. Nobody may look at that history any more.
func (m *Memory) Recycle(c *Cluster) {
	c.kernel.Close()
	c.contexts.again()
	c.room.again()
	*m = Memory{kernel: c.kernel, record: c.record.again(), contexts: c.contexts, rows: c.database.Store, room: c.room}
	*c.record, c.contexts, c.room = record{}, contexts{}, nil
}
