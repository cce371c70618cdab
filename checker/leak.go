package checker

import (
	"errors"
	"time"

	"github.com/squall-chaos/squall/checker/history"
)

// ErrLeak is I8-leak.
var ErrLeak = errors.New("in the end nothing is left of a stopped task: its cleanup is done or put off, and its objects are gone")

// remains are the objects of one task.
type remains struct {
	objects   int32
	had       bool
	createdAt time.Duration
	created   history.Seq
	name      string // of the last one
}

// leak looks at what is left at the end. What came about less than B before the end is not judged: the next sweep
// would have seen to it.
func leak(f *finding) {
	if f.ended == nil || f.healed == nil || f.ended.Seq < f.healed.Seq {
		f.note = "the run has no end after a healing"
		return
	}
	left := make([]remains, len(f.Tasks))
	for _, i := range f.bodies {
		e := &f.Events[i]
		switch m := &left[e.Task-1]; e.Kind {
		case history.ObjectCreated:
			*m = remains{m.objects + 1, true, e.At, e.Seq, e.Detail}
		case history.ObjectGone:
			m.objects = max(0, m.objects-1)
		}
	}
	for t, i := range f.final {
		if i < 0 || !left[t].had || !f.Events[i].Phase.Stopped() {
			continue
		}
		f.exercised++
		f.leaked(&f.Events[i], &left[t])
	}
}

func (f *finding) leaked(row *history.Event, left *remains) {
	since := max(row.At, f.healed.At, row.Due) // a cleanup that was put off is due later
	owed := row.Cleanup
	forgotten := !row.Cleanup && left.objects > 0
	if forgotten {
		since = max(since, left.createdAt)
	}
	if !owed && !forgotten || f.disturbed.excess(since, f.ended.At, allowance{f.bound(1), f.restart()}) <= 0 {
		return
	}
	b := breach{row.Task, f.ended.At, f.ended.Seq, []history.Seq{row.Seq, left.created}}
	if owed {
		f.violate(b, "the cleanup of %s, %s since %s, is still owed at the end of the run", f.task(row.Task), row.Phase, clock(row.At))
		return
	}
	f.violate(b, "%s, created at %s, is still there at the end of the run, although nothing is owed for %s, %s since %s",
		left.name, clock(left.createdAt), f.task(row.Task), row.Phase, clock(row.At))
}
