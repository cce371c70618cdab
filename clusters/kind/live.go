package kind

import (
	"slices"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters/journal"
)

// live is what the harness saw while the run went on. Only the loop touches it.
type live struct {
	world      *World
	events     []journal.Event // all of them, for the final history
	history    history.History // the same as a history, to aim by
	containers []liveContainer
}

type liveContainer struct {
	id, object, task, node string
	token                  uint64
}

// add takes an event; its stamp is when it happened, its place is now.
func (l *live) add(e journal.Event) {
	l.events = append(l.events, e)
	n := &l.world.names
	l.history.Events = append(l.history.Events, history.Event{
		Seq: history.Seq(len(l.events)), At: e.At.Sub(l.world.start), Kind: e.Kind,
		Process: n.processes.ID(e.Process), Task: n.tasks.ID(e.Task), Node: n.nodes.ID(e.Node),
		Fault: e.Fault, Due: e.Delay, Object: e.Object, Detail: e.Detail, Token: e.Token,
	})
}

// started and ended are told of containers of workloads.
func (l *live) started(c liveContainer, e journal.Event) {
	l.containers = append(l.containers, c)
	l.add(e)
}

func (l *live) ended(object string, e journal.Event) {
	i := slices.IndexFunc(l.containers, func(c liveContainer) bool { return c.object == object })
	if i < 0 {
		return // it was told already, by the end of its machine
	}
	l.containers = slices.Delete(l.containers, i, i+1)
	l.add(e)
}

// of is the task's latest container that lives.
func (l *live) of(task string) (liveContainer, bool) {
	for _, c := range slices.Backward(l.containers) {
		if c.task == task {
			return c, true
		}
	}
	return liveContainer{}, false
}
