package checker

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/squall-chaos/squall/checker/history"
)

// ErrFalseDeath is I5-false-death.
var ErrFalseDeath = errors.New("no attempt is given up or deleted while its execution is alive and wanted, and none that its deadline ended is requeued as lost")

// deadlineEnd ends the detail of an ObjectPhase event of a workload that its deadline ended.
const deadlineEnd = "DeadlineExceeded"

// startTimeout is the detail of a requeue of an attempt that never began. Its start timeout may have been over before its deadline
// was, and nobody have been there to see it: the earlier of the two decides, whenever it is looked at.
const startTimeout = "start timeout"

// ending is what is known of a task's attempts when a requeue takes effect.
type ending struct {
	begun    uint64      // token of the last attempt that executed
	deadline uint64      // token of the last attempt whose workload its deadline ended
	told     history.Seq // when the API server had that
}

// falseDeath looks at every requeue that took effect. It is not about overlap: where names and fences keep a second
// execution from beginning too early, a false death still throws healthy work away and charges it to the wrong budget.
func falseDeath(f *finding) {
	tasks := make([]ending, len(f.Tasks))
	next := 0
	for _, o := range f.requeues() {
		f.exercised++
		for at := f.effectOf(o); next < len(f.Events) && f.Events[next].Seq < at; next++ {
			f.happened(tasks, int32(next))
		}
		f.gaveUp(o, tasks[o.Task-1])
	}
	f.deletions()
}

// requeues returns those that took effect, in the order in which they did.
func (f *finding) requeues() []*history.Operation {
	var all []*history.Operation
	for _, i := range f.verbs[history.Requeue] {
		if o := &f.Operations[i]; o.Task != 0 && f.effectOf(o) != 0 {
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b *history.Operation) int { return cmp.Compare(f.effectOf(a), f.effectOf(b)) })
	return all
}

func (f *finding) happened(tasks []ending, i int32) {
	e := &f.Events[i]
	if e.Task == 0 {
		return
	}
	t := &tasks[e.Task-1]
	switch e.Kind {
	case history.WorkStarted:
		t.begun = e.Token
	case history.ObjectPhase:
		if strings.HasSuffix(e.Detail, deadlineEnd) {
			t.deadline, t.told = e.Token, e.Seq
		}
	}
}

// lookBefore is where a process last read the workload that it then decided about; without such a read, where it called. What a kubelet that
// was cut off tells after the look, nobody can have heeded.
func (f *finding) lookBefore(o *history.Operation) history.Seq {
	for _, i := range slices.Backward(f.verbs[history.Get]) {
		if look := &f.Operations[i]; look.Task == o.Task && look.Process == o.Process && look.Return != 0 && look.Return < o.Call {
			return cmp.Or(f.effectOf(look), o.Call)
		}
	}
	return o.Call
}

func (f *finding) gaveUp(o *history.Operation, t ending) {
	at := f.effectOf(o)
	x := f.aliveOf(o.Task, o.Token, at)
	switch {
	case x != nil:
		begun := f.started(x)
		f.violate(breach{o.Task, o.CalledAt, at, []history.Seq{begun.Seq, o.Call, at}},
			"%s was requeued (%s) by %s at %s although %s was alive%s, running since %s", f.task(o.Task), o.Detail, f.process(o.Process),
			clock(o.CalledAt), f.try(o.Task, o.Token), f.where(begun), clock(begun.At))
	case t.deadline == o.Token && o.Token != 0 && (t.begun == o.Token || o.Detail != startTimeout) && t.told < f.lookBefore(o):
		f.violate(breach{o.Task, o.CalledAt, at, []history.Seq{o.Call, at}},
			"%s was requeued (%s) by %s at %s although its deadline had ended %s", f.task(o.Task), o.Detail, f.process(o.Process),
			clock(o.CalledAt), f.try(o.Task, o.Token))
	}
}

// aliveOf is an execution of the attempt that was alive at a point of the history, nil for none. An attempt may have several objects
// where nothing keeps their number down, and that one of them has ended says nothing of the others.
func (f *finding) aliveOf(task history.ID, token uint64, at history.Seq) *execution {
	for n := f.latest[task-1]; n >= 0; n = f.executions[n].previous {
		x := &f.executions[n]
		if begun := f.started(x); begun.Token != token || begun.Seq >= at {
			continue
		}
		if over, _ := f.over(x); over > at {
			return x
		}
	}
	return nil
}
