package rowlog_test

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/journal"
	"github.com/squall-chaos/squall/clusters/journal/rowlog"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/dispatchertest"
	"github.com/squall-chaos/squall/dispatcher/postgres"
)

// TestTheLogChangesNothing runs the conformance suite of stores on tables with a log, as a role that has no rights to it.
func TestTheLogChangesNothing(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, "conformance")
	d.exec(`CREATE ROLE app LOGIN PASSWORD 'app'; GRANT ALL ON ALL TABLES IN SCHEMA public TO app; GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO app`)
	stores := map[dispatcher.Settings]dispatcher.Store{} // to open one takes longer than most cases
	dispatchertest.ExerciseStore(t, func(t *testing.T, s dispatcher.Settings) (dispatcher.Store, dispatchertest.AdvanceClock) {
		t.Helper()
		d.exec("DELETE FROM tasks; DELETE FROM leadership; UPDATE squall_clock SET ahead = '0'")
		if stores[s] == nil {
			stores[s] = d.open("app", s, url.UserPassword("app", "app"))
		}
		return stores[s], func(by time.Duration) {
			d.exec("UPDATE squall_clock SET ahead = ahead + $1 * interval '1 microsecond'", by.Microseconds())
		}
	})
	if events, err := rowlog.ReadAll(t.Context(), d.admin); err != nil || len(events) < 100 {
		t.Errorf("%d changes were logged: %v", len(events), err)
	}
}

func TestPromotionIsLogged(t *testing.T) {
	d := newDatabase(t, "promotion")
	store := d.open("client-1", dispatchertest.DiffSettings(), nil)
	_, err := store.Submit(t.Context(), dispatcher.Spec{ID: "a"})
	ok(t, err)
	d.exec("SELECT squall_promoted()")
	ok(t, rowlog.Install(t.Context(), d.admin)) // again
	events, err := rowlog.ReadAll(t.Context(), d.admin)
	ok(t, err)
	if last := events[len(events)-1]; len(events) != 4 || events[0].Write.Application != "client-1" {
		t.Errorf("%d changes, the last is %+v", len(events), last)
	}
}

func TestInstallWithoutTables(t *testing.T) {
	d := newDatabase(t, "bare")
	d.exec("DROP TABLE tasks CASCADE; DROP SCHEMA squall_record CASCADE")
	if err := rowlog.Install(t.Context(), d.admin); err == nil || !strings.Contains(err.Error(), "migrate the database first") {
		t.Error(err)
	}
}

// TestReadMissesNoLateCommit has a transaction that began first commit last.
func TestReadMissesNoLateCommit(t *testing.T) {
	d := newDatabase(t, "latecommit")
	store := d.open("client-1", dispatchertest.DiffSettings(), nil)
	_, err := store.Submit(t.Context(), dispatcher.Spec{ID: "a"})
	ok(t, err)
	tx, err := d.admin.Begin(t.Context())
	ok(t, err)
	_, err = tx.Exec(t.Context(), "UPDATE tasks SET version = version + 1, desired = 'run'")
	ok(t, err)
	_, err = store.Submit(t.Context(), dispatcher.Spec{ID: "b"})
	ok(t, err)
	first, err := rowlog.Read(t.Context(), d.admin, 0)
	ok(t, err)
	ok(t, tx.Commit(t.Context()))
	second, err := rowlog.Read(t.Context(), d.admin, first[len(first)-1].Write.Transaction)
	ok(t, err)
	if len(first) != 1 || len(second) != 2 {
		t.Errorf("%d and %d changes, expected 1 and 2", len(first), len(second))
	}
}

// lab is a system with journals, taken apart: each test makes its calls itself.
type lab struct {
	*database
	wire               wire
	files              [4]bytes.Buffer
	client, disp, rec  dispatcher.Store
	work               dispatcher.Workers
	launching, reaping dispatcher.Term
	reader             *postgres.Store // without a journal
	start              time.Time
}

func newLab(t *testing.T, name string) *lab {
	t.Helper()
	l := &lab{database: newDatabase(t, name), start: time.Now()}
	open := func(i int, process string) dispatcher.Store {
		r := journal.NewRecorder(&l.files[i], process)
		return r.Store(l.open(process, dispatchertest.DiffSettings(), nil, l.wire.install))
	}
	l.client, l.disp, l.rec, l.work = open(0, "client-1"), open(1, "dispatcher-1"), open(2, "reconciler-1"), open(3, "worker-a")
	l.reader = l.open("test", dispatchertest.DiffSettings(), nil)
	var err error
	l.launching, err = l.disp.Lead(t.Context(), dispatcher.RoleDispatcher, "dispatcher-1/1")
	ok(t, err)
	l.reaping, err = l.rec.Lead(t.Context(), dispatcher.RoleReconciler, "reconciler-1/1")
	ok(t, err)
	return l
}

// history merges what was written, with an end long enough after the last call.
func (l *lab) history() *history.History {
	l.Helper()
	var calls []journal.Call
	events, err := rowlog.ReadAll(l.Context(), l.admin)
	ok(l, err)
	for i := range l.files {
		c, e, err := journal.Read(bytes.NewReader(l.files[i].Bytes()))
		ok(l, err)
		calls, events = append(calls, c...), append(events, e...)
	}
	events = append(events, journal.Event{Kind: history.Ended, At: time.Now().Add(time.Minute)})
	limits := clusters.LimitsOf(dispatchertest.DiffSettings(), 0)
	limits.CallMax = time.Second
	h, err := journal.Merge(l.start, history.Meta{World: "kind", Limits: limits}, calls, events)
	ok(l, err)
	var file bytes.Buffer
	ok(l, history.Encode(&file, h))
	_, err = history.Decode(&file, l.Name())
	ok(l, err)
	checker.Check(h, checker.Options{})
	return h
}

// step is one call of the life of a task; lost is repeated by the caller as the protocol has it.
type step struct {
	verb history.Verb
	call func(l *lab, t dispatcher.Task) error
}

func row(_ dispatcher.Task, err error) error { return err }

func ticket(t dispatcher.Task) dispatcher.Ticket {
	return dispatcher.Ticket{ID: t.Spec.ID, Token: t.Attempt.Token, Workload: "uid"}
}

// life takes one task through every store method that writes.
var life = []step{
	{history.Submit, func(l *lab, _ dispatcher.Task) error {
		return row(l.client.Submit(l.Context(), dispatcher.Spec{ID: "a", MaxFailures: 1}))
	}},
	claimed,
	{history.Unclaim, func(l *lab, t dispatcher.Task) error {
		return row(l.disp.Unclaim(l.Context(), l.launching, t.Ref(), 0))
	}},
	claimed,
	launched,
	{history.Observe, func(l *lab, t dispatcher.Task) error {
		return row(l.rec.Observe(l.Context(), l.reaping, t.Ref(), dispatcher.Observation{State: dispatcher.SightPending, Version: 3}))
	}},
	started,
	{history.Heartbeat, func(l *lab, t dispatcher.Task) error { return l.work.Heartbeat(l.Context(), ticket(t)) }},
	{history.Requeue, func(l *lab, t dispatcher.Task) error {
		return row(l.rec.Requeue(l.Context(), l.reaping, t.Ref(), dispatcher.ReasonLost))
	}},
	{history.Postpone, func(l *lab, t dispatcher.Task) error {
		return row(l.rec.Postpone(l.Context(), l.reaping, t.Ref(), time.Millisecond))
	}},
	cleaned,
	claimed, launched, started,
	finished(dispatcher.ResultFailed), // the budget is spent
	{history.Resume, func(l *lab, t dispatcher.Task) error { return row(l.client.Resume(l.Context(), t.Spec.ID)) }},
	cleaned,
	claimed, launched, started,
	finished(dispatcher.ResultSucceeded),
	{history.Lead, func(l *lab, _ dispatcher.Task) error {
		term, err := l.disp.Lead(l.Context(), dispatcher.RoleDispatcher, "dispatcher-1/2")
		if err == nil {
			l.launching = term
		}
		return err
	}},
	cleaned,
}

// ends are the other ways in which an attempt ends.
var ends = []step{
	{history.Submit, func(l *lab, _ dispatcher.Task) error {
		return row(l.client.Submit(l.Context(), dispatcher.Spec{ID: "a"}))
	}},
	claimed, launched,
	{history.Cancel, func(l *lab, t dispatcher.Task) error { return row(l.client.Cancel(l.Context(), t.Spec.ID)) }},
	{history.Conclude, func(l *lab, t dispatcher.Task) error {
		return row(l.rec.Conclude(l.Context(), l.reaping, t.Ref(), dispatcher.ReasonCancelled))
	}},
	cleaned,
}

var rejected = []step{
	{history.Submit, func(l *lab, _ dispatcher.Task) error {
		return row(l.client.Submit(l.Context(), dispatcher.Spec{ID: "a"}))
	}},
	claimed,
	{history.Reject, func(l *lab, t dispatcher.Task) error { return row(l.disp.Reject(l.Context(), l.launching, t.Ref())) }},
}

var (
	claimed = step{history.Claim, func(l *lab, _ dispatcher.Task) error {
		_, err := l.disp.Claim(l.Context(), l.launching, 10)
		return err
	}}
	launched = step{history.Launched, func(l *lab, t dispatcher.Task) error {
		return row(l.disp.Launched(l.Context(), l.launching, t.Ref(), "uid"))
	}}
	started = step{history.Start, func(l *lab, t dispatcher.Task) error { return row(l.work.Start(l.Context(), ticket(t))) }}
	cleaned = step{history.Cleaned, func(l *lab, t dispatcher.Task) error { return row(l.rec.Cleaned(l.Context(), l.reaping, t.Ref())) }}
)

func finished(r dispatcher.Result) step {
	return step{history.Finish, func(l *lab, t dispatcher.Task) error { return row(l.work.Finish(l.Context(), ticket(t), r)) }}
}

// TestEveryWriteIsFound takes tasks through all methods that write, with every COMMIT answered, with every reply to COMMIT
// lost, and with every COMMIT lost once before it is repeated.
func TestEveryWriteIsFound(t *testing.T) {
	t.Parallel()
	for i, steps := range [][]step{life, ends, rejected} {
		for _, c := range []struct {
			name string
			how  loss
		}{{"answered", none}, {"reply_lost", reply}, {"commit_lost", asked}} {
			t.Run(fmt.Sprint(i, " ", c.name), func(t *testing.T) {
				l := newLab(t, fmt.Sprintf("life_%d_%s", i, c.name))
				for n, s := range steps {
					l.take(n, s, c.how)
				}
				l.check(steps, c.how)
			})
		}
	}
}

// take makes a step, after it was lost once if the commit is to be.
func (l *lab) take(n int, s step, how loss) {
	l.Helper()
	l.wire.lose(how)
	err := s.call(l, l.task())
	if want := how != none; dispatcher.Unknown(err) != want {
		l.Fatalf("step %d, %s: %v", n, s.verb, err)
	}
	if how == asked {
		if err := s.call(l, l.task()); err != nil {
			l.Fatalf("step %d, %s again: %v", n, s.verb, err)
		}
	}
	if how == reply && s.verb == history.Lead {
		l.launching.Epoch++
	}
	time.Sleep(2 * time.Millisecond) // a postponed cleanup, a backoff
}

// task reads the row past every journal.
func (l *lab) task() dispatcher.Task {
	l.Helper()
	t, err := l.reader.Read(l.Context(), "a")
	if err != nil {
		return dispatcher.Task{}
	}
	return t
}

// check looks for every step in the history.
func (l *lab) check(steps []step, how loss) {
	l.Helper()
	h := l.history()
	var writes []history.Operation
	for _, o := range h.Operations {
		if o.Verb != history.Lead || o.Epoch != 1 {
			writes = append(writes, o)
		}
	}
	next := 0
	take := func(s step, outcome, applied history.Outcome) {
		l.Helper()
		if next == len(writes) {
			l.Fatalf("no operation of %s", s.verb)
		}
		o := writes[next]
		next++
		if o.Verb != s.verb || o.Outcome != outcome || o.Applied != applied || (o.Effect != 0) != (applied == history.OK) {
			l.Errorf("operation %d is %+v, expected %s, outcome %s, applied %s", next, o, s.verb, outcome, applied)
		}
		if o.Effect != 0 && (o.Effect <= o.Call || o.Effect >= o.Return) {
			l.Errorf("effect is not between call and return: %+v", o)
		}
		if applied == history.OK && s.verb != history.Heartbeat && s.verb != history.Lead && o.Phase == 0 {
			l.Errorf("%s has no phase: %+v", s.verb, o)
		}
	}
	for _, s := range steps {
		switch how {
		case none:
			take(s, history.OK, history.OK)
		case reply:
			take(s, history.Unknown, history.OK)
		case asked:
			take(s, history.Unknown, history.Fail)
			take(s, history.OK, history.OK)
		}
	}
	l.checkEvents(h)
}

// checkEvents demands the Row events that the log has, and one counted effect per success.
func (l *lab) checkEvents(h *history.History) {
	l.Helper()
	counted, succeeded := 0, 0
	var last history.Event
	for _, e := range h.Events {
		switch e.Kind {
		case history.EffectCounted:
			if counted++; e.Process == 0 || e.Object != "uid" || e.Token != last.Token {
				l.Errorf("effect: %+v", e)
			}
		case history.Row:
			if e.Phase == history.Succeeded && last.Phase != history.Succeeded {
				succeeded++
			}
			if e.Process != 0 || e.Task == 0 || e.Seq <= last.Seq {
				l.Errorf("row: %+v", e)
			}
			last = e
		}
	}
	if counted != succeeded || last.Phase == 0 {
		l.Errorf("%d effects are counted, %d rows succeeded", counted, succeeded)
	}
}
