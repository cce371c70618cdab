package dispatchertest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// AdvanceClock moves the database clock forward by at least d: by sleeping, by stepping a virtual clock, or by
// raising an offset that the store's SQL adds to now().
type AdvanceClock func(d time.Duration)

// reporter is the part of testing.T that cases use; a test of the suite itself brings its own.
type reporter interface {
	Helper()
	Fatalf(format string, args ...any)
}

// minute is the unit of the suite's settings. Real time passes between two calls on a real database; all
// that a case may rely on is that much less than a minute does.
const minute = time.Minute

// suiteSettings are the settings that cases start from.
func suiteSettings() dispatcher.Settings {
	s, _ := dispatcher.Profile("tick-300s")
	s.MaxInFlight = 0
	s.MaxFailures, s.MaxDisruptions = 3, 2
	s.Backoff, s.MaxBackoff = 2*minute, 6*minute
	return s
}

// fixture is one store with one leader of each role, neither of them the first.
type fixture struct {
	reporter
	ctx     context.Context
	store   dispatcher.Store
	advance AdvanceClock
	disp    dispatcher.Term
	rec     dispatcher.Term
	// The terms before them are over.
	formerDisp, formerRec dispatcher.Term
}

func newFixture(r reporter, s dispatcher.Store, advance AdvanceClock) *fixture {
	f := &fixture{reporter: r, ctx: context.Background(), store: s, advance: advance}
	f.formerDisp, f.formerRec = f.lead(dispatcher.RoleDispatcher), f.lead(dispatcher.RoleReconciler)
	f.disp, f.rec = f.lead(dispatcher.RoleDispatcher), f.lead(dispatcher.RoleReconciler)
	return f
}

func (f *fixture) lead(r dispatcher.Role) dispatcher.Term {
	f.Helper()
	term, err := f.store.Lead(f.ctx, r, "suite")
	f.ok(err)
	return term
}

// What a case says about answers.

func (f *fixture) ok(err error) {
	f.Helper()
	if err != nil {
		f.Fatalf("refused: %v", err)
	}
}

// must returns the row of a call that has to succeed.
func (f *fixture) must(t dispatcher.Task, err error) dispatcher.Task {
	f.Helper()
	f.ok(err)
	return t
}

// is demands the error; wrapped is fine, another one is not.
func (f *fixture) is(err, want error) {
	f.Helper()
	if !errors.Is(err, want) {
		f.Fatalf("got error %v, want %v", err, want)
	}
}

// refusal demands that a call which returns a row fails with the error.
func (f *fixture) refusal(want error) func(dispatcher.Task, error) {
	return func(_ dispatcher.Task, err error) {
		f.Helper()
		f.is(err, want)
	}
}

func (f *fixture) equal(what string, got, want any) {
	f.Helper()
	if got != want {
		f.Fatalf("%s is %v, want %v", what, got, want)
	}
}

func (f *fixture) ids(what string, tasks []dispatcher.Task, want ...dispatcher.TaskID) {
	f.Helper()
	got := make([]dispatcher.TaskID, 0, len(tasks))
	for _, t := range tasks {
		got = append(got, t.Spec.ID)
	}
	f.equal(what, fmt.Sprint(got), fmt.Sprint(want))
}

// unchanged demands that the row is exactly as it was.
func (f *fixture) unchanged(before dispatcher.Task) {
	f.Helper()
	f.equal("row "+string(before.Spec.ID), plain(f.read(before.Spec.ID)), plain(before))
}

// grown demands a larger version.
func (f *fixture) grown(before, after dispatcher.Task) {
	f.Helper()
	if after.Version <= before.Version {
		f.Fatalf("version went from %d to %d", before.Version, after.Version)
	}
}

// stamped demands that a stamp is the clock of a call, plus something: lo was read before the call.
func (f *fixture) stamped(what string, lo, got time.Time, plus time.Duration) {
	f.Helper()
	hi := f.now()
	if got.Before(lo.Add(plus)) || got.After(hi.Add(plus)) {
		f.Fatalf("%s is %v, want between %v and %v", what, got, lo.Add(plus), hi.Add(plus))
	}
}

// plain strips what two equal rows may differ in: location and monotonic part of their stamps.
func plain(t dispatcher.Task) dispatcher.Task {
	for _, stamp := range stamps(&t) {
		*stamp.at = stamp.at.UTC().Round(0)
	}
	return t
}

type stamp struct {
	name string
	at   *time.Time
}

func stamps(t *dispatcher.Task) []stamp {
	return []stamp{
		{"ClaimedAt", &t.Attempt.ClaimedAt}, {"StartedAt", &t.Attempt.StartedAt}, {"HeartbeatAt", &t.Attempt.HeartbeatAt},
		{"SubmittedAt", &t.SubmittedAt}, {"CancelRequestedAt", &t.CancelRequestedAt}, {"EndedAt", &t.EndedAt},
		{"NotBefore", &t.NotBefore}, {"CleanupAt", &t.CleanupAt},
	}
}

// What a case does.

func (f *fixture) now() time.Time {
	f.Helper()
	now, err := f.store.Now(f.ctx)
	f.ok(err)
	return now
}

func (f *fixture) read(id dispatcher.TaskID) dispatcher.Task {
	f.Helper()
	return f.must(f.store.Read(f.ctx, id))
}

func (f *fixture) submit(id dispatcher.TaskID) dispatcher.Task {
	f.Helper()
	return f.must(f.store.Submit(f.ctx, dispatcher.Spec{ID: id}))
}

func (f *fixture) claim(limit int) []dispatcher.Task {
	f.Helper()
	tasks, err := f.store.Claim(f.ctx, f.disp, limit)
	f.ok(err)
	return tasks
}

func (f *fixture) scan(s dispatcher.Scan) dispatcher.Page {
	f.Helper()
	page, err := f.store.Scan(f.ctx, s)
	f.ok(err)
	return page
}

// ticket is that of the one object that the suite makes for an attempt.
func ticket(t dispatcher.Task) dispatcher.Ticket {
	workload := dispatcher.UID(fmt.Sprintf("uid-%s-%d", t.Spec.ID, t.Attempt.Number))
	return dispatcher.Ticket{ID: t.Spec.ID, Token: t.Attempt.Token, Workload: workload}
}

// launching claims a submitted task, leaving others alone as far as the limit of a claim allows.
func (f *fixture) launching(id dispatcher.TaskID) dispatcher.Task {
	f.Helper()
	f.claim(1000)
	t := f.read(id)
	f.equal("activity after the claim", t.Activity, dispatcher.Launching)
	return t
}

func (f *fixture) launched(id dispatcher.TaskID) dispatcher.Task {
	f.Helper()
	t := f.launching(id)
	return f.must(f.store.Launched(f.ctx, f.disp, t.Ref(), ticket(t).Workload))
}

func (f *fixture) executing(id dispatcher.TaskID) dispatcher.Task {
	f.Helper()
	return f.must(f.store.Start(f.ctx, ticket(f.launched(id))))
}

func (f *fixture) finish(t dispatcher.Task, r dispatcher.Result) dispatcher.Task {
	f.Helper()
	return f.must(f.store.Finish(f.ctx, ticket(t), r))
}

func (f *fixture) requeue(t dispatcher.Task, why dispatcher.Reason) dispatcher.Task {
	f.Helper()
	return f.must(f.store.Requeue(f.ctx, f.rec, t.Ref(), why))
}

func (f *fixture) cleaned(t dispatcher.Task) dispatcher.Task {
	f.Helper()
	return f.must(f.store.Cleaned(f.ctx, f.rec, t.Ref()))
}

func (f *fixture) cancel(id dispatcher.TaskID) dispatcher.Task {
	f.Helper()
	return f.must(f.store.Cancel(f.ctx, id))
}
