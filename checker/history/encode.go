package history

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Version is the version of the file format. A reader takes no other.
const Version = 1

// flushAt is how much a Writer gathers before it writes.
const flushAt = 64 << 10

// Writer writes a history as it grows, one JSON object per line: the header, the names before they are
// used, operations, events, and a last line that tells a reader that nothing is missing. Operations must come in order
// of Call and events in order of Seq; between the two any order will do. The first error
// sticks and is what Close returns.
type Writer struct {
	to    io.Writer
	buf   []byte
	names names
	err   error
	foot  footer
	order order

	operation Operation // the one being written: a field, because a local one would be allocated for every line
	event     Event
}

// NewWriter begins a file. The trace hash is not known before the end: Close takes it.
func NewWriter(to io.Writer, m Meta) *Writer {
	w := &Writer{to: to, names: newNames()}
	w.buf = append(w.buf, `{"history":`...)
	w.buf = strconv.AppendInt(w.buf, Version, 10)
	putFields(w, headerFields, &m)
	return w
}

func newNames() names { return names{processes: NewTable(), tasks: NewTable(), nodes: NewTable()} }

// Process declares the next process.
func (w *Writer) Process(name string) ID {
	return declare(w, w.names.processes, declared{"process", name}, nothingFields, &struct{}{})
}

// Node declares the next node.
func (w *Writer) Node(name string) ID {
	return declare(w, w.names.nodes, declared{"node", name}, nothingFields, &struct{}{})
}

// Task declares the next task.
func (w *Writer) Task(name string, s Spec) ID {
	return declare(w, w.names.tasks, declared{"task", name}, specFields, &s)
}

// Operation writes an operation. Its names must have been declared.
func (w *Writer) Operation(o Operation) error {
	w.operation = o
	if w.err == nil {
		w.err = w.checkOperation(&w.operation)
	}
	if w.err != nil {
		return w.err
	}
	w.foot.operations++
	w.buf = append(append(append(w.buf, `{"op":"`...), o.Verb.String()...), '"')
	putFields(w, operationFields, &w.operation)
	return w.err
}

// Event writes an event. Its names must have been declared.
func (w *Writer) Event(e Event) error {
	w.event = e
	if w.err == nil {
		w.err = w.checkEvent(&w.event)
	}
	if w.err != nil {
		return w.err
	}
	w.foot.events++
	w.buf = append(append(append(w.buf, `{"event":"`...), e.Kind.String()...), '"')
	putFields(w, eventFields, &w.event)
	return w.err
}

// Close writes the last line, and does not close the underlying writer.
func (w *Writer) Close(traceHash uint64) error {
	if w.err != nil {
		return w.err
	}
	w.foot.traceHash = traceHash
	w.buf = append(w.buf, `{"end":"history"`...)
	putFields(w, footerFields, &w.foot)
	w.flush()
	return w.err
}

// Encode writes a whole history, operations and events merged in order of Seq.
func Encode(to io.Writer, h *History) error {
	w := NewWriter(to, h.Meta)
	for _, name := range h.Processes {
		w.Process(name)
	}
	for _, name := range h.Nodes {
		w.Node(name)
	}
	for i, name := range h.Tasks {
		var s Spec
		if i < len(h.Specs) {
			s = h.Specs[i]
		}
		w.Task(name, s)
	}
	events := h.Events
	for _, o := range h.Operations {
		for len(events) > 0 && events[0].Seq < o.Call && w.err == nil {
			_ = w.Event(events[0]) // the error sticks
			events = events[1:]
		}
		if err := w.Operation(o); err != nil {
			return err
		}
	}
	for _, e := range events {
		if err := w.Event(e); err != nil {
			return err
		}
	}
	return w.Close(h.Meta.TraceHash)
}

type declared struct{ what, name string }

func declare[T any](w *Writer, t *Table, d declared, fields []field[T], v *T) ID {
	name := strings.ToValidUTF8(cut(d.name), "\uFFFD")
	next := ID(len(t.names) + 1)
	if id := t.ID(name); id != next && w.err == nil {
		w.err = fmt.Errorf("%s %q is declared twice, or has no name", d.what, d.name)
	}
	w.buf = append(append(append(w.buf, `{"declare":"`...), d.what...), `","name":`...)
	w.buf = appendString(w.buf, name)
	putFields(w, fields, v)
	return next
}

// putFields ends the line that w.buf has begun.
func putFields[T any](w *Writer, fields []field[T], v *T) {
	b := w.buf
	for i := range fields {
		f := &fields[i]
		b = f.put(b, f, &w.names, v)
	}
	w.buf = append(b, "}\n"...)
	if len(w.buf) >= flushAt {
		w.flush()
	}
}

func (w *Writer) flush() {
	if w.err == nil {
		_, w.err = w.to.Write(w.buf)
	}
	w.buf = w.buf[:0]
}

// known refuses IDs that no name was declared for.
func (w *Writer) known(process, task, node ID) error {
	switch {
	case !w.names.processes.has(process):
		return fmt.Errorf("process %d has no name", process)
	case !w.names.tasks.has(task):
		return fmt.Errorf("task %d has no name", task)
	case !w.names.nodes.has(node):
		return fmt.Errorf("node %d has no name", node)
	}
	return nil
}

func (w *Writer) checkOperation(o *Operation) error {
	if err := w.known(o.Process, o.Task, 0); err != nil {
		return err
	}
	switch {
	case !hasWord(verbWords, o.Verb):
		return fmt.Errorf("operation at call %d has no verb: %s", o.Call, o.Verb)
	case !hasWord(outcomeWords, o.Outcome):
		return fmt.Errorf("operation at call %d has no outcome: %s", o.Call, o.Outcome)
	case int(o.Code) >= len(codeWords), int(o.Applied) >= len(outcomeWords), int(o.Phase) >= len(phaseWords):
		return fmt.Errorf("operation at call %d has a value without a word: code %d, applied %d, phase %d", o.Call, o.Code, o.Applied, o.Phase)
	}
	return w.order.operation(o)
}

func (w *Writer) checkEvent(e *Event) error {
	if err := w.known(e.Process, e.Task, e.Node); err != nil {
		return err
	}
	if !hasWord(kindWords, e.Kind) || int(e.Phase) >= len(phaseWords) {
		return fmt.Errorf("event %d has a value without a word: kind %d, phase %d", e.Seq, e.Kind, e.Phase)
	}
	return w.order.event(e)
}

func hasWord[T ~uint8](words []string, v T) bool { return int(v) < len(words) && words[v] != "" }

// has tells whether the ID stands for a name, or for none.
func (t *Table) has(id ID) bool { return id >= 0 && int(id) <= len(t.names) }
