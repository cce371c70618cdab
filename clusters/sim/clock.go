package sim

import (
	"context"
	"time"

	"github.com/squall-chaos/squall/clusters/sim/kernel"
)

// clock is a process's own clock: its wall clock may be off, its monotonic clock never is.
type clock struct{ process *process }

// Now is the wall clock, with whatever a fault added to it.
func (c clock) Now() time.Time { return c.process.world.kernel.Time().Add(c.process.skew) }

// Elapsed is the monotonic clock.
func (c clock) Elapsed() time.Duration { return c.process.world.kernel.Now() }

// Sleep parks the process for d, or until ctx is over.
func (c clock) Sleep(ctx context.Context, d time.Duration) error {
	w := c.process.world
	if err := ctx.Err(); err != nil {
		return err
	}
	if b := boundOf(ctx); b != nil {
		d = min(d, b.at-w.kernel.Now())
	}
	if w.explorer != nil {
		w.explorer.sleeps(c.process, d)
	}
	c.process.coroutine.Sleep(d, w.labels.sleep)
	return ctx.Err()
}

// WithTimeout returns a context that ends d from now, by virtual time.
func (c clock) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	w := c.process.world
	k := w.kernel
	b := w.contexts.take()
	*b = bound{Context: ctx, kernel: k, skew: c.process.skew, at: k.Now() + d, cancel: b.cancel}
	if outer := boundOf(ctx); outer != nil {
		b.at = min(b.at, outer.at)
	}
	return b, b.cancel
}

// bound is a context with a deadline in virtual time. Nobody can wait on its Done: code under test has no
// channels, and what waits in the simulation waits in the kernel.
type bound struct {
	context.Context
	kernel   *kernel.Kernel
	at       time.Duration
	skew     time.Duration
	canceled bool
	cancel   context.CancelFunc // bound once
}

// contexts are the contexts of all calls of a run. Nobody tells when one is no longer referred to, so that none is used
// twice in a run; but once the run is over all are, and a Memory hands them on.
type contexts struct {
	chunks []*[contextChunk]bound
	next   []bound // what is left of the last chunk taken
	taken  int
}

const (
	contextChunk = 64
	contextKept  = 128 // chunks, 0.5 MB; what a long run needs beyond them the garbage collector may have
)

func (all *contexts) take() *bound {
	if len(all.next) == 0 {
		all.next = all.more()
	}
	b := &all.next[0]
	all.next = all.next[1:]
	if b.cancel == nil {
		b.cancel = func() { b.canceled = true }
	}
	return b
}

func (all *contexts) more() []bound {
	if all.taken == len(all.chunks) {
		c := new([contextChunk]bound)
		if len(all.chunks) == contextKept {
			return c[:]
		}
		all.chunks = append(all.chunks, c)
	}
	all.taken++
	return all.chunks[all.taken-1][:]
}

// again has all contexts be used again, in another run. None may keep this one's world alive.
func (all *contexts) again() {
	for _, chunk := range all.chunks[:all.taken] {
		for i := range chunk {
			chunk[i].Context, chunk[i].kernel = nil, nil
		}
	}
	all.next, all.taken = nil, 0
}

type boundKey struct{}

// boundOf is the innermost deadline of ctx; it is the earliest one too.
func boundOf(ctx context.Context) *bound {
	if b, ok := ctx.(*bound); ok {
		return b
	}
	b, _ := ctx.Value(boundKey{}).(*bound)
	return b
}

// Value makes the deadline known to contexts derived from this one.
func (b *bound) Value(key any) any {
	if key == (boundKey{}) {
		return b
	}
	return b.Context.Value(key)
}

// Deadline is on the wall clock of the process that set it.
func (b *bound) Deadline() (time.Time, bool) { return kernel.Epoch.Add(b.at + b.skew), true }

// Err tells whether the context was cancelled or is past its deadline.
func (b *bound) Err() error {
	switch {
	case b.Context.Err() != nil:
		return b.Context.Err()
	case b.canceled:
		return context.Canceled
	case b.kernel.Now() >= b.at:
		return context.DeadlineExceeded
	}
	return nil
}
