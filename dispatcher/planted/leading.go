package planted

import (
	"context"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// The defects of this file lie before a fence that would make them harmless, so they are shown without it: without the epoch in
// the statements of leaders.

// hostClockLeases: leases are stamped and judged by the clock of whoever looks at them.
func hostClockLeases() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "host-clock-leases",
			Summary: "leases are stamped and judged by each replica's own clock, and nothing fences the writes of a deposed one",
			Store:   noEpoch().System.Store,
			Ports: func(p dispatcher.Ports) dispatcher.Ports {
				p.Store = hostClock{p.Store, p.Clock}
				return p
			},
		},
		Incident: "D4", Breaks: []string{"I6-fence"}, Scenario: "clock-fast-in-mid-batch", Seeds: 20, Bare: withoutEpoch(),
		Witness: also("clock-fast-in-mid-batch", "L2-leadership", 20),
	}
}

// withoutEpoch is the reference without the fence that stands behind leadership.
func withoutEpoch() *dispatcher.System {
	s := noEpoch().System
	s.Name, s.Summary = "without-epoch", "the reference without the epoch in the statements of leaders"
	return &s
}

// hostClock answers what time it is by itself.
type hostClock struct {
	dispatcher.Store
	clock dispatcher.Clock
}

func (h hostClock) Now(context.Context) (time.Time, error) { return h.clock.Now(), nil }

func (h hostClock) Confirm(ctx context.Context, t dispatcher.Term) (time.Time, error) {
	if _, err := h.Store.Confirm(ctx, t); err != nil {
		return time.Time{}, err
	}
	return h.clock.Now(), nil
}

// renewWithoutTimeout: the renewal runs beside the work and has no timeout of its own. One that gets no answer is waited for, and
// as long as it has not failed, the replica leads.
func renewWithoutTimeout() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "renew-without-timeout",
			Summary: "a renewal that hangs has no timeout, the work goes on beside it, and nothing fences its writes",
			Store:   noEpoch().System.Store,
			Settings: func(s dispatcher.Settings) dispatcher.Settings {
				s.RenewDeadline = 24 * time.Hour // whoever would look at the time waits for the answer
				return s
			},
			Ports: func(p dispatcher.Ports) dispatcher.Ports {
				r := &renewal{Leases: p.Leases}
				p.Leases, p.Store = r, besideRenewal{p.Store, r}
				return p
			},
		},
		Incident: "E2", Breaks: []string{"I6-fence"}, Scenario: "hung-renewal", Seeds: 20, Bare: withoutEpoch(),
		Witness: also("api-server-frozen", "I6-fence", 5),
	}
}

// renewal is what runs beside the work.
type renewal struct {
	dispatcher.Leases
	hangs bool
}

func (r *renewal) PutLease(ctx context.Context, l dispatcher.Lease) (dispatcher.Lease, error) {
	if r.hangs {
		return l, nil
	}
	put, err := r.Leases.PutLease(ctx, l)
	if dispatcher.Unknown(err) && l.Version != 0 {
		r.hangs = true
		return l, nil
	}
	return put, err
}

// besideRenewal asks for nothing while a renewal is on its way, for that is the renewal's business.
type besideRenewal struct {
	dispatcher.Store
	renewal *renewal
}

func (b besideRenewal) Confirm(ctx context.Context, t dispatcher.Term) (time.Time, error) {
	if b.renewal.hangs {
		return time.Time{}, nil
	}
	return b.Store.Confirm(ctx, t)
}
