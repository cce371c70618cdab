package planted

import (
	"context"

	"github.com/squall-chaos/squall/dispatcher"
)

// workerNotOwned: what a launcher starts belongs to nobody, so that the end of the launcher is taken for the end of the work
// (stackabletech/spark-k8s-operator#646).
func workerNotOwned() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "worker-not-owned",
			Summary: "the pod that a launcher starts is not owned by it, and lives on beside the one that the next launcher starts",
			Ports:   ports(func(w dispatcher.Workloads) dispatcher.Workloads { return disowning{w} }),
		},
		Incident: "F3", Breaks: []string{"I5-false-death"}, Scenario: "launcher-killed", Seeds: 20,
		Witness: also("launcher-killed", "I1-overlap", 20),
	}
}

type disowning struct{ dispatcher.Workloads }

func (d disowning) Create(ctx context.Context, w dispatcher.Workload) (dispatcher.Workload, error) {
	w.Owns = false
	return d.Workloads.Create(ctx, w)
}
