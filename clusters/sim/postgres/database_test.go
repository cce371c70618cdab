package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
)

var (
	ctx   = context.Background()
	epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
)

// bench is a database whose clock the test sets, with three tasks claimed at second 10.
type bench struct {
	*Database
	t     *testing.T
	now   time.Time
	term  dispatcher.Term
	tasks []dispatcher.Task
	seen  []string // commits
}

func newBench(t *testing.T, lag clusters.Dist) *bench {
	b := &bench{t: t, now: epoch}
	s, _ := dispatcher.Profile("b0")
	b.Database = New(Config{Settings: s, Clock: func() time.Time { return b.now }, Lag: lag, Stream: rand.New(rand.NewPCG(1, 1)),
		OnCommit: func(t *dispatcher.Task) { b.seen = append(b.seen, string(t.Spec.ID)+" "+string(t.Phase)) }})
	for _, id := range []dispatcher.TaskID{"a", "b", "c"} {
		b.must(b.Submit(ctx, dispatcher.Spec{ID: id}))
	}
	b.at(10)
	var err error
	if b.term, err = b.Lead(ctx, dispatcher.RoleDispatcher, "x/1"); err != nil {
		t.Fatal(err)
	}
	if b.tasks, err = b.Claim(ctx, b.term, 3); err != nil || len(b.tasks) != 3 {
		t.Fatal(b.tasks, err)
	}
	return b
}

func (b *bench) at(second int) { b.now = epoch.Add(time.Duration(second) * time.Second) }

func (b *bench) must(t dispatcher.Task, err error) dispatcher.Task {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
	return t
}

func (b *bench) ticket(i int) dispatcher.Ticket {
	return dispatcher.Ticket{ID: b.tasks[i].Spec.ID, Token: b.tasks[i].Attempt.Token, Workload: "u"}
}

// scan lists the tasks on a page.
func (b *bench) scan(stale bool) string {
	page, err := b.Scan(ctx, dispatcher.Scan{Stale: stale})
	if err != nil {
		b.t.Fatal(err)
	}
	var all []string
	for _, t := range page.Tasks {
		all = append(all, fmt.Sprintf("%s %s", t.Spec.ID, t.Activity))
	}
	return strings.Join(all, ", ")
}

// The manual, chapter High Availability, section Hot Standby: "The data on the standby takes some time to arrive from
// the primary server so there will be a measurable delay between primary and standby."
func TestStandbyShowsWhatItHasReceived(t *testing.T) {
	b := newBench(t, clusters.Fixed(5*time.Second))
	b.at(12)
	b.must(b.Start(ctx, b.ticket(0)))
	b.at(14)
	if got := b.scan(true); got != "" {
		t.Errorf("a standby 5 s behind shows %q at 14 s, though the claim was at 10 s", got)
	}
	if got := b.scan(false); got != "a executing, b launching, c launching" {
		t.Errorf("the primary shows %q", got)
	}
	b.at(16)
	if got := b.scan(true); got != "a launching, b launching, c launching" {
		t.Errorf("the standby shows %q at 16 s", got)
	}
	b.SetLag(clusters.Fixed(0))
	if got := b.scan(true); got != "a executing, b launching, c launching" {
		t.Errorf("without lag the standby shows %q", got)
	}
	page, _ := b.Scan(ctx, dispatcher.Scan{Stale: true})
	if !page.Now.Equal(b.now) {
		t.Errorf("the standby's clock shows %v at %v", page.Now, b.now)
	}
}

// The same section: "data on the standby is eventually consistent with the primary". It replays the log in order, so
// it never shows an older state after a newer one.
func TestStandbyNeverGoesBack(t *testing.T) {
	b := newBench(t, clusters.Fixed(0))
	b.at(12)
	b.must(b.Start(ctx, b.ticket(0)))
	b.at(13)
	before := b.scan(true)
	b.SetLag(clusters.Fixed(time.Minute))
	if after := b.scan(true); after != before {
		t.Errorf("showed %q, then %q", before, after)
	}
	b.SetLag(clusters.Dist{})
	if b.lag != clusters.Fixed(0) {
		t.Error("the configured lag was not restored")
	}
}

// The manual, section Synchronous Replication: "PostgreSQL streaming replication is asynchronous by default. If the
// primary server crashes then some transactions that were committed may not have been replicated to the standby server, causing data
// loss."
func TestFailoverLosesTheLastCommits(t *testing.T) {
	b := newBench(t, clusters.Fixed(0))
	for i := range 3 {
		b.must(b.Start(ctx, b.ticket(i)))
	}
	b.at(20)
	b.must(b.Finish(ctx, b.ticket(0), dispatcher.ResultSucceeded)) // old enough to survive
	b.at(30)
	b.must(b.Finish(ctx, b.ticket(1), dispatcher.ResultSucceeded))
	b.must(b.Finish(ctx, b.ticket(2), dispatcher.ResultFailed))
	b.must(b.Submit(ctx, dispatcher.Spec{ID: "d"}))
	b.at(31)
	commits := len(b.seen)
	var got []string
	for _, l := range b.FailOver(5 * time.Second) {
		got = append(got, fmt.Sprintf("%s %s->%s gone %v effect lost %v", l.Before.Spec.ID, l.Before.Phase, l.After.Phase, l.Gone, l.EffectLost()))
	}
	want := []string{"b succeeded->running gone false effect lost true", "c pending->running gone false effect lost false", "d pending-> gone true effect lost false"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if len(b.seen) != commits {
		t.Errorf("taking back counted as commits: %q", b.seen[commits:])
	}
	if _, err := b.Read(ctx, "d"); !errors.Is(err, dispatcher.ErrNotFound) {
		t.Errorf("the lost submission is still there: %v", err)
	}
	if got := b.must(b.Finish(ctx, b.ticket(1), dispatcher.ResultSucceeded)); got.Phase != dispatcher.Succeeded {
		t.Errorf("a result handed in again is %s", got.Phase)
	}
}

// The manual, chapter Backup and Restore, section Timelines: a server that was promoted writes a new timeline. What was
// handed out on the old one must not be handed out again, or its holder passes for somebody else.
func TestNewTimelineHandsOutNothingTwice(t *testing.T) {
	b := newBench(t, clusters.Fixed(0))
	first := b.Timeline()
	b.at(11)
	b.FailOver(5 * time.Second)
	if b.Timeline() != first+1 {
		t.Errorf("timeline %d after %d", b.Timeline(), first)
	}
	term, err := b.Lead(ctx, dispatcher.RoleDispatcher, "y/1")
	if err != nil || term.Epoch <= b.term.Epoch {
		t.Errorf("epoch %d after %d was lost (%v)", term.Epoch, b.term.Epoch, err)
	}
	tasks, err := b.Claim(ctx, term, 3)
	if err != nil || len(tasks) != 3 {
		t.Fatal(tasks, err)
	}
	for _, now := range tasks {
		for _, lost := range b.tasks {
			if now.Attempt.Token <= lost.Attempt.Token {
				t.Errorf("token %d was handed out after %d was lost", now.Attempt.Token, lost.Attempt.Token)
			}
		}
	}
	if _, err := b.Start(ctx, b.ticket(0)); !errors.Is(err, dispatcher.ErrRefused) {
		t.Errorf("the holder of a lost token was let in: %v", err)
	}
}

// A standby may lag less than the one that is promoted: after the failover it shows the promoted one's past.
func TestStandbyFollowsTheFailover(t *testing.T) {
	b := newBench(t, clusters.Fixed(0))
	b.at(12)
	b.must(b.Start(ctx, b.ticket(0)))
	b.scan(true)
	b.at(13)
	b.FailOver(2 * time.Second)
	if got := b.scan(true); got != "a launching, b launching, c launching" {
		t.Errorf("shows %q", got)
	}
}

// The manual, SELECT, section The Locking Clause: with SKIP LOCKED "any selected rows that cannot be immediately locked are
// skipped", so that claims at one instant share the rows out instead of waiting for each other or taking one twice.
func TestClaimsAtOneInstantAreDisjoint(t *testing.T) {
	b := newBench(t, clusters.Dist{})
	for _, id := range []dispatcher.TaskID{"d", "e", "f", "g"} {
		b.must(b.Submit(ctx, dispatcher.Spec{ID: id}))
	}
	for _, task := range b.tasks {
		b.must(b.Launched(ctx, b.term, task.Ref(), "u"))
	}
	granted := map[dispatcher.TaskID]dispatcher.Token{}
	for range 2 {
		tasks, err := b.Claim(ctx, b.term, 2)
		if err != nil || len(tasks) != 2 {
			t.Fatal(tasks, err)
		}
		for _, task := range tasks {
			b.must(b.Launched(ctx, b.term, task.Ref(), "u"))
			if token, twice := granted[task.Spec.ID]; twice {
				t.Errorf("%s was granted twice, under tokens %d and %d", task.Spec.ID, token, task.Attempt.Token)
			}
			granted[task.Spec.ID] = task.Attempt.Token
		}
	}
}

// The manual, chapter Concurrency Control, section Transaction Isolation, and tutorial, Transactions: what a transaction did is seen
// whole once it committed, and not at all if it did not. A method is one transaction: a refused one leaves no trace.
func TestRefusedMethodLeavesNoTrace(t *testing.T) {
	b := newBench(t, clusters.Dist{})
	before, commits := b.must(b.Read(ctx, "a")), len(b.seen)
	stale := b.term
	if _, err := b.Lead(ctx, dispatcher.RoleDispatcher, "y/1"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Launched(ctx, stale, b.tasks[0].Ref(), "u"); !errors.Is(err, dispatcher.ErrFenced) {
		t.Errorf("got %v", err)
	}
	if after := b.must(b.Read(ctx, "a")); after != before || len(b.seen) != commits {
		t.Errorf("the row is %+v, was %+v, after %d further commits", after, before, len(b.seen)-commits)
	}
}
