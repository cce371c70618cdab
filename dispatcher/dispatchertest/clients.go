package dispatchertest

import (
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

var clientCases = []storeCase{
	{name: "submit/stores a pending task", run: func(f *fixture) {
		spec := dispatcher.Spec{
			ID: "a", StartDeadline: minute, Deadline: 2 * minute, MaxFailures: 4, MaxDisruptions: 5,
			Work: dispatcher.Work{
				Run: time.Second, IgnoreTerm: true, IgnoreTimeouts: true, IgnoreFence: true, Hang: true,
				FailUntil: 2, CrashAt: time.Millisecond, NoResult: true, Launcher: true, Pods: 4, Stragglers: 1,
			},
		}
		lo := f.now()
		got := f.must(f.store.Submit(f.ctx, spec))
		f.stamped("SubmittedAt", lo, got.SubmittedAt, 0)
		if got.Version == 0 {
			f.Fatalf("a stored row has version 0")
		}
		f.equal("row", plain(got), plain(dispatcher.Task{
			Spec: spec, Version: got.Version, Desired: dispatcher.DesiredRun, Phase: dispatcher.Pending,
			Activity: dispatcher.Idle, SubmittedAt: got.SubmittedAt,
		}))
		f.unchanged(got)
	}},
	{name: "submit/again changes nothing", run: func(f *fixture) {
		f.submit("a")
		executing := f.executing("a")
		f.advance(minute)
		f.equal("row", plain(f.submit("a")), plain(executing))
		f.unchanged(executing)
	}},
	{name: "submit/another spec under the same ID conflicts", run: func(f *fixture) {
		first := f.submit("a")
		f.refusal(dispatcher.ErrConflict)(f.store.Submit(f.ctx, dispatcher.Spec{ID: "a", MaxFailures: 9}))
		f.refusal(dispatcher.ErrConflict)(f.store.Submit(f.ctx, dispatcher.Spec{ID: "a", Work: dispatcher.Work{Hang: true}}))
		f.unchanged(first)
	}},
	{name: "submit/an empty ID is rejected", run: func(f *fixture) {
		f.refusal(dispatcher.ErrRejected)(f.store.Submit(f.ctx, dispatcher.Spec{}))
	}},
	{name: "unknown task/is not found", run: func(f *fixture) {
		f.refusal(dispatcher.ErrNotFound)(f.store.Read(f.ctx, "nobody"))
		f.refusal(dispatcher.ErrNotFound)(f.store.Cancel(f.ctx, "nobody"))
		f.refusal(dispatcher.ErrNotFound)(f.store.Resume(f.ctx, "nobody"))
	}},
	{name: "cancel/of a pending task is done at once", run: func(f *fixture) {
		f.submit("a")
		lo := f.now()
		got := f.cancel("a")
		f.stamped("CancelRequestedAt", lo, got.CancelRequestedAt, 0)
		f.stamped("EndedAt", lo, got.EndedAt, 0)
		f.equal("reason", got.Reason, dispatcher.ReasonCancelled)
		f.ids("claimed", f.claim(1))
	}},
	{name: "cancel/of a running task keeps its first stamp", run: func(f *fixture) {
		f.submit("a")
		f.executing("a")
		lo := f.now()
		first := f.cancel("a")
		f.stamped("CancelRequestedAt", lo, first.CancelRequestedAt, 0)
		f.equal("ended", first.EndedAt.IsZero(), true)
		f.advance(minute)
		f.cancel("a")
		f.unchanged(first)
	}},
	{name: "cancel/is not overtaken by a success", run: func(f *fixture) {
		f.submit("a")
		t := f.executing("a")
		f.cancel("a")
		f.refusal(dispatcher.ErrRefused)(f.store.Finish(f.ctx, ticket(t), dispatcher.ResultSucceeded))
		f.is(f.store.Heartbeat(f.ctx, ticket(t)), dispatcher.ErrRefused)
		got := f.requeue(f.read("a"), dispatcher.ReasonWorkFailed)
		f.equal("row", summary(got), "cancelled, cancel, owing")
		f.equal("failures", got.Failures, 0)
		f.equal("reason", got.Reason, dispatcher.ReasonCancelled)
	}},
	{name: "cancel/makes a postponed cleanup due", run: func(f *fixture) {
		f.submit("a")
		t := f.requeue(f.executing("a"), dispatcher.ReasonLost)
		f.must(f.store.Postpone(f.ctx, f.rec, t.Ref(), 60*minute))
		f.ids("scan before", f.scan(dispatcher.Scan{}).Tasks)
		f.cancel("a")
		f.ids("scan after", f.scan(dispatcher.Scan{CancelsOnly: true}).Tasks, "a")
	}},
	{name: "resume/starts afresh", run: func(f *fixture) {
		stopped := f.attention("a")
		lo := f.now()
		got := f.must(f.store.Resume(f.ctx, "a"))
		f.stamped("NotBefore", lo, got.NotBefore, 0)
		f.equal("phase", got.Phase, dispatcher.Pending)
		f.equal("failures", got.Failures, 0)
		f.equal("disruptions", got.Disruptions, 0)
		f.equal("remedy", got.Remedy, "")
		f.equal("reason", got.Reason, stopped.Reason)
		f.equal("ended", !got.EndedAt.IsZero(), false)
		f.refusal(dispatcher.ErrConflict)(f.store.Resume(f.ctx, "a"))
		f.ids("claimed while owing", f.claim(1))
		f.cleaned(f.read("a"))
		f.ids("claimed when cleaned", f.claim(1), "a")
	}},
	{name: "resume/makes a postponed cleanup due", run: func(f *fixture) {
		t := f.attention("a")
		f.must(f.store.Postpone(f.ctx, f.rec, t.Ref(), 60*minute))
		f.must(f.store.Resume(f.ctx, "a"))
		f.ids("scan", f.scan(dispatcher.Scan{}).Tasks, "a")
	}},
}

// attention brings a task to NeedsAttention with a failure and a disruption too many.
func (f *fixture) attention(id dispatcher.TaskID) dispatcher.Task {
	f.Helper()
	f.must(f.store.Submit(f.ctx, dispatcher.Spec{ID: id, MaxFailures: 1, MaxDisruptions: 1}))
	f.cleaned(f.requeue(f.executing(id), dispatcher.ReasonLost))
	t := f.finish(f.executing(id), dispatcher.ResultFailed)
	f.equal("phase", t.Phase, dispatcher.NeedsAttention)
	return t
}
