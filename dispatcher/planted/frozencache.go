package planted

import (
	"context"
	"slices"

	"github.com/squall-chaos/squall/dispatcher"
)

// frozenCache: the dispatcher keeps the pods of all running tasks in being, as a controller does, but takes from its cache which
// those are, and nobody asks before the work begins. A task that is over lives on in the cache, and its pods are made and collected
// for ever (volcano-sh/volcano#3357).
func frozenCache() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "frozen-cache",
			Summary: "pods are made for what a cache still shows as running, and their workers do not ask whether they may start",
			Store:   func(s dispatcher.Store) dispatcher.Store { return anyTicket{s} },
			Ports: func(p dispatcher.Ports) dispatcher.Ports {
				p.Store = fromCache{p.Store}
				return p
			},
		},
		Incident: "A5", Breaks: []string{"I4-cancel"}, Scenario: "cancelled-in-a-frozen-cache", Seeds: 20,
		Witness: also("evicted-and-killed", "I1-overlap", 5),
	}
}

type fromCache struct{ dispatcher.Store }

// Claim adds what the cache shows as running to what was claimed.
func (f fromCache) Claim(ctx context.Context, t dispatcher.Term, limit int) ([]dispatcher.Task, error) {
	tasks, err := f.Store.Claim(ctx, t, limit)
	if err != nil {
		return tasks, err
	}
	page, err := f.Store.Scan(ctx, dispatcher.Scan{Limit: limit, Stale: true})
	if err != nil {
		return tasks, nil
	}
	for _, old := range page.Tasks {
		known := slices.ContainsFunc(tasks, func(t dispatcher.Task) bool { return t.Spec.ID == old.Spec.ID })
		if old.Phase == dispatcher.Running && old.Desired == dispatcher.DesiredRun && !known {
			tasks = append(tasks, old)
		}
	}
	return tasks, nil
}
