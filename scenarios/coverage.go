package scenarios

import (
	"slices"
	"strings"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/faults"
)

// Coverage is what runs have met. A suite that never had a fault strike in some step has shown nothing about that.
type Coverage struct {
	// Strikes counts, by fault and by step of Steps, the runs in which the fault struck while a task was in that step.
	Strikes map[string][]int
	// Pairs tells of runs in which two faults were there at the same time.
	Pairs map[Pair]Together
	// Reached counts the runs that reached each of Sometimes.
	Reached map[string]int
}

// Pair is two faults, in order of name.
type Pair struct{ A, B string }

// Together is in how many runs two faults were there at the same time, and in how many of them a task was in each of Steps when the second struck.
type Together struct {
	Runs  int
	Steps []int
}

// Steps are the steps of the protocol that a task goes through, as a fault can meet it.
var Steps = []string{"pending", "claimed", "created", "executing", "ending"}

// The steps, as indexes.
const (
	stepPending   = iota
	stepClaimed   // the row says running, and there is no object of the attempt yet
	stepCreated   // the object is there, and the work has not begun
	stepExecuting // the work goes on
	stepEnding    // it ended, or the row did, and something is still owed
	stepNone
)

// FaultNames lists everything that Coverage tells apart: kinds, those of calls by their action.
func FaultNames() []string {
	var names []string
	for _, k := range faults.Kinds() {
		if k != faults.Call {
			names = append(names, string(k))
			continue
		}
		for _, a := range faults.Actions() {
			names = append(names, nameOf(faults.Fault{Kind: k, Action: a}))
		}
	}
	return names
}

func nameOf(f faults.Fault) string {
	if f.Kind == faults.Call {
		return "call: " + string(f.Action)
	}
	return string(f.Kind)
}

// NewCoverage has met nothing.
func NewCoverage() *Coverage {
	return &Coverage{Strikes: map[string][]int{}, Pairs: map[Pair]Together{}, Reached: map[string]int{}}
}

// Add adds what a run met.
func (c *Coverage) Add(h *history.History, plan faults.Plan) {
	w := walk{coverage: c, tasks: make([]int, len(h.Tasks)+1), met: map[string]uint{}, pairs: map[Pair]uint{}}
	for i := range w.tasks {
		w.tasks[i] = stepNone
	}
	for i := range h.Events {
		w.event(&h.Events[i], plan)
	}
	// order does not matter: each name is counted once
	for name, steps := range w.met {
		row := c.row(name)
		for s := range Steps {
			row[s] += int(steps >> s & 1)
		}
	}
	// order does not matter: each pair is counted once
	for p, steps := range w.pairs {
		t := c.pair(p)
		t.Runs++
		for s := range Steps {
			t.Steps[s] += int(steps >> s & 1)
		}
		c.Pairs[p] = t
	}
	for _, name := range reached(h) {
		c.Reached[name]++
	}
}

func (c *Coverage) row(name string) []int {
	row := c.Strikes[name]
	if row == nil {
		row = make([]int, len(Steps))
		c.Strikes[name] = row
	}
	return row
}

func (c *Coverage) pair(p Pair) Together {
	t := c.Pairs[p]
	if t.Steps == nil {
		t.Steps = make([]int, len(Steps))
	}
	return t
}

// Merge adds what others met.
func (c *Coverage) Merge(other *Coverage) {
	if other == nil {
		return
	}
	// order does not matter: sums
	for name, counts := range other.Strikes {
		row := c.row(name)
		for s, n := range counts {
			row[s] += n
		}
	}
	// order does not matter: sums
	for p, more := range other.Pairs {
		t := c.pair(p)
		t.Runs += more.Runs
		for s, n := range more.Steps {
			t.Steps[s] += n
		}
		c.Pairs[p] = t
	}
	// order does not matter: sums
	for name, n := range other.Reached {
		c.Reached[name] += n
	}
}

// walk follows a run's events.
type walk struct {
	coverage *Coverage
	tasks    []int // step by task
	active   []int32
	met      map[string]uint // steps as bits, by fault
	pairs    map[Pair]uint   // likewise, by two of them
}

func (w *walk) event(e *history.Event, plan faults.Plan) {
	switch e.Kind {
	case history.Row:
		w.row(e)
	case history.ObjectCreated:
		if e.Task != 0 && w.tasks[e.Task] == stepClaimed {
			w.tasks[e.Task] = stepCreated
		}
	case history.WorkStarted:
		w.tasks[e.Task] = stepExecuting
	case history.WorkEnded:
		if w.tasks[e.Task] == stepExecuting {
			w.tasks[e.Task] = stepEnding
		}
	case history.FaultStruck:
		w.struck(e, plan)
	case history.FaultHealed:
		w.active = slices.DeleteFunc(w.active, func(f int32) bool { return f == e.Fault })
	}
}

func (w *walk) row(e *history.Event) {
	step := &w.tasks[e.Task]
	switch {
	case e.Phase == history.Pending && !e.Cleanup:
		*step = stepPending
	case e.Phase == history.Running && *step == stepPending:
		*step = stepClaimed
	case e.Phase == history.Running:
	case e.Cleanup:
		*step = stepEnding
	default:
		*step = stepNone
	}
}

func (w *walk) struck(e *history.Event, plan faults.Plan) {
	if int(e.Fault) > len(plan) || e.Fault < 1 {
		return
	}
	name := nameOf(plan[e.Fault-1])
	var steps uint
	for task, step := range w.tasks {
		if step != stepNone && (e.Task == 0 || int(e.Task) == task) {
			steps |= 1 << step
		}
	}
	w.met[name] |= steps
	again := false // one fault that strikes twice is no pair
	for _, f := range w.active {
		if f == e.Fault {
			again = true
			continue
		}
		a, b := name, nameOf(plan[f-1])
		if strings.Compare(a, b) > 0 {
			a, b = b, a
		}
		w.pairs[Pair{a, b}] |= steps
	}
	if !again {
		w.active = append(w.active, e.Fault)
	}
}
