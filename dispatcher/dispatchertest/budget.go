package dispatchertest

import (
	"fmt"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// charges says what each reason for a requeue costs, and how long the task waits then.
var charges = []struct {
	why                   dispatcher.Reason
	failures, disruptions int
	wait                  time.Duration
}{
	{dispatcher.ReasonWorkFailed, 1, 0, 2 * minute},
	{dispatcher.ReasonNoResult, 1, 0, 2 * minute},
	{dispatcher.ReasonLost, 0, 1, 0},
	{dispatcher.ReasonDisrupted, 0, 1, 0},
	{dispatcher.ReasonStartTimeout, 0, 1, 2 * minute},
}

var budgetCases = []storeCase{
	{name: "requeue/each reason is charged to its budget", run: func(f *fixture) {
		for i, c := range charges {
			id := dispatcher.TaskID(fmt.Sprintf("t%d", i))
			f.submit(id)
			before := f.launched(id)
			lo := f.now()
			got := f.requeue(before, c.why)
			f.stamped("NotBefore", lo, got.NotBefore, c.wait)
			f.stamped("CleanupAt", lo, got.CleanupAt, 0)
			want := before
			want.Version, want.NotBefore, want.CleanupAt = got.Version, got.NotBefore, got.CleanupAt
			want.Phase, want.Activity, want.Reason = dispatcher.Pending, dispatcher.Idle, c.why
			want.Failures, want.Disruptions = c.failures, c.disruptions
			f.equal("row after "+string(c.why), plain(got), plain(want)) // the attempt stays, for cleanup
		}
	}},
	{name: "requeue/repeated is a conflict, not a second charge", run: func(f *fixture) {
		f.submit("a")
		t := f.executing("a")
		got := f.requeue(t, dispatcher.ReasonLost)
		f.refusal(dispatcher.ErrConflict)(f.store.Requeue(f.ctx, f.rec, t.Ref(), dispatcher.ReasonLost))
		f.unchanged(got)
	}},
	{name: "requeue/other reasons are rejected", run: func(f *fixture) {
		f.submit("a")
		t := f.executing("a")
		for _, why := range []dispatcher.Reason{dispatcher.ReasonNone, dispatcher.ReasonDeadline, dispatcher.ReasonCancelled, dispatcher.ReasonFailuresSpent, "bored"} {
			f.refusal(dispatcher.ErrRejected)(f.store.Requeue(f.ctx, f.rec, t.Ref(), why))
		}
		f.unchanged(t)
	}},
	{name: "backoff/doubles up to its limit", set: func(s *dispatcher.Settings) { s.MaxFailures = 10 }, run: func(f *fixture) {
		f.submit("a")
		for _, wait := range []time.Duration{2 * minute, 4 * minute, 6 * minute, 6 * minute} {
			t := f.executing("a")
			lo := f.now()
			got := f.finish(t, dispatcher.ResultFailed)
			f.stamped("NotBefore", lo, got.NotBefore, wait)
			f.cleaned(got)
			f.advance(wait)
		}
	}},
	{name: "budget/the last failure stops the task", run: func(f *fixture) {
		f.submit("a")
		f.fail("a", 2)
		t := f.executing("a")
		lo := f.now()
		got := f.finish(t, dispatcher.ResultFailed)
		f.equal("row", summary(got), "needs-attention, owing")
		f.equal("failures", got.Failures, 3)
		f.equal("reason", got.Reason, dispatcher.ReasonFailuresSpent)
		f.equal("remedy", got.Remedy, dispatcher.Remedy("a"))
		f.equal("not before", got.NotBefore.IsZero(), true)
		f.stamped("EndedAt", lo, got.EndedAt, 0)
		f.stamped("CleanupAt", lo, got.CleanupAt, 0)
		f.cleaned(got)
		f.advance(10 * minute)
		f.ids("claimed", f.claim(1))
	}},
	{name: "budget/one disruption too many stops the task", run: func(f *fixture) {
		f.submit("a")
		for range 2 {
			f.cleaned(f.requeue(f.executing("a"), dispatcher.ReasonDisrupted))
		}
		got := f.requeue(f.executing("a"), dispatcher.ReasonStartTimeout)
		f.equal("row", summary(got), "needs-attention, owing")
		f.equal("disruptions", got.Disruptions, 3)
		f.equal("failures", got.Failures, 0)
		f.equal("reason", got.Reason, dispatcher.ReasonDisruptionsSpent)
		f.equal("remedy", got.Remedy, dispatcher.Remedy("a"))
	}},
	{name: "budget/the task's own comes before the settings'", run: func(f *fixture) {
		f.must(f.store.Submit(f.ctx, dispatcher.Spec{ID: "a", MaxFailures: 5, MaxDisruptions: 1}))
		f.fail("a", 4)
		f.cleaned(f.requeue(f.executing("a"), dispatcher.ReasonLost))
		f.equal("phase after one of each", f.read("a").Phase, dispatcher.Pending)
		f.equal("reason", f.requeue(f.executing("a"), dispatcher.ReasonLost).Reason, dispatcher.ReasonDisruptionsSpent)
	}},
}

// fail lets the next n attempts fail.
func (f *fixture) fail(id dispatcher.TaskID, n int) {
	f.Helper()
	for range n {
		f.cleaned(f.finish(f.executing(id), dispatcher.ResultFailed))
		f.advance(6 * minute)
	}
}
