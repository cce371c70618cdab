package faults

import (
	"github.com/squall-chaos/squall/checker/history"
)

// AsRecorded is the plan as a run's history says that it was carried out: only what struck, when it struck, what it struck,
// and for how long. A world in which time is real is late by a little each time, and who leads in it no seed decides.
func (p Plan) AsRecorded(h *history.History) Plan {
	recorded := Plan{}
	healed := map[int32]history.Event{}
	for _, e := range h.Events {
		if e.Kind == history.FaultHealed {
			healed[e.Fault] = e
		}
	}
	for _, e := range h.Events {
		if e.Kind != history.FaultStruck || e.Fault < 1 || int(e.Fault) > len(p) {
			continue
		}
		f := p[e.Fault-1]
		f.At = e.At
		f.Target = f.Target.resolved(h, e)
		if end, ok := healed[e.Fault]; ok && f.For > 0 && end.At > e.At {
			f.For = end.At - e.At
		}
		recorded = append(recorded, f)
	}
	return recorded
}

// resolved puts the names that the record has in the place of what was to be found out when the fault struck.
func (t Target) resolved(h *history.History, e history.Event) Target {
	if !late(t) {
		return t
	}
	for _, x := range []struct {
		to    *string
		names []string
		id    history.ID
	}{{&t.Process, h.Processes, e.Process}, {&t.Node, h.Nodes, e.Node}, {&t.Task, h.Tasks, e.Task}} {
		if x.id > 0 && int(x.id) <= len(x.names) && late(Target{Process: t.Process, Node: t.Node, Task: t.Task}) && *x.to != "" {
			*x.to = x.names[x.id-1]
		}
	}
	return t
}
