package planted

import (
	"context"

	"github.com/squall-chaos/squall/dispatcher"
)

// pendingWithoutDeadline: limits are counted from the begin of the work, so that what never begins has none
// (argoproj/argo-workflows#12329).
func pendingWithoutDeadline() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "pending-without-deadline",
			Summary: "a start timeout and a deadline end what has begun; a pod that waits for its machine is waited for",
			Ports: func(p dispatcher.Ports) dispatcher.Ports {
				p.Store = begunAtOnce{p.Store}
				return p
			},
		},
		Incident: "J4", Breaks: []string{"I2-stranded"}, Scenario: "pending-past-its-deadline", Seeds: 20,
		Witness: also("machine-long-in-coming", "I2-stranded", 5),
	}
}

// begunAtOnce shows rows to the reconciler as if their attempts had begun when they were claimed.
type begunAtOnce struct{ dispatcher.Store }

func begun(t dispatcher.Task) dispatcher.Task {
	if t.Phase == dispatcher.Running && t.Attempt.StartedAt.IsZero() {
		t.Attempt.StartedAt = t.Attempt.ClaimedAt
	}
	return t
}

func (b begunAtOnce) Scan(ctx context.Context, s dispatcher.Scan) (dispatcher.Page, error) {
	page, err := b.Store.Scan(ctx, s)
	for i := range page.Tasks {
		page.Tasks[i] = begun(page.Tasks[i])
	}
	return page, err
}

func (b begunAtOnce) Observe(ctx context.Context, t dispatcher.Term, r dispatcher.Ref, o dispatcher.Observation) (dispatcher.Task, error) {
	row, err := b.Store.Observe(ctx, t, r, o)
	return begun(row), err
}
