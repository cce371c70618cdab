package history

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// maxLine is the longest line that a reader takes, so that garbage cannot exhaust memory.
const maxLine = 1 << 20

// Decode reads what Encode or a Writer wrote. It takes nothing else: the error of anything unknown, missing, twice,
// or out of order is a FormatError with file, line and what was expected. name is the file's name in errors.
func Decode(from io.Reader, name string) (*History, error) {
	d := &decoder{in: bufio.NewReaderSize(from, flushAt), file: name, names: newNames()}
	for d.next() {
		d.number++
		if p := d.decode(); p.is() {
			return nil, d.fail(p)
		}
	}
	if d.err != nil {
		return nil, d.err
	}
	if !d.ended {
		d.number++
		return nil, d.fail(problem{text: "the file ends without its last line: expected " + `{"end":"history",...}`, err: ErrTruncated})
	}
	h := &d.history
	h.Operations, h.Events = d.operations.joined(), d.events.joined()
	h.Processes, h.Tasks, h.Nodes = d.names.processes.names, d.names.tasks.names, d.names.nodes.names
	return h, nil
}

// decoder is the state of one Decode.
type decoder struct {
	in      *bufio.Reader
	file    string
	number  int // of the line
	line    []byte
	long    []byte // a line that did not fit the reader's buffer
	err     error
	scanner scanner
	names   names
	order   order
	history History

	operations pile[Operation]
	events     pile[Event]

	begun   bool
	ended   bool
	strings [1024]string // recently seen, by hash
}

func (d *decoder) fail(p problem) error {
	return &FormatError{File: d.file, Line: d.number, Problem: p.text, Nearest: p.nearest, Err: p.err}
}

// next reads one line into d.line.
func (d *decoder) next() bool {
	line, err := d.in.ReadSlice('\n')
	d.long = d.long[:0]
	for errors.Is(err, bufio.ErrBufferFull) && len(d.long) <= maxLine {
		d.long = append(d.long, line...)
		line, err = d.in.ReadSlice('\n')
	}
	if len(d.long) > 0 {
		d.long = append(d.long, line...)
		line = d.long
	}
	if len(line) > maxLine {
		d.number++
		d.err = d.fail(problem{text: fmt.Sprintf("the line is longer than %d bytes", maxLine)})
		return false
	}
	if err != nil && !errors.Is(err, io.EOF) {
		d.number++
		d.err = d.fail(problem{text: "cannot be read: " + err.Error(), err: err})
		return false
	}
	if len(line) > 0 && line[len(line)-1] == '\n' {
		line = line[:len(line)-1]
	} else if len(line) == 0 {
		return false
	}
	d.line = line
	return true
}

// decode takes one line.
func (d *decoder) decode() problem {
	d.scanner.reset(d.line)
	if d.ended {
		return problem{text: "a line after the last one: expected the end of the file"}
	}
	if !d.scanner.take('{') {
		return d.notHistory("expected a JSON object")
	}
	kind, v, p := d.scanner.field()
	if p.is() {
		return d.notHistory(p.text)
	}
	if !d.begun {
		return d.header(string(kind), v)
	}
	switch string(kind) {
	case "op":
		return d.operation(v)
	case "event":
		return d.event(v)
	case "declare":
		return d.declare(v)
	case "end":
		return d.footer(v)
	case "history":
		return problem{text: "a second header: expected one, in the first line"}
	}
	kinds := []string{"op", "event", "declare", "end"}
	return problem{text: fmt.Sprintf("unknown kind of line %s: expected one of %s", quote(kind), list(kinds)), nearest: Nearest(string(kind), kinds)}
}

// notHistory puts a syntax error of the first line as what it most probably is.
func (d *decoder) notHistory(text string) problem {
	if d.begun {
		return problem{text: text}
	}
	return problem{text: text + `: the first line must be the header {"history":1,...}`, err: ErrVersion}
}

func (d *decoder) header(kind string, v value) problem {
	if kind != "history" {
		return d.notHistory("the header is missing")
	}
	if version, ok := parseUint(v.text); v.kind != numberValue || !ok || version != Version {
		return problem{text: fmt.Sprintf("the file has format version %s: expected %d", quote(v.text), Version), err: ErrVersion}
	}
	d.begun = true
	return takeFields(d, "the header", headerFields, &d.history.Meta)
}

func (d *decoder) operation(v value) problem {
	verb, ok := valueOf[Verb](verbWords, v.text)
	if v.kind != stringValue || !ok {
		return unknownWord(string(v.text), verbWords)
	}
	o := d.operations.add(Operation{Verb: verb})
	if p := takeFields(d, "an operation", operationFields, o); p.is() {
		return p
	}
	if o.Outcome == 0 {
		return wanted(`the field "outcome"`)
	}
	if err := d.order.operation(o); err != nil {
		return problem{text: err.Error()}
	}
	return problem{}
}

func (d *decoder) event(v value) problem {
	kind, ok := valueOf[Kind](kindWords, v.text)
	if v.kind != stringValue || !ok {
		return unknownWord(string(v.text), kindWords)
	}
	e := d.events.add(Event{Kind: kind})
	if p := takeFields(d, "an event", eventFields, e); p.is() {
		return p
	}
	if err := d.order.event(e); err != nil {
		return problem{text: err.Error()}
	}
	return problem{}
}

// declare takes the name of a process, a node or a task; the name must be the second field.
func (d *decoder) declare(v value) problem {
	what := string(v.text)
	tables := map[string]*Table{"process": d.names.processes, "node": d.names.nodes, "task": d.names.tasks}
	table := tables[what]
	if v.kind != stringValue || table == nil {
		return unknownWord(what, []string{"process", "node", "task"})
	}
	if more, _ := d.scanner.more(); !more {
		return wanted(`the field "name"`)
	}
	key, name, p := d.scanner.field()
	if p.is() {
		return p
	}
	if string(key) != "name" || name.kind != stringValue || len(name.text) == 0 {
		return wanted(`the field "name" with a name`)
	}
	if next := ID(len(table.names) + 1); table.ID(string(name.text)) != next {
		return problem{text: fmt.Sprintf("%s %s is declared twice", what, quote(name.text))}
	}
	if table != d.names.tasks {
		return takeFields(d, "a declaration", nothingFields, &struct{}{})
	}
	d.history.Specs = append(d.history.Specs, Spec{})
	return takeFields(d, "a task", specFields, &d.history.Specs[len(d.history.Specs)-1])
}

func (d *decoder) footer(v value) problem {
	if v.kind != stringValue || string(v.text) != "history" {
		return wanted(`"history" as what ends`)
	}
	var f footer
	if p := takeFields(d, "the last line", footerFields, &f); p.is() {
		return p
	}
	operations, events := d.operations.n, d.events.n
	if f.operations != uint64(operations) || f.events != uint64(events) {
		return problem{text: fmt.Sprintf("the file has %d operations and %d events: expected %d and %d by its last line",
			operations, events, f.operations, f.events), err: ErrTruncated}
	}
	d.history.Meta.TraceHash = f.traceHash
	d.ended = true
	return problem{}
}

// takeFields takes the rest of a line. Fields may come in any order; the writer's is the fast one.
func takeFields[T any](d *decoder, what string, fields []field[T], v *T) problem {
	var seen uint64
	next := 0
	for {
		more, done := d.scanner.more()
		if done {
			return problem{}
		}
		if !more {
			return wanted("a comma, or a closing brace and nothing after it")
		}
		name, raw, p := d.scanner.field()
		if p.is() {
			return p
		}
		i := find(fields, name, next)
		if i < 0 {
			known := fieldNames(fields)
			return problem{text: fmt.Sprintf("unknown field %s of %s", quote(name), what), nearest: Nearest(string(name), known)}
		}
		if seen&(1<<i) != 0 {
			return problem{text: fmt.Sprintf("the field %s is there twice", quote(name))}
		}
		seen |= 1 << i
		if p := fields[i].take(d, v, raw); p.is() {
			p.text = fmt.Sprintf("field %s is %s: %s", quote(name), quote(raw.text), p.text)
			return p
		}
		next = i + 1
	}
}

// find looks a field up, beginning where the writer would have put it.
func find[T any](fields []field[T], name []byte, from int) int {
	for i := from; i < len(fields); i++ {
		if fields[i].name == string(name) {
			return i
		}
	}
	for i := range min(from, len(fields)) {
		if fields[i].name == string(name) {
			return i
		}
	}
	return -1
}

// intern returns the text as a string, and the same one again for what repeats, as UIDs and reasons do.
func (d *decoder) intern(text []byte) string {
	if len(text) == 0 {
		return ""
	}
	hash := uint32(2166136261)
	for _, c := range text {
		hash = (hash ^ uint32(c)) * 16777619
	}
	slot := &d.strings[hash%uint32(len(d.strings))]
	if *slot != string(text) {
		*slot = string(text)
	}
	return *slot
}
