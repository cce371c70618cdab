package planted

import (
	"context"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// errorIsAbsence: an error while looking for a pod is read as "it is not there".
func errorIsAbsence() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "error-is-absence",
			Summary: "a list or get that fails is taken for proof that the pod is gone",
			Ports: func(p dispatcher.Ports) dispatcher.Ports {
				p.Workloads = emptyOnError{p.Workloads}
				return p
			},
			Witness: func(w dispatcher.Witness) dispatcher.Witness { return goneOnAbsence{w} },
		},
		Incident: "D3", Breaks: []string{"I5-false-death"}, Scenario: "list-error", Seeds: 20,
		Witness: also("api-server-away", "I5-false-death", 5),
	}
}

type emptyOnError struct{ dispatcher.Workloads }

func (e emptyOnError) List(ctx context.Context, l dispatcher.List) (dispatcher.WorkloadPage, error) {
	page, err := e.Workloads.List(ctx, l)
	if err != nil {
		return dispatcher.WorkloadPage{}, nil
	}
	return page, nil
}

func (e emptyOnError) Get(ctx context.Context, name string) (dispatcher.Workload, error) {
	w, err := e.Workloads.Get(ctx, name)
	if err != nil {
		return dispatcher.Workload{}, dispatcher.ErrNotFound
	}
	return w, nil
}

// goneOnAbsence acts on absence at once.
type goneOnAbsence struct{ dispatcher.Witness }

func (g goneOnAbsence) Look(ctx context.Context, t dispatcher.Task) (dispatcher.Evidence, error) {
	ev, err := g.Witness.Look(ctx, t)
	if ev.Sighting == dispatcher.SightAbsent && t.Phase == dispatcher.Running {
		ev.Sighting = dispatcher.SightNodeGone
	}
	return ev, err
}

// ageAlone: what has been running for longer than the grace is requeued, whatever is known of its pod.
func ageAlone() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "age-alone",
			Summary: "running rows older than the recovery grace are requeued without a look at their pods",
			Store:   func(s dispatcher.Store) dispatcher.Store { return noSigns{s} },
			Witness: func(dispatcher.Witness) dispatcher.Witness { return presumedDead{} },
		},
		Incident: "C1", Breaks: []string{"I5-false-death"}, Scenario: "slow-start-long-run", Seeds: 20,
		Witness: also("evicted-and-killed", "I5-false-death", 5),
	}
}

// noSigns shows rows to the reconciler as if nothing had been heard of them since their claim.
type noSigns struct{ dispatcher.Store }

func (n noSigns) Scan(ctx context.Context, s dispatcher.Scan) (dispatcher.Page, error) {
	page, err := n.Store.Scan(ctx, s)
	for i := range page.Tasks {
		page.Tasks[i].Attempt.StartedAt, page.Tasks[i].Attempt.HeartbeatAt = time.Time{}, time.Time{}
	}
	return page, err
}

type presumedDead struct{}

func (presumedDead) Look(context.Context, dispatcher.Task) (dispatcher.Evidence, error) {
	return dispatcher.Evidence{Sighting: dispatcher.SightAbsent}, nil
}

// graceEqualsDeadline: recovery begins at the moment at which the kubelet begins to end the work.
func graceEqualsDeadline() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "grace-equals-deadline",
			Summary: "the recovery grace equals the workflow deadline: no time is left in which the container ends",
			Settings: func(s dispatcher.Settings) dispatcher.Settings {
				s.RecoveryGrace = s.WorkflowDeadline
				return s
			},
		},
		Incident: "C3", Breaks: []string{"I5-false-death"}, Scenario: "grace-at-the-deadline", Seeds: 20,
		Witness: also("partition-containers-live-on", "I5-false-death", 5),
	}
}

// rollbackInside: the workflow's own exit handler is to roll the row back, so the reconciler leaves running rows alone. When
// the pod is gone, so is the handler.
func rollbackInside() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "rollback-inside",
			Summary: "recovery is left to the workflow itself, and dies with its pod",
			Witness: func(w dispatcher.Witness) dispatcher.Witness { return leftAlone{w} },
		},
		Incident: "H4", Breaks: []string{"I2-stranded", "I3-loss"}, Scenario: "node-kill-and-return", Seeds: 20,
		Witness: also("evicted-and-killed", "I2-stranded", 5),
	}
}

type leftAlone struct{ dispatcher.Witness }

func (l leftAlone) Look(ctx context.Context, t dispatcher.Task) (dispatcher.Evidence, error) {
	if t.Phase == dispatcher.Running && t.Desired == dispatcher.DesiredRun {
		return dispatcher.Evidence{}, nil
	}
	return l.Witness.Look(ctx, t)
}
