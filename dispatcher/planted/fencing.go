package planted

import (
	"context"

	"github.com/squall-chaos/squall/dispatcher"
)

// noEpoch: the UPDATE statements of leaders lack "AND epoch = $1".
func noEpoch() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "no-epoch",
			Summary: "leader writes are not conditional on the epoch, so a deposed leader's still count",
			Store: func(s dispatcher.Store) dispatcher.Store {
				return &unfenced{Store: s, newest: map[dispatcher.Role]dispatcher.Term{}}
			},
		},
		Incident: "E1", Breaks: []string{"I6-fence"}, Scenario: "paused-with-write-in-flight", Seeds: 20,
		Witness: also("swarm-b0", "I6-fence", 40),
	}
}

// unfenced lets every term pass for the newest one.
type unfenced struct {
	dispatcher.Store
	newest map[dispatcher.Role]dispatcher.Term
}

func (u *unfenced) Lead(ctx context.Context, r dispatcher.Role, i dispatcher.InstanceID) (dispatcher.Term, error) {
	t, err := u.Store.Lead(ctx, r, i)
	if err == nil {
		u.newest[r] = t
	}
	return t, err
}

func (u *unfenced) Claim(ctx context.Context, t dispatcher.Term, limit int) ([]dispatcher.Task, error) {
	return u.Store.Claim(ctx, u.newest[t.Role], limit)
}

func (u *unfenced) Launched(ctx context.Context, t dispatcher.Term, r dispatcher.Ref, w dispatcher.UID) (dispatcher.Task, error) {
	return u.Store.Launched(ctx, u.newest[t.Role], r, w)
}

func (u *unfenced) Requeue(ctx context.Context, t dispatcher.Term, r dispatcher.Ref, why dispatcher.Reason) (dispatcher.Task, error) {
	return u.Store.Requeue(ctx, u.newest[t.Role], r, why)
}

func (u *unfenced) Conclude(ctx context.Context, t dispatcher.Term, r dispatcher.Ref, why dispatcher.Reason) (dispatcher.Task, error) {
	return u.Store.Conclude(ctx, u.newest[t.Role], r, why)
}

// resultByState: a result is accepted because the task is running, whoever brings it.
func resultByState() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "result-by-state",
			Summary: "a result is accepted when the row says running, whichever attempt it comes from",
			Store:   func(s dispatcher.Store) dispatcher.Store { return anyToken{s} },
		},
		Incident: "F2", Breaks: []string{"I6-fence", "L1-ledger"}, Scenario: "late-result", Seeds: 20,
		Witness: also("late-result", "L1-ledger", 20),
	}
}

type anyToken struct{ dispatcher.Store }

func (a anyToken) Finish(ctx context.Context, k dispatcher.Ticket, r dispatcher.Result) (dispatcher.Task, error) {
	if t, err := a.Store.Read(ctx, k.ID); err == nil && t.Phase == dispatcher.Running {
		k.Token, k.Workload = t.Attempt.Token, t.Attempt.Workload
	}
	return a.Store.Finish(ctx, k, r)
}

// cancelRowOnly: cancelling writes the row and tells nobody: the pod works on.
func cancelRowOnly() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "cancel-row-only",
			Summary: "a cancel changes the row and leaves the pod running",
			Ports: func(p dispatcher.Ports) dispatcher.Ports {
				p.Store = forgetful{p.Store}
				return p
			},
			Witness: func(w dispatcher.Witness) dispatcher.Witness { return cancelledIsGone{w} },
		},
		Incident: "J3", Breaks: []string{"I4-cancel"}, Scenario: "cancel-while-running", Seeds: 20,
		Witness: also("swarm-b0", "I8-leak", 60),
	}
}

// forgetful knows nothing of cancelled tasks any more, so nobody looks for what they left.
type forgetful struct{ dispatcher.Store }

func (f forgetful) Read(ctx context.Context, id dispatcher.TaskID) (dispatcher.Task, error) {
	t, err := f.Store.Read(ctx, id)
	if err == nil && t.Phase == dispatcher.Cancelled {
		return t, dispatcher.ErrNotFound
	}
	return t, err
}

type cancelledIsGone struct{ dispatcher.Witness }

func (c cancelledIsGone) Look(ctx context.Context, t dispatcher.Task) (dispatcher.Evidence, error) {
	if t.Desired == dispatcher.DesiredCancel {
		return dispatcher.Evidence{Sighting: dispatcher.SightAbsent}, nil
	}
	return c.Witness.Look(ctx, t)
}
