package dispatcher

import (
	"context"
	"errors"
	"time"
)

// Health is what operators watch of the rows, as one query tells it.
type Health struct {
	Pending, Running int
	// OldestRunning is the age of the running attempt that was claimed longest ago, by the database clock; 0: none runs.
	OldestRunning time.Duration
	// RepeatedFailures counts tasks that have not stopped and failed more than once.
	RepeatedFailures int
	// NeedsAttention counts tasks that wait for a person.
	NeedsAttention int
	// CleanupOwed counts tasks whose cleanup is due and not done.
	CleanupOwed int
}

// Counter names a count of what replicas did.
type Counter string

// The counters.
const (
	CountClaims   Counter = "claims"
	CountLaunches Counter = "launches"  // workloads created
	CountAdopted  Counter = "adoptions" // workloads found instead of created
	CountRequeues Counter = "requeues"
	CountRefused  Counter = "refused_writes" // conflicts and fences: somebody else was faster, or newer
)

// Meter takes the figures of rule 12. A replica without one measures nothing.
type Meter interface {
	// Count adds to a counter.
	Count(c Counter, n int)
	// Watch is called after every complete sweep, with how far it was behind its interval.
	Watch(h Health, lag time.Duration)
}

// count adds to a counter, if anybody counts.
func (e *elector) count(c Counter, n int) {
	if e.ports.Meter != nil && n > 0 {
		e.ports.Meter.Count(c, n)
	}
}

// refused counts a write that the store turned down.
func (e *elector) refused(err error) {
	if errors.Is(err, ErrConflict) || errors.Is(err, ErrFenced) {
		e.count(CountRefused, 1)
	}
}

// watch tells the meter how things stand after a sweep that was due at a moment of the own monotonic clock.
func (r *reconciler) watch(ctx context.Context, due time.Duration) {
	if r.ports.Meter == nil || !r.ready(ctx) {
		return
	}
	h, err := bounded(ctx, &r.elector, r.settings.StoreTimeout, r.ports.Store.Health)
	if err != nil {
		return // the next sweep tells
	}
	r.ports.Meter.Watch(h, max(0, r.ports.Clock.Elapsed()-due))
}
