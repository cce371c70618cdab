package planted

import (
	"context"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// naive has most defects at once, as first versions of dispatchers do: random pod names, any error read as absence, requeue on
// age alone, leadership in a boolean, writes by id only, results taken from anybody, stale reads trusted, cancels that change the row only.
func naive() Defect {
	parts := []dispatcher.System{
		randomNames().System, errorIsAbsence().System, ageAlone().System,
		noEpoch().System, resultByState().System, cancelRowOnly().System,
	}
	all := dispatcher.System{
		Name:    "naive",
		Summary: "most defects at once: what a first version looks like",
		Store:   func(s dispatcher.Store) dispatcher.Store { return anyTicket{s} },
		Ports: func(p dispatcher.Ports) dispatcher.Ports {
			p.Leases, p.Store = onceLeader{p.Leases}, onceLed{p.Store}
			return p
		},
	}
	for _, p := range parts {
		all = both(all, p)
	}
	return Defect{
		System:   all,
		Breaks:   []string{"I1-overlap", "I5-budget", "I5-false-death", "I6-fence", "I8-leak", "L1-ledger", "L2-leadership"},
		Scenario: "swarm-b0", Seeds: 20,
	}
}

// onceLeader and onceLed hold leadership in a boolean: once won, a renewal that fails changes nothing.
type onceLeader struct{ dispatcher.Leases }

func (o onceLeader) PutLease(ctx context.Context, l dispatcher.Lease) (dispatcher.Lease, error) {
	put, err := o.Leases.PutLease(ctx, l)
	if err != nil && l.Version != 0 {
		return l, nil
	}
	return put, err
}

type onceLed struct{ dispatcher.Store }

func (o onceLed) Confirm(ctx context.Context, t dispatcher.Term) (time.Time, error) {
	if now, err := o.Store.Confirm(ctx, t); err == nil {
		return now, nil
	}
	return time.Time{}, nil
}

// both applies the hooks of two systems, the first one's innermost.
func both(a, b dispatcher.System) dispatcher.System {
	a.Store = chain(a.Store, b.Store)
	a.Ports = chain(a.Ports, b.Ports)
	a.Workers = chain(a.Workers, b.Workers)
	a.Witness = chain(a.Witness, b.Witness)
	return a
}

func chain[T any](inner, outer func(T) T) func(T) T {
	switch {
	case inner == nil:
		return outer
	case outer == nil:
		return inner
	}
	return func(t T) T { return outer(inner(t)) }
}

// anyTicket lets a worker start whichever attempt its ticket is of, as a worker that never asks would.
type anyTicket struct{ dispatcher.Store }

func (a anyTicket) Start(ctx context.Context, k dispatcher.Ticket) (dispatcher.Task, error) {
	t, err := a.Store.Start(ctx, k)
	if err != nil && !dispatcher.Unknown(err) {
		return a.Store.Read(ctx, k.ID)
	}
	return t, err
}

func (a anyTicket) Heartbeat(ctx context.Context, k dispatcher.Ticket) error {
	if err := a.Store.Heartbeat(ctx, k); dispatcher.Unknown(err) {
		return err
	}
	return nil
}
