package checker

import (
	"errors"

	"github.com/squall-chaos/squall/checker/linearize"
)

// L1-ledger and L2-leadership.
var (
	ErrLedger     = errors.New("what callers saw of each task's row has one order of atomic steps that explains it")
	ErrLeadership = errors.New("what callers saw of each role's leadership has one order of atomic steps that explains it")
)

// linearizable judges L1 and L2.
func linearizable(r *run, o Options) []*finding {
	ledger, leadership := newFinding(r, &linearizability[0]), newFinding(r, &linearizability[1])
	both := []*finding{ledger, leadership}
	if o.SkipLinearizability {
		for _, f := range both {
			f.note = "left out"
		}
		return both
	}
	o.Linearize.Narrow = true
	result := linearize.Check(r.History, o.Linearize)
	ledger.search(result.Ledger)
	leadership.search(result.Leadership)
	return both
}

// search takes over what the search found.
func (f *finding) search(from linearize.Finding) {
	f.exercised = from.Operations
	if from.Undecided > 0 {
		f.undecided = "the search of " + plural(from.Undecided, "partition") + " ran out of its budget"
	}
	for i := range from.Failures {
		f.unexplained(&from.Failures[i])
	}
	f.violated = max(f.violated, from.Illegal)
}

func (f *finding) unexplained(by *linearize.Failure) {
	b := breach{task: by.Task}
	for _, i := range by.Operations {
		b.evidence = append(b.evidence, f.Operations[i].Call)
	}
	at := by.Culprit
	if at < 0 && len(by.Operations) > 0 {
		at = by.Operations[len(by.Operations)-1]
	}
	if at >= 0 {
		o := &f.Operations[at]
		b.seq, b.at = o.Return, o.ReturnedAt
		if o.Return == 0 {
			b.seq, b.at = max(o.Call, o.Effect), o.CalledAt
		}
	}
	f.violate(b, "%s", by.Explanation)
}
