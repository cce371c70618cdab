package journal

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/squall-chaos/squall/clusters"
)

// Recorder writes the journal of one process. It is safe for concurrent use.
//
// What cannot be written is lost, and the process goes on: a full disk must not change what the code under test does. Err tells.
type Recorder struct {
	process string
	clock   clock

	mu     sync.Mutex
	to     io.Writer
	number uint64
	err    error
}

// NewRecorder begins the journal of a process. Each line is one Write: to a file without a buffer in between it outlives
// the process, whatever ends that.
func NewRecorder(w io.Writer, process string) *Recorder {
	r := &Recorder{process: process, clock: newClock(), to: w}
	at, monotonic := r.clock.now()
	r.write(line{Journal: version, Process: process, At: at.UnixNano(), Monotonic: int64(monotonic)})
	return r
}

// Err is the first error of writing.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Event adds an event: of the recorder's process unless it names another, and of this moment unless it has a stamp.
func (r *Recorder) Event(e Event) {
	if e.Process == "" {
		e.Process = r.process
	}
	if e.At.IsZero() {
		e.At, e.Monotonic = r.clock.now()
	}
	r.write(eventLine(&e, r.process))
}

// begin writes that a call is about to leave.
func (r *Recorder) begin(c *Call) (number uint64) {
	r.mu.Lock()
	r.number++
	number = r.number
	r.mu.Unlock()
	c.Process = r.process
	c.Called, c.CalledMonotonic = r.clock.now()
	r.write(beginLine(number, c))
	return number
}

// end writes what the caller of a call learns.
func (r *Recorder) end(number uint64, c *Call, err error) {
	c.Returned, c.ReturnedMonotonic = r.clock.now()
	c.Outcome, c.Code = clusters.OutcomeOf(err)
	r.write(endLine(number, c))
}

func (r *Recorder) write(l line) {
	text, err := json.Marshal(l)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		_, err = r.to.Write(append(text, '\n'))
	}
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("journal of %s: %w; what it lacks cannot be judged", r.process, err)
	}
}

// record makes a call between its two lines. tell adds what the answer to a success says.
func record[T any](r *Recorder, c Call, do func() (T, error), tell func(*Call, T)) (T, error) {
	number := r.begin(&c)
	answer, err := do()
	if err == nil && tell != nil {
		tell(&c, answer)
	}
	r.end(number, &c, err)
	return answer, err
}

// acknowledged is record for a call without an answer.
func acknowledged(r *Recorder, c Call, do func() error) error {
	_, err := record(r, c, func() (struct{}, error) { return struct{}{}, do() }, nil)
	return err
}
