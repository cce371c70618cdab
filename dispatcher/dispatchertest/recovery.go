package dispatchertest

import (
	"github.com/squall-chaos/squall/dispatcher"
)

var recoveryCases = []storeCase{
	{name: "scan/finds what runs and what is to be removed, in pages", run: func(f *fixture) {
		f.everywhere()
		var want []dispatcher.TaskID
		for _, t := range f.readAll() {
			if t.Phase == dispatcher.Running || !t.CleanupAt.IsZero() {
				want = append(want, t.Spec.ID)
			}
		}
		lo := f.now()
		all := f.scan(dispatcher.Scan{})
		f.stamped("Now", lo, all.Now, 0)
		f.ids("without limit", all.Tasks, want...)
		for _, limit := range []int{1, 4, len(want), len(want) + 1} {
			f.ids("in pages", f.scanAll(dispatcher.Scan{Limit: limit}), want...)
		}
		for _, t := range all.Tasks {
			f.unchanged(t)
		}
	}},
	{name: "scan/can be narrowed to cancels that are not done", run: func(f *fixture) {
		f.everywhere()
		var want []dispatcher.TaskID
		for _, t := range f.readAll() {
			if t.Desired == dispatcher.DesiredCancel && !t.Phase.Terminal() {
				want = append(want, t.Spec.ID)
			}
		}
		f.equal("cancels at hand", len(want), 5)
		f.ids("in one page", f.scan(dispatcher.Scan{CancelsOnly: true, Limit: 5}).Tasks, want...)
		f.equal("more", f.scan(dispatcher.Scan{CancelsOnly: true, Limit: 5}).More, false)
		f.ids("in pages", f.scanAll(dispatcher.Scan{CancelsOnly: true, Limit: 2}), want...)
	}},
	{name: "scan/starts after the given ID, which need not exist", run: func(f *fixture) {
		f.submit("a")
		f.submit("c")
		f.launching("a")
		f.ids("after a", f.scan(dispatcher.Scan{After: "a"}).Tasks, "c")
		f.ids("after b", f.scan(dispatcher.Scan{After: "b"}).Tasks, "c")
		f.ids("after c", f.scan(dispatcher.Scan{After: "c"}).Tasks)
	}},
	{name: "postpone/hides the row until the cleanup is due", run: func(f *fixture) {
		f.submit("a")
		done := f.finish(f.executing("a"), dispatcher.ResultSucceeded)
		lo := f.now()
		got := f.must(f.store.Postpone(f.ctx, f.rec, done.Ref(), 3*minute))
		f.stamped("CleanupAt", lo, got.CleanupAt, 3*minute)
		f.ids("scan at once", f.scan(dispatcher.Scan{}).Tasks)
		f.advance(2 * minute)
		f.ids("scan too early", f.scan(dispatcher.Scan{}).Tasks)
		f.advance(minute)
		f.ids("scan when due", f.scan(dispatcher.Scan{}).Tasks, "a")
		f.must(f.store.Postpone(f.ctx, f.rec, got.Ref(), minute))
		f.ids("scan when postponed again", f.scan(dispatcher.Scan{}).Tasks)
	}},
	{name: "health/sums the rows up", run: func(f *fixture) {
		f.submit("older")
		f.executing("older")
		f.advance(2 * minute)
		f.submit("younger")
		f.executing("younger")
		f.submit("owing")
		f.finish(f.executing("owing"), dispatcher.ResultFailed)
		f.submit("pending")
		h, err := f.store.Health(f.ctx)
		f.equal("error", err, nil)
		f.equal("pending", h.Pending, 2) // the failed one waits for its next attempt
		f.equal("running", h.Running, 2)
		f.equal("owed", h.CleanupOwed, 1)
		f.equal("repeated failures", h.RepeatedFailures, 0)
		f.equal("need attention", h.NeedsAttention, 0)
		f.equal("oldest within two and three minutes", h.OldestRunning >= 2*minute && h.OldestRunning < 3*minute, true)
	}},
	{name: "cleaned/nothing is owed any more", run: func(f *fixture) {
		f.submit("a")
		before := f.finish(f.executing("a"), dispatcher.ResultSucceeded)
		got := f.cleaned(before)
		f.equal("cleanup", got.CleanupAt.IsZero(), true)
		f.ids("scan", f.scan(dispatcher.Scan{}).Tasks)
		f.refusal(dispatcher.ErrConflict)(f.store.Cleaned(f.ctx, f.rec, before.Ref()))
		f.unchanged(got)
	}},
	{name: "cleaned/ends a cancel that waited for it", run: func(f *fixture) {
		f.submit("a")
		f.requeue(f.executing("a"), dispatcher.ReasonLost)
		waiting := f.cancel("a")
		f.equal("ended", waiting.EndedAt.IsZero(), true)
		lo := f.now()
		got := f.cleaned(waiting)
		f.equal("row", summary(got), "cancelled, cancel")
		f.equal("reason", got.Reason, dispatcher.ReasonCancelled)
		f.stamped("EndedAt", lo, got.EndedAt, 0)
		stopped := f.attention("b")
		f.equal("remedy", f.cleaned(f.cancel("b")).Remedy, "")
		f.equal("remedy before", stopped.Remedy, dispatcher.Remedy("b"))
	}},
	{name: "observe/is recorded", run: func(f *fixture) {
		f.submit("a")
		before := f.executing("a")
		seen := dispatcher.Observation{State: dispatcher.SightAlive, Version: 42}
		got := f.must(f.store.Observe(f.ctx, f.rec, before.Ref(), seen))
		f.grown(before, got)
		want := before
		want.Version, want.Observed = got.Version, seen
		f.equal("row", plain(got), plain(want))
	}},
	{name: "conclude/ends the task with the reason", run: func(f *fixture) {
		for _, why := range []dispatcher.Reason{dispatcher.ReasonDeadline, dispatcher.ReasonStartDeadline, dispatcher.ReasonCancelled} {
			id := dispatcher.TaskID(why[:5])
			f.submit(id)
			t := f.launched(id)
			if why == dispatcher.ReasonCancelled {
				t = f.cancel(id)
			}
			lo := f.now()
			got := f.must(f.store.Conclude(f.ctx, f.rec, t.Ref(), why))
			f.equal("reason", got.Reason, why)
			f.equal("activity", got.Activity, dispatcher.Idle)
			f.stamped("EndedAt", lo, got.EndedAt, 0)
			f.stamped("CleanupAt", lo, got.CleanupAt, 0)
		}
	}},
	{name: "conclude/other reasons are rejected", run: func(f *fixture) {
		f.submit("a")
		t := f.executing("a")
		for _, why := range []dispatcher.Reason{dispatcher.ReasonNone, dispatcher.ReasonLost, dispatcher.ReasonWorkFailed, "bored"} {
			f.refusal(dispatcher.ErrRejected)(f.store.Conclude(f.ctx, f.rec, t.Ref(), why))
		}
		f.unchanged(t)
	}},
}

// readAll reads the tasks of everywhere.
func (f *fixture) readAll() []dispatcher.Task {
	f.Helper()
	tasks := make([]dispatcher.Task, len(states))
	for i := range states {
		tasks[i] = f.read(stateID(i))
	}
	return tasks
}

// scanAll follows the pages to the end; every page but the last is full.
func (f *fixture) scanAll(s dispatcher.Scan) []dispatcher.Task {
	f.Helper()
	var all []dispatcher.Task
	for {
		page := f.scan(s)
		all = append(all, page.Tasks...)
		if !page.More {
			return all
		}
		f.equal("size of a page that is not the last", len(page.Tasks), s.Limit)
		s.After = all[len(all)-1].Spec.ID
	}
}
