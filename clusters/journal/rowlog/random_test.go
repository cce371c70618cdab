package rowlog_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters/journal/rowlog"
	"github.com/squall-chaos/squall/dispatcher"
)

// TestEveryChangeIsSomebodys has processes make random calls at the same time while connections are lost. The real store is right, so
// every change of the log must be some call's, no call may be said to have had an effect that it had not, and the history must
// be linearizable: one effect given to the wrong call is hardly ever.
func TestEveryChangeIsSomebodys(t *testing.T) {
	t.Parallel()
	l := newLab(t, "random")
	var wait sync.WaitGroup
	for i, act := range []func(*actor){(*actor).client, (*actor).dispatcher, (*actor).reconciler, (*actor).worker} {
		wait.Go(func() {
			a := &actor{lab: l, random: rand.New(rand.NewPCG(1, uint64(i)))}
			for range 150 {
				if a.random.IntN(8) == 0 {
					l.wire.lose(loss(1 + a.random.IntN(2)))
				}
				act(a)
			}
		})
	}
	wait.Wait()
	l.wire.lose(none)
	h := l.history()
	unknown := l.explained(h)
	if unknown[history.OK] == 0 || unknown[history.Fail] == 0 {
		t.Errorf("calls with an unknown outcome, by what the log says: %v", unknown)
	}
	report := checker.Check(h, checker.Options{})
	for _, name := range []string{"L1-ledger", "L2-leadership", "I6-fence", "I8-terminal"} {
		if r := report.Invariant(name); r == nil || r.Verdict != checker.Valid {
			t.Errorf("%s: %+v, %+v", name, r, report.Violations)
		}
	}
}

// explained demands that there are as many effects as transactions in the log, and counts the unknown outcomes by what is known of them.
func (l *lab) explained(h *history.History) map[history.Outcome]int {
	l.Helper()
	events, err := rowlog.ReadAll(l.Context(), l.admin)
	ok(l, err)
	transactions := map[uint64]bool{}
	for _, e := range events {
		transactions[e.Write.Transaction] = true
	}
	effects := map[history.Seq]bool{}
	unknown := map[history.Outcome]int{}
	for _, o := range h.Operations {
		if o.Effect != 0 {
			effects[o.Effect] = true
		}
		if o.Outcome == history.Unknown {
			unknown[o.Applied]++
		}
	}
	if len(effects) != len(transactions) {
		l.Errorf("%d calls had an effect, %d transactions changed something", len(effects), len(transactions))
	}
	return unknown
}

// actor is one process of the random test. It reads the row that it writes to past every journal.
type actor struct {
	*lab
	random *rand.Rand
}

// pick returns one of a few tasks, as somebody read it a moment ago.
func (a *actor) pick() dispatcher.Task {
	id := dispatcher.TaskID(fmt.Sprint("t", a.random.IntN(6)))
	t, err := a.reader.Read(a.Context(), id)
	if errors.Is(err, dispatcher.ErrNotFound) {
		t.Spec.ID = id
	} else if err != nil {
		a.Error(err)
	}
	return t
}

func (a *actor) client() {
	ctx, t := a.Context(), a.pick()
	switch a.random.IntN(6) {
	case 0:
		_, _ = a.lab.client.Cancel(ctx, t.Spec.ID)
	case 1:
		_, _ = a.lab.client.Resume(ctx, t.Spec.ID)
	case 2, 3:
		_, _ = a.lab.client.Read(ctx, t.Spec.ID)
	default:
		if t.Phase.Terminal() || t.Desired == dispatcher.DesiredCancel {
			t.Spec.ID = dispatcher.TaskID(fmt.Sprint("u", a.random.IntN(50)))
		}
		_, _ = a.lab.client.Submit(ctx, dispatcher.Spec{ID: t.Spec.ID})
	}
}

func (a *actor) dispatcher() {
	ctx, t := a.Context(), a.pick()
	switch a.random.IntN(8) {
	case 0:
		if term, err := a.disp.Lead(ctx, dispatcher.RoleDispatcher, "dispatcher-1/2"); err == nil {
			a.launching = term
		}
	case 1:
		_, _ = a.disp.Unclaim(ctx, a.launching, t.Ref(), time.Millisecond)
	case 2, 3:
		_, _ = a.disp.Launched(ctx, a.launching, t.Ref(), "uid")
	case 4:
		_, _ = a.disp.Confirm(ctx, a.launching)
	default:
		_, _ = a.disp.Claim(ctx, a.launching, 2)
	}
}

func (a *actor) reconciler() {
	ctx, t := a.Context(), a.pick()
	switch a.random.IntN(8) {
	case 0:
		_, _ = a.rec.Conclude(ctx, a.reaping, t.Ref(), dispatcher.ReasonCancelled)
	case 1:
		_, _ = a.rec.Requeue(ctx, a.reaping, t.Ref(), dispatcher.ReasonLost)
	case 2:
		_, _ = a.rec.Postpone(ctx, a.reaping, t.Ref(), time.Millisecond)
	case 3, 4:
		_, _ = a.rec.Observe(ctx, a.reaping, t.Ref(), dispatcher.Observation{State: dispatcher.SightPending, Version: 3})
	default:
		_, _ = a.rec.Cleaned(ctx, a.reaping, t.Ref())
	}
}

func (a *actor) worker() {
	ctx, t := a.Context(), a.pick()
	switch a.random.IntN(6) {
	case 0:
		_, _ = a.work.Finish(ctx, ticket(t), dispatcher.ResultFailed)
	case 1:
		_, _ = a.work.Finish(ctx, ticket(t), dispatcher.ResultSucceeded)
	case 2, 3:
		_ = a.work.Heartbeat(ctx, ticket(t))
	default:
		_, _ = a.work.Start(ctx, ticket(t))
	}
}
