package postgres

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/dispatchertest"
)

// hold starts a transaction that has executed the statements and does not end before the returned function is called.
func (l *lossy) hold(statements ...string) (release func() error) {
	l.Helper()
	conn, err := l.other.pool.Acquire(l.ctx)
	l.ok(err)
	l.Cleanup(conn.Release) // if the test ends early; the second time it does nothing
	_, err = conn.Exec(l.ctx, "BEGIN")
	l.ok(err)
	for _, s := range statements {
		_, err = conn.Exec(l.ctx, s)
		l.ok(err)
	}
	return func() error {
		defer conn.Release()
		_, err := conn.Exec(l.ctx, "COMMIT")
		return err
	}
}

// waits starts a call, demands that it waits for a lock, and returns what waits for its end.
func (l *lossy) waits(call func()) (end func()) {
	l.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		call()
	}()
	for waiting := false; !waiting; {
		select {
		case <-done:
			l.Fatal("it did not wait")
		default:
			l.ok(l.other.pool.QueryRow(l.ctx, `SELECT EXISTS (SELECT FROM pg_stat_activity
				WHERE application_name = current_setting('application_name') AND wait_event_type = 'Lock')`).Scan(&waiting))
		}
	}
	return func() { <-done }
}

// underWay makes a leader's write up to its COMMIT, which it holds back.
func (l *lossy) underWay(t dispatcher.Term, ref dispatcher.Ref) (commit func() error) {
	l.Helper()
	conn, err := l.store.pool.Acquire(l.ctx)
	l.ok(err)
	l.Cleanup(conn.Release)
	c := recoveryWrite("observe", t, ref)
	c.args["observed"], c.args["observed_version"] = "alive", int64(1)
	batch := &pgx.Batch{}
	batch.BeginTx(pgx.TxOptions{})
	batch.Queue(lockTerm, c.leader.args())
	batch.Queue(observe, c.args)
	answers := conn.SendBatch(l.ctx, batch)
	l.ok(answers.Close())
	return func() error {
		defer conn.Release()
		return answers.Tx().Commit(l.ctx)
	}
}

// impatient gives the store a timeout that tests can wait for.
func (l *lossy) impatient() {
	l.Helper()
	s := dispatchertest.DiffSettings()
	s.StoreTimeout = 300 * time.Millisecond
	l.store = openAt(l, l.other.pool.Config().ConnString(), s, l.wire.install)
}

// TestNoWriteOfAnOldTermLandsInTheNext: a successor must not look at rows while its predecessor's write is under way.
func TestNoWriteOfAnOldTermLandsInTheNext(t *testing.T) {
	t.Parallel()
	l := newLossy(t)
	before := l.bring(dispatcher.Executing)
	commit := l.underWay(l.rec, before.Ref())
	var seen dispatcher.Task
	var errs [2]error
	end := l.waits(func() {
		_, errs[0] = l.store.Lead(l.ctx, dispatcher.RoleReconciler, "successor")
		seen, errs[1] = l.store.Read(l.ctx, before.Spec.ID)
	})
	l.ok(commit())
	end()
	l.ok(errors.Join(errs[:]...))
	l.equal("what the successor sees", seen, l.read(before.Spec.ID))
	_, err := l.store.Observe(l.ctx, l.rec, l.read(before.Spec.ID).Ref(), dispatcher.Observation{})
	l.is(err, dispatcher.ErrFenced)
}

// TestFrozenLeaderIsNotWaitedFor: the server ends the transaction of a process that was stopped in the middle of it.
func TestFrozenLeaderIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	l := newLossy(t)
	l.impatient()
	before := l.bring(dispatcher.Executing)
	commit := l.underWay(l.rec, before.Ref())
	successor := l.lead(dispatcher.RoleReconciler)
	if err := commit(); err == nil {
		t.Fatal("the frozen leader's write was accepted")
	}
	l.equal("row", l.read(before.Spec.ID), before)
	l.must(l.other.Observe(l.ctx, successor, before.Ref(), dispatcher.Observation{}))
}

// TestLockedRowIsNotWaitedForLong: a call gives up when its caller would, and nothing happened.
func TestLockedRowIsNotWaitedForLong(t *testing.T) {
	t.Parallel()
	l := newLossy(t)
	l.impatient()
	before := l.bring(dispatcher.Executing)
	release := l.hold("SELECT FROM tasks FOR UPDATE")
	_, err := l.store.Finish(l.ctx, ticket(before), dispatcher.ResultSucceeded)
	l.is(err, dispatcher.ErrUnavailable)
	l.ok(release())
	l.equal("row", l.read(before.Spec.ID), before)
}

func TestClaimSkipsLockedRows(t *testing.T) {
	t.Parallel()
	l := newLossy(t)
	l.impatient()
	first, second := l.bring(dispatcher.Idle), l.bring(dispatcher.Idle)
	release := l.hold("SELECT FROM tasks ORDER BY submitted_at LIMIT 1 FOR UPDATE")
	claimed, err := l.store.Claim(l.ctx, l.disp, 10)
	l.equal("gave up", errors.Is(err, dispatcher.ErrUnavailable), false)
	l.ok(errors.Join(err, release()))
	l.equal("claimed", len(claimed), 1)
	l.equal("claimed", claimed[0].Spec.ID, second.Spec.ID)
	l.equal("row", l.read(first.Spec.ID), first)
}

// TestClaimsCountOneAfterTheOther: two that saw the same free place would both take it.
func TestClaimsCountOneAfterTheOther(t *testing.T) {
	t.Parallel()
	l := newLossy(t)
	one := dispatchertest.DiffSettings()
	one.MaxInFlight = 1
	l.store.settings = one
	l.bring(dispatcher.Idle)
	l.bring(dispatcher.Idle)
	release := l.hold("SELECT FROM leadership WHERE role = 'dispatcher' FOR NO KEY UPDATE",
		"UPDATE tasks SET phase = 'running', activity = 'launched', workload = 'uid', token = 1 WHERE id = (SELECT min(id) FROM tasks)")
	var claimed []dispatcher.Task
	var err error
	end := l.waits(func() { claimed, err = l.store.Claim(l.ctx, l.disp, 10) })
	l.ok(release())
	end()
	l.ok(err)
	l.equal("claimed in a full house", len(claimed), 0)
}

// TestClaimsDoNotWaitForEachOther where nothing has to be counted.
func TestClaimsDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	l := newLossy(t)
	l.store.settings.MaxInFlight = 0
	l.bring(dispatcher.Idle)
	release := l.hold("SELECT FROM leadership FOR SHARE")
	claimed, err := l.store.Claim(l.ctx, l.disp, 10)
	l.ok(err)
	l.ok(release())
	l.equal("claimed", len(claimed), 1)
}

// TestStampsFollowTheLock: whoever waited for a row stamps it with a later time than whoever had it.
func TestStampsFollowTheLock(t *testing.T) {
	t.Parallel()
	l := newLossy(t)
	before := l.bring(dispatcher.Executing)
	release := l.hold("SELECT FROM tasks FOR UPDATE")
	var beat error
	end := l.waits(func() { beat = l.store.Heartbeat(l.ctx, ticket(before)) })
	now, err := l.other.Now(l.ctx)
	l.ok(err)
	l.ok(release())
	end()
	l.ok(beat)
	if at := l.read(before.Spec.ID).Attempt.HeartbeatAt; at.Before(now) {
		t.Fatalf("the heartbeat is of %v, it waited beyond %v", at, now)
	}
}

// TestOneOfManyEndsTheAttempt: of all who want to end an attempt at the same time one does.
func TestOneOfManyEndsTheAttempt(t *testing.T) {
	t.Parallel()
	l := newLossy(t)
	for range 20 {
		before := l.bring(dispatcher.Executing)
		enders := []func(context.Context) error{
			func(ctx context.Context) error {
				_, err := l.store.Finish(ctx, ticket(before), dispatcher.ResultSucceeded)
				return err
			},
			func(ctx context.Context) error {
				_, err := l.store.Finish(ctx, ticket(before), dispatcher.ResultFailed)
				return err
			},
			func(ctx context.Context) error {
				_, err := l.store.Requeue(ctx, l.rec, before.Ref(), dispatcher.ReasonLost)
				return err
			},
			func(ctx context.Context) error {
				_, err := l.store.Conclude(ctx, l.rec, before.Ref(), dispatcher.ReasonDeadline)
				return err
			},
		}
		errs := make([]error, len(enders))
		var wait sync.WaitGroup
		for i, end := range enders {
			wait.Go(func() { errs[i] = end(l.ctx) })
		}
		wait.Wait()
		accepted := 0
		for _, err := range errs {
			switch {
			case err == nil:
				accepted++
			case !errors.Is(err, dispatcher.ErrRefused) && !errors.Is(err, dispatcher.ErrConflict):
				t.Error(err)
			}
		}
		l.equal("accepted", accepted, 1)
		l.equal("writes", l.read(before.Spec.ID).Version, before.Version+1)
		l.empty()
	}
}
