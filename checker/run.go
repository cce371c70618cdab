package checker

import (
	"math"
	"slices"
	"sort"
	"time"

	"github.com/squall-chaos/squall/checker/history"
)

// run is a history with the indexes that several invariants use. Positions are 32 bits wide: half the
// memory, and a history of two thousand million events is not judged in memory anyway.
type run struct {
	*history.History
	limits history.Limits

	bodies     []int32 // events that make or end something of a task: rows, containers, work, objects
	rows       []int32 // Row events
	effects    []int32 // EffectCounted, EffectRefused, EffectLost
	replicas   []int32 // ProcessStarted, ...
	faults     []int32 // FaultStruck, FaultHealed
	verbs      [history.Watch + 1][]int32
	executions []execution
	latest     []int32   // by task: its last execution, -1 if it never ran
	final      []int32   // by task: its last Row event, -1 if it never had one
	objects    []objects // by task
	disturbed  windows
	healed     *history.Event
	ended      *history.Event
	last       time.Duration // the last moment of the history

	taskRows   byTask // see rowsOf
	taskBodies byTask // see bodiesOf

	streams []stream // of rateOf, for one series after the other
	next    []int32
}

// execution is one time that a task's work truly ran.
type execution struct {
	task     history.ID
	number   int32 // 1 for the task's first
	start    int32 // its WorkStarted event
	end      int32 // its WorkEnded event, -1: it still ran when the history ended
	previous int32 // the task's execution before, -1: none
}

// objects are the API objects of one task.
type objects struct {
	there int32 // how many exist at the end
	last  int32 // the last ObjectCreated event, -1: none
}

func newRun(h *history.History) *run {
	r := &run{History: h, limits: h.Meta.Limits, latest: filled(len(h.Tasks), -1), final: filled(len(h.Tasks), -1),
		objects: make([]objects, len(h.Tasks))}
	for i := range r.objects {
		r.objects[i].last = -1
	}
	r.indexEvents()
	r.indexOperations()
	r.disturbed = disturbances(r)
	return r
}

func filled(n int, with int32) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = with
	}
	return s
}

func (r *run) indexEvents() {
	r.bodies = make([]int32, 0, len(r.Events)) // most are
	for i := range r.Events {
		r.indexEvent(int32(i), &r.Events[i])
	}
	if n := len(r.Events); n > 0 {
		r.last = r.Events[n-1].At
	}
}

func (r *run) indexEvent(i int32, e *history.Event) {
	switch e.Kind {
	case history.Row:
		r.rows = append(r.rows, i)
		r.final[e.Task-1] = i
	case history.WorkStarted:
		r.begin(i, e)
	case history.WorkEnded:
		r.finish(i, e)
	case history.EffectCounted, history.EffectRefused, history.EffectLost:
		r.effects = append(r.effects, i)
		return
	case history.ProcessStarted, history.ProcessCrashed, history.ProcessPaused, history.ProcessResumed:
		r.replicas = append(r.replicas, i)
		return
	case history.FaultStruck, history.FaultHealed:
		r.faults = append(r.faults, i)
	case history.ObjectCreated, history.ObjectGone:
		r.indexObject(i, e)
	case history.Healed:
		r.healed = e
	case history.Ended:
		r.ended = e
	}
	if e.Kind <= history.ObjectPhase && e.Task != 0 {
		r.bodies = append(r.bodies, i)
	}
}

func (r *run) indexObject(i int32, e *history.Event) {
	if e.Task == 0 {
		return
	}
	o := &r.objects[e.Task-1]
	if e.Kind == history.ObjectCreated {
		o.there, o.last = o.there+1, i
	} else {
		o.there = max(0, o.there-1)
	}
}

// begin opens an execution, unless the object's last one is still open: a repeated Start is no second one.
func (r *run) begin(i int32, e *history.Event) {
	x := execution{task: e.Task, number: 1, start: i, end: -1, previous: r.latest[e.Task-1]}
	if x.previous >= 0 {
		before := &r.executions[x.previous]
		if before.end < 0 && r.Events[before.start].Object == e.Object {
			return
		}
		x.number = before.number + 1
	}
	r.latest[e.Task-1] = int32(len(r.executions))
	r.executions = append(r.executions, x)
}

// finish closes the open execution of the object.
func (r *run) finish(i int32, e *history.Event) {
	for at := r.latest[e.Task-1]; at >= 0; at = r.executions[at].previous {
		x := &r.executions[at]
		if x.end < 0 && r.Events[x.start].Object == e.Object {
			x.end = i
			return
		}
	}
}

func (r *run) indexOperations() {
	var counts [len(r.verbs)]int // first: one allocation then serves all verbs
	for i := range r.Operations {
		counts[r.Operations[i].Verb]++
	}
	room := make([]int32, len(r.Operations))
	for verb, n := range counts {
		r.verbs[verb], room = room[:0:n], room[n:]
	}
	for i := range r.Operations {
		verb := r.Operations[i].Verb
		r.verbs[verb] = append(r.verbs[verb], int32(i))
	}
	if n := len(r.Operations); n > 0 {
		r.last = max(r.last, r.Operations[n-1].CalledAt)
	}
}

// started is the event that began an execution.
func (r *run) started(x *execution) *history.Event { return &r.Events[x.start] }

// over is where and when an execution ended; one that never did outlives the history.
func (r *run) over(x *execution) (history.Seq, time.Duration) {
	if x.end < 0 {
		return math.MaxUint32, r.last
	}
	return r.Events[x.end].Seq, r.Events[x.end].At
}

// seqAt is where the history had come to at a moment that has no event of its own.
func (r *run) seqAt(at time.Duration) history.Seq {
	n := len(r.Events)
	if n == 0 {
		return 0
	}
	i := sort.Search(n, func(i int) bool { return r.Events[i].At >= at })
	return r.Events[min(i, n-1)].Seq
}

// budgets are the task's own, where it has them.
func (r *run) budgets(task history.ID) (failures, disruptions int) {
	failures, disruptions = r.limits.MaxFailures, r.limits.MaxDisruptions
	if int(task) <= len(r.Specs) {
		s := r.Specs[task-1]
		if s.MaxFailures > 0 {
			failures = s.MaxFailures
		}
		if s.MaxDisruptions > 0 {
			disruptions = s.MaxDisruptions
		}
	}
	return failures, disruptions
}

// byTask are events of one kind, put together by task: those of task t are in order[starts[t]:starts[t+1]].
type byTask struct{ starts, order []int32 }

func (r *run) byTask(events []int32) byTask {
	b := byTask{starts: make([]int32, len(r.Tasks)+2), order: make([]int32, len(events))}
	for _, i := range events {
		b.starts[r.Events[i].Task+1]++
	}
	for t := 1; t < len(b.starts); t++ {
		b.starts[t] += b.starts[t-1]
	}
	next := slices.Clone(b.starts)
	for _, i := range events {
		task := r.Events[i].Task
		b.order[next[task]] = i
		next[task]++
	}
	return b
}

func (b *byTask) of(task history.ID) []int32 { return b.order[b.starts[task]:b.starts[task+1]] }

// rowsOf lists the Row events of one task. The index behind it is made when the first violation needs it.
func (r *run) rowsOf(task history.ID) []int32 {
	if r.taskRows.starts == nil {
		r.taskRows = r.byTask(r.rows)
	}
	return r.taskRows.of(task)
}

// bodiesOf lists the events of one task's rows, containers, work and objects, likewise.
func (r *run) bodiesOf(task history.ID) []int32 {
	if r.taskBodies.starts == nil {
		r.taskBodies = r.byTask(r.bodies)
	}
	return r.taskBodies.of(task)
}

// attempt is the number of the task's attempt with that token: claims count up, and a claim that was given back
// counts down. 0 when no row ever had the token.
func (r *run) attempt(task history.ID, token uint64) int {
	number, current := 0, uint64(0)
	for _, i := range r.rowsOf(task) {
		next := r.Events[i].Token
		switch {
		case next == current:
			continue
		case next == 0:
			number--
		default:
			number++
		}
		if next == token {
			return number
		}
		current = next
	}
	return 0
}

// effectOf is where an operation took effect, 0 if it did not. Where no server's log tells, a success took effect between call
// and return. Taking what grants something at its return and what uses it at its call never accuses wrongly.
func (r *run) effectOf(o *history.Operation) history.Seq {
	switch {
	case o.Effect != 0:
		return o.Effect
	case o.Applied == history.Fail || o.Outcome != history.OK:
		return 0
	case o.Verb == history.Lead || o.Verb == history.Claim:
		return o.Return
	}
	return o.Call
}
