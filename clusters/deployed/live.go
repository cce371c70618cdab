package deployed

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
	containers []Container
}

// Container is one of a workload that lives.
type Container struct {
	ID, Object, Task, Node string
	Token                  uint64
}

// Record takes an event; its stamp is when it happened, its place is now. Only the loop may call it, and what follows.
func (w *World) Record(e journal.Event) { w.live.add(e) }

// Recorded are the events so far.
func (w *World) Recorded() []journal.Event { return w.live.events }

// Containers are those that live.
func (w *World) Containers() []Container { return slices.Clone(w.live.containers) }

// ContainerStarted and ContainerEnded record the life of a workload's container.
func (w *World) ContainerStarted(c Container, e journal.Event) {
	w.live.containers = append(w.live.containers, c)
	w.live.add(e)
}

// ContainerEnded is told of the object.
func (w *World) ContainerEnded(object string, e journal.Event) { w.live.ended(object, e) }

// ContainerOf is the task's latest container that lives.
func (w *World) ContainerOf(task string) (Container, bool) {
	for _, c := range slices.Backward(w.live.containers) {
		if c.Task == task {
			return c, true
		}
	}
	return Container{}, false
}

func (l *live) add(e journal.Event) {
	l.events = append(l.events, e)
	n := &l.world.names
	l.history.Events = append(l.history.Events, history.Event{
		Seq: history.Seq(len(l.events)), At: e.At.Sub(l.world.start), Kind: e.Kind,
		Process: n.processes.ID(e.Process), Task: n.tasks.ID(e.Task), Node: n.nodes.ID(e.Node),
		Fault: e.Fault, Due: e.Delay, Object: e.Object, Detail: e.Detail, Token: e.Token,
	})
}

func (l *live) ended(object string, e journal.Event) {
	i := slices.IndexFunc(l.containers, func(c Container) bool { return c.Object == object })
	if i < 0 {
		return // it was told already, by the end of its machine
	}
	l.containers = slices.Delete(l.containers, i, i+1)
	l.add(e)
}
