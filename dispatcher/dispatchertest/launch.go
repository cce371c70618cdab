package dispatchertest

import (
	"github.com/squall-chaos/squall/dispatcher"
)

var launchCases = []storeCase{
	{name: "launched/binds the object", run: func(f *fixture) {
		f.submit("a")
		before := f.launching("a")
		got := f.must(f.store.Launched(f.ctx, f.disp, before.Ref(), "uid"))
		f.grown(before, got)
		want := before
		want.Version, want.Activity, want.Attempt.Workload = got.Version, dispatcher.Launched, "uid"
		f.equal("row", plain(got), plain(want))
		f.refusal(dispatcher.ErrConflict)(f.store.Launched(f.ctx, f.disp, got.Ref(), "uid-other"))
		f.unchanged(got)
	}},
	{name: "launched/is not refused because the worker was faster", run: func(f *fixture) {
		f.submit("a")
		t := f.launching("a")
		started := f.must(f.store.Start(f.ctx, ticket(t)))
		got := f.must(f.store.Launched(f.ctx, f.disp, t.Ref(), ticket(t).Workload))
		f.equal("row", plain(got), plain(started))
		done := f.finish(t, dispatcher.ResultSucceeded)
		f.equal("row", plain(f.must(f.store.Launched(f.ctx, f.disp, t.Ref(), ticket(t).Workload))), plain(done))
		f.unchanged(done)
	}},
	{name: "launched/conflicts when another object started first", run: func(f *fixture) {
		f.submit("a")
		t := f.launching("a")
		started := f.must(f.store.Start(f.ctx, ticket(t)))
		f.refusal(dispatcher.ErrConflict)(f.store.Launched(f.ctx, f.disp, t.Ref(), "uid-other"))
		f.unchanged(started)
	}},
	{name: "launched/is not refused because of a cancel or a new sight", run: func(f *fixture) {
		f.submit("a")
		t := f.launching("a")
		f.must(f.store.Observe(f.ctx, f.rec, t.Ref(), dispatcher.Observation{State: dispatcher.SightPending}))
		f.cancel("a")
		got := f.must(f.store.Launched(f.ctx, f.disp, t.Ref(), "uid"))
		f.equal("workload", got.Attempt.Workload, dispatcher.UID("uid"))
		f.equal("row", summary(got), "running, cancel")
	}},
	{name: "launched/needs an object", run: func(f *fixture) {
		f.submit("a")
		t := f.launching("a")
		f.refusal(dispatcher.ErrConflict)(f.store.Launched(f.ctx, f.disp, t.Ref(), ""))
		f.unchanged(t)
	}},
	{name: "launched/an attempt that was ended before is not bound", run: func(f *fixture) {
		f.submit("a")
		t := f.launching("a")
		before := f.requeue(t, dispatcher.ReasonStartTimeout)
		f.refusal(dispatcher.ErrConflict)(f.store.Launched(f.ctx, f.disp, t.Ref(), "uid"))
		f.unchanged(before)
	}},
	{name: "unclaim/gives the task back uncharged", run: func(f *fixture) {
		f.submit("a")
		t := f.launching("a")
		lo := f.now()
		got := f.must(f.store.Unclaim(f.ctx, f.disp, t.Ref(), 2*minute))
		f.stamped("NotBefore", lo, got.NotBefore, 2*minute)
		f.equal("phase", got.Phase, dispatcher.Pending)
		f.equal("activity", got.Activity, dispatcher.Idle)
		f.equal("attempt", got.Attempt, dispatcher.Attempt{})
		f.equal("failures", got.Failures, 0)
		f.equal("disruptions", got.Disruptions, 0)
		f.advance(minute)
		f.ids("claimed too early", f.claim(1))
		f.advance(minute)
		again := f.launching("a")
		f.equal("number", again.Attempt.Number, 1)
		if again.Attempt.Token <= t.Attempt.Token {
			f.Fatalf("token %d after %d", again.Attempt.Token, t.Attempt.Token)
		}
		f.refusal(dispatcher.ErrRefused)(f.store.Start(f.ctx, ticket(t))) // should it exist in spite of all
		f.unchanged(again)
	}},
	{name: "unclaim/a ticket without a token is not current", run: func(f *fixture) {
		f.submit("a")
		got := f.must(f.store.Unclaim(f.ctx, f.disp, f.launching("a").Ref(), 0))
		f.refusal(dispatcher.ErrRefused)(f.store.Start(f.ctx, ticket(got)))
		f.refusal(dispatcher.ErrRefused)(f.store.Finish(f.ctx, dispatcher.Ticket{ID: "a"}, ""))
		f.refusal(dispatcher.ErrConflict)(f.store.Launched(f.ctx, f.disp, got.Ref(), "uid"))
		f.unchanged(got)
	}},
	{name: "unclaim/ends a cancelled task, which has nothing left to stop", run: func(f *fixture) {
		f.submit("a")
		f.launching("a")
		lo := f.now()
		got := f.must(f.store.Unclaim(f.ctx, f.disp, f.cancel("a").Ref(), minute))
		f.equal("row", summary(got), "cancelled, cancel")
		f.stamped("EndedAt", lo, got.EndedAt, 0)
	}},
	{name: "reject/fails the task", run: func(f *fixture) {
		f.submit("a")
		t := f.launching("a")
		lo := f.now()
		got := f.must(f.store.Reject(f.ctx, f.disp, t.Ref()))
		f.equal("reason", got.Reason, dispatcher.ReasonRejected)
		f.equal("activity", got.Activity, dispatcher.Idle)
		f.stamped("EndedAt", lo, got.EndedAt, 0)
		f.stamped("CleanupAt", lo, got.CleanupAt, 0)
	}},
}
