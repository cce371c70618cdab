package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/squall-chaos/squall/checker/history"
)

// ErrFormat says that what is read is no journal, or a damaged one.
var ErrFormat = errors.New("not a journal")

// Read reads one process's journal. A last line that was cut short is left out: its process was killed, or still writes. A call without
// a return has Returned zero and Outcome Unknown. An empty file is the journal of a process that did nothing yet.
func Read(from io.Reader) ([]Call, []Event, error) {
	r := reader{open: map[uint64]int{}}
	in := bufio.NewReader(from)
	for number := 1; ; number++ {
		text, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return r.calls, r.events, nil // text is cut short, or nothing
		}
		if err != nil {
			return nil, nil, fmt.Errorf("line %d of the journal: %w", number, err)
		}
		if err := r.take(bytes.TrimSpace(text)); err != nil {
			return nil, nil, fmt.Errorf("line %d: %w: %w", number, ErrFormat, err)
		}
	}
}

type reader struct {
	process string
	calls   []Call
	events  []Event
	open    map[uint64]int // the call's index by its number
}

func (r *reader) take(text []byte) error {
	var l line
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&l); err != nil {
		return err
	}
	switch {
	case l.Journal != 0:
		return r.header(&l)
	case r.process == "":
		return errors.New("the first line must be its header")
	case l.Call != 0:
		return r.begin(&l)
	case l.Return != 0:
		return r.end(&l)
	case l.Event != "" || l.Write != nil:
		return r.event(&l)
	}
	return errors.New("expected a call, a return or an event")
}

// header may come again: another life of the process appended to the same file.
func (r *reader) header(l *line) error {
	if l.Journal != version {
		return fmt.Errorf("it has version %d: expected %d", l.Journal, version)
	}
	if l.Process == "" {
		return errors.New("its header names no process")
	}
	r.process = l.Process
	clear(r.open)
	return nil
}

func (r *reader) begin(l *line) error {
	verb, err := history.ParseVerb(l.Verb)
	if err != nil {
		return err
	}
	c := Call{Process: r.process, Verb: verb, Called: time.Unix(0, l.At), CalledMonotonic: time.Duration(l.Monotonic),
		Outcome: history.Unknown, Epoch: l.Epoch, Detail: l.Detail, Object: l.Object, Expected: l.Expected, Spec: l.Spec}
	if c.Rows, err = rowsOf(l.Rows); err != nil {
		return err
	}
	r.open[l.Call] = len(r.calls)
	r.calls = append(r.calls, c)
	return nil
}

func (r *reader) end(l *line) error {
	index, known := r.open[l.Return]
	if !known {
		return fmt.Errorf("return of call %d, which did not begin", l.Return)
	}
	delete(r.open, l.Return)
	c := &r.calls[index]
	var err error
	if c.Outcome, err = history.ParseOutcome(l.Outcome); err != nil {
		return err
	}
	if l.Code != "" {
		if c.Code, err = history.ParseCode(l.Code); err != nil {
			return err
		}
	}
	if c.Rows, err = rowsOf(l.Rows); err != nil {
		return err
	}
	c.Returned, c.ReturnedMonotonic, c.Epoch, c.Detail = time.Unix(0, l.At), time.Duration(l.Monotonic), l.Epoch, l.Detail
	return nil
}

func rowsOf(lines []rowLine) ([]Row, error) {
	var rows []Row
	for _, l := range lines {
		phase, err := phaseOf(l.Phase)
		if err != nil {
			return nil, err
		}
		rows = append(rows, Row{l.Task, l.Token, phase, l.Cancelling, l.Version})
	}
	return rows, nil
}

func phaseOf(word string) (history.Phase, error) {
	if word == "" {
		return history.NoPhase, nil
	}
	return history.ParsePhase(word)
}

func (r *reader) event(l *line) error {
	e := Event{At: time.Unix(0, l.At), Monotonic: time.Duration(l.Monotonic), Process: l.Process, Task: l.Task, Node: l.Node,
		Object: l.Object, Detail: l.Detail, Cancelling: l.Cancelling, Cleanup: l.Cleanup, Fault: l.Fault, Failures: l.Failures,
		Disruptions: l.Disruptions, Token: l.Token, Epoch: l.Epoch, Delay: l.Delay, Write: l.Write}
	if e.Process == "" {
		e.Process = r.process
	}
	if l.Due != 0 {
		e.Due = time.Unix(0, l.Due)
	}
	var err error
	if e.Phase, err = phaseOf(l.Phase); err != nil {
		return err
	}
	if l.Event != "" {
		if e.Kind, err = history.ParseKind(l.Event); err != nil {
			return err
		}
	}
	r.events = append(r.events, e)
	return nil
}
