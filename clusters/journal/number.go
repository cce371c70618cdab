package journal

import (
	"time"

	"github.com/squall-chaos/squall/checker/history"
)

// numbering turns items in their order into a history.
type numbering struct {
	*merger
	processes, tasks, nodes *history.Table
	operations              []history.Operation
	first                   []int // by call: index of its first operation
	events                  []history.Event
	specs                   map[history.ID]history.Spec
}

func (m *merger) number(meta history.Meta) *history.History {
	n := &numbering{merger: m, processes: history.NewTable(), tasks: history.NewTable(), nodes: history.NewTable(),
		first: make([]int, len(m.calls)), specs: map[history.ID]history.Spec{}}
	for i := range m.items {
		n.item(history.Seq(i+1), &m.items[i])
	}
	if m.lateness > 0 && meta.Limits.CallMax > 0 {
		meta.Limits.CallMax = max(meta.Limits.CallMax, meta.Limits.CreateTimeout+m.lateness)
	}
	specs := make([]history.Spec, len(n.tasks.Names()))
	for i := range specs {
		specs[i] = n.specs[history.ID(i+1)]
	}
	return &history.History{Meta: meta, Processes: n.processes.Names(), Tasks: n.tasks.Names(), Nodes: n.nodes.Names(),
		Specs: specs, Operations: n.operations, Events: n.events}
}

func (n *numbering) item(seq history.Seq, it *item) {
	switch it.what {
	case called:
		n.called(seq, it)
	case effected:
		for _, o := range n.of(it.index) {
			o.Effect = seq
		}
	case visible:
		for _, o := range n.of(it.index) {
			o.Visible = seq
		}
	case returned:
		for _, o := range n.of(it.index) {
			o.Return, o.ReturnedAt = seq, it.at
		}
	case happened:
		n.event(seq, it)
	}
}

// of are the operations of a call.
func (n *numbering) of(call int) []*history.Operation {
	count := max(1, len(n.rows[call]))
	all := make([]*history.Operation, count)
	for i := range all {
		all[i] = &n.operations[n.first[call]+i]
	}
	return all
}

func (n *numbering) called(seq history.Seq, it *item) {
	c := &n.calls[it.index]
	n.first[it.index] = len(n.operations)
	op := history.Operation{Call: seq, CalledAt: it.at, Process: n.processes.ID(c.Process), Verb: c.Verb, Outcome: c.Outcome,
		Code: c.Code, Applied: n.applied[it.index], Epoch: n.epochs[it.index], Detail: c.Detail}
	rows := n.rows[it.index]
	if len(rows) == 0 {
		n.operations = append(n.operations, op)
		return
	}
	for _, r := range rows {
		op.Task, op.Token, op.Phase, op.Cancelling = n.tasks.ID(r.Task), r.Token, r.Phase, r.Cancelling
		if c.Spec != nil {
			n.specs[op.Task] = *c.Spec
		}
		n.operations = append(n.operations, op)
	}
}

func (n *numbering) event(seq history.Seq, it *item) {
	e := it.event
	out := history.Event{
		Seq: seq, At: it.at, Kind: e.Kind, Phase: e.Phase, Cancelling: e.Cancelling, Cleanup: e.Cleanup, Task: n.tasks.ID(e.Task),
		Process: n.processes.ID(e.Process), Node: n.nodes.ID(e.Node), Fault: e.Fault, Failures: e.Failures,
		Disruptions: e.Disruptions, Token: e.Token, Epoch: e.Epoch, Object: e.Object, Detail: e.Detail, Due: e.Delay,
	}
	if e.Kind == history.Row {
		out.Process, out.Due = 0, n.due(e)
	}
	n.events = append(n.events, out)
}

// due is when a pending task becomes claimable, or the owed cleanup of a stopped one is due.
func (n *numbering) due(e *Event) time.Duration {
	if e.Due.IsZero() {
		return 0
	}
	return n.time.of(e.Due, 0)
}
