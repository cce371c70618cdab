package reports

import (
	"slices"
	"strings"
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
		return "rows and work went through the same"
	}
	return c.Parting.Words()
}
