package reports

import (
	"strings"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/dispatcher"
)

// tasks tells which names of a history's table are tasks. A dispatcher that names its objects otherwise than the
// protocol asks leaves names there that only its objects have: calls by such a name are the task's all the same.
type tasks struct {
	real  []history.ID              // in order of the table
	alias map[history.ID]history.ID // from the name of an object to its task
}

func sortTasks(h *history.History) tasks {
	known := make([]bool, len(h.Tasks)+1)
	see := func(id history.ID) {
		if id > 0 && int(id) < len(known) {
			known[id] = true
		}
	}
	byName := map[string]history.ID{}
	for i, name := range h.Tasks {
		byName[name] = history.ID(i + 1)
	}
	t := tasks{alias: map[history.ID]history.ID{}}
	for i := range h.Events {
		e := &h.Events[i]
		switch e.Kind {
		case history.Row, history.ContainerStarted:
			see(e.Task)
		case history.ObjectCreated:
			name := strings.TrimPrefix(e.Detail, dispatcher.WorkloadName(""))
			if id := byName[name]; id != 0 && id != e.Task {
				t.alias[id] = e.Task
			}
		}
	}
	for i := range h.Operations {
		if o := &h.Operations[i]; o.Verb == history.Submit {
			see(o.Task)
		}
	}
	for i := range h.Tasks {
		if known[i+1] {
			t.real = append(t.real, history.ID(i+1))
		}
	}
	return t
}

// taskOf is the task that a call is about.
func (t tasks) taskOf(o *history.Operation) history.ID {
	if id, ok := t.alias[o.Task]; ok {
		return id
	}
	return o.Task
}
