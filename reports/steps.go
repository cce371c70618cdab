package reports

import (
	"time"

	"github.com/squall-chaos/squall/checker/history"
)

// Step is one step of what led to the violation: the minimal timeline in words.
type Step struct {
	At   time.Duration
	Seq  history.Seq
	Text string
	Bad  bool // where it went wrong
}

// Steps lists the steps in order, as the report of the run shows them.
func (r *Run) Steps() []Step {
	moments := setScene(r).moments()
	steps := make([]Step, len(moments))
	for i, m := range moments {
		steps[i] = Step{m.At, m.Seq, m.Text, m.Bad}
	}
	return steps
}
