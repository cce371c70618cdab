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
				p.Workloads = &randomlyNamed{Workloads: p.Workloads, clock: p.Clock, tried: map[string]bool{}}
				p.Store = unbound{p.Store}
				return p
			},
			Workers: func(w dispatcher.Workers) dispatcher.Workers { return byLabel{w} },
		},
		Incident: "B4", Breaks: []string{"I1-overlap"}, Scenario: "lost-create-reply", Seeds: 20,
		Witness: also("demo", "I1-overlap", 5),
	}
}

type randomlyNamed struct {
	dispatcher.Workloads
	clock dispatcher.Clock
	tried map[string]bool // names under which a create was asked for, and nothing stands
}

func (r *randomlyNamed) Create(ctx context.Context, w dispatcher.Workload) (dispatcher.Workload, error) {
	r.tried[w.Name] = true
	w.Name += fmt.Sprintf("-%x", r.clock.Elapsed().Nanoseconds())
	return r.Workloads.Create(ctx, w)
}

// Get after a create without an answer finds nothing: who knows the name? Others look by label, the only
// identity that is left.
func (r *randomlyNamed) Get(ctx context.Context, name string) (dispatcher.Workload, error) {
	if r.tried[name] {
		return dispatcher.Workload{}, dispatcher.ErrNotFound
	}
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

// label is the identity of an attempt as its labels tell it: the same for every pod that carries them.
func label(id dispatcher.TaskID, t dispatcher.Token) dispatcher.UID {
	return dispatcher.UID(fmt.Sprintf("%s/%d", id, t))
}

// unbound knows attempts by their labels, not by an object.
type unbound struct{ dispatcher.Store }

func (u unbound) Launched(ctx context.Context, t dispatcher.Term, r dispatcher.Ref, _ dispatcher.UID) (dispatcher.Task, error) {
	return u.Store.Launched(ctx, t, r, label(r.ID, r.Token))
}

func (u unbound) Scan(ctx context.Context, s dispatcher.Scan) (dispatcher.Page, error) {
	page, err := u.Store.Scan(ctx, s)
	for i := range page.Tasks {
		page.Tasks[i].Attempt.Workload = ""
	}
	return page, err
}

// byLabel shows the store the same identity for every pod of an attempt.
type byLabel struct{ dispatcher.Workers }

func labelled(k dispatcher.Ticket) dispatcher.Ticket {
	k.Workload = label(k.ID, k.Token)
	return k
}

func (b byLabel) Start(ctx context.Context, k dispatcher.Ticket) (dispatcher.Task, error) {
	return b.Workers.Start(ctx, labelled(k))
}

func (b byLabel) Heartbeat(ctx context.Context, k dispatcher.Ticket) error {
	return b.Workers.Heartbeat(ctx, labelled(k))
}

func (b byLabel) Finish(ctx context.Context, k dispatcher.Ticket, r dispatcher.Result) (dispatcher.Task, error) {
	return b.Workers.Finish(ctx, labelled(k), r)
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
		Incident: "B5", Breaks: []string{"I3-loss"}, Scenario: "lost-create-reply", Seeds: 20,
		Witness: also("demo", "I3-loss", 5),
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
