package metrics

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// Probe watches a loop from its ports: that it moves, and whether the store and the lease answer it. It sends nothing by itself, so
// it is no further load, and tells what the loop meets and not what a check beside it would. It is safe for concurrent use. Use NewProbe.
type Probe struct {
	clock    dispatcher.Clock
	patience time.Duration

	mu     sync.Mutex
	moved  time.Duration // own monotonic clock
	store  answer
	leases answer
}

// answer is when something last answered, and how it last failed.
type answer struct {
	ever   bool
	at     time.Duration
	failed error
}

// silentTicks is how many looks at the lease may go by without a sign: every replica, leader or not, looks once per retry period.
const silentTicks = 5

// NewProbe judges by the settings: a loop that is alive is between two looks at the lease, or in one call.
func NewProbe(c dispatcher.Clock, s dispatcher.Settings) *Probe {
	return &Probe{clock: c, moved: c.Elapsed(), patience: silentTicks*s.RetryPeriod + max(s.CreateTimeout, s.StoreTimeout)}
}

// Ports are the ports as the watched loop is to see them.
func (p *Probe) Ports(through dispatcher.Ports) dispatcher.Ports {
	through.Clock = watchedClock{through.Clock, p}
	through.Store = watchedStore{through.Store, p}
	through.Leases = watchedLeases{through.Leases, p}
	return through
}

// Move says that the loop moves.
func (p *Probe) Move() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.moved = p.clock.Elapsed()
}

// Alive is an error when the loop stands still.
func (p *Probe) Alive() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if still := p.clock.Elapsed() - p.moved; still > p.patience {
		return fmt.Errorf("the loop has stood still for %s", still.Round(time.Millisecond))
	}
	return nil
}

// Ready is an error while the store or the lease does not answer.
func (p *Probe) Ready() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return errors.Join(p.judge("the store", p.store), p.judge("the lease", p.leases))
}

func (p *Probe) judge(what string, a answer) error {
	switch age := p.clock.Elapsed() - a.at; {
	case !a.ever && a.failed == nil:
		return fmt.Errorf("%s was not asked yet", what)
	case !a.ever:
		return fmt.Errorf("%s never answered: %w", what, a.failed)
	case age > p.patience && a.failed == nil:
		return fmt.Errorf("%s has not been asked for %s", what, age.Round(time.Millisecond))
	case age > p.patience:
		return fmt.Errorf("%s has not answered for %s: %w", what, age.Round(time.Millisecond), a.failed)
	}
	return nil
}

// told notes an answer. A refusal is one, too: a standby that reads of another's lease is as ready as can be.
func (p *Probe) told(a *answer, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil || dispatcher.Definite(err) && !errors.Is(err, dispatcher.ErrUnavailable) {
		*a = answer{ever: true, at: p.clock.Elapsed()} // what failed before is over
		return
	}
	a.failed = err
}

type watchedClock struct {
	dispatcher.Clock
	probe *Probe
}

func (w watchedClock) Sleep(ctx context.Context, d time.Duration) error {
	w.probe.Move()
	defer w.probe.Move()
	return w.Clock.Sleep(ctx, d)
}

func (w watchedClock) WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	w.probe.Move()
	return w.Clock.WithTimeout(ctx, d)
}

// watchedStore listens to the calls that go with every look at the lease.
type watchedStore struct {
	dispatcher.Store
	probe *Probe
}

func (w watchedStore) Now(ctx context.Context) (time.Time, error) {
	now, err := w.Store.Now(ctx)
	w.probe.told(&w.probe.store, err)
	return now, err
}

func (w watchedStore) Confirm(ctx context.Context, t dispatcher.Term) (time.Time, error) {
	now, err := w.Store.Confirm(ctx, t)
	w.probe.told(&w.probe.store, err)
	return now, err
}

type watchedLeases struct {
	dispatcher.Leases
	probe *Probe
}

func (w watchedLeases) GetLease(ctx context.Context, name string) (dispatcher.Lease, error) {
	l, err := w.Leases.GetLease(ctx, name)
	w.probe.told(&w.probe.leases, err)
	return l, err
}

func (w watchedLeases) PutLease(ctx context.Context, l dispatcher.Lease) (dispatcher.Lease, error) {
	put, err := w.Leases.PutLease(ctx, l)
	w.probe.told(&w.probe.leases, err)
	return put, err
}
