package memory_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/memory"
)

// database is a store with undo, its clock, and one leader of each role.
type database struct {
	*memory.Store
	*clock
	t         *testing.T
	disp, rec dispatcher.Term
}

var ctx = context.Background()

func newDatabase(t *testing.T) *database {
	s, _ := dispatcher.Profile("tick-300s")
	d := &database{clock: newClock(), t: t}
	d.Store = memory.New(s, func() time.Time { return d.now })
	d.KeepUndo = true
	d.disp, d.rec = d.lead(dispatcher.RoleDispatcher), d.lead(dispatcher.RoleReconciler)
	d.advance(time.Second)
	return d
}

func (d *database) lead(r dispatcher.Role) dispatcher.Term {
	term, err := d.Lead(ctx, r, "test")
	if err != nil {
		d.t.Fatal(err)
	}
	return term
}

func (d *database) must(task dispatcher.Task, err error) dispatcher.Task {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
	return task
}

func (d *database) submit(id dispatcher.TaskID) dispatcher.Task {
	d.t.Helper()
	return d.must(d.Submit(ctx, dispatcher.Spec{ID: id}))
}

// claim claims the one task that is due, and records its launch.
func (d *database) claim() dispatcher.Task {
	d.t.Helper()
	tasks, err := d.Claim(ctx, d.disp, 1)
	if err != nil || len(tasks) != 1 {
		d.t.Fatalf("claimed %d: %v", len(tasks), err)
	}
	return d.must(d.Launched(ctx, d.disp, tasks[0].Ref(), "uid"))
}

// succeed executes a claimed task to its end.
func (d *database) succeed(task dispatcher.Task) dispatcher.Task {
	d.t.Helper()
	k := dispatcher.Ticket{ID: task.Spec.ID, Token: task.Attempt.Token, Workload: "uid"}
	d.must(d.Start(ctx, k))
	return d.must(d.Finish(ctx, k, dispatcher.ResultSucceeded))
}

func (d *database) equal(what string, got, want any) {
	d.t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		d.t.Fatalf("%s is %v, want %v", what, got, want)
	}
}

func TestRewindUndoesWhatCameAfter(t *testing.T) {
	d := newDatabase(t)
	d.submit("a")
	claimed := d.claim()
	d.advance(time.Second)
	moment := d.now
	d.must(d.Cancel(ctx, d.submit("kept").Spec.ID)) // at the moment itself: kept
	kept := d.must(d.Read(ctx, "kept"))
	d.advance(time.Second)
	done := d.succeed(claimed)
	gone := d.submit("gone")

	d.equal("lost rows", d.Rewind(moment), []dispatcher.Task{done, gone})
	d.equal("row", d.must(d.Read(ctx, "a")), claimed)
	d.equal("row", d.must(d.Read(ctx, "kept")), kept)
	if _, err := d.Read(ctx, "gone"); err == nil {
		t.Fatal("a lost submit is there")
	}
	page, _ := d.Scan(ctx, dispatcher.Scan{})
	d.equal("scan", page.Tasks, []dispatcher.Task{claimed})
	d.equal("second rewind", len(d.Rewind(moment)), 0)
	d.succeed(claimed) // the worker asks again: its result is not remembered, and counts now
}

func TestRewindBeginsANewTimeline(t *testing.T) {
	d := newDatabase(t)
	d.submit("a")
	moment := d.now
	d.advance(time.Second)
	lost := d.claim()
	lostTerm := d.lead(dispatcher.RoleDispatcher)
	d.submit("b")
	d.Rewind(moment)

	d.equal("current epoch", d.Current(dispatcher.RoleDispatcher), d.disp.Epoch)
	if _, err := d.Confirm(ctx, lostTerm); err == nil {
		t.Fatal("a lost term leads")
	}
	again := d.claim()
	if again.Attempt.Token <= lost.Attempt.Token {
		t.Fatalf("token %d was handed out before", again.Attempt.Token)
	}
	if again.Version <= lost.Version {
		t.Fatalf("version %d may be taken for the lost %d", again.Version, lost.Version)
	}
	if next := d.lead(dispatcher.RoleDispatcher); next.Epoch <= lostTerm.Epoch {
		t.Fatalf("epoch %d was handed out before", next.Epoch)
	}
	if fresh := d.submit("b"); fresh.Version <= 1 {
		t.Fatalf("version %d was handed out before", fresh.Version)
	}
}

func TestRewindReachesAMinuteBack(t *testing.T) {
	d := newDatabase(t)
	start := d.now
	d.submit("old")
	d.advance(memory.UndoSpan + time.Second)
	d.submit("new")
	d.equal("lost rows", len(d.Rewind(start.Add(-time.Second))), 1)
	d.equal("old row", d.must(d.Read(ctx, "old")).Phase, dispatcher.Pending)
}

func TestScanAsOf(t *testing.T) {
	d := newDatabase(t)
	d.submit("a")
	d.claim()
	d.advance(time.Second)
	first := d.now
	d.submit("c")
	c := d.claim()
	d.advance(time.Second)
	second := d.now
	d.submit("b")
	d.claim()
	done := d.succeed(c)
	d.must(d.Cleaned(ctx, d.rec, done.Ref()))
	d.must(d.Cancel(ctx, "a"))
	d.advance(time.Second)

	for _, c := range []struct {
		name string
		scan dispatcher.Scan
		at   time.Time
		want string
	}{
		{"present", dispatcher.Scan{}, d.now, "[a b]"},
		{"before b, with c still running", dispatcher.Scan{}, second.Add(-time.Nanosecond), "[a c]"},
		{"the same, second page", dispatcher.Scan{After: "a"}, second.Add(-time.Nanosecond), "[c]"},
		{"the same, in pages", dispatcher.Scan{Limit: 1}, second.Add(-time.Nanosecond), "[a] and more"},
		{"before c", dispatcher.Scan{}, first.Add(-time.Nanosecond), "[a]"},
		{"before everything", dispatcher.Scan{}, first.Add(-time.Hour), "[]"},
		{"no cancel yet", dispatcher.Scan{CancelsOnly: true}, first, "[]"},
		{"cancelled now", dispatcher.Scan{CancelsOnly: true}, d.now, "[a]"},
	} {
		page := d.ScanAsOf(c.scan, c.at)
		var ids []dispatcher.TaskID
		for _, t := range page.Tasks {
			ids = append(ids, t.Spec.ID)
		}
		got := fmt.Sprint(ids)
		if page.More {
			got += " and more"
		}
		d.equal(c.name, got, c.want)
		d.equal("clock", page.Now, d.now)
	}
}

func TestOnCommitTellsEachChangeOnce(t *testing.T) {
	d := newDatabase(t)
	var told []string
	d.OnCommit = func(after *dispatcher.Task) {
		told = append(told, fmt.Sprintf("%s %s version %d", after.Spec.ID, after.Phase, after.Version))
	}
	d.submit("a")
	d.submit("a")
	d.must(d.Submit(ctx, dispatcher.Spec{ID: "late", StartDeadline: time.Second}))
	d.advance(2 * time.Second)
	d.succeed(d.claim())
	d.equal("commits", told, []string{
		"a pending version 1", "late pending version 1", "late failed version 2",
		"a running version 2", "a running version 3", "a running version 4", "a succeeded version 5",
	})
	if slices.Contains(told, "") {
		t.Fatal("an empty commit")
	}
}
