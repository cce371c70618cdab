package sim

import (
	"errors"
	"math"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters/sim/kernel"
	"github.com/squall-chaos/squall/clusters/sim/kubernetes"
	"github.com/squall-chaos/squall/dispatcher"
)

// worker is the process inside a container: a state machine that is called back by timers and replies.
// It asks to start, works, shows signs of life, and hands in its result; and it may die at any moment.
type worker struct {
	caller
	container *kubernetes.Container
	ticket    dispatcher.Ticket
	settings  *dispatcher.Settings
	port      workerPort

	executing bool // WorkStarted is recorded: the store let it in
	working   bool // it knows that it was let in
	finishing bool // it hands in its result: the answer to that is what counts
	stopping  bool // it heeds SIGTERM
	dead      bool

	beganAt  time.Duration // when it first asked
	provenAt time.Duration // when the last accepted sign of life was sent
	retry    kernel.Timer
	work     kernel.Timer
	crashing kernel.Timer
	beat     kernel.Timer
	fence    kernel.Timer
	shutdown kernel.Timer
}

// The exit codes of the worker, as far as they are not signals.
const (
	exitDone   = 0
	exitFailed = 1
	exitFenced = dispatcher.ExitFenced // refused, or out of touch with the store: the work itself did not fail
)

// retryAfter is between two tries of a call that failed without an answer.
const retryAfter = time.Second

// ContainerStarted begins the worker of a container.
func (c *Cluster) ContainerStarted(k *kubernetes.Container) {
	task := string(k.Workload.Task)
	w := c.room.workers.New()
	*w = worker{
		container: k,
		ticket:    dispatcher.Ticket{ID: k.Workload.Task, Token: k.Workload.Token, Workload: k.Ticket},
		settings:  &c.config.Settings,
		beganAt:   c.kernel.Now(),
	}
	name := "worker-" + task
	w.caller = caller{world: c, name: name, id: c.record.processes.ID(name), node: k.Node, worker: w}
	w.port = c.workerPort(w)
	k.Guest = w
	before := c.kernel.Act(c.kernel.Owner(name))
	w.askToStart()
	c.kernel.Act(before)
}

// Terminate is SIGTERM: the worker drops its work and is gone after a moment, unless it ignores it.
func (c *Cluster) Terminate(k *kubernetes.Container) {
	w := k.Guest.(*worker)
	if w.dead || w.stopping || k.Workload.Work.IgnoreTerm {
		return
	}
	if w.stopping = true; !w.working {
		w.retry.Stop()
	}
	w.work.Stop()
	w.crashing.Stop()
	w.shutdown = c.kernel.After(c.config.Platform.On(k.CapacityType()).Shutdown.Draw(c.shutdown), c.labels.shutdown, func() { w.exit(143, "") })
}

// Killed tells that the container is dead.
func (c *Cluster) Killed(k *kubernetes.Container) {
	if w, ok := k.Guest.(*worker); ok {
		w.die("killed")
	}
}

// exit ends the container from inside.
func (w *worker) exit(code int, detail string) {
	if w.dead {
		return
	}
	w.die(detail)
	w.container.Exit(code, detail)
}

// die takes care that nothing more comes from the worker; its calls in flight go on.
func (w *worker) die(detail string) {
	if w.dead {
		return
	}
	w.dead = true
	for _, t := range [...]kernel.Timer{w.retry, w.work, w.crashing, w.beat, w.fence, w.shutdown} {
		t.Stop()
	}
	if w.executing && w.joined(-1) == 0 {
		w.observe(history.WorkEnded, detail)
	}
	w.port.kill()
}

func (w *worker) observe(kind history.Kind, detail string) {
	w.world.record.event(history.Event{Kind: kind, Task: w.container.Task, Process: w.id, Node: w.container.NodeID,
		Token: uint64(w.ticket.Token), Object: string(w.ticket.Workload), Detail: detail})
}

// spoken tells whether the server has spoken; if not it pays to ask again.
func spoken(err error) bool {
	return dispatcher.Definite(err) && !errors.Is(err, dispatcher.ErrUnavailable) && !errors.Is(err, dispatcher.ErrThrottled)
}

func (w *worker) now() time.Duration { return w.world.kernel.Now() }

// again repeats something a little later.
func (w *worker) again(fn func()) {
	w.retry = w.world.kernel.After(retryAfter, w.world.labels.retry, fn)
}

// askToStart asks the store, again and again when it cannot be reached, for as long as it would have a right to run.
func (w *worker) askToStart() {
	sent := w.now()
	w.port.start(func(err error) {
		switch {
		case err == nil:
			w.begin(sent)
		case spoken(err):
			w.exit(exitFenced, "")
		case w.now()+retryAfter-w.beganAt >= w.startPatience():
			w.exit(exitFenced, "")
		default:
			w.again(w.askToStart)
		}
	})
}

func (w *worker) startPatience() time.Duration {
	if w.settings.Heartbeats() {
		return w.settings.WorkerLease
	}
	return w.settings.StartTimeout
}

// begin is the start of the work.
func (w *worker) begin(sent time.Duration) {
	w.execute() // a planted worker may begin without having been let in
	if w.working || w.stopping {
		return
	}
	w.working, w.provenAt = true, sent
	k, labels, work := w.world.kernel, &w.world.labels, &w.container.Workload.Work
	after, then := w.plan()
	if after < forever {
		w.work = k.After(after, labels.work, then)
	}
	if work.CrashAt > 0 && work.CrashAt < after {
		w.crashing = k.After(work.CrashAt, labels.crash, func() { w.exit(137, "") })
	}
	if w.settings.Heartbeats() {
		w.beat = k.After(w.settings.HeartbeatInterval, labels.heartbeat, w.heartbeat)
		w.guard()
	}
}

const forever = time.Duration(math.MaxInt64)

// plan is when the work ends by itself, and how. The work is one HTTP call in one step: whichever timeout
// is over first ends it as a failure.
func (w *worker) plan() (time.Duration, func()) {
	work := &w.container.Workload.Work
	run := work.Run
	if d, ok := w.world.runTimes[string(w.ticket.ID)]; ok {
		run = d
	}
	if work.Hang {
		return forever, nil
	}
	if limit := min(w.settings.HTTPTimeout, w.settings.StepTimeout); run > limit && limit > 0 && !work.IgnoreTimeouts {
		return limit, func() { w.finish(dispatcher.ResultFailed) }
	}
	switch {
	case w.container.Workload.Attempt <= work.FailUntil:
		return run, func() { w.finish(dispatcher.ResultFailed) }
	case work.NoResult:
		return run, func() { w.exit(exitDone, "") }
	}
	return run, func() { w.finish(dispatcher.ResultSucceeded) }
}

// finish hands in the result until the store has spoken.
func (w *worker) finish(r dispatcher.Result) {
	w.finishing = true
	w.port.finish(r, func(err error) {
		switch {
		case err == nil && r == dispatcher.ResultSucceeded:
			w.exit(exitDone, "")
		case err == nil:
			w.exit(exitFailed, "")
		case spoken(err):
			w.exit(exitFenced, "")
		default:
			w.again(func() { w.finish(r) })
		}
	})
}

// heartbeat shows a sign of life and sees to the next.
func (w *worker) heartbeat() {
	sent := w.now()
	w.port.heartbeat(func(err error) {
		next := w.settings.HeartbeatInterval - (w.now() - sent)
		switch {
		case err == nil:
			w.provenAt = max(w.provenAt, sent)
		case !spoken(err):
			next = retryAfter
		case w.finishing:
			return
		case !w.container.Workload.Work.IgnoreFence:
			w.exit(exitFenced, "")
			return
		}
		w.beat = w.world.kernel.After(next, w.world.labels.heartbeat, w.heartbeat)
	})
}

// guard has the worker kill itself when its lease runs out, counted from the sending of the last accepted sign of
// life: nobody may replace it before that, and after it somebody may.
func (w *worker) guard() {
	if w.container.Workload.Work.IgnoreFence {
		return
	}
	left := w.provenAt + w.settings.WorkerLease - w.now()
	if left <= 0 {
		w.exit(exitFenced, "lease over")
		return
	}
	w.fence = w.world.kernel.After(left, w.world.labels.fence, w.guard)
}

// execute records the begin of an execution, once.
func (w *worker) execute() {
	if !w.executing && !w.dead {
		w.executing = true
		if w.joined(+1) == 1 {
			w.observe(history.WorkStarted, "")
		}
	}
}

// joined counts the workers of one attempt that execute. A group of pods is one execution, from the first of them to the last.
func (w *worker) joined(by int) int {
	if w.container.Workload.Work.Pods <= 1 {
		return max(by, 0)
	}
	w.world.groups[w.ticket.Workload] += by
	return w.world.groups[w.ticket.Workload]
}
