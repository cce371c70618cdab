package reports

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/squall-chaos/squall/checker/history"
)

// Twin is one scenario against one dispatcher in two worlds, scaled the same: what the model says, and what really came.
type Twin struct {
	Scenario, Dispatcher string
	Scale                float64
	Model, Real          Side
	// Parting is the first step at which the abstract traces part. It is nil where they do not, and where the verdicts agree:
	// no two runs of a real cluster are the same in all that they do, and that is no finding.
	Parting *Parting
}

// Side is one world's half of it.
type Side struct {
	World    string
	Verdict  Verdict
	Violated []string
	Report   string // path of the page; empty: none
}

// Parting is where the abstract traces of a task part: what it went through in both until then, and what next in each.
type Parting struct {
	Task    string
	Common  []string
	Model   string // what comes next; empty: nothing
	Real    string
	ModelAt time.Duration
	RealAt  time.Duration
	Parted  int // tasks whose traces part, of how many
	Tasks   int
}

// Agree tells whether both worlds came to the same verdict, for the same reasons where it is invalid.
func (c Twin) Agree() bool {
	if c.Model.Verdict != c.Real.Verdict {
		return false
	}
	return c.Real.Verdict != Invalid || slices.ContainsFunc(c.Real.Violated, func(v string) bool { return slices.Contains(c.Model.Violated, v) })
}

// TwinOf sets a real run beside that of the model. The verdict of the model is that of all its seeds, model one of them.
func TwinOf(model *Run, ofModel Summary, real *Run, ofReal Summary) Twin {
	c := Twin{Scenario: ofReal.Scenario, Dispatcher: ofReal.Dispatcher, Scale: max(real.Made.Scale.Factor, 1),
		Model: Side{World: ofModel.World, Verdict: ofModel.Verdict(), Violated: ofModel.violated(), Report: ofModel.Report},
		Real:  Side{World: ofReal.World, Verdict: ofReal.Verdict(), Violated: ofReal.violated(), Report: ofReal.Report}}
	if !c.Agree() {
		c.Parting = partingOf(model.record(), real.record())
	}
	return c
}

// step is one entry of an abstract trace.
type step struct {
	what string
	at   time.Duration
}

// abstractTraces are, by task, the phases of its row with the attempt that they are of: what the two worlds can be compared by. How
// long anything takes, and where, differs between any two runs.
func abstractTraces(h *history.History) map[string][]step {
	traces := map[string][]step{}
	attempts := map[history.ID]int{}
	tokens := map[history.ID]uint64{}
	for _, e := range h.Events {
		if e.Kind != history.Row || e.Task == 0 || int(e.Task) > len(h.Tasks) {
			continue
		}
		if e.Token > tokens[e.Task] {
			tokens[e.Task] = e.Token
			attempts[e.Task]++
		}
		what := e.Phase.String()
		if n := attempts[e.Task]; n > 0 {
			what = fmt.Sprintf("%s, attempt %d", what, n)
		}
		if e.Cancelling {
			what += ", cancelling"
		}
		if e.Phase > history.Running && e.Detail != "" {
			what += ", " + e.Detail
		}
		name := h.Tasks[e.Task-1]
		if t := traces[name]; len(t) == 0 || t[len(t)-1].what != what {
			traces[name] = append(t, step{what, e.At})
		}
	}
	return traces
}

// partingOf finds the task whose traces part first, in either run; nil: none do. A task that only one of them has is not compared: a real
// cluster runs fewer of a large group.
func partingOf(model, real *history.History) *Parting {
	a, b := abstractTraces(model), abstractTraces(real)
	known := map[string]bool{}
	for _, task := range model.Tasks {
		known[task] = true
	}
	var first *Parting
	parted, tasks := 0, 0
	for _, task := range real.Tasks {
		if !known[task] {
			continue
		}
		tasks++
		p := partingOfTask(a[task], b[task])
		if p == nil {
			continue
		}
		parted++
		p.Task = task
		if first == nil || p.at() < first.at() {
			first = p
		}
	}
	if first != nil {
		first.Parted, first.Tasks = parted, tasks
	}
	return first
}

// at is when the traces part: the earlier of the two steps that differ.
func (p *Parting) at() time.Duration {
	switch {
	case p.Model == "":
		return p.RealAt
	case p.Real == "":
		return p.ModelAt
	}
	return min(p.ModelAt, p.RealAt)
}

func partingOfTask(model, real []step) *Parting {
	p := &Parting{}
	for i := 0; i < len(model) || i < len(real); i++ {
		if i < len(model) && i < len(real) && model[i].what == real[i].what {
			p.Common = append(p.Common, real[i].what)
			continue
		}
		if i < len(model) {
			p.Model, p.ModelAt = model[i].what, model[i].at
		}
		if i < len(real) {
			p.Real, p.RealAt = real[i].what, real[i].at
		}
		return p
	}
	return nil
}

// Words says where the traces part.
func (p *Parting) Words() string {
	if p == nil {
		return ""
	}
	before := "from the start"
	if n := len(p.Common); n > 0 {
		before = "after " + p.Common[n-1]
	}
	return fmt.Sprintf("%s parts %s: sim %s, kind %s; %d of %s do so", p.Task, before, nextStep(p.Model, p.ModelAt), nextStep(p.Real, p.RealAt),
		p.Parted, count(p.Tasks, "task", "tasks"))
}

// Sides are what comes next in either run.
func (p *Parting) Sides() (first, second string) {
	return p.Task + ": " + nextStep(p.Model, p.ModelAt), p.Task + ": " + nextStep(p.Real, p.RealAt)
}

func nextStep(what string, at time.Duration) string {
	if what == "" {
		return "nothing more"
	}
	return what + " (" + seconds(at) + ")"
}

// words is one side's verdict with its reasons.
func (s Side) words() string {
	if len(s.Violated) == 0 {
		return string(s.Verdict)
	}
	return string(s.Verdict) + ": " + strings.Join(s.Violated, ", ")
}

func (c Twin) sign() string {
	if c.Agree() {
		return "="
	}
	return "≠"
}

// told says what there is to say of it besides the verdicts.
func (c Twin) told() string {
	switch {
	case c.Agree():
		return "the same"
	case c.Parting == nil:
		return "the rows went through the same"
	}
	return c.Parting.Words()
}
