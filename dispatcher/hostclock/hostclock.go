// Package hostclock is the port Clock on the clocks of the machine.
package hostclock

import (
	"context"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// Clock is a process's own clock. It is safe for concurrent use. Use New.
type Clock struct{ origin time.Time }

var _ dispatcher.Clock = Clock{}

// New has Elapsed count from now.
func New() Clock { return Clock{time.Now()} }

// Now is the wall clock. Its monotonic reading is taken off, so that it is compared as what it is.
func (Clock) Now() time.Time { return time.Now().Round(0) }

// Elapsed is the monotonic clock. On Linux it is CLOCK_MONOTONIC, which goes on while the process is stopped or its
// container frozen: a leader that wakes up finds its lease over. It stands still while the whole machine is suspended.
func (c Clock) Elapsed() time.Duration { return time.Since(c.origin) }

// Sleep waits for d, or until ctx is over.
func (Clock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// WithTimeout bounds the calls made under the returned context.
func (Clock) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d)
}
