package dispatchertest

import (
	"fmt"
	"slices"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// choice is what a random call is made with, the same on both sides.
type choice struct {
	id     dispatcher.TaskID
	fresh  dispatcher.TaskID // the next new ID; empty while enough tasks are under way
	back   int               // how many versions old the caller's knowledge of the row is
	former int               // how many terms old the caller's term is
	borrow bool              // the caller's term is of the other role
	other  bool              // the ticket is of another object, the spec another one
	n      int
}

// choose draws a call that is likely to be accepted, but not certain.
func (d *diff) choose() choice {
	s := d.sides[0]
	c := choice{id: "nobody", borrow: d.one(20), other: d.one(10), n: d.rand.IntN(12)}
	var open []dispatcher.TaskID
	for _, id := range s.ids {
		if rows := s.rows[id]; !rows[len(rows)-1].Phase.Terminal() {
			open = append(open, id)
		}
	}
	if len(open) < 10 {
		c.fresh = dispatcher.TaskID(fmt.Sprintf("t%06d", len(s.ids)))
	}
	switch {
	case len(s.ids) == 0 || d.one(15):
	case len(open) == 0 || d.one(5):
		c.id = s.ids[d.rand.IntN(len(s.ids))]
	default:
		c.id = open[d.rand.IntN(len(open))]
	}
	if d.one(8) {
		c.back = d.rand.IntN(4)
	}
	if d.one(10) {
		c.former = 1
	}
	return c
}

// operation draws what to call: half the time what takes the task further, so that long lives happen too.
func (d *diff) operation(c choice) diffOperation {
	if drawn := diffOperations[d.rand.IntN(len(diffOperations))]; d.one(2) && (drawn.name != "Cancel" || c.n < 4 || d.sides[0].row(c).Phase.Terminal()) {
		return drawn // but few cancels, or nothing else would come to an end
	}
	onward := onward(d.sides[0].row(c))
	name := onward[d.rand.IntN(len(onward))]
	return diffOperations[slices.IndexFunc(diffOperations, func(o diffOperation) bool { return o.name == name })]
}

// onward names the calls that take a task further.
func onward(t dispatcher.Task) []string {
	switch {
	case !t.CleanupAt.IsZero():
		return []string{"Cleaned"}
	case t.Phase == dispatcher.Pending:
		return []string{"Claim", "Claim", "time passes"}
	case t.Phase == dispatcher.NeedsAttention:
		return []string{"Resume"}
	case t.Desired == dispatcher.DesiredCancel:
		return []string{"Requeue", "Conclude"}
	case t.Activity == dispatcher.Launching, t.Activity == dispatcher.Launched:
		return []string{"Launched", "Start", "Start"}
	case t.Activity == dispatcher.Executing:
		return []string{"Finish", "Heartbeat", "Requeue"}
	}
	return []string{"Submit", "Lead"}
}

// one is true once in n times.
func (d *diff) one(n int) bool { return d.rand.IntN(n) == 0 }

// row is what the caller knows of the task.
func (s *side) row(c choice) dispatcher.Task {
	rows := s.rows[c.id]
	if len(rows) == 0 {
		return dispatcher.Task{Spec: dispatcher.Spec{ID: c.id}}
	}
	return rows[max(0, len(rows)-1-c.back)]
}

func (s *side) ref(c choice) dispatcher.Ref { return s.row(c).Ref() }

func (s *side) ticket(c choice) dispatcher.Ticket {
	k := ticket(s.row(c))
	if c.other {
		k.Workload = "uid-other"
	}
	return k
}

// term is what the caller leads by.
func (s *side) term(r dispatcher.Role, c choice) dispatcher.Term {
	if c.borrow {
		r = otherRole(r)
	}
	terms := s.terms[r]
	if len(terms) <= c.former {
		return dispatcher.Term{Role: r}
	}
	return terms[len(terms)-1-c.former]
}

func otherRole(r dispatcher.Role) dispatcher.Role {
	if r == dispatcher.RoleDispatcher {
		return dispatcher.RoleReconciler
	}
	return dispatcher.RoleDispatcher
}

func (c choice) role() dispatcher.Role {
	switch {
	case c.n == 0:
		return "janitor"
	case c.n%2 == 0:
		return dispatcher.RoleDispatcher
	}
	return dispatcher.RoleReconciler
}

// wait is an odd number of thirds of the unit.
func (c choice) wait() time.Duration { return []time.Duration{1, 2, 4}[c.n%3] * unit / 3 }

// spec is a task's spec, which its ID alone decides.
func spec(id dispatcher.TaskID) dispatcher.Spec {
	s := dispatcher.Spec{ID: id}
	switch id[len(id)-1] {
	case '1', '5':
		s.StartDeadline = 4 * unit / 3
	case '2':
		s.MaxFailures = 1
	case '3':
		s.MaxDisruptions = 1
	}
	return s
}

func pick[T any](c choice, of ...T) T { return of[c.n%len(of)] }

// diffOperation is one kind of random call.
type diffOperation struct {
	name  string
	never bool // it is never refused
	call  func(s *side, c choice) answer
}

// diffOperations are all methods of the store, and the passing of time.
var diffOperations = []diffOperation{
	{"time passes", true, func(s *side, c choice) answer {
		if c.n < 4 {
			s.Advance(unit)
		}
		return answer{}
	}},
	{"Submit", false, func(s *side, c choice) answer {
		known := len(s.rows[c.id]) > 0
		switch {
		case c.other && known:
			return s.answer(s.Store.Submit(s.ctx, dispatcher.Spec{ID: c.id, Deadline: time.Hour}))
		case c.fresh != "":
			return s.answer(s.Store.Submit(s.ctx, spec(c.fresh)))
		case known:
			return s.answer(s.Store.Submit(s.ctx, spec(c.id)))
		}
		return s.answer(s.Store.Submit(s.ctx, dispatcher.Spec{}))
	}},
	{"Cancel", false, func(s *side, c choice) answer { return s.answer(s.Store.Cancel(s.ctx, c.id)) }},
	{"Resume", false, func(s *side, c choice) answer { return s.answer(s.Store.Resume(s.ctx, c.id)) }},
	{"Read", false, func(s *side, c choice) answer { return s.answer(s.Store.Read(s.ctx, c.id)) }},
	{"Now", true, func(s *side, _ choice) answer {
		at, err := s.Store.Now(s.ctx)
		return answer{at: at, err: err}
	}},
	{"Lead", false, func(s *side, c choice) answer {
		term, err := s.Store.Lead(s.ctx, c.role(), "diff")
		if err == nil {
			s.terms[term.Role] = append(s.terms[term.Role], term)
		}
		return answer{err: err}
	}},
	{"Confirm", false, func(s *side, c choice) answer {
		at, err := s.Store.Confirm(s.ctx, s.term(dispatcher.RoleDispatcher, c))
		return answer{at: at, err: err}
	}},
	{"Claim", false, func(s *side, c choice) answer {
		tasks, err := s.Store.Claim(s.ctx, s.term(dispatcher.RoleDispatcher, c), c.n/2)
		return answer{tasks: tasks, err: err}
	}},
	{"Launched", false, func(s *side, c choice) answer {
		return s.answer(s.Store.Launched(s.ctx, s.term(dispatcher.RoleDispatcher, c), s.ref(c), s.ticket(c).Workload))
	}},
	{"Unclaim", false, func(s *side, c choice) answer {
		return s.answer(s.Store.Unclaim(s.ctx, s.term(dispatcher.RoleDispatcher, c), s.ref(c), c.wait()))
	}},
	{"Reject", false, func(s *side, c choice) answer {
		return s.answer(s.Store.Reject(s.ctx, s.term(dispatcher.RoleDispatcher, c), s.ref(c)))
	}},
	{"Scan", true, func(s *side, c choice) answer {
		page, err := s.Store.Scan(s.ctx, dispatcher.Scan{After: pick(c, "", c.id), Limit: c.n / 2, CancelsOnly: c.n%3 == 0})
		return answer{tasks: page.Tasks, more: page.More, at: page.Now, err: err}
	}},
	{"Observe", false, func(s *side, c choice) answer {
		seen := dispatcher.Observation{State: pick(c, dispatcher.SightAlive, dispatcher.SightAbsent), Version: uint64(c.n)}
		return s.answer(s.Store.Observe(s.ctx, s.term(dispatcher.RoleReconciler, c), s.ref(c), seen))
	}},
	{"Requeue", false, func(s *side, c choice) answer {
		why := pick(c, dispatcher.ReasonWorkFailed, dispatcher.ReasonNoResult, dispatcher.ReasonLost,
			dispatcher.ReasonDisrupted, dispatcher.ReasonStartTimeout, dispatcher.ReasonDeadline)
		return s.answer(s.Store.Requeue(s.ctx, s.term(dispatcher.RoleReconciler, c), s.ref(c), why))
	}},
	{"Conclude", false, func(s *side, c choice) answer {
		why := pick(c, dispatcher.ReasonDeadline, dispatcher.ReasonStartDeadline, dispatcher.ReasonCancelled, dispatcher.ReasonLost)
		return s.answer(s.Store.Conclude(s.ctx, s.term(dispatcher.RoleReconciler, c), s.ref(c), why))
	}},
	{"Cleaned", false, func(s *side, c choice) answer {
		return s.answer(s.Store.Cleaned(s.ctx, s.term(dispatcher.RoleReconciler, c), s.ref(c)))
	}},
	{"Postpone", false, func(s *side, c choice) answer {
		return s.answer(s.Store.Postpone(s.ctx, s.term(dispatcher.RoleReconciler, c), s.ref(c), c.wait()))
	}},
	{"Start", false, func(s *side, c choice) answer { return s.answer(s.Store.Start(s.ctx, s.ticket(c))) }},
	{"Heartbeat", false, func(s *side, c choice) answer { return answer{err: s.Store.Heartbeat(s.ctx, s.ticket(c))} }},
	{"Finish", false, func(s *side, c choice) answer {
		return s.answer(s.Store.Finish(s.ctx, s.ticket(c), pick(c, dispatcher.ResultSucceeded, dispatcher.ResultFailed, dispatcher.ResultFailed)))
	}},
}
