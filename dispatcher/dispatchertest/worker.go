package dispatchertest

import (
	"github.com/squall-chaos/squall/dispatcher"
)

var workerCases = []storeCase{
	{name: "start/lets the worker in", run: func(f *fixture) {
		f.submit("a")
		before := f.launching("a")
		lo := f.now()
		got := f.must(f.store.Start(f.ctx, ticket(before)))
		f.stamped("StartedAt", lo, got.Attempt.StartedAt, 0)
		f.grown(before, got)
		want := before
		want.Version, want.Activity = got.Version, dispatcher.Executing
		want.Attempt.Workload, want.Attempt.StartedAt = ticket(before).Workload, got.Attempt.StartedAt
		f.equal("row", plain(got), plain(want))
	}},
	{name: "start/again changes nothing", run: func(f *fixture) {
		f.deadline("a", 3*minute)
		before := f.executing("a")
		f.advance(5 * minute) // it began in time, whenever it asks again
		f.equal("row", plain(f.must(f.store.Start(f.ctx, ticket(before)))), plain(before))
		f.unchanged(before)
	}},
	{name: "start/one object per attempt", run: func(f *fixture) {
		f.submit("a")
		before := f.launched("a")
		f.refusal(dispatcher.ErrRefused)(f.store.Start(f.ctx, dispatcher.Ticket{ID: "a", Token: before.Attempt.Token, Workload: "uid-other"}))
		f.refusal(dispatcher.ErrRefused)(f.store.Start(f.ctx, dispatcher.Ticket{ID: "a", Token: before.Attempt.Token}))
		f.unchanged(before)
	}},
	{name: "start/a superseded attempt is refused", run: func(f *fixture) {
		f.submit("a")
		old := f.launched("a")
		f.cleaned(f.requeue(old, dispatcher.ReasonStartTimeout))
		f.refusal(dispatcher.ErrRefused)(f.store.Start(f.ctx, ticket(old)))
		f.advance(3 * minute)
		now := f.launching("a")
		f.refusal(dispatcher.ErrRefused)(f.store.Start(f.ctx, ticket(old)))
		late := ticket(old)
		late.Token += 1000
		f.refusal(dispatcher.ErrRefused)(f.store.Start(f.ctx, late))
		f.unchanged(now)
	}},
	{name: "start/a missed start deadline refuses it", run: func(f *fixture) {
		f.deadline("a", 3*minute)
		before := f.launched("a")
		f.advance(4 * minute)
		f.refusal(dispatcher.ErrRefused)(f.store.Start(f.ctx, ticket(before)))
		f.unchanged(before)
	}},
	{name: "start/a slow start is not refused by itself", set: func(s *dispatcher.Settings) { s.StartTimeout = minute }, run: func(f *fixture) {
		f.submit("a")
		t := f.launched("a")
		f.advance(2 * minute)
		f.must(f.store.Start(f.ctx, ticket(t)))
	}},
	{name: "unknown task/refuses every ticket", run: func(f *fixture) {
		k := dispatcher.Ticket{ID: "nobody", Token: 1, Workload: "uid"}
		f.refusal(dispatcher.ErrRefused)(f.store.Start(f.ctx, k))
		f.is(f.store.Heartbeat(f.ctx, k), dispatcher.ErrRefused)
		f.refusal(dispatcher.ErrRefused)(f.store.Finish(f.ctx, k, dispatcher.ResultSucceeded))
	}},
	{name: "heartbeat/is stamped", run: func(f *fixture) {
		f.submit("a")
		before := f.executing("a")
		f.advance(minute)
		lo := f.now()
		f.ok(f.store.Heartbeat(f.ctx, ticket(before)))
		got := f.read("a")
		f.stamped("HeartbeatAt", lo, got.Attempt.HeartbeatAt, 0)
		f.grown(before, got)
		want := before
		want.Version, want.Attempt.HeartbeatAt = got.Version, got.Attempt.HeartbeatAt
		f.equal("row", plain(got), plain(want))
	}},
	{name: "heartbeat/of another object is refused", run: func(f *fixture) {
		f.submit("a")
		before := f.executing("a")
		f.is(f.store.Heartbeat(f.ctx, dispatcher.Ticket{ID: "a", Token: before.Attempt.Token, Workload: "uid-other"}), dispatcher.ErrRefused)
		f.unchanged(before)
	}},
	{name: "finish/a success is final", run: func(f *fixture) {
		f.submit("a")
		before := f.executing("a")
		lo := f.now()
		got := f.finish(before, dispatcher.ResultSucceeded)
		f.stamped("EndedAt", lo, got.EndedAt, 0)
		f.stamped("CleanupAt", lo, got.CleanupAt, 0)
		f.equal("activity", got.Activity, dispatcher.Idle)
		f.equal("reason", got.Reason, dispatcher.ReasonNone)
		f.equal("row", plain(f.finish(before, dispatcher.ResultSucceeded)), plain(got))
		f.refusal(dispatcher.ErrRefused)(f.store.Finish(f.ctx, ticket(before), dispatcher.ResultFailed))
		f.unchanged(got)
	}},
	{name: "finish/a failure is charged once", run: func(f *fixture) {
		f.submit("a")
		before := f.executing("a")
		got := f.finish(before, dispatcher.ResultFailed)
		f.equal("failures", got.Failures, 1)
		f.equal("reason", got.Reason, dispatcher.ReasonWorkFailed)
		f.equal("row", plain(f.finish(before, dispatcher.ResultFailed)), plain(got))
		f.refusal(dispatcher.ErrRefused)(f.store.Finish(f.ctx, ticket(before), dispatcher.ResultSucceeded))
		f.unchanged(got)
		f.cleaned(got)
		f.advance(3 * minute)
		next := f.executing("a")
		f.equal("row", plain(f.finish(before, dispatcher.ResultFailed)), plain(next)) // the reply was lost for long
		f.unchanged(next)
	}},
	{name: "finish/a superseded success does not count", run: func(f *fixture) {
		f.submit("a")
		old := f.executing("a")
		requeued := f.requeue(old, dispatcher.ReasonLost)
		f.refusal(dispatcher.ErrRefused)(f.store.Finish(f.ctx, ticket(old), dispatcher.ResultSucceeded))
		f.unchanged(requeued)
		f.cleaned(requeued)
		now := f.executing("a")
		f.refusal(dispatcher.ErrRefused)(f.store.Finish(f.ctx, ticket(old), dispatcher.ResultSucceeded))
		f.unchanged(now)
	}},
	{name: "finish/an unknown result is rejected", run: func(f *fixture) {
		f.submit("a")
		before := f.executing("a")
		f.refusal(dispatcher.ErrRejected)(f.store.Finish(f.ctx, ticket(before), "maybe"))
		f.unchanged(before)
	}},
}
