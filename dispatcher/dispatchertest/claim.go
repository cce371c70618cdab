package dispatchertest

import (
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

var claimCases = []storeCase{
	{name: "claim/grants a new attempt", run: func(f *fixture) {
		before := f.submit("a")
		lo := f.now()
		got := f.claim(1)
		f.ids("claimed", got, "a")
		f.stamped("ClaimedAt", lo, got[0].Attempt.ClaimedAt, 0)
		f.grown(before, got[0])
		want := before
		want.Version, want.Phase, want.Activity = got[0].Version, dispatcher.Running, dispatcher.Launching
		want.Attempt = dispatcher.Attempt{
			Number: 1, Token: got[0].Attempt.Token, Epoch: f.disp.Epoch, ClaimedAt: got[0].Attempt.ClaimedAt,
		}
		f.equal("row", plain(got[0]), plain(want))
		f.unchanged(got[0])
	}},
	{name: "claim/forgets the attempt before", run: func(f *fixture) {
		f.submit("a")
		t := f.executing("a")
		f.ok(f.store.Heartbeat(f.ctx, ticket(t)))
		t = f.must(f.store.Observe(f.ctx, f.rec, f.read("a").Ref(), dispatcher.Observation{State: dispatcher.SightAbsent, Version: 5}))
		f.cleaned(f.requeue(t, dispatcher.ReasonLost))
		got := f.launching("a").Attempt
		f.equal("number", got.Number, 2)
		f.equal("workload", got.Workload, dispatcher.UID(""))
		f.equal("started", got.StartedAt.IsZero(), true)
		f.equal("heartbeat", got.HeartbeatAt.IsZero(), true)
		f.equal("observed", f.read("a").Observed, dispatcher.Observation{})
		f.equal("not before", f.read("a").NotBefore.IsZero(), true)
	}},
	{name: "claim/every token is larger than all before", run: func(f *fixture) {
		last := dispatcher.Token(0)
		for range 3 {
			f.submit("a")
			f.submit("b")
			for _, t := range f.claim(10) {
				if t.Attempt.Token <= last {
					f.Fatalf("token %d after %d", t.Attempt.Token, last)
				}
				last = t.Attempt.Token
				t = f.must(f.store.Start(f.ctx, ticket(t)))
				f.cleaned(f.requeue(t, dispatcher.ReasonLost))
			}
		}
	}},
	{name: "claim/the longest due comes first, up to the limit", run: func(f *fixture) {
		f.submit("z")
		f.launching("z")
		f.must(f.store.Unclaim(f.ctx, f.disp, f.read("z").Ref(), 3*minute)) // due after b, before a
		f.submit("b")
		f.advance(5 * minute)
		f.submit("a")
		f.ids("first", f.claim(2), "b", "z")
		f.launch("b", "z")
		f.ids("then", f.claim(2), "a")
	}},
	{name: "claim/two claims never grant the same attempt", run: func(f *fixture) {
		for _, id := range []dispatcher.TaskID{"a", "b", "c", "d"} {
			f.submit(id)
			f.advance(minute / 60)
		}
		f.ids("first", f.claim(2), "a", "b")
		f.launch("a", "b")
		f.ids("second", f.claim(2), "c", "d")
		f.launch("c", "d")
		f.ids("third", f.claim(2))
	}},
	{name: "claim/limit 0 grants nothing", run: func(f *fixture) {
		f.submit("a")
		f.ids("claimed", f.claim(0))
	}},
	{name: "takeover/a half launched task comes first, with its token", run: func(f *fixture) {
		f.submit("y")
		f.submit("z")
		f.launching("y")
		before := f.read("z")
		f.submit("a")
		f.disp = f.lead(dispatcher.RoleDispatcher)
		got := f.claim(2)
		f.ids("taken over, by ID", got, "y", "z")
		f.grown(before, got[1])
		want := before
		want.Version, want.Attempt.Epoch = got[1].Version, f.disp.Epoch
		f.equal("row", plain(got[1]), plain(want))
		f.ids("with room for one more", f.claim(3), "y", "z", "a")
	}},
	{name: "takeover/launched tasks stay", run: func(f *fixture) {
		f.submit("a")
		f.submit("b")
		f.launched("a")
		f.must(f.store.Start(f.ctx, ticket(f.read("b"))))
		f.ids("claimed", f.claim(5))
	}},
	{name: "takeover/cancelled tasks are left alone", run: func(f *fixture) {
		f.submit("a")
		f.launching("a")
		before := f.cancel("a")
		f.ids("claimed", f.claim(5))
		f.unchanged(before)
	}},
	{name: "claim/waits for the backoff and for the cleanup", run: func(f *fixture) {
		f.submit("a")
		f.cleaned(f.finish(f.executing("a"), dispatcher.ResultFailed))
		f.ids("claimed at once", f.claim(1))
		f.advance(minute)
		f.ids("claimed too early", f.claim(1))
		f.advance(minute)
		f.ids("claimed when due", f.claim(1), "a")
		f.submit("b")
		f.requeue(f.executing("b"), dispatcher.ReasonLost)
		f.ids("claimed owing", f.claim(5), "a")
	}},
	{name: "claim/leaves a cancelled task that owes cleanup", run: func(f *fixture) {
		f.submit("a")
		f.requeue(f.executing("a"), dispatcher.ReasonLost)
		before := f.cancel("a")
		f.ids("claimed", f.claim(1))
		f.unchanged(before)
	}},
	{name: "in flight/no more than the limit run at once", set: func(s *dispatcher.Settings) { s.MaxInFlight = 2 }, run: func(f *fixture) {
		for _, id := range []dispatcher.TaskID{"a", "b", "c"} {
			f.submit(id)
			f.advance(minute / 60)
		}
		f.ids("claimed", f.claim(5), "a", "b")
		f.launch("a", "b")
		f.ids("with a full house", f.claim(5))
		f.cancel("b") // it runs until it is concluded
		f.ids("with a cancel under way", f.claim(5))
		f.must(f.store.Start(f.ctx, ticket(f.read("a"))))
		f.finish(f.read("a"), dispatcher.ResultSucceeded)
		f.ids("with room for one", f.claim(5), "c")
	}},
	{name: "start deadline/a late task fails instead of being claimed", run: func(f *fixture) {
		f.deadline("a", 3*minute)
		f.submit("b")
		f.advance(2 * minute)
		before := f.read("a")
		f.advance(2 * minute)
		lo := f.now()
		f.ids("claimed", f.claim(5), "b")
		f.missed(before, "failed")
		f.stamped("EndedAt", lo, f.read("a").EndedAt, 0)
	}},
	{name: "start deadline/a task in time is claimed", run: func(f *fixture) {
		f.deadline("a", 3*minute)
		f.advance(2 * minute)
		f.ids("claimed", f.claim(5), "a")
	}},
	{name: "start deadline/neither a full house nor a limit hides it", set: func(s *dispatcher.Settings) { s.MaxInFlight = 1 }, run: func(f *fixture) {
		f.submit("a")
		f.launched("a")
		for _, id := range []dispatcher.TaskID{"b", "c"} {
			f.deadline(id, minute)
		}
		f.advance(2 * minute)
		f.ids("claimed", f.claim(1))
		f.equal("b", f.read("b").Reason, dispatcher.ReasonStartDeadline)
		f.equal("c", f.read("c").Reason, dispatcher.ReasonStartDeadline)
	}},
	{name: "start deadline/a late retry fails and still owes its cleanup", run: func(f *fixture) {
		f.deadline("a", 3*minute)
		before := f.requeue(f.executing("a"), dispatcher.ReasonLost)
		f.advance(4 * minute)
		f.ids("claimed", f.claim(5))
		f.missed(before, "failed, owing")
		f.ids("scan", f.scan(dispatcher.Scan{}).Tasks, "a")
	}},
}

// deadline submits a task that has to begin in time.
func (f *fixture) deadline(id dispatcher.TaskID, d time.Duration) dispatcher.Task {
	f.Helper()
	return f.must(f.store.Submit(f.ctx, dispatcher.Spec{ID: id, StartDeadline: d}))
}

// missed demands that the task failed for its start deadline.
func (f *fixture) missed(before dispatcher.Task, want string) {
	f.Helper()
	got := f.read(before.Spec.ID)
	f.equal("row", summary(got), want)
	f.equal("reason", got.Reason, dispatcher.ReasonStartDeadline)
	f.grown(before, got)
}

// launch records the launch of claimed tasks.
func (f *fixture) launch(ids ...dispatcher.TaskID) {
	f.Helper()
	for _, id := range ids {
		t := f.read(id)
		f.must(f.store.Launched(f.ctx, f.disp, t.Ref(), ticket(t).Workload))
	}
}
