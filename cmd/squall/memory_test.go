package main

import (
	"context"
	"runtime"
	"testing"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/sim"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/scenarios"
)

// TestManySeedsTakeConstantMemory: what is left of a seed, once it is over, is its verdict and the memory for the next one. The world is
// that of the command line, but for one memory instead of a pool of them, which a collection empties.
func TestManySeedsTakeConstantMemory(t *testing.T) {
	const few, many = 200, 1000
	const room = 256 << 10 // what memory may grow by for the sake of a larger run: a third of a kilobyte for each seed
	s, err := scenarios.Find("two-tasks-control")
	if err != nil {
		t.Fatal(err)
	}
	memory := new(sim.Memory)
	open := func(_ context.Context, c clusters.Config) (clusters.Cluster, error) {
		cluster, err := memory.New(c)
		return soleWorld{cluster, memory}, err
	}
	var live [2]uint64
	seen := 0
	tally := scenarios.Seeds(t.Context(), s, scenarios.Many{Options: scenarios.Options{System: planted.Reference(), World: open}, From: 1, Count: many, Forget: true,
		Each: func(scenarios.Result) {
			seen++
			switch seen {
			case few:
				live[0] = liveHeap()
			case many:
				live[1] = liveHeap()
			}
		}})
	if tally.Valid != many {
		t.Fatalf("%d of %d seeds are valid", tally.Valid, many)
	}
	t.Logf("%d bytes live after %d seeds, %d after %d", live[0], few, live[1], many)
	if live[1] > live[0]+room {
		t.Errorf("%d bytes are live after %d seeds, and %d after %d: something is kept of each", live[0], few, live[1], many)
	}
	runtime.KeepAlive(memory)
}

// soleWorld is a simulation that hands its memory to the next one.
type soleWorld struct {
	*sim.Cluster
	memory *sim.Memory
}

// Recycle implements clusters.Recycler.
func (w soleWorld) Recycle() { w.memory.Recycle(w.Cluster) }

// liveHeap is what two collections leave: the first keeps what is in pools.
func liveHeap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
