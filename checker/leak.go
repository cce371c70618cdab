package checker

import (
	"errors"

	"github.com/squall-chaos/squall/checker/history"
)

// ErrLeak is I8-leak.
var ErrLeak = errors.New("in the end nothing is left of a stopped task: its cleanup is done or put off, and its objects are gone")

// leak looks at what is left at the end. What came about less than B before the end, disturbed time not counted, is not judged: the next
// sweep would have seen to it.
func leak(f *finding) {
	if f.ended == nil || f.healed == nil || f.ended.Seq < f.healed.Seq {
		f.note = "the run has no end after a healing"
		return
	}
	for t, i := range f.final {
		if i < 0 || f.objects[t].last < 0 || !f.Events[i].Phase.Stopped() {
			continue
		}
		f.exercised++
		f.leaked(&f.Events[i], f.objects[t])
	}
}

func (f *finding) leaked(row *history.Event, left objects) {
	created := &f.Events[left.last]
	since := max(row.At, row.Due) // a cleanup that was put off is due later
	owed := row.Cleanup
	forgotten := !row.Cleanup && left.there > 0
	if forgotten {
		since = max(since, created.At)
	}
	if !owed && !forgotten || f.disturbed.excess(since, f.ended.At, allowance{f.bound(1), f.restart()}) <= 0 {
		return
	}
	b := breach{row.Task, f.ended.At, f.ended.Seq, []history.Seq{row.Seq, created.Seq}}
	if owed {
		f.violate(b, "the cleanup of %s, %s since %s, is still owed at the end of the run", f.task(row.Task), row.Phase, clock(row.At))
		return
	}
	f.violate(b, "%s, created at %s, is still there at the end of the run, although nothing is owed for %s, %s since %s",
		created.Detail, clock(created.At), f.task(row.Task), row.Phase, clock(row.At))
}
