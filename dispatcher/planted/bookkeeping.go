package planted

import (
	"context"
	"errors"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// overwriter is a store that lets a row be written by ID alone, whatever stands there: package memory's.
type overwriter interface {
	Overwrite(t dispatcher.Task) (dispatcher.Task, error)
}

// simOnly says why a defect that overwrites rows is not to be had on a real database.
const simOnly = "it writes rows by ID alone, and no statement of the store on Postgres does that"

// rows makes a hook of a store that overwrites.
func rows(wrap func(overwriting) dispatcher.Store) func(dispatcher.Store) dispatcher.Store {
	return func(s dispatcher.Store) dispatcher.Store { return wrap(overwriting{s, s.(overwriter)}) }
}

type overwriting struct {
	dispatcher.Store
	by overwriter
}

// terminalOverwritten: the sweeper's UPDATE names the row, and not the phase that it saw. Rows that were read from a replica show why
// that matters; conditional writes refuse what was decided on them.
func terminalOverwritten() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "terminal-overwritten",
			Summary: "the sweep reads from a replica, and what it writes is keyed by the row's ID only: a finished task runs again",
			Store:   rows(func(o overwriting) dispatcher.Store { return byIDAlone{o} }),
			Ports:   scansReplica,
		},
		Incident: "L5", Breaks: []string{"I8-terminal"}, Scenario: "finished-while-replica-lags", Seeds: 20, SimOnly: simOnly,
		Witness: also("finished-while-replica-lags", "I1-effect", 5),
		Bare:    &dispatcher.System{Name: "scans-replica", Summary: "the reference with a sweep that reads from a replica", Ports: scansReplica},
	}
}

type byIDAlone struct{ overwriting }

func (b byIDAlone) Requeue(ctx context.Context, t dispatcher.Term, r dispatcher.Ref, why dispatcher.Reason) (dispatcher.Task, error) {
	row, err := b.Store.Requeue(ctx, t, r, why)
	if !errors.Is(err, dispatcher.ErrConflict) {
		return row, err
	}
	if row, err = b.Read(ctx, r.ID); err != nil {
		return row, err
	}
	row.Phase, row.Activity, row.Reason, row.EndedAt = dispatcher.Pending, dispatcher.Idle, why, time.Time{}
	return b.by.Overwrite(row)
}

// absenceIsTodo: what has no object is to be done, and the object of a finished task is removed after its time.
func absenceIsTodo() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "absence-is-todo",
			Summary: "a finished task whose object was cleaned up counts as never done, and runs again",
			Store:   rows(func(o overwriting) dispatcher.Store { return undone{o} }),
		},
		Incident: "L4", Breaks: []string{"I1-effect", "I8-terminal"}, Scenario: "lost-create-reply", Seeds: 20, SimOnly: simOnly,
		Witness: also("deadline-overrun", "I8-terminal", 5),
	}
}

type undone struct{ overwriting }

func (u undone) Cleaned(ctx context.Context, t dispatcher.Term, r dispatcher.Ref) (dispatcher.Task, error) {
	row, err := u.Store.Cleaned(ctx, t, r)
	if err != nil || row.Phase != dispatcher.Succeeded {
		return row, err
	}
	row.Phase, row.EndedAt = dispatcher.Pending, time.Time{}
	return u.by.Overwrite(row)
}

// crashNotCharged: a container that died without a word is run again, and nobody counts.
func crashNotCharged() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "crash-not-charged",
			Summary: "work that kills its container is requeued without a charge to any budget, for ever",
			Store:   rows(func(o overwriting) dispatcher.Store { return forgiving{o} }),
		},
		Incident: "L1", Breaks: []string{"I5-budget"}, Scenario: "poison-task", Seeds: 20, SimOnly: simOnly,
		Witness: also("poison-task", "I3-loss", 20),
	}
}

type forgiving struct{ overwriting }

func (f forgiving) Requeue(ctx context.Context, t dispatcher.Term, r dispatcher.Ref, why dispatcher.Reason) (dispatcher.Task, error) {
	row, err := f.Store.Requeue(ctx, t, r, why)
	if err != nil || why != dispatcher.ReasonWorkFailed {
		return row, err
	}
	row.Failures--
	if row.Phase == dispatcher.NeedsAttention {
		row.Phase, row.Reason, row.Remedy, row.EndedAt = dispatcher.Pending, why, "", time.Time{}
	}
	return f.by.Overwrite(row)
}

// claimWithoutChange: the claim locks its rows and hands them out, but what it selects on stays as it was until the pod is recorded.
func claimWithoutChange() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "claim-without-change",
			Summary: "a claim does not change what it selects on, so the next one takes the same rows as new attempts",
			Store:   rows(func(o overwriting) dispatcher.Store { return &unchanging{overwriting: o} }),
		},
		Incident: "E3", Breaks: []string{"L1-ledger"}, Scenario: "crash-between-create-and-record", Seeds: 20, SimOnly: simOnly,
		Witness: also("lease-unreachable", "L1-ledger", 5),
	}
}

type unchanging struct {
	overwriting
	claimed []dispatcher.TaskID // of the last claim
}

func (u *unchanging) Claim(ctx context.Context, t dispatcher.Term, limit int) ([]dispatcher.Task, error) {
	if _, err := u.Confirm(ctx, t); err != nil {
		return nil, err
	}
	for _, id := range u.claimed {
		row, err := u.Read(ctx, id)
		if err == nil && row.Phase == dispatcher.Running && row.Activity == dispatcher.Launching && row.Desired == dispatcher.DesiredRun {
			row.Phase, row.Activity = dispatcher.Pending, dispatcher.Idle
			_, _ = u.by.Overwrite(row)
		}
	}
	tasks, err := u.Store.Claim(ctx, t, limit)
	u.claimed = u.claimed[:0]
	for _, row := range tasks {
		u.claimed = append(u.claimed, row.Spec.ID)
	}
	return tasks, err
}

// resultAfterCancel: the result is accepted of whoever was let in, cancelled or not.
func resultAfterCancel() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "result-after-cancel",
			Summary: "a success counts although the task's cancel was acknowledged before",
			Store:   rows(func(o overwriting) dispatcher.Store { return lenient{o} }),
		},
		Incident: "J3", Breaks: []string{"I4-cancel"}, Scenario: "cancel-while-nobody-sweeps", Seeds: 20, SimOnly: simOnly,
		Witness: also("cancel-while-nobody-sweeps", "L1-ledger", 5),
	}
}

type lenient struct{ overwriting }

func (l lenient) Finish(ctx context.Context, k dispatcher.Ticket, r dispatcher.Result) (dispatcher.Task, error) {
	row, err := l.Read(ctx, k.ID)
	if err == nil && row.Phase == dispatcher.Running && row.Desired == dispatcher.DesiredCancel && row.Attempt.Token == k.Token {
		row.Desired = dispatcher.DesiredRun
		_, _ = l.by.Overwrite(row)
	}
	return l.Store.Finish(ctx, k, r)
}

// exitCodeIsResult: exit 0 is success, whether or not the worker recorded anything.
func exitCodeIsResult() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "exit-code-is-result",
			Summary: "a container that exits 0 has succeeded, although its worker recorded no result",
			Store:   func(s dispatcher.Store) dispatcher.Store { return byExitCode{s} },
		},
		Incident: "A4", Breaks: []string{"I8-truth"}, Scenario: "exit-without-result", Seeds: 20,
		Witness: also("exit-without-result", "L1-ledger", 5),
	}
}

type byExitCode struct{ dispatcher.Store }

func (b byExitCode) Requeue(ctx context.Context, t dispatcher.Term, r dispatcher.Ref, why dispatcher.Reason) (dispatcher.Task, error) {
	row, err := b.Read(ctx, r.ID)
	if why != dispatcher.ReasonNoResult || err != nil || row.Attempt.Token != r.Token {
		return b.Store.Requeue(ctx, t, r, why)
	}
	return b.Finish(ctx, dispatcher.Ticket{ID: r.ID, Token: r.Token, Workload: row.Attempt.Workload}, dispatcher.ResultSucceeded)
}

// disruptionsAreFailures: whatever ended an attempt is charged to the one budget that there is.
func disruptionsAreFailures() Defect {
	return Defect{
		System: dispatcher.System{
			Name:    "disruptions-are-failures",
			Summary: "attempts that were evicted or lost are charged as failures of the work",
			Ports: func(p dispatcher.Ports) dispatcher.Ports {
				p.Store = oneBudget{p.Store}
				return p
			},
		},
		Incident: "L2", Breaks: []string{"I5-budget"}, Scenario: "evicted-and-killed", Seeds: 20,
		Witness: also("spot-taken-for-good", "I5-budget", 5),
	}
}

type oneBudget struct{ dispatcher.Store }

func (o oneBudget) Requeue(ctx context.Context, t dispatcher.Term, r dispatcher.Ref, why dispatcher.Reason) (dispatcher.Task, error) {
	if why == dispatcher.ReasonLost || why == dispatcher.ReasonDisrupted {
		why = dispatcher.ReasonWorkFailed
	}
	return o.Store.Requeue(ctx, t, r, why)
}
