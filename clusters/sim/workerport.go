package sim

import (
	"context"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters/sim/kernel"
	"github.com/squall-chaos/squall/dispatcher"
)

// workerPort is how a worker reaches the database. Each call ends with done, unless the worker is dead by then.
type workerPort interface {
	start(done func(error))
	heartbeat(done func(error))
	finish(r dispatcher.Result, done func(error))
	// kill ends what waits on the worker's side.
	kill()
}

// workerPort is the plain way, or the one through what the system under test puts in between.
func (c *Cluster) workerPort(w *worker) workerPort {
	if hook := c.config.System.Workers; hook != nil {
		return &hookedPort{worker: w, workers: hook(store{&w.caller})}
	}
	return directPort{w}
}

// directPort is called back: workers are too many for coroutines.
type directPort struct{ worker *worker }

// The effects of the workers' calls, without their answers.
var (
	starting  acknowledged = func(c *call) error { _, err := c.startWork(); return err }
	heartbeat acknowledged = func(c *call) error { return c.server().Heartbeat(background, c.request.ticket) }
	finishing acknowledged = func(c *call) error { _, err := c.finishWork(); return err }
)

func (p directPort) start(done func(error)) {
	w := p.worker
	store{&w.caller}.show(history.Start, w.ticket, string(w.ticket.Workload)).start(w.settings.StoreTimeout, starting, done)
}

func (p directPort) heartbeat(done func(error)) {
	w := p.worker
	store{&w.caller}.show(history.Heartbeat, w.ticket, "").start(w.settings.StoreTimeout, heartbeat, done)
}

func (p directPort) finish(r dispatcher.Result, done func(error)) {
	w := p.worker
	c := store{&w.caller}.show(history.Finish, w.ticket, string(r))
	c.request.result = r
	c.start(w.settings.StoreTimeout, finishing, done)
}

func (directPort) kill() {}

// hookedPort runs every call as a coroutine, because what stands in between is sequential code.
type hookedPort struct {
	worker  *worker
	workers dispatcher.Workers
	waiting []*kernel.Process
}

func (p *hookedPort) start(done func(error)) {
	p.spawn(done, func(ctx context.Context) error {
		_, err := p.workers.Start(ctx, p.worker.ticket)
		return err
	})
}

func (p *hookedPort) heartbeat(done func(error)) {
	p.spawn(done, func(ctx context.Context) error { return p.workers.Heartbeat(ctx, p.worker.ticket) })
}

func (p *hookedPort) finish(r dispatcher.Result, done func(error)) {
	p.spawn(done, func(ctx context.Context) error {
		_, err := p.workers.Finish(ctx, p.worker.ticket, r)
		return err
	})
}

func (p *hookedPort) spawn(done func(error), run func(ctx context.Context) error) {
	k := p.worker.world.kernel
	ctx := &bound{Context: background, kernel: k, at: k.Now() + p.worker.settings.StoreTimeout}
	for i, c := range p.waiting { // forget one that is through
		if !c.Alive() {
			p.waiting = append(p.waiting[:i], p.waiting[i+1:]...)
			break
		}
	}
	p.waiting = append(p.waiting, k.Spawn(p.worker.name, func(*kernel.Process) { done(run(ctx)) }))
}

// kill may be called by one of the coroutines itself, which then ends a moment later.
func (p *hookedPort) kill() {
	k := p.worker.world.kernel
	for _, c := range p.waiting {
		if c != k.Running() {
			c.Kill()
		}
	}
}

// startWork is the effect of Start: from here on the container executes the task.
func (c *call) startWork() (dispatcher.Task, error) {
	t, err := c.server().Start(background, c.request.ticket)
	if err != nil {
		return t, err
	}
	c.see(&t)
	if c.by.worker != nil {
		c.by.worker.execute()
	}
	return t, nil
}

// finishWork is the effect of Finish: a success that the store accepts counts, one time.
func (c *call) finishWork() (dispatcher.Task, error) {
	w, k, r := c.world, c.request.ticket, c.request.result
	t, err := c.seen(w.store.Finish(background, k, r))
	if r != dispatcher.ResultSucceeded || w.counted[k] {
		return t, err
	}
	kind := history.EffectCounted
	switch {
	case err == nil:
		w.counted[k] = true
	case dispatcher.Definite(err):
		kind = history.EffectRefused
	default:
		return t, err
	}
	w.record.event(history.Event{Kind: kind, Task: w.record.tasks.ID(string(k.ID)), Process: c.by.id,
		Token: uint64(k.Token), Object: string(k.Workload)})
	return t, err
}

// ticketOf is the ticket with which the row's result was handed in.
func ticketOf(t *dispatcher.Task) dispatcher.Ticket {
	return dispatcher.Ticket{ID: t.Spec.ID, Token: t.Attempt.Token, Workload: t.Attempt.Workload}
}
