package checker

import (
	"errors"
	"fmt"
	"strings"

	"github.com/squall-chaos/squall/checker/history"
)

// ErrLoss is I3-loss.
var ErrLoss = errors.New("every submitted task stops in the end, and none before it has used its chances")

// The reasons that a row can stop with, as package dispatcher spells them.
const (
	reasonDeadline         = "deadline"
	reasonStartDeadline    = "start deadline missed"
	reasonRejected         = "rejected"
	reasonCancelled        = "cancelled"
	reasonFailuresSpent    = "failure budget spent"
	reasonDisruptionsSpent = "disruption budget spent"
)

// loss looks at how each task's row stands at the end. A task that has not stopped is lost if the run had time
// for it: it is not judged when fewer than B undisturbed seconds followed the healing, or when it was still getting on.
func loss(f *finding) {
	submitted := f.acknowledged()
	rejected, overran, asked := f.rejected(), f.overran(), f.askedToCancel()
	judged := f.healed != nil && f.ended != nil && f.ended.Seq > f.healed.Seq
	open, going := 0, 0
	for t := range f.final {
		if f.final[t] >= 0 && f.Events[f.final[t]].Phase.Stopped() {
			row := &f.Events[f.final[t]]
			f.stopped(row, rejected[t], overran[t])
			if row.Phase == history.Cancelled && !asked[t] {
				f.violate(breach{row.Task, row.At, row.Seq, []history.Seq{row.Seq}}, "%s stopped at %s as %s although nobody had asked for that",
					f.task(row.Task), clock(row.At), row.Phase)
			}
			if judged {
				f.exercised++
			}
		} else if f.final[t] >= 0 || submitted[t] != 0 {
			open++
		}
	}
	if !judged {
		f.note = "the run has no end after a healing, so that what had not stopped is not judged"
		return
	}
	if open == 0 {
		return
	}
	crowd := f.crowded()
	for t := range f.final {
		if f.final[t] >= 0 && f.Events[f.final[t]].Phase.Stopped() || f.final[t] < 0 && submitted[t] == 0 {
			continue
		}
		if f.hadTime(history.ID(t+1), open, crowd) {
			f.exercised++
			f.lost(history.ID(t+1), submitted[t])
		} else {
			going++
		}
	}
	if going > 0 {
		f.undecided = plural(going, "task") + " had not stopped when the run ended, too early to call lost"
	}
}

// acknowledged is, by task, the return of a Submit that its client knows to have succeeded.
func (f *finding) acknowledged() []history.Seq {
	submitted := make([]history.Seq, len(f.Tasks))
	for _, i := range f.verbs[history.Submit] {
		if o := &f.Operations[i]; o.Task != 0 && o.Outcome == history.OK {
			submitted[o.Task-1] = o.Return
		}
	}
	return submitted
}

// rejected tells, by task, whether the API server refused its object for good.
func (f *finding) rejected() []bool {
	rejected := make([]bool, len(f.Tasks))
	for _, i := range f.verbs[history.Create] {
		if o := &f.Operations[i]; o.Task != 0 && o.Code == history.Rejected {
			rejected[o.Task-1] = true
		}
	}
	return rejected
}

// overran is, by task, the token of the last attempt whose workload its deadline ended. Where that stands among the other events does not
// matter: who watches objects may hear of it after the reconciler, which reads them.
func (f *finding) overran() []uint64 {
	overran := make([]uint64, len(f.Tasks))
	for _, i := range f.bodies {
		if e := &f.Events[i]; e.Kind == history.ObjectPhase && strings.HasSuffix(e.Detail, deadlineEnd) {
			overran[e.Task-1] = e.Token
		}
	}
	return overran
}

// executionOf returns the execution of the attempt, nil if it never began.
func (f *finding) executionOf(task history.ID, token uint64) *execution {
	for at := f.latest[task-1]; at >= 0; at = f.executions[at].previous {
		if x := &f.executions[at]; f.started(x).Token == token {
			return x
		}
	}
	return nil
}

// crowded tells whether pending tasks may just have been waiting for their turn: others were still being claimed
// shortly before the end, or the limit of running tasks was reached.
func (f *finding) crowded() bool {
	running := 0
	for _, i := range f.final {
		running += count(i >= 0 && f.Events[i].Phase == history.Running)
	}
	if f.limits.MaxInFlight > 0 && running >= f.limits.MaxInFlight {
		return true
	}
	for n := len(f.rows) - 1; n >= 0; n-- {
		e := &f.Events[f.rows[n]]
		if e.At < f.ended.At-f.bound(1) {
			return false
		}
		if e.Phase == history.Running {
			return true
		}
	}
	return false
}

// hadTime tells whether a task that has not stopped should have.
func (f *finding) hadTime(task history.ID, open int, crowded bool) bool {
	b := f.bound(open)
	if f.disturbed.undisturbed(f.healed.At, f.ended.At) < b {
		return false
	}
	if x := f.latest[task-1]; x >= 0 && f.executions[x].end < 0 {
		return false // it works
	}
	if f.final[task-1] < 0 {
		return true // submitted, and no row
	}
	row := &f.Events[f.final[task-1]]
	waits := row.Phase == history.Pending && (crowded || row.Due > f.ended.At-b)
	return !waits
}

func (f *finding) lost(task history.ID, submitted history.Seq) {
	at := breach{task: task, at: f.ended.At, seq: f.ended.Seq}
	if f.final[task-1] < 0 || f.Events[f.final[task-1]].Phase == history.NoPhase {
		at.evidence = []history.Seq{submitted}
		f.violate(at, "%s was submitted and acknowledged, and has no row at the end of the run", f.task(task))
		return
	}
	row := &f.Events[f.final[task-1]]
	at.evidence = []history.Seq{row.Seq}
	state := row.Phase.String()
	if row.Cancelling {
		state += " with a cancel requested"
	}
	if row.Cleanup {
		state += " with cleanup owed"
	}
	f.violate(at, "%s never stopped: %s after all faults had healed it is %s, and has been since %s",
		f.task(task), clock(f.ended.At-f.healed.At), state, clock(row.At))
}

// stopped checks that a task which stopped had a right to.
func (f *finding) stopped(row *history.Event, rejected bool, overran uint64) {
	if row.Phase != history.Failed && row.Phase != history.NeedsAttention {
		return
	}
	failures, disruptions := f.budgets(row.Task)
	spent := int(row.Failures) >= failures || int(row.Disruptions) > disruptions
	why := ""
	switch row.Detail {
	case reasonCancelled:
		return
	case reasonStartDeadline:
		if why = f.beforeStartDeadline(row); why == "" {
			return
		}
	case reasonDeadline:
		// One that never began was pending past it; where it ran, its workload says what ended it.
		x := f.executionOf(row.Task, row.Token)
		if x == nil {
			why = f.beforeDeadline(row)
		} else {
			why = "its deadline had not ended " + f.try(row.Task, row.Token) + ", which had run " + f.until(x)
		}
		if why == "" || overran == row.Token {
			return
		}
	case reasonRejected:
		if rejected {
			return
		}
		why = "no create of it was rejected"
	case reasonFailuresSpent:
		spent = int(row.Failures) >= failures
	case reasonDisruptionsSpent:
		spent = int(row.Disruptions) > disruptions
	}
	if why == "" && spent {
		return
	}
	if why == "" {
		why = fmt.Sprintf("it had %d of %d failures and %d of %d disruptions", row.Failures, failures, row.Disruptions, disruptions)
	}
	f.violate(breach{row.Task, row.At, row.Seq, []history.Seq{row.Seq}},
		"%s stopped at %s as %s (%s) with chances left: %s", f.task(row.Task), clock(row.At), row.Phase, row.Detail, why)
}
