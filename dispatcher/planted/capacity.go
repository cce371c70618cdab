package planted

import (
	"context"
	"slices"

	"github.com/squall-chaos/squall/dispatcher"
)

// The dispatchers of this file count for themselves how many tasks run, so that each has to know the limit: that of the scenario
// which shows it.
const (
	semaphore    = 1  // of holdersInMemory
	inFlightMost = 25 // of counterByEvents
	placesMost   = 10 // of finishedTakenForRunning
)

// holdersInMemory: who holds a semaphore is known to the process alone. A restart drops the holders, and the next one is let in beside
// them (argoproj/argo-workflows#10286).
func holdersInMemory() Defect {
	return Defect{
		System: dispatcher.System{
			Name:     "holders-in-memory",
			Summary:  "the limit on running tasks is kept in memory, and a restart forgets who is running",
			Settings: withoutLimit,
			Ports: func(p dispatcher.Ports) dispatcher.Ports {
				p.Store = &holders{Store: p.Store}
				return p
			},
		},
		Incident: "K2", Breaks: []string{"I7-limit"}, Scenario: "restart-under-a-limit", Seeds: 20,
		Witness: also("ends-unseen-by-a-watch", "I7-progress", 5),
	}
}

// withoutLimit takes the limit from the store, which would keep it whatever the dispatcher believes.
func withoutLimit(s dispatcher.Settings) dispatcher.Settings {
	s.MaxInFlight = 0
	return s
}

type holders struct {
	dispatcher.Store
	held []dispatcher.TaskID
}

func (h *holders) Claim(ctx context.Context, t dispatcher.Term, limit int) ([]dispatcher.Task, error) {
	h.held = slices.DeleteFunc(h.held, func(id dispatcher.TaskID) bool {
		row, err := h.Store.Read(ctx, id)
		return err == nil && row.Phase != dispatcher.Running
	})
	if limit = min(limit, semaphore-len(h.held)); limit <= 0 {
		return nil, nil
	}
	tasks, err := h.Store.Claim(ctx, t, limit)
	for _, one := range tasks {
		if !slices.Contains(h.held, one.Spec.ID) {
			h.held = append(h.held, one.Spec.ID)
		}
	}
	return tasks, err
}

// counterByEvents: what is in flight is counted up by launches and down by what a watch tells of ends. An event that is missed is
// never made up for (buildkite/agent-stack-k8s#302).
func counterByEvents() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "counter-by-events",
			Summary: "what is in flight is counted by the events of a watch, and never recounted when events were missed",
			Ports: func(p dispatcher.Ports) dispatcher.Ports {
				p.Store = &counter{Store: p.Store, watch: p.Watch, inFlight: map[dispatcher.TaskID]bool{}}
				return p
			},
		},
		Incident: "K3", Breaks: []string{"I7-progress"}, Scenario: "ends-unseen-by-a-watch", Seeds: 20, SimOnly: simWatch,
		Witness: also("watch-silent", "I7-progress", 5),
	}
}

type counter struct {
	dispatcher.Store
	watch    dispatcher.Watch
	version  uint64
	inFlight map[dispatcher.TaskID]bool
}

func (c *counter) Claim(ctx context.Context, t dispatcher.Term, limit int) ([]dispatcher.Task, error) {
	c.follow(ctx)
	if limit = min(limit, inFlightMost-len(c.inFlight)); limit <= 0 {
		return nil, nil
	}
	tasks, err := c.Store.Claim(ctx, t, limit)
	for _, one := range tasks {
		c.inFlight[one.Spec.ID] = true
	}
	return tasks, err
}

// follow takes in what the watch tells. When it breaks it is begun anew, from the present on.
func (c *counter) follow(ctx context.Context) {
	changes, err := c.watch.Watch(ctx, c.version)
	if err != nil {
		c.version = 0
		return
	}
	c.version = changes.Version
	for _, one := range changes.Items {
		if one.Gone || one.Workload.State.Ended() {
			delete(c.inFlight, one.Workload.Task)
		}
	}
}

// finishedTakenForRunning: a process that starts counts the pods that it finds as in flight, those that ended long ago too, until they are
// removed (the other half of buildkite/agent-stack-k8s#302).
func finishedTakenForRunning() Defect {
	return Defect{
		System: dispatcher.System{
			Name:     "finished-taken-for-running",
			Summary:  "after a restart, pods that have ended hold places for as long as they are kept",
			Settings: withoutLimit,
			Ports: func(p dispatcher.Ports) dispatcher.Ports {
				p.Store = &inherited{Store: p.Store, workloads: p.Workloads}
				return p
			},
		},
		Incident: "K3", Breaks: []string{"I7-progress"}, Scenario: "restarted-beside-finished-pods", Seeds: 20,
		Witness: also("swarm-b0", "I7-progress", 20),
	}
}

type inherited struct {
	dispatcher.Store
	workloads dispatcher.Workloads
	looked    bool
	found     []string            // names of pods that were there when the process began
	held      []dispatcher.TaskID // of its own claims
}

func (i *inherited) Claim(ctx context.Context, t dispatcher.Term, limit int) ([]dispatcher.Task, error) {
	page, err := i.workloads.List(ctx, dispatcher.List{})
	if err != nil {
		return nil, err
	}
	if !i.looked {
		i.looked = true
		for _, w := range page.Items {
			i.found = append(i.found, w.Name)
		}
	}
	i.found = slices.DeleteFunc(i.found, func(name string) bool {
		return !slices.ContainsFunc(page.Items, func(w dispatcher.Workload) bool { return w.Name == name })
	})
	i.held = slices.DeleteFunc(i.held, func(id dispatcher.TaskID) bool {
		row, err := i.Store.Read(ctx, id)
		return err == nil && row.Phase != dispatcher.Running
	})
	if limit = min(limit, placesMost-len(i.found)-len(i.held)); limit <= 0 {
		return nil, nil
	}
	tasks, err := i.Store.Claim(ctx, t, limit)
	for _, one := range tasks {
		if !slices.Contains(i.held, one.Spec.ID) {
			i.held = append(i.held, one.Spec.ID)
		}
	}
	return tasks, err
}

// launchFromSnapshot: the dispatcher works off a queue that it took from the store earlier, and nobody asks again whether the work is
// still wanted (buildkite/agent-stack-k8s#382).
func launchFromSnapshot() Defect {
	return Defect{
		System: dispatcher.System{
			Name:     "launch-from-snapshot",
			Summary:  "pods are launched one by one from a queue in memory, and neither launch nor worker asks whether the task is still wanted",
			Settings: withoutLimit,
			Store:    func(s dispatcher.Store) dispatcher.Store { return anyTicket{s} },
			Ports: func(p dispatcher.Ports) dispatcher.Ports {
				p.Store = &snapshot{Store: p.Store}
				return p
			},
		},
		Incident: "J2", Breaks: []string{"I4-cancel"}, Scenario: "queue-cancelled", Seeds: 20, Bare: unguarded(),
		Witness: also("cancel-while-pending", "I4-cancel", 5),
	}
}

// unguarded is the reference with workers that do not ask whether they may start.
func unguarded() *dispatcher.System {
	return &dispatcher.System{Name: "unguarded", Summary: "the reference with workers that do not ask whether they may start", Store: func(s dispatcher.Store) dispatcher.Store { return anyTicket{s} }}
}

type snapshot struct {
	dispatcher.Store
	queue []dispatcher.Task
}

// Claim hands out one task of the queue in each tick, and fills the queue when it is empty.
func (s *snapshot) Claim(ctx context.Context, t dispatcher.Term, limit int) ([]dispatcher.Task, error) {
	if len(s.queue) == 0 {
		tasks, err := s.Store.Claim(ctx, t, limit)
		if err != nil || len(tasks) == 0 {
			return tasks, err
		}
		s.queue = tasks
	}
	next := s.queue[:1]
	s.queue = s.queue[1:]
	return next, nil
}

// missedMost is above how many missed runs catchUpRefused gives up.
const missedMost = 100

// catchUpRefused: after a long outage more runs of a schedule were missed than the dispatcher is willing to look at, so that it looks
// at none, and with every period there is one more (kubernetes/kubernetes#42649).
func catchUpRefused() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "catch-up-refused",
			Summary: "nothing is claimed any more once more than a hundred due tasks were missed",
			Ports: func(p dispatcher.Ports) dispatcher.Ports {
				p.Store = refusing{p.Store}
				return p
			},
		},
		Incident: "K4", Breaks: []string{"I7-progress"}, Scenario: "schedule-after-an-outage", Seeds: 20,
		Witness: also("schedule-after-an-outage", "I3-loss", 5),
	}
}

type refusing struct{ dispatcher.Store }

func (r refusing) Claim(ctx context.Context, t dispatcher.Term, limit int) ([]dispatcher.Task, error) {
	if h, err := r.Store.Health(ctx); err != nil || h.Pending > missedMost {
		return nil, err
	}
	return r.Store.Claim(ctx, t, limit)
}

// twoRetryLayers: the platform restarts what failed, and the dispatcher does so again on top; neither knows of the other
// (nextflow-io/nextflow#5215).
func twoRetryLayers() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "two-retry-layers",
			Summary: "the platform restarts a failed container five times inside each attempt, which no budget counts",
			Settings: func(s dispatcher.Settings) dispatcher.Settings {
				s.PlatformRetries = 5
				return s
			},
		},
		Incident: "L7", Breaks: []string{"I5-budget"}, Scenario: "retries-that-multiply", Seeds: 20,
		Witness: also("poison-task", "I5-budget", 5),
	}
}
