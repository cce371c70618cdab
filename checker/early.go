package checker

import (
	"time"

	"github.com/squall-chaos/squall/checker/history"
)

// What a task stops with must have come about: a deadline that had passed, a cancel that somebody asked for. These belong to I3-loss: a task
// that stops for a reason which is none has not used its chances.

// stampSlack is by how much a stamp of a row and a limit may differ in a real cluster, where both are rounded.
const stampSlack = time.Second

// askedToCancel tells, by task, whether any client may have cancelled it.
func (f *finding) askedToCancel() []bool {
	asked := make([]bool, len(f.Tasks))
	for _, i := range f.verbs[history.Cancel] {
		if o := &f.Operations[i]; o.Task != 0 && (f.effectOf(o) != 0 || o.Outcome == history.Unknown) {
			asked[o.Task-1] = true
		}
	}
	return asked
}

// stopping is the change of the row by which the task came to stand as it does in its last one, and the row before that; nil for none.
func (f *finding) stopping(last *history.Event) (stop, before *history.Event) {
	rows := f.rowsOf(last.Task)
	for n := len(rows) - 1; n >= 0; n-- {
		row := &f.Events[rows[n]]
		if row.Phase != last.Phase {
			return stop, row
		}
		stop = row
	}
	return stop, nil
}

// beforeStartDeadline says why a task had no right to stop as one that missed its start deadline; empty if it had.
func (f *finding) beforeStartDeadline(last *history.Event) string {
	stop, before := f.stopping(last)
	submitted := f.Events[f.rowsOf(last.Task)[0]].At
	if limit := f.specOf(last.Task).StartDeadline; limit > 0 && stop.At-submitted < limit-stampSlack {
		return "it had been submitted only " + clock(stop.At-submitted) + " before, and had to begin within " + clock(limit)
	}
	if before == nil || before.Phase != history.Running || before.Token != last.Token {
		return ""
	}
	for _, i := range f.verbs[history.Start] {
		o := &f.Operations[i]
		if at := f.effectOf(o); o.Task == last.Task && o.Token == last.Token && at != 0 && at < stop.Seq {
			return f.try(last.Task, last.Token) + " had begun by " + clock(o.ReturnedAt)
		}
	}
	return ""
}

// beforeDeadline says why a task whose attempt never began had no right to stop at its deadline; empty if it had.
func (f *finding) beforeDeadline(last *history.Event) string {
	limit := f.specOf(last.Task).Deadline
	if limit == 0 {
		limit = f.limits.Deadline
	}
	stop, _ := f.stopping(last)
	for _, i := range f.rowsOf(last.Task) {
		row := &f.Events[i]
		if row.Phase != history.Running || row.Token != last.Token {
			continue
		}
		if limit > 0 && stop.At-row.At < limit-stampSlack {
			return f.try(last.Task, last.Token) + " had been claimed only " + clock(stop.At-row.At) + " before, and had " + clock(limit)
		}
		break
	}
	return ""
}

func (f *finding) specOf(task history.ID) history.Spec {
	if int(task) > len(f.Specs) {
		return history.Spec{}
	}
	return f.Specs[task-1]
}
