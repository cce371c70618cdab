package replica

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/squall-chaos/squall/cmd/internal/system"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/kube"
	"github.com/squall-chaos/squall/dispatcher/postgres"
)

// connections are more than one sequential loop needs, so that one that is lost and not yet known to be does not hold it up.
const connections = 3

// open waits until the database is there, with the tables that this program needs: databases come up late and migrations run
// elsewhere. It returns no store when ctx ends first.
func (r *replica) open(ctx context.Context, migrate bool) (*postgres.Store, error) {
	for {
		store, err := r.tryOpen(ctx, migrate)
		switch {
		case ctx.Err() != nil:
			if store != nil {
				store.Close()
			}
			return nil, nil
		case err == nil:
			return store, nil
		case errors.Is(err, dispatcher.ErrRejected):
			return nil, err
		}
		r.log.Warn("waits for the database", "error", err)
		if r.clock.Sleep(ctx, r.settings.RetryPeriod) != nil {
			return nil, nil
		}
	}
}

func (r *replica) tryOpen(ctx context.Context, migrate bool) (*postgres.Store, error) {
	r.probe.Move()
	if migrate {
		ctx, cancel := r.clock.WithTimeout(ctx, r.settings.CreateTimeout+r.settings.StoreTimeout)
		defer cancel()
		if err := postgres.Migrate(ctx, r.database); err != nil {
			return nil, err
		}
	}
	ctx, cancel := r.clock.WithTimeout(ctx, r.settings.StoreTimeout)
	defer cancel()
	return postgres.Open(ctx, r.database, r.settings, func(c *pgxpool.Config) {
		c.MaxConns = connections
		c.ConnConfig.RuntimeParams["application_name"] = r.process
	})
}

// ports are what the loop sees. From the inside out: the adapters; the store with the conditions that the system has in its
// statements; the record, which so tells what was really asked; the probe; and what else the system replaces.
func (r *replica) ports(store dispatcher.Store) (dispatcher.Ports, error) {
	workloads, err := kube.NewWorkloads(r.kube, kube.Options{
		Namespace: r.namespace, Image: r.image, AnyName: system.AnyName(r.system), Adjust: r.workers.adjust,
	})
	if err != nil {
		return dispatcher.Ports{}, err
	}
	leases, err := kube.NewLeases(r.kube, r.namespace)
	if err != nil {
		return dispatcher.Ports{}, err
	}
	p := dispatcher.Ports{
		Clock: patientClock{r.clock}, Store: system.Store(r.system, r.database, store),
		Workloads: workloads, Leases: leases, Meter: r.meter,
	}
	if r.recorder != nil {
		p = r.recorder.Ports(p)
	}
	return system.Ports(r.system, r.probe.Ports(p)), nil
}

// patientClock lets the call that is under way when the replica is told to stop come to its end, so that its outcome is known.
// Calls after it are given up before they begin, but for those that give the lease back.
type patientClock struct{ dispatcher.Clock }

func (p patientClock) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if ctx.Err() != nil {
		return p.Clock.WithTimeout(ctx, d)
	}
	if end, bounded := ctx.Deadline(); bounded {
		d = min(d, time.Until(end))
	}
	return p.Clock.WithTimeout(context.WithoutCancel(ctx), d)
}
