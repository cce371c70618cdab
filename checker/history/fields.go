package history

import "time"

// One table per kind of line says which fields it has: the writer and the reader both go by it, so that
// neither can know a field that the other does not. The first field of a line tells its kind and
// is not in the table.

// field is one field of a line about a T. Values that are zero are left out.
type field[T any] struct {
	name string
	key  string // ,"name":
	put  func(b []byte, f *field[T], n *names, v *T) []byte
	take func(d *decoder, v *T, raw value) problem
}

// names are the tables that a history's IDs point into.
type names struct{ processes, tasks, nodes *Table }

// footer is the last line: what must have come before it.
type footer struct {
	operations, events uint64
	traceHash          uint64
}

var headerFields = []field[Meta]{
	text("scenario", func(m *Meta) *string { return &m.Scenario }),
	text("dispatcher", func(m *Meta) *string { return &m.Dispatcher }),
	text("world", func(m *Meta) *string { return &m.World }),
	text("version", func(m *Meta) *string { return &m.Version }),
	exact("seed", func(m *Meta) *uint64 { return &m.Seed }),
	integer("claim_batch", func(m *Meta) *int { return &m.Limits.ClaimBatch }),
	integer("max_in_flight", func(m *Meta) *int { return &m.Limits.MaxInFlight }),
	integer("recover_batch", func(m *Meta) *int { return &m.Limits.RecoverBatch }),
	integer("max_failures", func(m *Meta) *int { return &m.Limits.MaxFailures }),
	integer("max_disruptions", func(m *Meta) *int { return &m.Limits.MaxDisruptions }),
	seconds("tick", func(m *Meta) *time.Duration { return &m.Limits.Tick }),
	seconds("recovery_grace", func(m *Meta) *time.Duration { return &m.Limits.RecoveryGrace }),
	seconds("recover_interval", func(m *Meta) *time.Duration { return &m.Limits.RecoverInterval }),
	seconds("create_timeout", func(m *Meta) *time.Duration { return &m.Limits.CreateTimeout }),
	seconds("pod_grace", func(m *Meta) *time.Duration { return &m.Limits.PodGrace }),
	seconds("handover", func(m *Meta) *time.Duration { return &m.Limits.Handover }),
	integer("calls_per_minute", func(m *Meta) *int { return &m.Limits.CallsPerMinute }),
	seconds("call_max", func(m *Meta) *time.Duration { return &m.Limits.CallMax }),
	seconds("start_timeout", func(m *Meta) *time.Duration { return &m.Limits.StartTimeout }),
	seconds("workflow_deadline", func(m *Meta) *time.Duration { return &m.Limits.Deadline }),
}

var specFields = []field[Spec]{
	integer("max_failures", func(s *Spec) *int { return &s.MaxFailures }),
	integer("max_disruptions", func(s *Spec) *int { return &s.MaxDisruptions }),
	seconds("start_deadline", func(s *Spec) *time.Duration { return &s.StartDeadline }),
	seconds("deadline", func(s *Spec) *time.Duration { return &s.Deadline }),
}

// nothingFields are those of a declared process or node: it has a name and nothing else.
var nothingFields = []field[struct{}]{}

var operationFields = []field[Operation]{
	reference("process", "process", (*names).process, func(o *Operation) *ID { return &o.Process }),
	reference("task", "task", (*names).task, func(o *Operation) *ID { return &o.Task }),
	unsigned("call", func(o *Operation) *Seq { return &o.Call }),
	unsigned("effect", func(o *Operation) *Seq { return &o.Effect }),
	unsigned("visible", func(o *Operation) *Seq { return &o.Visible }),
	unsigned("return", func(o *Operation) *Seq { return &o.Return }),
	seconds("called", func(o *Operation) *time.Duration { return &o.CalledAt }),
	seconds("returned", func(o *Operation) *time.Duration { return &o.ReturnedAt }),
	enum("outcome", outcomeWords, func(o *Operation) *Outcome { return &o.Outcome }),
	enum("code", codeWords, func(o *Operation) *Code { return &o.Code }),
	enum("applied", outcomeWords, func(o *Operation) *Outcome { return &o.Applied }),
	enum("phase", phaseWords, func(o *Operation) *Phase { return &o.Phase }),
	flag("cancelling", func(o *Operation) *bool { return &o.Cancelling }),
	unsigned("token", func(o *Operation) *uint64 { return &o.Token }),
	unsigned("epoch", func(o *Operation) *uint64 { return &o.Epoch }),
	text("detail", func(o *Operation) *string { return &o.Detail }),
}

var eventFields = []field[Event]{
	unsigned("seq", func(e *Event) *Seq { return &e.Seq }),
	seconds("at", func(e *Event) *time.Duration { return &e.At }),
	reference("task", "task", (*names).task, func(e *Event) *ID { return &e.Task }),
	reference("process", "process", (*names).process, func(e *Event) *ID { return &e.Process }),
	reference("node", "node", (*names).node, func(e *Event) *ID { return &e.Node }),
	enum("phase", phaseWords, func(e *Event) *Phase { return &e.Phase }),
	flag("cancelling", func(e *Event) *bool { return &e.Cancelling }),
	flag("cleanup", func(e *Event) *bool { return &e.Cleanup }),
	integer("fault", func(e *Event) *int32 { return &e.Fault }),
	integer("failures", func(e *Event) *int32 { return &e.Failures }),
	integer("disruptions", func(e *Event) *int32 { return &e.Disruptions }),
	unsigned("token", func(e *Event) *uint64 { return &e.Token }),
	unsigned("epoch", func(e *Event) *uint64 { return &e.Epoch }),
	seconds("due", func(e *Event) *time.Duration { return &e.Due }),
	text("object", func(e *Event) *string { return &e.Object }),
	text("detail", func(e *Event) *string { return &e.Detail }),
}

var footerFields = []field[footer]{
	unsigned("operations", func(f *footer) *uint64 { return &f.operations }),
	unsigned("events", func(f *footer) *uint64 { return &f.events }),
	exact("trace_hash", func(f *footer) *uint64 { return &f.traceHash }),
}

func (n *names) process() *Table { return n.processes }
func (n *names) task() *Table    { return n.tasks }
func (n *names) node() *Table    { return n.nodes }

func fieldNames[T any](fields []field[T]) []string {
	all := make([]string, len(fields))
	for i, f := range fields {
		all[i] = f.name
	}
	return all
}
