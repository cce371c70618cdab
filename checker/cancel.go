package checker

import (
	"errors"
	"time"

	"github.com/squall-chaos/squall/checker/history"
)

// ErrCancel is I4-cancel.
var ErrCancel = errors.New("after an acknowledged cancel nothing starts, nothing lives on past the pod's grace, and no effect is counted")

// cancelSlack is what may pass on top of the pod's grace until a cancelled task's container is dead (the definition
// of I4 in the public incidents' vocabulary).
const cancelSlack = 10 * time.Second

// acknowledgement is the moment from which a cancel is promised; seq 0: none is.
type acknowledgement struct {
	seq history.Seq
	at  time.Duration
}

// cancel compares every execution and every counted effect with the acknowledgement of a cancel.
func cancel(f *finding) {
	acked := f.cancels()
	for _, a := range acked {
		if a.seq != 0 {
			f.exercised++
		}
	}
	if f.exercised == 0 {
		return
	}
	for i := range f.executions {
		x := &f.executions[i]
		if a := acked[x.task-1]; a.seq != 0 {
			f.outlived(x, a)
		}
	}
	for _, i := range f.effects {
		e := &f.Events[i]
		if a := acked[e.Task-1]; a.seq != 0 && e.Kind == history.EffectCounted && e.Seq > a.seq {
			f.violate(breach{e.Task, e.At, e.Seq, []history.Seq{a.seq, e.Seq}},
				"the effect of %s was counted at %s (%s) although its cancel was acknowledged at %s",
				f.task(e.Task), clock(e.At), f.try(e.Task, e.Token), clock(a.at))
		}
	}
}

// outlived judges an execution of a task whose cancel was acknowledged.
func (f *finding) outlived(x *execution, a acknowledgement) {
	start := f.started(x)
	seq, end := f.over(x)
	if start.Seq > a.seq {
		f.violate(breach{x.task, start.At, start.Seq, []history.Seq{a.seq, start.Seq}},
			"%s began to run at %s (%s%s) although its cancel was acknowledged at %s",
			f.task(x.task), clock(start.At), f.try(x.task, start.Token), f.where(start), clock(a.at))
		return
	}
	if seq < a.seq {
		return
	}
	allowed := allowance{f.limits.PodGrace + cancelSlack, cancelSlack}
	excess := f.disturbed.excess(a.at, end, allowed)
	f.margin(-excess, "between how long an execution outlived its cancel and pod_grace + 10 s")
	if excess <= 0 {
		return
	}
	moment := f.disturbed.reached(a.at, end, allowed)
	f.violate(breach{x.task, moment, f.seqAt(moment), []history.Seq{a.seq, start.Seq}},
		"%s was alive %s after its cancel was acknowledged at %s (%s%s %s), where pod_grace + 10 s allow %s",
		f.task(x.task), atLeast(end-a.at, x.end < 0), clock(a.at), f.try(x.task, start.Token), f.where(start), f.until(x), clock(allowed.bound))
}

// cancels finds, by task, when a cancel was promised: when the store applied a Cancel that its client knows to have
// succeeded, or when the row shows the wish. A wish that the row lost again (a failover) and that nobody was told of does not count, and
// neither does the cancel of a task that had stopped.
func (f *finding) cancels() []acknowledgement {
	acked := make([]acknowledgement, len(f.Tasks))
	for _, i := range f.rows {
		e := &f.Events[i]
		a := &acked[e.Task-1]
		switch {
		case !e.Cancelling:
			*a = acknowledgement{}
		case a.seq == 0:
			*a = acknowledgement{e.Seq, e.At}
		}
	}
	for _, i := range f.verbs[history.Cancel] {
		o := &f.Operations[i]
		if o.Task == 0 || o.Outcome != history.OK || (!o.Cancelling && o.Phase.Terminal()) {
			continue
		}
		seq := o.Effect
		if seq == 0 {
			seq = o.Return
		}
		if a := &acked[o.Task-1]; a.seq == 0 || seq < a.seq {
			at := a.at
			if a.seq == 0 || at > o.ReturnedAt {
				at = o.ReturnedAt // the time of the effect lies before
			}
			*a = acknowledgement{seq, at}
		}
	}
	return acked
}
