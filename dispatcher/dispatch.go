package dispatcher

import (
	"context"
	"errors"
	"time"
)

// RunDispatcher is one dispatcher replica: it campaigns for the lease and, while it leads, claims and
// launches on every tick. It returns when ctx ends.
func RunDispatcher(ctx context.Context, id InstanceID, s Settings, p Ports) error {
	d := &dispatcher{elector: elector{role: RoleDispatcher, id: id, settings: s, ports: p}}
	for ctx.Err() == nil {
		if d.hold(ctx) && d.due() {
			d.tick(ctx)
		}
		if err := p.Clock.Sleep(ctx, d.sleep()); err != nil {
			break
		}
	}
	d.release(ctx)
	return ctx.Err()
}

type dispatcher struct {
	elector
	ticked   Epoch         // the term of the last complete tick
	tickedAt time.Duration // own monotonic clock
	leftover int           // launches whose outcome is still open
	patience time.Duration // wait before they are looked at again: doubled while some stay open
	againAt  time.Duration // own monotonic clock: when that is
}

// due tells whether to claim now: on the tick, or when open launches are to be looked at again.
func (d *dispatcher) due() bool {
	return d.tickDue() || (d.leftover > 0 && d.ports.Clock.Elapsed() >= d.againAt)
}

// tickDue tells whether a full batch may be claimed: once per tick, and at once in a new term, because a
// predecessor may have left tasks half launched.
func (d *dispatcher) tickDue() bool {
	return d.ticked != d.term.Epoch || d.ports.Clock.Elapsed()-d.tickedAt >= d.settings.Tick
}

func (d *dispatcher) sleep() time.Duration {
	wait := d.wait()
	if d.leading && d.ticked == d.term.Epoch {
		untilTick := d.tickedAt + d.settings.Tick - d.ports.Clock.Elapsed()
		if untilTick > 0 {
			wait = min(wait, untilTick)
		}
	}
	return wait
}

// tick claims up to the batch limit and launches what it got. A retry between two ticks claims no more than
// is left over, so that one tick never exceeds its limit.
func (d *dispatcher) tick(ctx context.Context) {
	limit, full := d.settings.ClaimBatch, d.tickDue()
	if !full {
		limit = min(limit, d.leftover)
	}
	started := d.ports.Clock.Elapsed()
	tasks, err := bounded(ctx, &d.elector, d.settings.StoreTimeout, func(ctx context.Context) ([]Task, error) {
		return d.ports.Store.Claim(ctx, d.term, limit)
	})
	if err != nil {
		d.failed(err)
		return // tried again at the next look at the lease; Claim takes over what was granted unseen
	}
	d.count(CountClaims, len(tasks))
	if full {
		d.ticked, d.tickedAt = d.term.Epoch, started
	}
	d.leftover = 0
	for i, t := range tasks {
		if !d.ready(ctx) {
			return
		}
		if i > 0 && !d.pace(ctx) {
			return
		}
		if !d.launch(ctx, t) {
			d.leftover++
		}
	}
	d.backOff()
}

// backOff has open launches wait, longer each time: the object of an earlier attempt may take minutes to go.
func (d *dispatcher) backOff() {
	if d.leftover == 0 {
		d.patience = 0
		return
	}
	d.patience = min(max(2*d.patience, d.settings.RetryPeriod), d.settings.MaxBackoff)
	d.againAt = d.ports.Clock.Elapsed() + d.patience
}

// pace keeps launches below the rate limit.
func (d *dispatcher) pace(ctx context.Context) bool {
	if d.settings.LaunchRate == 0 {
		return true
	}
	err := d.ports.Clock.Sleep(ctx, time.Second/time.Duration(d.settings.LaunchRate))
	return err == nil && d.ready(ctx)
}

// failed draws the one conclusion that an error allows: a fenced leader is none.
func (d *dispatcher) failed(err error) {
	d.refused(err)
	if errors.Is(err, ErrFenced) {
		d.stepDown()
	}
}
