package planted

import (
	"context"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// everyReplicaClaims: a claim locks its rows, and other claims pass over them only for as long as it does. Until their pods are recorded the
// rows look claimable, and what kept two replicas apart was that their ticks seldom coincide (pgqueuer#536, apache/airflow#64737).
func everyReplicaClaims() Defect {
	bare := both(randomNames().System, noEpoch().System)
	bare.Name, bare.Summary = "without-names-and-epoch", "the reference with random names of pods, and without the epoch in the statements of leaders"
	system := both(bare, dispatcher.System{
		Ports: func(p dispatcher.Ports) dispatcher.Ports {
			p.Leases, p.Store = &ownLease{Leases: p.Leases}, leaderless{p.Store}
			return p
		},
	})
	system.Name = "every-replica-claims"
	system.Summary = "each replica claims as if it were alone, and takes rows that another one is still launching"
	return Defect{
		System:   system,
		Incident: "E3", Breaks: []string{"I1-overlap"}, Scenario: "simultaneous-claims", Seeds: 20, Bare: &bare,
		Witness: also("simultaneous-claims", "I6-fence", 5),
		SimOnly: "the epochs of its replicas pass for each other's in the simulated database only",
	}
}

// ownLease is a lease that nobody else sees.
type ownLease struct {
	dispatcher.Leases
	own dispatcher.Lease
}

func (o *ownLease) GetLease(ctx context.Context, name string) (dispatcher.Lease, error) {
	if name != string(dispatcher.RoleDispatcher) {
		return o.Leases.GetLease(ctx, name)
	}
	if o.own.Name == "" {
		return dispatcher.Lease{}, dispatcher.ErrNotFound
	}
	return o.own, nil
}

func (o *ownLease) PutLease(ctx context.Context, l dispatcher.Lease) (dispatcher.Lease, error) {
	if l.Name != string(dispatcher.RoleDispatcher) {
		return o.Leases.PutLease(ctx, l)
	}
	l.Version = o.own.Version + 1
	o.own = l
	return l, nil
}

// leaderless never hears that another one leads.
type leaderless struct{ dispatcher.Store }

func (l leaderless) Confirm(ctx context.Context, t dispatcher.Term) (time.Time, error) {
	if t.Role == dispatcher.RoleDispatcher {
		return l.Store.Now(ctx)
	}
	return l.Store.Confirm(ctx, t)
}
