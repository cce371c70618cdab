package checker

import (
	"errors"

	"github.com/squall-chaos/squall/checker/history"
)

// ErrBudget is I5-budget.
var ErrBudget = errors.New("no task runs more often than its budgets allow, and no failure is charged that never ran")

// spending is one task's use of its budgets since it was last resumed.
type spending struct {
	phase   history.Phase
	begun   int32 // containers
	started int32 // executions
	counted bool
	over    bool
}

// budget counts executions and charges. The last execution of MaxFailures + MaxDisruptions is the one that spends the
// second budget while the first is all but spent. A charge needs a container, not an execution: one that dies before it
// learns that it was let in has failed too, as far as anybody can tell.
func budget(f *finding) {
	tasks := make([]spending, len(f.Tasks))
	executions := f.executions
	for _, i := range f.bodies {
		e := &f.Events[i]
		s := &tasks[e.Task-1]
		switch e.Kind {
		case history.ContainerStarted:
			s.begun++
		case history.Row:
			f.charged(s, e)
		case history.WorkStarted:
			if len(executions) > 0 && executions[0].start == i {
				f.ran(s, e)
				executions = executions[1:]
			}
		}
	}
}

func (f *finding) charged(s *spending, e *history.Event) {
	if s.phase == history.NeedsAttention && e.Phase == history.Pending {
		s.begun, s.started, s.over = 0, 0, false // resumed, with fresh budgets
	}
	s.phase = e.Phase
	if e.Failures+e.Disruptions > 0 {
		f.count(s)
	}
	if e.Failures <= max(s.begun, s.started) || s.over {
		return
	}
	s.over = true
	f.violate(breach{e.Task, e.At, e.Seq, []history.Seq{e.Seq}},
		"%s was charged %s by %s (%s) although its container had begun only %s", f.task(e.Task),
		plural(int(e.Failures), "failure"), clock(e.At), e.Detail, plural(int(max(s.begun, s.started)), "time"))
}

func (f *finding) ran(s *spending, e *history.Event) {
	s.started++
	if s.started > 1 {
		f.count(s)
	}
	failures, disruptions := f.budgets(e.Task)
	if failures+disruptions == 0 || int(s.started) <= failures+disruptions || s.over {
		return
	}
	s.over = true
	f.violate(breach{e.Task, e.At, e.Seq, []history.Seq{e.Seq}},
		"%s ran for the %d. time at %s, where %s and %s allow %d", f.task(e.Task), s.started, clock(e.At),
		plural(failures, "failure"), plural(disruptions, "disruption"), failures+disruptions)
}

func (f *finding) count(s *spending) {
	if !s.counted {
		s.counted = true
		f.exercised++
	}
}
