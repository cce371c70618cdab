package postgres

import (
	"testing"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// TestHealthCountsWhatIsNotOver has one task of each kind that counts, beside kinds that do not.
func TestHealthCountsWhatIsNotOver(t *testing.T) {
	t.Parallel()
	l, pass := newFrozen(t)
	fail := func(id dispatcher.TaskID, times, most int) dispatcher.Task {
		row := l.must(l.store.Submit(l.ctx, dispatcher.Spec{ID: id, MaxFailures: most}))
		for range times {
			pass(10_000 * time.Hour)
			row = l.must(l.store.Start(l.ctx, ticket(l.claim()[0])))
			row = l.must(l.store.Finish(l.ctx, ticket(row), dispatcher.ResultFailed))
			row = l.must(l.store.Cleaned(l.ctx, l.rec, row.Ref()))
		}
		return row
	}
	fail("stopped after two failures", 2, 2)
	l.must(l.store.Cancel(l.ctx, fail("cancelled after two failures", 2, 9).Spec.ID))
	fail("failed twice and runs", 2, 9)
	pass(10_000 * time.Hour)
	l.equal("claimed", len(l.claim()), 1)
	l.must(l.store.Launched(l.ctx, l.disp, l.read("failed twice and runs").Ref(), "uid"))
	pass(time.Hour)
	fail("failed once and waits", 1, 9)
	l.must(l.store.Postpone(l.ctx, l.rec, l.must(l.store.Finish(l.ctx, ticket(l.started("kept for a while")), dispatcher.ResultSucceeded)).Ref(), time.Hour))
	l.must(l.store.Finish(l.ctx, ticket(l.started("owing")), dispatcher.ResultSucceeded))
	l.must(l.store.Submit(l.ctx, dispatcher.Spec{ID: "stopped and owing", MaxFailures: 1}))
	l.must(l.store.Finish(l.ctx, ticket(l.started("stopped and owing")), dispatcher.ResultFailed))
	got, err := l.store.Health(l.ctx)
	l.ok(err)
	l.equal("health", got, dispatcher.Health{Pending: 1, Running: 1, OldestRunning: 10_001 * time.Hour, RepeatedFailures: 1, NeedsAttention: 2, CleanupOwed: 2})
}

// started returns a task that executes, a new one unless it was submitted before.
func (l *lossy) started(id dispatcher.TaskID) dispatcher.Task {
	l.Helper()
	if _, err := l.store.Read(l.ctx, id); err != nil {
		l.must(l.store.Submit(l.ctx, dispatcher.Spec{ID: id}))
	}
	l.claim()
	return l.must(l.store.Start(l.ctx, ticket(l.read(id))))
}

// TestPostponedCancelIsNotLookedAt: a cancel makes a cleanup due, but the reconciler may put it off again.
func TestPostponedCancelIsNotLookedAt(t *testing.T) {
	t.Parallel()
	l := newLossy(t)
	owing := l.must(l.store.Requeue(l.ctx, l.rec, l.bring(dispatcher.Executing).Ref(), dispatcher.ReasonLost))
	cancelled := l.must(l.store.Cancel(l.ctx, owing.Spec.ID))
	for postponed, want := range []int{1, 0} {
		if postponed == 1 {
			l.must(l.store.Postpone(l.ctx, l.rec, cancelled.Ref(), time.Hour))
		}
		page, err := l.store.Scan(l.ctx, dispatcher.Scan{CancelsOnly: true})
		l.ok(err)
		l.equal("rows", len(page.Tasks), want)
	}
}
