package planted

import (
	"context"
	"fmt"

	"github.com/squall-chaos/squall/dispatcher"
)

// labelLookup: whether a task's pod is there is asked by labels, which anybody may edit, and each attempt's pod has a name of its own, so
// that the API server refuses no second one (tektoncd/pipeline#3656). All lists are live: nothing is stale here.
func labelLookup() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "label-lookup",
			Summary: "a task's pod is looked for by labels that users may edit, and what they hide counts as gone",
			Ports: func(p dispatcher.Ports) dispatcher.Ports {
				p.Workloads = selecting{p.Workloads}
				return p
			},
			Witness: func(w dispatcher.Witness) dispatcher.Witness { return launchedIsGone{w} },
		},
		Incident: "A3", Breaks: []string{"I1-overlap", "I5-false-death"}, Scenario: "labels-edited", Seeds: 20,
		Witness: also("grace-at-the-deadline", "I5-false-death", 5),
	}
}

// selecting gives each attempt's pod its own name, and finds a task's pod by its label: of several that of the newest attempt.
type selecting struct{ dispatcher.Workloads }

func (s selecting) Create(ctx context.Context, w dispatcher.Workload) (dispatcher.Workload, error) {
	w.Name = fmt.Sprintf("%s-%d", w.Name, w.Token)
	return s.Workloads.Create(ctx, w)
}

func (s selecting) List(ctx context.Context, l dispatcher.List) (dispatcher.WorkloadPage, error) {
	l.Stale = false
	return s.Workloads.List(ctx, l)
}

func (s selecting) Get(ctx context.Context, name string) (found dispatcher.Workload, err error) {
	err = dispatcher.ErrNotFound
	for next := ""; ; {
		page, failed := s.List(ctx, dispatcher.List{Continue: next})
		if failed != nil {
			return dispatcher.Workload{}, failed
		}
		for _, w := range page.Items {
			if (dispatcher.WorkloadName(w.Task) == name || w.Name == name) && (err != nil || w.Token > found.Token) {
				found, err = w, nil
			}
		}
		if next = page.Continue; next == "" {
			return found, err
		}
	}
}

// launchedIsGone takes a pod that was there and is not found for one that is gone.
type launchedIsGone struct{ dispatcher.Witness }

func (l launchedIsGone) Look(ctx context.Context, t dispatcher.Task) (dispatcher.Evidence, error) {
	ev, err := l.Witness.Look(ctx, t)
	if ev.Sighting == dispatcher.SightAbsent && t.Phase == dispatcher.Running && t.Attempt.Workload != "" {
		ev.Sighting = dispatcher.SightNodeGone
	}
	return ev, err
}
