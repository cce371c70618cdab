package scenarios

import (
	"fmt"
	"strings"
	"time"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/checker/history"
)

// fate is what became of one task, from ground truth and its row.
type fate struct {
	phase      history.Phase
	reason     string
	executions int
	effects    int
	startedAt  time.Duration // of the first execution
	endedAt    time.Duration // of the row's stop; 0 while it has not stopped
}

// fates sums a history up, by task.
func fates(h *history.History) []fate {
	all := make([]fate, len(h.Tasks)+1)
	for _, e := range h.Events {
		f := &all[e.Task]
		switch e.Kind {
		case history.Row:
			if e.Phase != f.phase {
				f.endedAt = 0
				if stopped(e.Phase) {
					f.endedAt = e.At
				}
			}
			f.phase, f.reason = e.Phase, e.Detail
		case history.WorkStarted:
			if f.executions == 0 {
				f.startedAt = e.At
			}
			f.executions++
		case history.EffectCounted:
			f.effects++
		case history.EffectLost:
			f.effects--
		}
	}
	return all
}

func stopped(p history.Phase) bool { return p > history.Running }

// unmet lists what one run shows against the expectation of how tasks end and how often processes call.
func (e *Expectation) unmet(r Result) []string {
	if e == nil || r.History == nil {
		return nil
	}
	var problems []string
	all := fates(r.History)
	for _, want := range e.Tasks {
		for i, name := range r.History.Tasks {
			if len(matching(want.Task, []string{name})) > 0 {
				problems = append(problems, want.unmet(name, all[i+1])...)
			}
		}
	}
	for _, want := range e.Calls {
		problems = append(problems, want.unmet(r.History)...)
	}
	return problems
}

func (w TaskEnd) unmet(name string, f fate) []string {
	var problems []string
	expect := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, name+" "+fmt.Sprintf(format, args...))
		}
	}
	expect(w.Phase == "" || w.Phase == f.phase.String(), "ended %s, expected %s", f.phase, w.Phase)
	expect(w.Reason == "" || w.Reason == f.reason, "ended for %q, expected %q", f.reason, w.Reason)
	expect(w.Executions == nil || *w.Executions == f.executions, "was begun %d times, expected %d", f.executions, deref(w.Executions))
	expect(w.MaxExecutions == nil || f.executions <= *w.MaxExecutions, "was begun %d times, expected at most %d", f.executions, deref(w.MaxExecutions))
	expect(w.Effects == nil || *w.Effects == f.effects, "had %d results counted, expected %d", f.effects, deref(w.Effects))
	expect(w.StartedBy == 0 || (f.executions > 0 && f.startedAt <= w.StartedBy), "first began at %s, expected by %s", f.startedAt, w.StartedBy)
	expect(w.EndedBy == 0 || (f.endedAt > 0 && f.endedAt <= w.EndedBy), "stopped at %s, expected by %s", f.endedAt, w.EndedBy)
	return problems
}

func deref(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

func (w CallRate) unmet(h *history.History) []string {
	calls := 0
	for i := range h.Operations {
		op := &h.Operations[i]
		if (w.After == 0 || op.CalledAt > w.After) && op.Verb.String() == w.Verb && named(h.Processes, op.Process, w.Process) && named(h.Tasks, op.Task, w.Task) {
			calls++
		}
	}
	who := strings.TrimSpace("calls of " + w.Verb + " " + w.Task)
	if w.After > 0 {
		who += " after " + w.After.String()
	}
	switch {
	case w.Max != nil && calls > *w.Max:
		return []string{fmt.Sprintf("%d %s, expected at most %d", calls, who, *w.Max)}
	case w.Min != nil && calls < *w.Min:
		return []string{fmt.Sprintf("%d %s, expected at least %d", calls, who, *w.Min)}
	}
	return nil
}

// named tells whether the ID's name matches the pattern; an empty pattern matches everything.
func named(names []string, id history.ID, pattern string) bool {
	return pattern == "" || (id > 0 && len(matching(pattern, names[id-1:id])) > 0)
}

// Unmet lists everything in which the tally differs from what the scenario expects of the dispatcher. Empty, and nothing
// was expected, means that a valid verdict was wanted.
func (t *Tally) unmet(e *Expectation) []string {
	var problems []string
	want := checker.Valid.String()
	if e != nil && e.Verdict != "" {
		want = e.Verdict
	}
	if got := t.Verdict.String(); got != want {
		problems = append(problems, fmt.Sprintf("verdict %s, expected %s", got, want))
	}
	if e == nil {
		return problems
	}
	for _, name := range e.Violates {
		if t.Violations[name] == 0 {
			problems = append(problems, fmt.Sprintf("%s was not violated under any of %d seeds", name, t.Seeds))
		}
	}
	for _, name := range e.Exercised {
		if t.Exercised[name] == 0 {
			problems = append(problems, fmt.Sprintf("%s was never put to the test", name))
		}
	}
	return problems
}
