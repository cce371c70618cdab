package checker

import (
	"errors"

	"github.com/squall-chaos/squall/checker/history"
)

// ErrTerminal is I8-terminal.
var ErrTerminal = errors.New("a terminal phase never changes")

// terminal follows the phases of rows.
func terminal(f *finding) {
	ends := filled(len(f.Tasks), -1) // by task: the row that made it terminal
	for _, i := range f.rows {
		e := &f.Events[i]
		before := ends[e.Task-1]
		if before >= 0 && f.Events[before].Phase != e.Phase {
			was := &f.Events[before]
			f.violate(breach{e.Task, e.At, e.Seq, []history.Seq{was.Seq, e.Seq}},
				"%s had been %s since %s and became %s at %s", f.task(e.Task), was.Phase, clock(was.At), phaseOrGone(e.Phase), clock(e.At))
			ends[e.Task-1] = -1
			before = -1
		}
		if before < 0 && e.Phase.Terminal() {
			ends[e.Task-1] = i
			f.exercised++
		}
	}
}

func phaseOrGone(p history.Phase) string {
	if p == history.NoPhase {
		return "a row that is gone"
	}
	return p.String()
}
