package dispatchertest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// ExerciseLeases runs the conformance suite. open returns an API without leases.
func ExerciseLeases(t *testing.T, open func(t *testing.T) dispatcher.Leases) {
	for _, c := range leaseCases {
		t.Run(c.name, func(t *testing.T) {
			c.run(&leases{reporter: t, ctx: context.Background(), api: open(t)})
		})
	}
}

// leaseCase is one promise of the lease API.
type leaseCase struct {
	name string
	run  func(*leases)
}

// leases is the API with what cases say and do.
type leases struct {
	reporter
	ctx context.Context
	api dispatcher.Leases
}

// granted is a lease as the API server can store it: whole seconds, and stamps of microseconds.
func granted() dispatcher.Lease {
	return dispatcher.Lease{
		Name: "dispatcher", Holder: "dispatcher-1", TTL: 15 * time.Second,
		RenewedAt: time.Date(2000, 1, 1, 0, 0, 1, 2000, time.UTC),
	}
}

var leaseCases = []leaseCase{
	{"get/an unknown lease is not found", func(l *leases) {
		_, err := l.api.GetLease(l.ctx, "dispatcher")
		l.is(err, dispatcher.ErrNotFound)
	}},
	{"put/creates", func(l *leases) {
		made := l.put(granted())
		if made.Version == 0 {
			l.Fatalf("a stored lease has version 0")
		}
		l.stored(made)
	}},
	{"put/creates once", func(l *leases) {
		made := l.put(granted())
		second := granted()
		second.Holder = "dispatcher-2"
		_, err := l.api.PutLease(l.ctx, second)
		l.is(err, dispatcher.ErrExists)
		l.stored(made)
	}},
	{"put/updates what was read", func(l *leases) {
		made := l.put(granted())
		next := made
		next.RenewedAt = made.RenewedAt.Add(time.Second)
		got := l.put(next)
		if got.Version <= made.Version {
			l.Fatalf("resourceVersion went from %d to %d", made.Version, got.Version)
		}
		l.stored(got)
	}},
	{"put/of two who read the same, one wins", func(l *leases) {
		made := l.put(granted())
		one, two := made, made
		one.Holder, two.Holder = "dispatcher-1", "dispatcher-2"
		won := l.put(two)
		_, err := l.api.PutLease(l.ctx, one)
		l.is(err, dispatcher.ErrConflict)
		l.stored(won)
		_, err = l.api.PutLease(l.ctx, two) // not even the winner, by what it read before
		l.is(err, dispatcher.ErrConflict)
		l.stored(won)
	}},
	{"put/a lease can be given up and taken", func(l *leases) {
		held := l.put(granted())
		held.Holder = ""
		given := l.put(held)
		l.stored(given)
		given.Holder = "dispatcher-2"
		l.stored(l.put(given))
	}},
	{"put/a version of a lease that is not there is refused", func(l *leases) {
		lost := granted()
		lost.Version = 5
		_, err := l.api.PutLease(l.ctx, lost)
		if !errors.Is(err, dispatcher.ErrNotFound) && !errors.Is(err, dispatcher.ErrConflict) {
			l.Fatalf("got error %v", err)
		}
		_, err = l.api.GetLease(l.ctx, lost.Name)
		l.is(err, dispatcher.ErrNotFound)
	}},
	{"put/lasts whole seconds", func(l *leases) {
		for _, ttl := range []time.Duration{0, -time.Second, time.Millisecond, 1500 * time.Millisecond} {
			bad := granted()
			bad.TTL = ttl
			_, err := l.api.PutLease(l.ctx, bad)
			l.is(err, dispatcher.ErrRejected)
		}
		_, err := l.api.GetLease(l.ctx, "dispatcher")
		l.is(err, dispatcher.ErrNotFound)
	}},
	{"put/is stamped to the microsecond, never later", func(l *leases) {
		fine := granted()
		fine.RenewedAt = fine.RenewedAt.Add(999)
		got, err := l.api.PutLease(l.ctx, fine)
		l.is(err, nil)
		fine.RenewedAt, fine.Version = granted().RenewedAt, got.Version
		l.same(got, fine)
		l.stored(got)
	}},
	{"put/leases are apart", func(l *leases) {
		one := l.put(granted())
		other := granted()
		other.Name = "reconciler"
		l.put(other)
		l.stored(one)
	}},
}

// put demands that the lease is taken as it is, and returns it.
func (l *leases) put(want dispatcher.Lease) dispatcher.Lease {
	l.Helper()
	got, err := l.api.PutLease(l.ctx, want)
	if err != nil {
		l.Fatalf("refused: %v", err)
	}
	want.Version = got.Version
	l.same(got, want)
	return got
}

// stored demands that a read answers with the lease.
func (l *leases) stored(want dispatcher.Lease) {
	l.Helper()
	got, err := l.api.GetLease(l.ctx, want.Name)
	if err != nil {
		l.Fatalf("refused: %v", err)
	}
	l.same(got, want)
}

func (l *leases) same(got, want dispatcher.Lease) {
	l.Helper()
	got.RenewedAt, want.RenewedAt = got.RenewedAt.UTC().Round(0), want.RenewedAt.UTC().Round(0)
	if got != want {
		l.Fatalf("lease is %+v, want %+v", got, want)
	}
}

func (l *leases) is(err, want error) {
	l.Helper()
	if !errors.Is(err, want) {
		l.Fatalf("got error %v, want %v", err, want)
	}
}
