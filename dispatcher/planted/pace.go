package planted

import (
	"context"
	"errors"
	"math"

	"github.com/squall-chaos/squall/dispatcher"
)

// noBackoffOnRefusal: a refusal for want of quota is answered by asking again, now.
func noBackoffOnRefusal() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "no-backoff-on-refusal",
			Summary: "a create that is refused for want of quota is repeated at once, again and again",
			Ports:   ports(func(w dispatcher.Workloads) dispatcher.Workloads { return hammering{w} }),
		},
		Incident: "L6", Breaks: []string{"I5-rate"}, Scenario: "spent-quota", Seeds: 20,
		Witness: also("api-server-throttles", "I5-rate", 10),
	}
}

type hammering struct{ dispatcher.Workloads }

func (h hammering) Create(ctx context.Context, w dispatcher.Workload) (made dispatcher.Workload, err error) {
	for range 50 { // and then the claim is given back, else nothing else would be done
		made, err = h.Workloads.Create(ctx, w)
		if !errors.Is(err, dispatcher.ErrThrottled) {
			return made, err
		}
	}
	return made, err
}

// unboundedClaims: a tick takes all there is.
func unboundedClaims() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "unbounded-claims",
			Summary: "a claim takes every task that is due, whatever the limit of one tick",
			Ports: func(p dispatcher.Ports) dispatcher.Ports {
				p.Store = unlimited{p.Store}
				return p
			},
		},
		Incident: "K3", Breaks: []string{"I7-limit"}, Scenario: "spent-quota", Seeds: 20,
		Witness: also("heartbeats-throttled", "I7-limit", 5),
	}
}

type unlimited struct{ dispatcher.Store }

func (u unlimited) Claim(ctx context.Context, t dispatcher.Term, _ int) ([]dispatcher.Task, error) {
	return u.Store.Claim(ctx, t, math.MaxInt32)
}
