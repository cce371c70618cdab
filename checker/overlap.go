package checker

import (
	"errors"
	"time"

	"github.com/squall-chaos/squall/checker/history"
)

// ErrOverlap is I1-overlap: a container that asked to start and was refused is no execution.
var ErrOverlap = errors.New("no two executions of a task are alive at once")

// overlap compares each execution with the one of its task that lasts longest of those begun before it: if
// that one is over, they all are.
func overlap(f *finding) {
	longest := filled(len(f.Tasks), -1)
	for i := range f.executions {
		x := &f.executions[i]
		before := longest[x.task-1]
		if before < 0 {
			longest[x.task-1] = int32(i)
			continue
		}
		if x.number == 2 {
			f.exercised++
		}
		other := &f.executions[before]
		otherSeq, otherAt := f.over(other)
		start := f.started(x)
		if otherSeq > start.Seq {
			f.overlapped(other, x)
		} else {
			f.margin(start.At-otherAt, "between the end of an execution and the start of the task's next")
		}
		if seq, _ := f.over(x); seq > otherSeq {
			longest[x.task-1] = int32(i)
		}
	}
}

func (f *finding) overlapped(first, second *execution) {
	one, two := f.started(first), f.started(second)
	_, oneOver := f.over(first)
	_, twoOver := f.over(second)
	both := min(oneOver, twoOver) - two.At
	f.margin(-both, "between the end of an execution and the start of the task's next")
	evidence := []history.Seq{one.Seq, two.Seq}
	if first.end >= 0 {
		evidence = append(evidence, f.Events[first.end].Seq)
	}
	f.violate(breach{two.Task, two.At, two.Seq, evidence},
		"%s ran twice at once for %s: %s%s %s, %s%s from %s", f.task(two.Task), atLeast(both, first.end < 0 && second.end < 0),
		f.copyOf(one, two), f.where(one), f.until(first), f.copyOf(two, one), f.where(two), clock(two.At))
}

// copyOf names the attempt that ran, and its object too where both are of the same attempt.
func (f *finding) copyOf(this, other *history.Event) string {
	if this.Token != other.Token {
		return f.try(this.Task, this.Token)
	}
	return "object " + this.Object + " of " + f.try(this.Task, this.Token)
}

// atLeast says of what the end of the run cut off that it was longer.
func atLeast(d time.Duration, cut bool) string {
	if cut {
		return "at least " + clock(d)
	}
	return clock(d)
}
