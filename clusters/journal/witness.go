package journal

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/squall-chaos/squall/checker/history"
)

// ErrWitnesses says that a worker's journal and the container runtime's record contradict each other.
var ErrWitnesses = errors.New("the witnesses disagree")

// Runtime is the process that the container runtime's own events are of, the second witness. Events of containers without a process are
// its too; a worker's always have one.
const Runtime = "containerd"

const (
	// slack is how far the stamps of two witnesses of one start may be apart in the wrong order: the runtime stamps when it comes to it,
	// and on a crowded machine that takes its time.
	slack = 30 * time.Second
	// afterwards is how long after its end something may still be stamped by a dead process: not at all, but for what a clock may be
	// set without it being called a step.
	afterwards = stepped
)

// body is an event of a container or of an execution, by what both witnesses say.
type body struct {
	Event
	at time.Duration
}

func ofBody(k history.Kind) bool {
	switch k {
	case history.ContainerStarted, history.ContainerEnded, history.WorkStarted, history.WorkEnded:
		return true
	}
	return false
}

// container is what is known of the container of one object.
type container struct {
	object  string
	about   Event // task, token, node and process, whoever told
	started [2]*body
	ended   [2]*body
	works   []body // begin and end of executions, in order
	last    time.Duration
	line    string // what the worker wrote last
	spoke   bool
}

// The witnesses, as indexes.
const (
	worker = iota
	runtime
)

// witness joins what workers and the container runtime say of each container.
func witness(t timeline, calls []Call, events []Event) ([]body, error) {
	w := &testimony{time: t, byObject: map[string]*container{}}
	for i := range events {
		w.event(&events[i])
	}
	for i := range calls {
		w.call(&calls[i])
	}
	var problems []error
	var bodies []body
	for _, c := range w.containers {
		if err := w.contradiction(c); err != nil {
			problems = append(problems, err)
		}
		bodies = append(bodies, c.join()...)
	}
	return append(bodies, w.others...), errors.Join(problems...)
}

type testimony struct {
	time       timeline
	byObject   map[string]*container
	containers []*container // in order of first sight
	others     []body       // of no object
	runtime    bool         // it has testified at all
}

func (w *testimony) container(object string) *container {
	c := w.byObject[object]
	if c == nil {
		c = &container{object: object}
		w.byObject[object] = c
		w.containers = append(w.containers, c)
	}
	return c
}

func (w *testimony) event(e *Event) {
	if e.Object == "" || e.Write != nil {
		if ofBody(e.Kind) {
			w.others = append(w.others, body{*e, w.time.of(e.At, e.Monotonic)})
		}
		return
	}
	c := w.container(e.Object)
	c.learn(e)
	at := w.time.of(e.At, e.Monotonic)
	who := worker
	if of := e.Kind == history.ContainerStarted || e.Kind == history.ContainerEnded; of && (e.Process == "" || e.Process == Runtime) {
		who = runtime
	}
	b := &body{*e, at}
	switch e.Kind {
	case history.ContainerStarted:
		first(&c.started[who], b)
	case history.ContainerEnded:
		first(&c.ended[who], b)
	case history.WorkStarted, history.WorkEnded:
		c.works = append(c.works, *b)
	case history.EffectCounted, history.EffectRefused:
	default:
		return // not from inside the container
	}
	if who == runtime {
		w.runtime = true
		return
	}
	c.say(at, e.Kind.String())
}

func first(kept **body, b *body) {
	if *kept == nil || b.at < (*kept).at {
		*kept = b
	}
}

// learn adds what an event tells about whose container it is.
func (c *container) learn(e *Event) {
	a := &c.about
	a.Task, a.Node, a.Token = cmp.Or(a.Task, e.Task), cmp.Or(a.Node, e.Node), cmp.Or(a.Token, e.Token)
	if ofBody(e.Kind) && e.Process != Runtime {
		a.Process = cmp.Or(a.Process, e.Process)
	}
}

// say notes that the worker wrote a line.
func (c *container) say(at time.Duration, line string) {
	if !c.spoke || at > c.last {
		c.last, c.line = at, line
	}
	c.spoke = true
}

// call is a line from inside a container if it is a worker's.
func (w *testimony) call(c *Call) {
	switch c.Verb {
	case history.Start, history.Heartbeat, history.Finish:
	default:
		return
	}
	of, known := w.byObject[c.Object]
	if !known {
		return // a defect of the system may show the store another identity
	}
	of.say(w.time.of(c.Called, c.CalledMonotonic), "the call "+c.Verb.String())
	if !c.Returned.IsZero() {
		of.say(w.time.of(c.Returned, c.ReturnedMonotonic), "the return of "+c.Verb.String())
	}
}

// contradiction is what cannot be true of both witnesses. Without any word of the runtime there is only one.
func (w *testimony) contradiction(c *container) error {
	if !w.runtime || !c.spoke {
		return nil
	}
	who := fmt.Sprintf("%s, object %s", cmp.Or(c.about.Process, c.about.Task, "a worker"), c.object)
	start, end := c.started[runtime], c.ended[runtime]
	switch {
	case start == nil && end == nil:
		return fmt.Errorf("%w: %s wrote %s at %s, and the container runtime never saw its container", ErrWitnesses, who, c.line, c.last)
	case end != nil && c.last > end.at+afterwards:
		return fmt.Errorf("%w: %s ended at %s by the container runtime, and its journal has %s at %s", ErrWitnesses, who, end.at, c.line, c.last)
	case start != nil && c.started[worker] != nil && c.started[worker].at < start.at-slack:
		return fmt.Errorf("%w: %s wrote at %s that it had started, and the container runtime started it at %s", ErrWitnesses, who,
			c.started[worker].at, start.at)
	case end == nil || c.ended[worker] == nil:
		return nil
	}
	if said, is := c.ended[worker].Detail, end.Detail; codeOf(said) != codeOf(is) && !killed(is) {
		return fmt.Errorf("%w: %s wrote at %s that it ends with %q, and the container runtime saw %q at %s", ErrWitnesses, who,
			c.ended[worker].at, said, is, end.at)
	}
	return nil
}

// codeOf is how a container ended: "exit 0" and nothing are the same.
func codeOf(detail string) string {
	code, _ := strings.CutPrefix(detail, "exit ")
	code, _, _ = strings.Cut(code, " ")
	return cmp.Or(code, "0")
}

// killed tells of an end that may have come between a worker's last line and its exit.
func killed(detail string) bool {
	return codeOf(detail) == "137" || strings.HasPrefix(detail, "killed")
}

// join is one account: the start by whoever saw it first, the end by the runtime, which sees it, before the worker, which announces it;
// and an execution that is open at the end of its container ends with that.
func (c *container) join() []body {
	var all []body
	if start := earlier(c.started[worker], c.started[runtime]); start != nil {
		all = append(all, c.of(*start, history.ContainerStarted))
	}
	slices.SortStableFunc(c.works, func(a, b body) int { return cmp.Compare(a.at, b.at) })
	open := false
	for _, b := range c.works {
		all = append(all, c.own(b))
		open = b.Kind == history.WorkStarted
	}
	end := c.ended[runtime]
	if end == nil {
		end = c.ended[worker]
	}
	if end == nil {
		return all
	}
	ended := c.of(*end, history.ContainerEnded)
	if n := len(all); n > 0 {
		ended.at = max(ended.at, all[n-1].at)
	}
	if open {
		over := ended
		over.Kind, over.Process = history.WorkEnded, c.about.Process
		all = append(all, over)
	}
	return append(all, ended)
}

func earlier(a, b *body) *body {
	if a == nil || b != nil && b.at < a.at {
		return b
	}
	return a
}

// of is the event of a container: of no process, as in the simulation.
func (c *container) of(b body, k history.Kind) body {
	b = c.own(b)
	b.Kind, b.Process = k, ""
	return b
}

// own completes an event with what others told about the container.
func (c *container) own(b body) body {
	b.Task, b.Node, b.Token = cmp.Or(b.Task, c.about.Task), cmp.Or(b.Node, c.about.Node), cmp.Or(b.Token, c.about.Token)
	return b
}
