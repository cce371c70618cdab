package main

import (
	"context"
	"sync"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/sim"
	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/scenarios"
)

func init() {
	registerWorld(worldEntry{
		name:    "sim",
		summary: "the dispatcher's own code on modelled time, Postgres and Kubernetes; one seed decides everything",
		open:    openSim,
		ability: scenarios.Ability{
			Faults:    faults.Capabilities{faults.Nodes, faults.Pods, faults.Labels, faults.Processes, faults.Calls, faults.Platform, faults.Servers},
			Launchers: true,
		},
		scale: scenarios.Scale{Factor: 1},
		check: func(context.Context, worldOptions) []finding {
			return []finding{{what: "simulation", ok: true, detail: "needs nothing but this program"}}
		},
	})
}

// memories of histories, for worlds to come.
var memories = sync.Pool{New: func() any { return new(sim.Memory) }}

// simWorld is a simulation that hands its memory on.
type simWorld struct {
	*sim.Cluster
	memory *sim.Memory
}

func openSim(_ context.Context, c clusters.Config) (clusters.Cluster, error) {
	memory := memories.Get().(*sim.Memory)
	cluster, err := memory.New(c)
	if err != nil {
		return nil, err // not a typed nil
	}
	return simWorld{cluster, memory}, nil
}

// Recycle implements clusters.Recycler.
func (w simWorld) Recycle() {
	w.memory.Recycle(w.Cluster)
	memories.Put(w.memory)
}

// simulation is the world that every build has.
func simulation() worldEntry {
	w, err := findWorld("sim")
	if err != nil {
		panic(err)
	}
	return w
}
