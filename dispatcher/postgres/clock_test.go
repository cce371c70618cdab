package postgres

import (
	"testing"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// frozen stands the clock still, so that moments can be met exactly.
const frozen = `CREATE OR REPLACE FUNCTION squall_now() RETURNS timestamptz LANGUAGE plpgsql AS $$
BEGIN RETURN timestamptz '2000-01-01 00:00:00Z' + (SELECT ahead FROM squall_clock); END $$`

// moment is the shortest time that the database knows.
const moment = time.Microsecond

// newFrozen is a store whose clock only pass moves.
func newFrozen(t *testing.T) (l *lossy, pass func(time.Duration)) {
	l = newLossy(t)
	l.other.run(t, frozen)
	return l, advance(t, l.other)
}

func (l *lossy) claim() []dispatcher.Task {
	l.Helper()
	tasks, err := l.store.Claim(l.ctx, l.disp, 10)
	l.ok(err)
	return tasks
}

// TestDeadlineIsMissedWhenItIsPast, and not when it is now.
func TestDeadlineIsMissedWhenItIsPast(t *testing.T) {
	t.Parallel()
	l, pass := newFrozen(t)
	for _, late := range []time.Duration{0, moment} {
		l.empty()
		l.must(l.store.Submit(l.ctx, dispatcher.Spec{ID: "to start", StartDeadline: time.Second}))
		toStart := l.claim()[0]
		l.must(l.store.Submit(l.ctx, dispatcher.Spec{ID: "to be claimed", StartDeadline: time.Second}))
		pass(time.Second + late)
		_, err := l.store.Start(l.ctx, ticket(toStart))
		_, none := l.store.Claim(l.ctx, l.disp, 0) // which only fails what is late
		l.ok(none)
		l.equal("failed", l.read("to be claimed").Phase == dispatcher.Failed, late > 0)
		l.claim()
		claimed := l.read("to be claimed").Phase
		if late == 0 {
			l.ok(err)
			l.equal("phase", claimed, dispatcher.Running)
		} else {
			l.is(err, dispatcher.ErrRefused)
			l.equal("phase", claimed, dispatcher.Failed)
		}
	}
}

// TestDueWhenItIsNow: a wait is over, and a cleanup due, at the very moment.
func TestDueWhenItIsNow(t *testing.T) {
	t.Parallel()
	l, pass := newFrozen(t)
	owing := l.must(l.store.Finish(l.ctx, ticket(l.bring(dispatcher.Executing)), dispatcher.ResultSucceeded))
	l.must(l.store.Postpone(l.ctx, l.rec, owing.Ref(), time.Second))
	waiting := l.bring(dispatcher.Launching)
	l.must(l.store.Unclaim(l.ctx, l.disp, waiting.Ref(), time.Second))
	due := func(want int) {
		t.Helper()
		health, err := l.store.Health(l.ctx)
		l.ok(err)
		l.equal("cleanups owed", health.CleanupOwed, want)
		page, err := l.store.Scan(l.ctx, dispatcher.Scan{})
		l.ok(err)
		l.equal("rows of the sweep", len(page.Tasks), want)
		l.equal("claimed", len(l.claim()), want)
	}
	pass(time.Second - moment)
	due(0)
	pass(moment)
	due(1)
}

// TestOneClockPerWrite: what one write stamps it stamps with one time, and a cleanup that is due stays as it is.
func TestOneClockPerWrite(t *testing.T) {
	t.Parallel()
	l := newLossy(t)
	done := l.must(l.store.Finish(l.ctx, ticket(l.bring(dispatcher.Executing)), dispatcher.ResultSucceeded))
	l.equal("cleanup", done.CleanupAt, done.EndedAt)
	requeued := l.must(l.store.Requeue(l.ctx, l.rec, l.bring(dispatcher.Executing).Ref(), dispatcher.ReasonLost))
	l.equal("cleanup", requeued.CleanupAt, requeued.NotBefore)
	cancelled := l.must(l.store.Cancel(l.ctx, requeued.Spec.ID))
	l.equal("cleanup", cancelled.CleanupAt, requeued.CleanupAt)
	over := l.must(l.store.Cancel(l.ctx, l.bring(dispatcher.Idle).Spec.ID))
	l.equal("ended", over.EndedAt, over.CancelRequestedAt)
}

// TestCancelEndsAnewWhatHadStopped: a stop was not the end, the cancel is.
func TestCancelEndsAnewWhatHadStopped(t *testing.T) {
	t.Parallel()
	l, pass := newFrozen(t)
	for _, cleanedFirst := range []bool{true, false} {
		l.empty()
		l.must(l.store.Submit(l.ctx, dispatcher.Spec{ID: "a", MaxFailures: 1}))
		stopped := l.must(l.store.Start(l.ctx, ticket(l.claim()[0])))
		stopped = l.must(l.store.Finish(l.ctx, ticket(stopped), dispatcher.ResultFailed))
		pass(time.Second)
		if cleanedFirst {
			l.must(l.store.Cleaned(l.ctx, l.rec, stopped.Ref()))
			l.must(l.store.Cancel(l.ctx, "a"))
		} else {
			l.must(l.store.Cleaned(l.ctx, l.rec, l.must(l.store.Cancel(l.ctx, "a")).Ref()))
		}
		l.equal("phase", l.read("a").Phase, dispatcher.Cancelled)
		l.equal("ended", l.read("a").EndedAt, stopped.EndedAt.Add(time.Second))
	}
}

// TestEndedTasksWaitForNothing: whatever ends a task takes back when it could have been claimed.
func TestEndedTasksWaitForNothing(t *testing.T) {
	t.Parallel()
	l := newLossy(t)
	for name, end := range map[string]func(launching dispatcher.Task) dispatcher.Task{
		"unclaim of a cancelled task": func(launching dispatcher.Task) dispatcher.Task {
			cancelled := l.must(l.store.Cancel(l.ctx, launching.Spec.ID))
			return l.must(l.store.Unclaim(l.ctx, l.disp, cancelled.Ref(), time.Hour))
		},
		"cancel of a waiting task": func(launching dispatcher.Task) dispatcher.Task {
			waiting := l.must(l.store.Unclaim(l.ctx, l.disp, launching.Ref(), time.Hour))
			return l.must(l.store.Cancel(l.ctx, waiting.Spec.ID))
		},
		"cleanup of a cancelled task": func(launching dispatcher.Task) dispatcher.Task {
			l.must(l.store.Requeue(l.ctx, l.rec, launching.Ref(), dispatcher.ReasonStartTimeout))
			return l.must(l.store.Cleaned(l.ctx, l.rec, l.must(l.store.Cancel(l.ctx, launching.Spec.ID)).Ref()))
		},
	} {
		got := end(l.bring(dispatcher.Launching))
		l.equal(name, got.Phase, dispatcher.Cancelled)
		l.equal(name+": not before", got.NotBefore, time.Time{})
		l.equal(name+": reason", got.Reason, dispatcher.ReasonCancelled)
	}
}
