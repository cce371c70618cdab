package dispatcher

import (
	"context"
	"errors"
	"time"
)

// elector holds one replica's leadership: the Lease decides who tries, the store's epoch whose writes
// count, and the replica's own monotonic clock when it must fall silent.
type elector struct {
	role     Role
	id       InstanceID
	settings Settings
	ports    Ports

	leading bool
	term    Term
	lease   Lease
	// renewedAt is when the last successful renewal was sent, on the own monotonic clock: sent, not answered,
	// because a successor counts from a stamp that may be as old as that.
	renewedAt time.Duration
}

// hold becomes or stays leader if it can, and tells which.
func (e *elector) hold(ctx context.Context) bool {
	if e.leading {
		e.renew(ctx)
	} else {
		e.acquire(ctx)
	}
	return e.leads()
}

// leads tells whether this replica may still act. It is asked before every mutating call.
func (e *elector) leads() bool {
	if e.leading && e.remaining() <= 0 {
		e.leading = false
	}
	return e.leading
}

// ready is leads, after a renewal if one is due: long batches keep their lease.
func (e *elector) ready(ctx context.Context) bool {
	if e.leading && e.ports.Clock.Elapsed()-e.renewedAt >= e.settings.RetryPeriod {
		e.renew(ctx)
	}
	return e.leads()
}

// remaining is how long this replica may act without a further renewal.
func (e *elector) remaining() time.Duration {
	return e.renewedAt + e.settings.RenewDeadline - e.ports.Clock.Elapsed()
}

// wait is how long to sleep until the lease wants attention again.
func (e *elector) wait() time.Duration {
	if !e.leading {
		return e.settings.RetryPeriod
	}
	due := e.renewedAt + e.settings.RetryPeriod - e.ports.Clock.Elapsed()
	if due <= 0 { // the last renewal failed
		return e.settings.RetryPeriod
	}
	return due
}

// stepDown ends the term on this side; what it left half done is the successor's.
func (e *elector) stepDown() { e.leading = false }

// acquire takes the lease if it is free or lapsed by the database clock, and opens a term.
func (e *elector) acquire(ctx context.Context) {
	sent := e.ports.Clock.Elapsed()
	now, err := bounded(ctx, e, e.settings.StoreTimeout, e.ports.Store.Now)
	if err != nil {
		return
	}
	lease, err := bounded(ctx, e, e.settings.StoreTimeout, func(ctx context.Context) (Lease, error) {
		return e.ports.Leases.GetLease(ctx, string(e.role))
	})
	if errors.Is(err, ErrNotFound) {
		lease = Lease{Name: string(e.role)}
	} else if err != nil {
		return
	}
	if lease.Holder != "" && lease.Holder != e.id && now.Before(lease.RenewedAt.Add(lease.TTL)) {
		return
	}
	lease.Holder, lease.TTL, lease.RenewedAt = e.id, e.settings.LeaseTTL, now
	if lease, err = e.put(ctx, lease); err != nil {
		return // if it was applied after all, the next look finds itself the holder
	}
	term, err := bounded(ctx, e, e.settings.StoreTimeout, func(ctx context.Context) (Term, error) {
		return e.ports.Store.Lead(ctx, e.role, e.id)
	})
	if err != nil {
		return
	}
	e.leading, e.term, e.lease, e.renewedAt = true, term, lease, sent
}

// renew confirms the term in the store and renews the lease. Anything but a clear answer leaves the
// old deadline standing.
func (e *elector) renew(ctx context.Context) {
	sent := e.ports.Clock.Elapsed()
	now, err := bounded(ctx, e, e.settings.StoreTimeout, func(ctx context.Context) (time.Time, error) {
		return e.ports.Store.Confirm(ctx, e.term)
	})
	if errors.Is(err, ErrFenced) {
		e.stepDown()
	}
	if err != nil || !e.leads() {
		return
	}
	lease := e.lease
	lease.RenewedAt = now
	lease, err = e.put(ctx, lease)
	if errors.Is(err, ErrConflict) {
		lease, err = e.reclaim(ctx, now)
	}
	if err == nil {
		e.lease, e.renewedAt = lease, sent
	}
}

// reclaim answers a conflict: either an earlier renewal was applied although its reply was lost, or the
// lease is somebody else's now.
func (e *elector) reclaim(ctx context.Context, now time.Time) (Lease, error) {
	lease, err := bounded(ctx, e, e.settings.StoreTimeout, func(ctx context.Context) (Lease, error) {
		return e.ports.Leases.GetLease(ctx, string(e.role))
	})
	if err != nil {
		return lease, err
	}
	if lease.Holder != e.id {
		e.stepDown()
		return lease, ErrConflict
	}
	lease.RenewedAt = now
	return e.put(ctx, lease)
}

func (e *elector) put(ctx context.Context, l Lease) (Lease, error) {
	return bounded(ctx, e, e.settings.StoreTimeout, func(ctx context.Context) (Lease, error) {
		return e.ports.Leases.PutLease(ctx, l)
	})
}

// release frees the lease on a tidy shutdown, on condition that the lease just read is its own: a successor's
// lease must not be wiped (client-go's ReleaseOnCancel checks only what it remembers).
func (e *elector) release(ctx context.Context) {
	if !e.leading {
		return
	}
	e.stepDown()
	ctx = context.WithoutCancel(ctx)
	lease, err := bounded(ctx, e, e.settings.StoreTimeout, func(ctx context.Context) (Lease, error) {
		return e.ports.Leases.GetLease(ctx, string(e.role))
	})
	if err != nil || lease.Holder != e.id {
		return
	}
	lease.Holder = ""
	_, _ = e.put(ctx, lease) // if this fails the lease lapses by itself
}

// bounded makes one call under a timeout, cut short where the lease would lapse: a call of a leader never
// outlives its leadership on this side.
func bounded[T any](ctx context.Context, e *elector, limit time.Duration, call func(context.Context) (T, error)) (T, error) {
	if e.leading {
		limit = min(limit, max(e.remaining(), 0))
	}
	ctx, cancel := e.ports.Clock.WithTimeout(ctx, limit)
	defer cancel()
	return call(ctx)
}
