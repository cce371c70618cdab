package scenarios

import (
	"fmt"
	"slices"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/faults"
)

// validateExpect reports expectations that nothing would ever check.
func (s *Scenario) validateExpect() {
	s.expectation("expect.reference", s.Expect.Reference)
	s.expectation("expect.naive", s.Expect.Naive)
	for i := range s.Expect.Planted {
		p, path := &s.Expect.Planted[i], fmt.Sprintf("expect.planted[%d]", i)
		s.oneOf(path+".defect", CodeExpect, "dispatcher", p.Defect, planted.Names())
		for _, other := range s.Expect.Planted[:i] {
			if other.Defect == p.Defect && p.Defect != "" {
				s.bad(path+".defect", CodeDuplicate, "", "%q has an expectation already", brief(p.Defect))
			}
		}
		if p.Defect == "reference" || p.Defect == "naive" {
			s.bad(path+".defect", CodeExpect, "", "what is expected of %s stands in expect.%s", p.Defect, p.Defect)
		}
		s.expectation(path, &p.Expectation)
	}
	s.invariants("expect.tolerate", s.Expect.Tolerate)
	if s.set("expect") && s.Expect.Reference == nil && s.Expect.Naive == nil && len(s.Expect.Planted) == 0 && len(s.Expect.Tolerate) == 0 {
		s.empty("expect", CodeExpect, "remove it, or say what must come out", "nothing is expected here")
	}
}

func (s *Scenario) invariants(path string, names []string) {
	for i, name := range names {
		s.oneOf(fmt.Sprintf("%s[%d]", path, i), CodeExpect, "invariant", name, checker.Names())
	}
}

func (s *Scenario) expectation(path string, e *Expectation) {
	if e == nil || !s.set(path) {
		return
	}
	if e.Verdict == "" && len(e.Violates)+len(e.Exercised)+len(e.Tasks)+len(e.Calls) == 0 {
		s.empty(path, CodeExpect, "remove it, or say what must come out", "nothing is expected here")
	}
	s.oneOf(path+".verdict", CodeExpect, "verdict", e.Verdict, []string{"valid", "invalid"})
	s.invariants(path+".violates", e.Violates)
	s.invariants(path+".exercised", e.Exercised)
	if e.Verdict == "valid" {
		for i, name := range e.Violates {
			if !slices.Contains(s.Expect.Tolerate, name) {
				s.bad(fmt.Sprintf("%s.violates[%d]", path, i), CodeExpect, "", "a valid run cannot violate %s, unless expect.tolerate has it", brief(name))
			}
		}
	}
	for i, t := range e.Tasks {
		s.taskEnd(fmt.Sprintf("%s.tasks[%d]", path, i), t)
	}
	for i, c := range e.Calls {
		s.callRate(fmt.Sprintf("%s.calls[%d]", path, i), c)
	}
}

// reasons are the reasons that a row can end with.
var reasons = texts([]dispatcher.Reason{dispatcher.ReasonWorkFailed, dispatcher.ReasonNoResult, dispatcher.ReasonLost,
	dispatcher.ReasonDisrupted, dispatcher.ReasonStartTimeout, dispatcher.ReasonDeadline, dispatcher.ReasonStartDeadline,
	dispatcher.ReasonRejected, dispatcher.ReasonCancelled, dispatcher.ReasonFailuresSpent, dispatcher.ReasonDisruptionsSpent})

func (s *Scenario) taskEnd(path string, t TaskEnd) {
	s.task(path+".task", t.Task)
	s.oneOf(path+".phase", CodeExpect, "phase", t.Phase, phaseNames())
	s.oneOf(path+".reason", CodeExpect, "reason", t.Reason, reasons)
	if t.Phase == "" && t.Reason == "" && t.Executions == nil && t.MaxExecutions == nil && t.Effects == nil && t.StartedBy == 0 && t.EndedBy == 0 {
		s.empty(path, CodeExpect, "", "nothing is expected of the task")
	}
}

func (s *Scenario) callRate(path string, c CallRate) {
	s.oneOf(path+".verb", CodeExpect, "verb", c.Verb, faults.Verbs())
	s.task(path+".task", c.Task)
	if c.Min == nil && c.Max == nil {
		s.empty(path, CodeExpect, "set min, max, or both", "nothing is expected of the calls")
	}
	if c.Min != nil && c.Max != nil && *c.Max < *c.Min {
		s.bad(path+".max", CodeRange, "", "max %d is below min %d", *c.Max, *c.Min)
	}
}

// phaseNames are the words for the phases that a row can be in.
func phaseNames() []string {
	var names []string
	for p := history.Pending; p <= history.NeedsAttention; p++ {
		names = append(names, p.String())
	}
	return names
}
