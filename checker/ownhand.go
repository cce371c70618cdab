package checker

import (
	"sort"

	"github.com/squall-chaos/squall/checker/history"
)

// deletions judges the deletes that took effect, for I5-false-death: one that ends the execution of an attempt which its row still wants
// throws healthy work away, whether or not a requeue is charged for it. What a replica could not have known is no fault: a delete is
// excused when the execution began after the replica last read its rows, unless the delete fell on an object that was
// made after it was asked for, which a UID as precondition rules out.
func (f *finding) deletions() {
	for _, i := range f.verbs[history.Delete] {
		o := &f.Operations[i]
		at := f.effectOf(o)
		if o.Task == 0 || at == 0 {
			continue
		}
		x := f.aliveAt(o, at)
		if x == nil {
			continue
		}
		f.exercised++
		begun := f.started(x)
		if !f.wantedAt(o.Task, begun.Token, at) {
			continue
		}
		if begun.Seq < f.informed(o) || f.createdOf(begun) > o.Call {
			f.violate(breach{o.Task, o.CalledAt, at, []history.Seq{begun.Seq, o.Call, at}},
				"%s, called by %s at %s, ended %s of %s, which was alive%s since %s and wanted", o.Verb, f.process(o.Process),
				clock(o.CalledAt), f.try(o.Task, begun.Token), f.task(o.Task), f.where(begun), clock(begun.At))
		}
	}
}

// aliveAt is the execution of the object that was alive when the delete took effect, nil for none. A delete without a UID falls on
// whatever has the name.
func (f *finding) aliveAt(o *history.Operation, at history.Seq) *execution {
	for n := f.latest[o.Task-1]; n >= 0; n = f.executions[n].previous {
		x := &f.executions[n]
		begun := f.started(x)
		if o.Detail != "" && begun.Object != o.Detail || begun.Seq >= at {
			continue
		}
		if over, _ := f.over(x); over > at {
			return x
		}
	}
	return nil
}

// wantedAt tells that the row was running with that token, and nobody had asked for its end.
func (f *finding) wantedAt(task history.ID, token uint64, at history.Seq) bool {
	rows := f.rowsOf(task)
	n := sort.Search(len(rows), func(i int) bool { return f.Events[rows[i]].Seq >= at })
	if n == 0 {
		return false
	}
	row := &f.Events[rows[n-1]]
	return row.Phase == history.Running && row.Token == token && !row.Cancelling
}

// informed is when the caller of a delete last asked for what it acts on, 0 if it never did: a reconciler for rows, a dispatcher for what
// has the name, since what it claimed and launched itself it never has a reason to delete.
func (f *finding) informed(o *history.Operation) history.Seq {
	if last := f.lastCall(o, history.Scan); last != 0 {
		return last
	}
	return max(f.lastCall(o, history.Lead), f.lastCall(o, history.Claim), f.lastCall(o, history.Get))
}

// lastCall is the caller's last call of the verb before that one.
func (f *finding) lastCall(o *history.Operation, verb history.Verb) history.Seq {
	calls := f.verbs[verb]
	n := sort.Search(len(calls), func(i int) bool { return f.Operations[calls[i]].Call >= o.Call })
	for n--; n >= 0; n-- {
		if c := &f.Operations[calls[n]]; c.Process == o.Process {
			return c.Call
		}
	}
	return 0
}

// createdOf is when the object of an execution was made, 0 if that is not known.
func (f *finding) createdOf(begun *history.Event) history.Seq {
	for _, i := range f.bodies {
		if e := &f.Events[i]; e.Kind == history.ObjectCreated && e.Object == begun.Object {
			return e.Seq
		}
	}
	return 0
}
