package scenarios

import (
	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/dispatcher"
)

// Assertion is something that a right dispatcher does now and then. A suite in which it never happens has not put it to the test,
// however green it is.
type Assertion struct{ Name, Does string }

// Sometimes lists the assertions of the reference that a suite must have reached, in the order of a task's life.
func Sometimes() []Assertion {
	list := make([]Assertion, len(assertions))
	for i, a := range assertions {
		list[i] = a.Assertion
	}
	return list
}

// assertion is an Assertion with how it is seen: in an operation or in an event.
type assertion struct {
	Assertion
	operation func(g *glance, o *history.Operation) bool
	event     func(g *glance, e *history.Event) bool
}

var assertions = []assertion{
	{Assertion: Assertion{"adopted", "an object whose create had no answer was found by its name and taken"},
		operation: func(g *glance, o *history.Operation) bool {
			return o.Verb == history.Launched && applied(o) && !g.created[o.Token]
		}},
	{Assertion: Assertion{"taken over", "another process, or another life of it, went on with a launch that was left open"},
		operation: func(g *glance, o *history.Operation) bool {
			return o.Verb == history.Claim && applied(o) && g.claimed[o.Token] != 0
		}},
	{Assertion: Assertion{"given back", "a claim was undone since the server took no more objects"}, operation: done(history.Unclaim)},
	{Assertion: Assertion{"rejected", "a task was stopped since its object is refused for good"}, operation: done(history.Reject)},
	{Assertion: Assertion{"refused as fenced", "a call under an old term was refused by the store"},
		operation: func(_ *glance, o *history.Operation) bool {
			return o.Code == history.Fenced
		}},
	{Assertion: Assertion{"refused as stale", "a write that was decided on an old look was refused by the store"},
		operation: func(_ *glance, o *history.Operation) bool { return o.Code == history.Conflict && writes(o.Verb) }},
	{Assertion: Assertion{"worker refused", "a worker whose attempt was superseded was not let in, or had to stop"},
		operation: func(_ *glance, o *history.Operation) bool { return o.Code == history.Refused }},
	{Assertion: Assertion{"result refused", "a result of a superseded attempt did not count"},
		event: func(_ *glance, e *history.Event) bool { return e.Kind == history.EffectRefused }},
	{Assertion: Assertion{"result repeated", "a result was handed in again since the first answer was lost, and counted once"},
		operation: func(g *glance, o *history.Operation) bool {
			return o.Verb == history.Finish && applied(o) && o.Detail == string(dispatcher.ResultSucceeded) && g.finished[o.Token] > 1
		}},
	{Assertion: Assertion{"requeued after proof of death", "lost work was requeued when its container was dead"},
		operation: func(g *glance, o *history.Operation) bool {
			return o.Verb == history.Requeue && applied(o) && o.Detail == string(dispatcher.ReasonLost) && g.ended[o.Token]
		}},
	{Assertion: Assertion{"requeued without an object", "a claim was requeued of which no container ever came"},
		operation: func(g *glance, o *history.Operation) bool {
			return o.Verb == history.Requeue && applied(o) && o.Detail == string(dispatcher.ReasonLost) && !g.started[o.Token]
		}},
	{Assertion: Assertion{"requeued as disrupted", "evicted work was requeued, charged to the disruptions"}, operation: ended(history.Requeue, dispatcher.ReasonDisrupted)},
	{Assertion: Assertion{"requeued for its start", "an attempt that did not begin in time was replaced"}, operation: ended(history.Requeue, dispatcher.ReasonStartTimeout)},
	{Assertion: Assertion{"requeued as failed", "work whose container failed was tried again, charged to the failures"}, operation: ended(history.Requeue, dispatcher.ReasonWorkFailed)},
	{Assertion: Assertion{"ended by its deadline", "work was stopped by the workflow deadline, and the task concluded"}, operation: ended(history.Conclude, dispatcher.ReasonDeadline)},
	{Assertion: Assertion{"start deadline missed", "a task that could not begin in time was failed, not begun late"},
		event: func(_ *glance, e *history.Event) bool {
			return e.Kind == history.Row && e.Detail == string(dispatcher.ReasonStartDeadline)
		}},
	{Assertion: Assertion{"cancelled at work", "a task was cancelled after its work had begun"},
		event: func(g *glance, e *history.Event) bool {
			return e.Kind == history.Row && e.Phase == history.Cancelled && g.worked[e.Task]
		}},
	{Assertion: Assertion{"cancelled before work", "a task was cancelled of which no work ever began"},
		event: func(g *glance, e *history.Event) bool {
			return e.Kind == history.Row && e.Phase == history.Cancelled && !g.worked[e.Task]
		}},
	{Assertion: Assertion{"needs attention", "a task whose budget was spent stopped, for a person to look at"},
		event: func(_ *glance, e *history.Event) bool {
			return e.Kind == history.Row && e.Phase == history.NeedsAttention
		}},
	{Assertion: Assertion{"second term", "another replica took the lead"},
		operation: func(_ *glance, o *history.Operation) bool { return o.Verb == history.Lead && applied(o) && o.Epoch > 1 }},
	{Assertion: Assertion{"cleaned up", "what a stopped attempt left was removed, and recorded so"}, operation: done(history.Cleaned)},
}

func applied(o *history.Operation) bool { return o.Applied == history.OK }

func done(v history.Verb) func(*glance, *history.Operation) bool {
	return func(_ *glance, o *history.Operation) bool { return o.Verb == v && applied(o) }
}

func ended(v history.Verb, why dispatcher.Reason) func(*glance, *history.Operation) bool {
	return func(_ *glance, o *history.Operation) bool {
		return o.Verb == v && applied(o) && o.Detail == string(why)
	}
}

func writes(v history.Verb) bool {
	switch v {
	case history.Launched, history.Unclaim, history.Reject, history.Observe, history.Requeue, history.Conclude, history.Cleaned, history.Postpone:
		return true
	}
	return false
}

// glance is what the assertions need to know of what came before.
type glance struct {
	created, started, ended map[uint64]bool       // by token
	claimed                 map[uint64]history.ID // by token: who claimed it
	finished                map[uint64]int        // by token
	worked                  map[history.ID]bool   // by task
}

// reached lists the assertions that a run reached, in order.
func reached(h *history.History) []string {
	g := &glance{created: map[uint64]bool{}, started: map[uint64]bool{}, ended: map[uint64]bool{}, claimed: map[uint64]history.ID{},
		finished: map[uint64]int{}, worked: map[history.ID]bool{}}
	seen := make([]bool, len(assertions))
	e := 0
	for i := range h.Operations {
		o := &h.Operations[i]
		at := max(o.Effect, o.Call)
		for ; e < len(h.Events) && h.Events[e].Seq <= at; e++ {
			g.event(&h.Events[e], seen)
		}
		g.operation(o, seen)
	}
	for ; e < len(h.Events); e++ {
		g.event(&h.Events[e], seen)
	}
	var names []string
	for i, yes := range seen {
		if yes {
			names = append(names, assertions[i].Name)
		}
	}
	return names
}

func (g *glance) operation(o *history.Operation, seen []bool) {
	if o.Verb == history.Finish && applied(o) {
		g.finished[o.Token]++
	}
	if o.Verb == history.Create && o.Outcome == history.OK {
		g.created[o.Token] = true
	}
	for i := range assertions {
		if f := assertions[i].operation; f != nil && !seen[i] && f(g, o) {
			seen[i] = true
		}
	}
	if o.Verb == history.Claim && applied(o) && o.Token != 0 {
		g.claimed[o.Token] = o.Process
	}
}

func (g *glance) event(e *history.Event, seen []bool) {
	for i := range assertions {
		if f := assertions[i].event; f != nil && !seen[i] && f(g, e) {
			seen[i] = true
		}
	}
	switch e.Kind {
	case history.ContainerStarted:
		g.started[e.Token] = true
	case history.ContainerEnded:
		g.ended[e.Token] = true
	case history.WorkStarted:
		g.worked[e.Task] = true
	}
}
