package reports

import (
	"fmt"
	"time"

	"github.com/squall-chaos/squall/checker/history"
)

// Parting is where the abstract traces of a task part: what it went through in both runs until then, and what next in each.
type Parting struct {
	Task    string
	Common  []string
	Model   string // what comes next; empty: nothing
	Real    string
	ModelAt time.Duration
	RealAt  time.Duration
	// ModelSeq and RealSeq are the records of what comes next; 0: there is none.
	ModelSeq, RealSeq history.Seq
	Parted            int // tasks whose traces part, of how many
	Tasks             int
}

// PartingOf is the first step at which the abstract traces of a task part in two runs: the phases of its row, and its executions with what
// became of their results, whatever the times; nil where they do not. The task is the one that parts first, in either run.
func PartingOf(first, second *Run) *Parting { return partingOf(first.record(), second.record()) }

// step is one entry of an abstract trace.
type step struct {
	what string
	at   time.Duration
	seq  history.Seq
}

// abstract are the two abstract traces of a task. When a row changes against when work begins is chance, so they are not one.
type abstract struct {
	row, work    []step
	attempts     int
	token        uint64 // the newest attempt's
	begun, alive int    // executions
}

// abstractTraces are, by task, what two runs can be compared by, in the simulation or in a real cluster: the phases of its row with the attempt
// that they are of, and what it truly did. How long anything takes, and where, differs between any two runs.
func abstractTraces(h *history.History) map[string]*abstract {
	traces := map[string]*abstract{}
	for _, e := range h.Events {
		if e.Task == 0 || int(e.Task) > len(h.Tasks) {
			continue
		}
		name := h.Tasks[e.Task-1]
		if traces[name] == nil {
			traces[name] = &abstract{}
		}
		traces[name].add(e)
	}
	return traces
}

func (a *abstract) add(e history.Event) {
	work := func(what string) { a.work = append(a.work, step{what, e.At, e.Seq}) }
	switch e.Kind {
	case history.Row:
		what := a.phase(e)
		if n := len(a.row); n == 0 || a.row[n-1].what != what {
			a.row = append(a.row, step{what, e.At, e.Seq})
		}
	case history.WorkStarted:
		a.begun++
		what := fmt.Sprintf("execution %d begins", a.begun)
		if a.alive++; a.alive > 1 {
			what += " beside another"
		}
		work(what)
	case history.WorkEnded:
		a.alive--
	case history.EffectCounted:
		work("a result counts")
	case history.EffectRefused:
		work("a result is refused")
	}
}

// phase is the row's, in words.
func (a *abstract) phase(e history.Event) string {
	if e.Token > a.token {
		a.token = e.Token
		a.attempts++
	}
	what := e.Phase.String()
	if a.attempts > 0 {
		what = fmt.Sprintf("%s, attempt %d", what, a.attempts)
	}
	if e.Cancelling {
		what += ", cancelling"
	}
	if e.Phase > history.Running && e.Detail != "" {
		what += ", " + e.Detail
	}
	return what
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

// partingOfTask is where the row parts, or the work, whichever comes first.
func partingOfTask(model, real *abstract) *Parting {
	if model == nil {
		model = &abstract{}
	}
	if real == nil {
		real = &abstract{}
	}
	row, work := partingOfSteps(model.row, real.row), partingOfSteps(model.work, real.work)
	if row == nil || work != nil && work.at() < row.at() {
		return work
	}
	return row
}

func partingOfSteps(model, real []step) *Parting {
	p := &Parting{}
	for i := 0; i < len(model) || i < len(real); i++ {
		if i < len(model) && i < len(real) && model[i].what == real[i].what {
			p.Common = append(p.Common, real[i].what)
			continue
		}
		if i < len(model) {
			p.Model, p.ModelAt, p.ModelSeq = model[i].what, model[i].at, model[i].seq
		}
		if i < len(real) {
			p.Real, p.RealAt, p.RealSeq = real[i].what, real[i].at, real[i].seq
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
