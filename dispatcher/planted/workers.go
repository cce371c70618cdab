package planted

import (
	"context"

	"github.com/squall-chaos/squall/dispatcher"
)

// noWorkerStartGuard: the worker works as soon as its container runs, superseded or not.
func noWorkerStartGuard() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "no-worker-start-guard",
			Summary: "a worker begins without asking whether its attempt is still the current one",
			Store:   func(s dispatcher.Store) dispatcher.Store { return letIn{s} },
		},
		Incident: "S1", Breaks: []string{"I4-cancel", "L1-ledger"}, Scenario: "swarm-b0", Seeds: 200,
		Witness: also("throttled-after-the-effect", "L1-ledger", 20),
	}
}

type letIn struct{ dispatcher.Store }

func (l letIn) Start(ctx context.Context, k dispatcher.Ticket) (dispatcher.Task, error) {
	t, err := l.Store.Start(ctx, k)
	if err != nil && !dispatcher.Unknown(err) {
		return l.Read(ctx, k.ID)
	}
	return t, err
}

// noSelfFence: a worker whose heartbeats do not arrive works on.
func noSelfFence() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "no-self-fence",
			Summary: "a worker that is cut off from the store works on, beside the one that replaces it",
			Workers: func(w dispatcher.Workers) dispatcher.Workers { return tireless{w} },
		},
		Incident: "F4", Breaks: []string{"I1-overlap", "I5-false-death"}, Scenario: "cut-off-and-replaced", Seeds: 20,
		Witness: also("heartbeats-throttled", "I5-false-death", 5),
	}
}

type tireless struct{ dispatcher.Workers }

func (t tireless) Heartbeat(ctx context.Context, k dispatcher.Ticket) error {
	_ = t.Workers.Heartbeat(ctx, k)
	return nil
}

// heartbeatByTask: a heartbeat names the task, so whoever once worked on it keeps its row alive.
func heartbeatByTask() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "heartbeat-by-task",
			Summary: "a heartbeat is accepted for the task, whichever attempt it comes from",
			Store:   func(s dispatcher.Store) dispatcher.Store { return anyPulse{s} },
		},
		Incident: "F4", Breaks: []string{"I6-fence"}, Scenario: "late-result", Seeds: 20,
		Witness: also("heartbeats-applied-late", "I6-fence", 10),
	}
}

type anyPulse struct{ dispatcher.Store }

func (a anyPulse) Heartbeat(ctx context.Context, k dispatcher.Ticket) error {
	if t, err := a.Read(ctx, k.ID); err == nil && t.Phase == dispatcher.Running {
		k.Token, k.Workload = t.Attempt.Token, t.Attempt.Workload
	}
	return a.Store.Heartbeat(ctx, k)
}
