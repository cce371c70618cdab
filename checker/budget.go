package checker

import (
	"errors"
	"strings"

	"github.com/squall-chaos/squall/checker/history"
)

// ErrBudget is I5-budget.
var ErrBudget = errors.New("no task runs more often than its budgets allow, and no failure is charged that never ran, or was none of the work's")

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
	f.misjudged()
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

// evictedEnd ends the detail of an ObjectPhase event of a workload that was evicted, preempted or deleted.
const evictedEnd = "Evicted"

// workFailed is the detail of a requeue that is charged to the failures.
const workFailed = "work failed"

// misjudged finds attempts that were charged to the work although the API server had said that their workload was evicted.
func (f *finding) misjudged() {
	var evicted []int32 // by task: the last event that tells of an eviction, -1: none
	next := 0
	for _, i := range f.verbs[history.Requeue] {
		o := &f.Operations[i]
		if o.Detail != workFailed || o.Task == 0 || f.effectOf(o) == 0 {
			continue
		}
		if evicted == nil {
			evicted = filled(len(f.Tasks), -1)
		}
		for ; next < len(f.bodies) && f.Events[f.bodies[next]].Seq < o.Call; next++ {
			e := &f.Events[f.bodies[next]]
			if e.Kind == history.ObjectPhase && strings.HasSuffix(e.Detail, evictedEnd) {
				evicted[e.Task-1] = f.bodies[next]
			}
		}
		at := evicted[o.Task-1]
		if at < 0 || f.Events[at].Token != o.Token {
			continue
		}
		e := &f.Events[at]
		f.violate(breach{o.Task, o.CalledAt, f.effectOf(o), []history.Seq{e.Seq, o.Call}},
			"%s was charged with a failure of %s by %s at %s although its workload had been evicted by %s", f.task(o.Task),
			f.try(o.Task, o.Token), f.process(o.Process), clock(o.CalledAt), clock(e.At))
	}
}

func (f *finding) count(s *spending) {
	if !s.counted {
		s.counted = true
		f.exercised++
	}
}
