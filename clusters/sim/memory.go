package sim

import (
	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher/memory"
)

// Memory is what a history is written into, for those who run many simulations one after the other: growing it
// anew is a good part of a short run. It belongs to one goroutine. The zero Memory is ready for use.
type Memory struct {
	operations []history.Operation
	events     []history.Event
	open       []*call
	contexts   contexts
	rows       *memory.Store
}

// New is New with the memory of an earlier simulation, if one was recycled.
func (m *Memory) New(c clusters.Config) (*Cluster, error) { return newCluster(c, m) }

// Recycle closes the world and gives the memory of its history to m. Nobody may look at that history any more.
func (m *Memory) Recycle(c *Cluster) {
	c.kernel.Close()
	r := c.record
	clear(r.operations)
	clear(r.events)
	clear(r.open[:cap(r.open)])
	c.contexts.again()
	*m = Memory{operations: r.operations[:0], events: r.events[:0], open: r.open[:0], contexts: c.contexts, rows: c.database.Store}
	r.operations, r.events, r.open, c.contexts = nil, nil, nil, contexts{}
}
