package planted

import (
	"context"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// The limits of Ontos-AI/knowhere#276, whose work may take 60 s.
const (
	staleExpiry = 240 * time.Second
	redelivery  = 720 * time.Second
)

// expiryBeforeRedelivery: claims of a certain age are written off as stale before silence has lasted long enough for the work to be
// handed out again, so it never is.
func expiryBeforeRedelivery() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "expiry-before-redelivery",
			Summary: "old claims are failed for their age before lost work is requeued, which then comes too late",
			Settings: func(s dispatcher.Settings) dispatcher.Settings {
				s.RecoveryGrace = redelivery
				return s
			},
			Ports: func(p dispatcher.Ports) dispatcher.Ports {
				p.Store = &expiring{Store: p.Store}
				return p
			},
			Witness: witness(func(t dispatcher.Task, ev dispatcher.Evidence) dispatcher.Evidence {
				if ev.Sighting == dispatcher.SightAbsent && t.Spec.Deadline == staleExpiry {
					ev.Sighting = dispatcher.SightEnded // what is stale is over, whatever became of it
				}
				return ev
			}),
		},
		Incident: "C4", Breaks: []string{"I3-loss"}, Scenario: "killed-early", Seeds: 20,
		Witness: &Sight{"evicted-and-killed", []string{"I3-loss"}, 5},
	}
}

// expiring shows rows to the reconciler as if their attempts had not begun, and had to within the expiry.
type expiring struct {
	dispatcher.Store
	now time.Time // of the last page
}

func (e *expiring) Scan(ctx context.Context, s dispatcher.Scan) (dispatcher.Page, error) {
	page, err := e.Store.Scan(ctx, s)
	e.now = page.Now
	for i := range page.Tasks {
		page.Tasks[i] = e.stale(page.Tasks[i])
	}
	return page, err
}

func (e *expiring) Observe(ctx context.Context, t dispatcher.Term, r dispatcher.Ref, o dispatcher.Observation) (dispatcher.Task, error) {
	row, err := e.Store.Observe(ctx, t, r, o)
	return e.stale(row), err
}

func (e *expiring) stale(t dispatcher.Task) dispatcher.Task {
	if e.now.Sub(t.Attempt.ClaimedAt) > staleExpiry {
		t.Spec.Deadline, t.Attempt.StartedAt = staleExpiry, time.Time{}
	}
	return t
}
