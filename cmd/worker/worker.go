package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/kube/environment"
)

// worker is the process inside a workload. It asks to start, works, shows signs of life, and hands in its result. All of it runs in
// one loop; only calls are made beside it, and their answers are taken in the loop.
//
// It does what the simulation's worker does (clusters/sim/worker.go), method by method: a change here is a change there.
type worker struct {
	order    environment.Order
	settings dispatcher.Settings
	clock    dispatcher.Clock
	store    dispatcher.Workers
	truth    truth
	runTime  func() (time.Duration, error) // how long the work takes
	startup  time.Duration
	log      *slog.Logger

	alarms  alarms
	answers chan func()
	calls   int // under way

	executing bool // WorkStarted is recorded: the store let it in
	finishing bool // it hands in its result: the answer to that is what counts
	stopping  bool // it heeds SIGTERM
	beganAt   time.Duration
	provenAt  time.Duration // when the last accepted sign of life was sent
	unheard   int           // results handed in without an answer
	ended     *ending
}

// ending is how the process ends.
type ending struct {
	code int
	kill bool // by SIGKILL, as an OOM kill does
}

// How the process ends, as far as it is no signal.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2                      // the environment is wrong
	exitRecord = 74                     // the record cannot be written or its orders not be read (EX_IOERR of sysexits.h)
	exitFenced = dispatcher.ExitFenced  // refused, or out of touch with the store: the work itself did not fail
	exitKilled = 128 + 9                // as SIGKILL shows
	exitTerm   = 128 + 15               // as SIGTERM shows
	retryAfter = time.Second            // between two tries of a call that failed without an answer
	lastWords  = 500 * time.Millisecond // how long a call under way is waited for after SIGTERM
)

// The alarms of the worker.
const (
	alarmStart = iota // to ask, for the first time or again, to start
	alarmWork
	alarmCrash
	alarmBeat
	alarmFence
	alarmFinish // to hand in the result again
	alarmShutdown
	alarmCount
)

// run is the whole life.
func (w *worker) run(ctx context.Context, signals <-chan os.Signal) ending {
	w.answers = make(chan func(), 8)
	w.alarms = newAlarms(w.clock)
	w.alarms.set(alarmStart, w.now()+w.startup, func() {
		w.beganAt = w.now()
		w.askToStart(ctx)
	})
	for w.ended == nil {
		if ring := w.alarms.due(); ring != nil {
			ring()
			continue
		}
		select {
		case answer := <-w.answers:
			w.calls--
			answer()
		case <-signals:
			w.terminate()
		case <-w.alarms.wait():
		}
		if w.stopping && w.calls == 0 {
			w.exit(exitTerm, "")
		}
	}
	return *w.ended
}

func (w *worker) now() time.Duration { return w.clock.Elapsed() }

// call makes one call beside the loop.
func (w *worker) call(ctx context.Context, make func(context.Context) error, done func(error)) {
	w.calls++
	go func() {
		ctx, cancel := w.clock.WithTimeout(ctx, w.settings.StoreTimeout)
		defer cancel()
		err := make(ctx)
		w.answers <- func() { done(err) }
	}()
}

// terminate is SIGTERM: the work is dropped.
func (w *worker) terminate() {
	if w.stopping || w.order.Work.IgnoreTerm {
		return
	}
	w.log.Info("terminated")
	w.stopping = true
	for _, a := range []int{alarmStart, alarmWork, alarmCrash, alarmFinish} {
		w.alarms.stop(a)
	}
	w.alarms.set(alarmShutdown, w.now()+lastWords, func() { w.exit(exitTerm, "") })
}

// exit ends the process from inside.
func (w *worker) exit(code int, detail string) { w.end(ending{code: code}, detail) }

func (w *worker) end(e ending, detail string) {
	if w.ended != nil {
		return
	}
	w.ended = &e
	if w.unheard > 0 && detail == "" {
		detail = "a result was handed in and never answered"
	}
	w.log.Info("ends", "code", e.code, "detail", detail)
	w.truth.ended(e.code, w.executing, detail)
}

// spoken tells whether the server has spoken; if not it pays to ask again.
func spoken(err error) bool {
	return dispatcher.Definite(err) && !errors.Is(err, dispatcher.ErrUnavailable) && !errors.Is(err, dispatcher.ErrThrottled)
}

// askToStart asks the store, again and again when it cannot be reached, for as long as it would have a right to run.
func (w *worker) askToStart(ctx context.Context) {
	sent := w.now()
	w.call(ctx, func(ctx context.Context) error {
		_, err := w.store.Start(ctx, w.order.Ticket)
		return err
	}, func(err error) {
		switch {
		case err == nil:
			w.begin(ctx, sent)
		case spoken(err), w.now()+retryAfter-w.beganAt >= w.startPatience():
			w.log.Info("not let in", "error", err)
			w.exit(exitFenced, "")
		case !w.stopping:
			w.log.Warn("asks again to start", "error", err)
			w.alarms.set(alarmStart, w.now()+retryAfter, func() { w.askToStart(ctx) })
		}
	})
}

func (w *worker) startPatience() time.Duration {
	if w.settings.Heartbeats() {
		return w.settings.WorkerLease
	}
	return w.settings.StartTimeout
}

// begin is the start of the work. Work of launchers no world gives it: see scenarios.Ability.
func (w *worker) begin(ctx context.Context, sent time.Duration) {
	w.executing, w.provenAt = true, sent
	w.truth.event(history.WorkStarted, "")
	if w.stopping {
		return
	}
	run, err := w.runTime()
	if err != nil {
		w.log.Error("cannot tell how long to work", "error", err)
		w.exit(exitRecord, "")
		return
	}
	w.log.Info("works", "for", run.String())
	w.work(ctx, run)
	if w.settings.Heartbeats() {
		w.alarms.set(alarmBeat, w.now()+w.settings.HeartbeatInterval, func() { w.heartbeat(ctx) })
		w.guard()
	}
}

// work plans how the work ends by itself. It is one HTTP call in one step: whichever timeout is over first ends it as a failure.
func (w *worker) work(ctx context.Context, run time.Duration) {
	work := w.order.Work
	began := w.now()
	end := func() { w.finish(ctx, dispatcher.ResultSucceeded) }
	fail := func() { w.finish(ctx, dispatcher.ResultFailed) }
	limit := min(w.settings.HTTPTimeout, w.settings.StepTimeout)
	switch {
	case work.Hang:
		run = never
	case run > limit && limit > 0 && !work.IgnoreTimeouts:
		run, end = limit, fail
	case w.order.Attempt <= work.FailUntil:
		end = fail
	case work.NoResult:
		end = func() { w.exit(exitDone, "") }
	}
	if run < never {
		w.alarms.set(alarmWork, began+run, end)
	}
	if work.CrashAt > 0 && work.CrashAt < run {
		w.alarms.set(alarmCrash, began+work.CrashAt, func() { w.end(ending{code: exitKilled, kill: true}, "") })
	}
}

// finish hands in the result until the store has spoken.
func (w *worker) finish(ctx context.Context, r dispatcher.Result) {
	w.finishing = true
	w.unheard++
	w.call(ctx, func(ctx context.Context) error {
		_, err := w.store.Finish(ctx, w.order.Ticket, r)
		return err
	}, func(err error) {
		w.truth.result(r, err)
		if err == nil || spoken(err) {
			w.unheard = 0 // of the same result handed in before, too
		} else if dispatcher.Definite(err) {
			w.unheard--
		}
		switch {
		case err == nil && r == dispatcher.ResultSucceeded:
			w.exit(exitDone, "")
		case err == nil:
			w.exit(exitFailed, "")
		case spoken(err):
			w.log.Info("result not accepted", "error", err)
			w.exit(exitFenced, "")
		case !w.stopping:
			w.log.Warn("hands in its result again", "error", err)
			w.alarms.set(alarmFinish, w.now()+retryAfter, func() { w.finish(ctx, r) })
		}
	})
}

// heartbeat shows a sign of life and sees to the next.
func (w *worker) heartbeat(ctx context.Context) {
	sent := w.now()
	w.call(ctx, func(ctx context.Context) error { return w.store.Heartbeat(ctx, w.order.Ticket) }, func(err error) {
		next := w.settings.HeartbeatInterval - (w.now() - sent)
		switch {
		case err == nil:
			w.provenAt = max(w.provenAt, sent)
		case !spoken(err):
			w.log.Warn("heartbeat not answered", "error", err)
			next = retryAfter
		case w.finishing:
			return
		case !w.order.Work.IgnoreFence:
			w.log.Info("heartbeat not accepted", "error", err)
			w.exit(exitFenced, "")
			return
		}
		w.alarms.set(alarmBeat, w.now()+next, func() { w.heartbeat(ctx) })
	})
}

// guard has the worker end itself when its lease runs out, counted from the sending of the last accepted sign of life:
// nobody may replace it before that, and after it somebody may.
func (w *worker) guard() {
	if w.order.Work.IgnoreFence {
		return
	}
	over := w.provenAt + w.settings.WorkerLease
	if w.now() >= over {
		w.exit(exitFenced, "lease over")
		return
	}
	w.alarms.set(alarmFence, over, w.guard)
}
