package main

import (
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/sim"
	"github.com/squall-chaos/squall/faults"
)

func init() {
	registerWorld(worldEntry{
		name:    "sim",
		summary: "the dispatcher's own code on modelled time, Postgres and Kubernetes; one seed decides everything",
		open:    openSim,
		can:     faults.Capabilities{faults.Nodes, faults.Pods, faults.Processes, faults.Calls, faults.Platform},
		check: func() []finding {
			return []finding{{what: "world sim", ok: true, detail: "needs nothing but this program"}}
		},
	})
}

func openSim(c clusters.Config) (clusters.Cluster, error) {
	cluster, err := sim.New(c)
	if err != nil {
		return nil, err // not a typed nil
	}
	return cluster, nil
}
