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
	f.excused()
	resumes := f.resumes()
	tasks := make([]spending, len(f.Tasks))
	executions := f.executions
	for _, i := range f.bodies {
		e := &f.Events[i]
		s := &tasks[e.Task-1]
		switch e.Kind {
		case history.ContainerStarted:
			s.begun++
		case history.Row:
			f.charged(s, e, resumes)
		case history.WorkStarted:
			if len(executions) > 0 && executions[0].start == i {
				f.ran(s, e)
				executions = executions[1:]
			}
		}
	}
}

// resumes counts, by task, how often somebody may have taken it on again.
func (f *finding) resumes() map[history.ID]int {
	var resumes map[history.ID]int
	for _, i := range f.verbs[history.Resume] {
		if o := &f.Operations[i]; f.effectOf(o) != 0 || o.Outcome == history.Unknown {
			if resumes == nil {
				resumes = map[history.ID]int{}
			}
			resumes[o.Task]++
		}
	}
	return resumes
}

func (f *finding) charged(s *spending, e *history.Event, resumes map[history.ID]int) {
	if s.phase == history.NeedsAttention && (e.Phase == history.Pending || e.Phase == history.Running) {
		if resumes[e.Task] == 0 {
			f.violate(breach{e.Task, e.At, e.Seq, []history.Seq{e.Seq}},
				"%s was taken on again at %s although its budget was spent and nobody had resumed it", f.task(e.Task), clock(e.At))
		} else {
			resumes[e.Task]--
		}
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

// excused finds attempts that were charged to the disruptions although whoever gave them up had seen that the work's container had failed by
// itself. A budget for disruptions is large, and a poison task would use all of it.
func (f *finding) excused() {
	for _, i := range f.verbs[history.Requeue] {
		o := &f.Operations[i]
		if o.Task == 0 || f.effectOf(o) == 0 || o.Detail != "workload lost" && o.Detail != "disrupted" {
			continue
		}
		if seen := f.failedByItself(o); seen != nil {
			f.violate(breach{o.Task, o.CalledAt, f.effectOf(o), []history.Seq{seen.Seq, o.Call}},
				"%s was requeued (%s) by %s at %s, which no failure is charged for, although the work of %s had failed by itself by %s", f.task(o.Task),
				o.Detail, f.process(o.Process), clock(o.CalledAt), f.try(o.Task, o.Token), clock(seen.At))
		}
	}
}

// The detail of the end of a container that ended by itself begins with exitPrefix; with fencedExit its worker had lost touch, or was refused, and its
// work did not fail. Other details tell of what ended it, a worker's lease among them.
const (
	exitPrefix = "exit "
	fencedExit = "exit 75"
)

// failedByItself is the event by which the API server told of the failure of an attempt's only object, before the caller of the requeue last read it;
// nil if it did not, or if the work had not begun.
func (f *finding) failedByItself(o *history.Operation) *history.Event {
	read := f.lastCall(o, history.Get)
	var begun, failed *history.Event
	objects := 0
	for _, i := range f.bodiesOf(o.Task) {
		e := &f.Events[i]
		if e.Seq >= read {
			break
		}
		if e.Token != o.Token {
			continue
		}
		switch e.Kind {
		case history.ObjectCreated:
			objects++
		case history.WorkStarted:
			begun = e
		case history.ContainerEnded:
			if !strings.HasPrefix(e.Detail, exitPrefix) || e.Detail == fencedExit {
				return nil
			}
		case history.ObjectPhase:
			if e.Detail == "failed Error" {
				failed = e
			}
		case history.ObjectGone:
			return nil
		}
	}
	if begun == nil || objects > 1 {
		return nil
	}
	return failed
}

func (f *finding) count(s *spending) {
	if !s.counted {
		s.counted = true
		f.exercised++
	}
}
