package sim

import (
	"slices"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/sim/kernel"
	"github.com/squall-chaos/squall/dispatcher"
)

// record is the history while it is written.
type record struct {
	kernel     *kernel.Kernel
	fork       clusters.Fork
	seq        history.Seq
	operations []history.Operation // in order of Call
	open       []*call             // whose operations may still change
	events     []history.Event
	processes  *history.Table
	tasks      *history.Table
	nodes      *history.Table
	specs      []history.Spec // by task ID-1; shorter than tasks when the last were only mentioned
	lateness   time.Duration  // the longest that an effect came after its caller's deadline
	explorer   *explorer      // nil when nobody explores

	rows []row // by task ID-1
	busy int   // rows that still need something
}

func newRecord(k *kernel.Kernel, m *Memory, fork clusters.Fork) *record {
	r := m.record
	if r == nil {
		r = &record{processes: history.NewTable(), tasks: history.NewTable(), nodes: history.NewTable()}
	}
	r.kernel, r.fork = k, fork
	return r
}

// again is an empty record on the memory of one that nobody looks at any more. What it held is written over, but for calls: they would
// keep their world alive.
func (r *record) again() *record {
	clear(r.open[:cap(r.open)])
	r.processes.Clear()
	r.tasks.Clear()
	r.nodes.Clear()
	return &record{operations: r.operations[:0], events: r.events[:0], open: r.open[:0], processes: r.processes, tasks: r.tasks, nodes: r.nodes,
		specs: r.specs[:0], rows: r.rows[:0]}
}

func (r *record) next() history.Seq {
	r.seq++
	if r.seq == r.fork.At {
		r.kernel.Fork(r.fork.Seed)
	}
	return r.seq
}

// event adds an event at the present moment.
func (r *record) event(e history.Event) {
	e.Seq, e.At = r.next(), r.kernel.Now()
	r.events = append(r.events, e)
	if r.explorer != nil {
		r.explorer.happened(&e)
	}
}

// row is what Row events show of a task, and so what makes a commit worth one.
type row struct {
	phase       history.Phase
	cancelling  bool
	cleanup     bool
	failures    int32
	disruptions int32
	token       uint64
	epoch       uint64
	due         time.Duration // of the claim when pending, of the cleanup when stopped and owing
	kept        bool          // the cleanup was postponed: the finished workload is kept for a while
	reason      string
}

// busy tells whether the system still owes the task something.
func (r row) busy() bool {
	switch r.phase {
	case history.Pending, history.Running:
		return true
	}
	return r.cleanup && !r.kept
}

func rowOf(t *dispatcher.Task) row {
	r := row{
		phase:       clusters.PhaseOf(t.Phase),
		cancelling:  t.Desired == dispatcher.DesiredCancel,
		cleanup:     !t.CleanupAt.IsZero(),
		failures:    int32(t.Failures),
		disruptions: int32(t.Disruptions),
		token:       uint64(t.Attempt.Token),
		epoch:       uint64(t.Attempt.Epoch),
		reason:      string(t.Reason),
	}
	switch {
	case t.Phase == dispatcher.Pending:
		due := t.SubmittedAt
		if t.NotBefore.After(due) {
			due = t.NotBefore
		}
		r.due = due.Sub(kernel.Epoch)
	case t.Phase.Stopped() && r.cleanup:
		r.due, r.kept = t.CleanupAt.Sub(kernel.Epoch), t.CleanupAt.After(t.EndedAt)
	}
	return r
}

// committed is told of every row that a transaction wrote.
func (r *record) committed(t *dispatcher.Task) {
	if r.explorer != nil {
		r.explorer.committed(t)
	}
	id := r.tasks.ID(string(t.Spec.ID))
	if n := int(id); n > len(r.rows) {
		r.rows = append(r.rows, make([]row, n-len(r.rows))...)
	}
	now, before := rowOf(t), &r.rows[id-1]
	if now == *before {
		return
	}
	r.busy += count(now.busy()) - count(before.busy())
	*before = now
	r.event(history.Event{
		Kind: history.Row, Task: id, Phase: now.phase, Cancelling: now.cancelling, Cleanup: now.cleanup,
		Failures: now.failures, Disruptions: now.disruptions, Token: now.token, Epoch: now.epoch,
		Due: now.due, Detail: now.reason,
	})
}

// vanished is told of a row that a failover took away for good.
func (r *record) vanished(id dispatcher.TaskID) {
	task := r.tasks.ID(string(id))
	if int(task) > len(r.rows) {
		return
	}
	before := &r.rows[task-1]
	r.busy -= count(before.busy())
	*before = row{}
	r.event(history.Event{Kind: history.Row, Task: task})
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// spec keeps what checkers need to know about a submitted task.
func (r *record) spec(s dispatcher.Spec) history.ID {
	id := r.tasks.ID(string(s.ID))
	if n := int(id); n > len(r.specs) {
		r.specs = append(r.specs, make([]history.Spec, n-len(r.specs))...)
	}
	r.specs[id-1] = clusters.SpecOf(s)
	return id
}

// begin adds the call's operation.
func (r *record) begin(c *call) *history.Operation {
	c.op, c.opened = len(r.operations), len(r.open)
	r.open = append(r.open, c)
	r.operations = append(r.operations, history.Operation{
		Call: r.next(), CalledAt: r.kernel.Now(), Process: c.by.id, Verb: c.verb, Task: r.tasks.ID(c.task),
		Outcome: history.Unknown, Applied: history.Fail,
	})
	return &r.operations[c.op]
}

// closed is told of a call whose operations will not change any more.
func (r *record) closed(c *call) {
	last := r.open[len(r.open)-1]
	r.open[c.opened], last.opened = last, c.opened
	r.open = r.open[:len(r.open)-1]
}

// spread makes n operations of the call's one, and returns them: a Claim is one per task. They are put
// beside it, to keep the order of calls; hardly a call begins between a call and its effect.
func (r *record) spread(c *call, n int) []history.Operation {
	if c.more = max(n-1, 0); c.more > 0 {
		r.operations = slices.Grow(r.operations, c.more)[:len(r.operations)+c.more]
		copy(r.operations[c.op+n:], r.operations[c.op+1:len(r.operations)-c.more])
		for _, o := range r.open {
			if o.op > c.op {
				o.op += c.more
			}
		}
	}
	all := r.of(c)
	for i := range all[1:] {
		all[1+i] = all[0]
	}
	return all
}

// of are the operations of a call.
func (r *record) of(c *call) []history.Operation { return r.operations[c.op : c.op+1+c.more] }

// returned ends the call's operations for its caller.
func (r *record) returned(c *call, err error) {
	seq, now := r.next(), r.kernel.Now()
	outcome, code := clusters.OutcomeOf(err)
	all := r.of(c)
	for i := range all {
		op := &all[i]
		op.Return, op.ReturnedAt, op.Outcome, op.Code = seq, now, outcome, code
	}
}

// history is the record so far.
func (r *record) history(c *clusters.Config) *history.History {
	limits := clusters.LimitsOf(c.Settings, r.lateness)
	tasks := r.tasks.Names()
	if n := len(tasks); n > len(r.specs) {
		r.specs = append(r.specs, make([]history.Spec, n-len(r.specs))...)
	}
	return &history.History{
		Meta: history.Meta{
			Dispatcher: c.System.Name, World: "sim", Seed: c.Seed, TraceHash: r.kernel.Hash(), Limits: limits,
		},
		Processes:  r.processes.Names(),
		Tasks:      tasks,
		Nodes:      r.nodes.Names(),
		Specs:      r.specs,
		Operations: r.operations,
		Events:     r.events,
	}
}
