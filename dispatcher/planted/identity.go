package planted

import (
	"context"
	"errors"
	"fmt"

	"github.com/squall-chaos/squall/dispatcher"
)

// randomNames: the pod's name is drawn anew for every create (generateName), and an attempt is recognised by its
// labels. The API server can no longer refuse a second pod.
func randomNames() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "random-names",
			Summary: "pods get random names, so a create repeated after a lost reply makes a second one",
			Ports: func(p dispatcher.Ports) dispatcher.Ports {
				p.Workloads = &randomlyNamed{Workloads: p.Workloads, clock: p.Clock}
				p.Store = unbound{p.Store}
				return p
			},
			Workers: func(w dispatcher.Workers) dispatcher.Workers { return byLabel{w} },
		},
		Breaks: []string{"I1-overlap"}, Scenario: "lost-create-reply", Seeds: 20,
	}
}

type randomlyNamed struct {
	dispatcher.Workloads
	clock dispatcher.Clock
}

func (r *randomlyNamed) Create(ctx context.Context, w dispatcher.Workload) (dispatcher.Workload, error) {
	w.Name += fmt.Sprintf("-%x", r.clock.Elapsed().Nanoseconds())
	return r.Workloads.Create(ctx, w)
}

// Get finds a workload by its labels, the only identity that is left.
func (r *randomlyNamed) Get(ctx context.Context, name string) (dispatcher.Workload, error) {
	page, err := r.List(ctx, dispatcher.List{Stale: true})
	if err != nil {
		return dispatcher.Workload{}, err
	}
	for _, w := range page.Items {
		if dispatcher.WorkloadName(w.Task) == name || w.Name == name {
			return w, nil
		}
	}
	return dispatcher.Workload{}, dispatcher.ErrNotFound
}

// unbound records no object: any pod with the attempt's labels is the attempt.
type unbound struct{ dispatcher.Store }

func (u unbound) Launched(ctx context.Context, t dispatcher.Term, r dispatcher.Ref, _ dispatcher.UID) (dispatcher.Task, error) {
	return u.Store.Launched(ctx, t, r, "")
}

// byLabel shows the store the same identity for every pod of an attempt.
type byLabel struct{ dispatcher.Workers }

func label(k dispatcher.Ticket) dispatcher.Ticket {
	k.Workload = ""
	return k
}

func (b byLabel) Start(ctx context.Context, k dispatcher.Ticket) (dispatcher.Task, error) {
	return b.Workers.Start(ctx, label(k))
}

func (b byLabel) Heartbeat(ctx context.Context, k dispatcher.Ticket) error {
	return b.Workers.Heartbeat(ctx, label(k))
}

func (b byLabel) Finish(ctx context.Context, k dispatcher.Ticket, r dispatcher.Result) (dispatcher.Task, error) {
	return b.Workers.Finish(ctx, label(k), r)
}

// createErrorIsFailure: any error of a create counts as a refusal, although the pod may exist.
func createErrorIsFailure() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "create-error-is-failure",
			Summary: "a create without an answer is recorded as a failed task, although its pod may run",
			Ports: func(p dispatcher.Ports) dispatcher.Ports {
				p.Workloads = createFails{p.Workloads}
				return p
			},
		},
		Breaks: []string{"I3-loss", "I8-truth"}, Scenario: "lost-create-reply", Seeds: 20,
	}
}

type createFails struct{ dispatcher.Workloads }

func (c createFails) Create(ctx context.Context, w dispatcher.Workload) (dispatcher.Workload, error) {
	made, err := c.Workloads.Create(ctx, w)
	if dispatcher.Unknown(err) {
		err = errors.Join(dispatcher.ErrRejected, err)
	}
	return made, err
}
