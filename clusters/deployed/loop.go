package deployed

import (
	"container/heap"
	"context"
	"math"
	"sync"
	"time"
)

// loop executes functions one at a time: at moments of the run, and as others post them.
type loop struct {
	start  time.Time // zero: not begun
	timers timers
	added  int

	mu     sync.Mutex
	posted []func()
	failed error
	wake   chan struct{}
}

func newLoop() *loop { return &loop{wake: make(chan struct{}, 1)} }

// askEvery is how often a run is asked whether it is done.
const askEvery = 500 * time.Millisecond

// Post has fn called by the loop, soon. Anybody may post.
func (l *loop) Post(fn func()) {
	l.mu.Lock()
	l.posted = append(l.posted, fn)
	l.mu.Unlock()
	l.rouse()
}

// Fail ends the run with an error: the harness could not do what it was told to. The first one counts.
func (l *loop) Fail(err error) {
	if err == nil {
		return
	}
	l.mu.Lock()
	if l.failed == nil {
		l.failed = err
	}
	l.mu.Unlock()
	l.rouse()
}

func (l *loop) rouse() {
	select {
	case l.wake <- struct{}{}:
	default: // it is about to look anyway
	}
}

func (l *loop) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed
}

// now is the offset from the start of the run.
func (l *loop) now() time.Duration {
	if l.start.IsZero() {
		return 0
	}
	return time.Since(l.start)
}

// origin is the moment that the history counts from. In a run that failed before it began, all that there is happened at the starting line:
// counted from no moment at all it would lie centuries away.
func (l *loop) origin() time.Time {
	if l.start.IsZero() {
		return time.Now()
	}
	return l.start
}

// at has fn called at an offset. Only the loop, or who prepares the run, may call it.
func (l *loop) at(at time.Duration, fn func()) {
	l.added++
	heap.Push(&l.timers, timer{at, l.added, fn})
}

// early does what is due at the very start, before the clock runs: a fault that is there from the beginning is not to come seconds late
// because it takes a busy machine that long.
func (l *loop) early() error {
	for range len(l.timers) { // no more than there were: one may add itself again
		if len(l.timers) == 0 || l.timers[0].at > 0 {
			break
		}
		heap.Pop(&l.timers).(timer).fn()
	}
	return l.failure()
}

// run executes until the offset, until done says so, until ctx ends, or until something failed.
func (l *loop) run(ctx context.Context, until time.Duration, done func() bool) error {
	asked := l.now()
	for {
		l.drain()
		if err := l.failure(); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		now := l.now()
		if now >= until {
			return nil
		}
		if len(l.timers) > 0 && l.timers[0].at <= now {
			heap.Pop(&l.timers).(timer).fn()
			continue
		}
		if done != nil && now-asked >= askEvery {
			if asked = now; done() {
				return nil
			}
		}
		l.wait(ctx, min(until, l.nextAsk(asked, done)))
	}
}

// nextAsk is when done is to be asked next.
func (l *loop) nextAsk(asked time.Duration, done func() bool) time.Duration {
	if done == nil {
		return forever
	}
	return asked + askEvery
}

const forever = time.Duration(math.MaxInt64)

func (l *loop) drain() {
	l.mu.Lock()
	posted := l.posted
	l.posted = nil
	l.mu.Unlock()
	for _, fn := range posted {
		fn()
	}
}

// wait returns at the offset, at the next timer, or when there is something to do.
func (l *loop) wait(ctx context.Context, until time.Duration) {
	if len(l.timers) > 0 {
		until = min(until, l.timers[0].at)
	}
	alarm := time.NewTimer(until - l.now())
	defer alarm.Stop()
	select {
	case <-alarm.C:
	case <-l.wake:
	case <-ctx.Done():
	}
}

type timer struct {
	at    time.Duration
	order int
	fn    func()
}

// timers are a heap: the earliest first, and of equal ones the first that was added.
type timers []timer

func (t timers) Len() int { return len(t) }
func (t timers) Less(i, j int) bool {
	return t[i].at < t[j].at || t[i].at == t[j].at && t[i].order < t[j].order
}
func (t timers) Swap(i, j int) { t[i], t[j] = t[j], t[i] }
func (t *timers) Push(x any)   { *t = append(*t, x.(timer)) }
func (t *timers) Pop() any {
	last := (*t)[len(*t)-1]
	*t = (*t)[:len(*t)-1]
	return last
}
