// Package checker judges a history: did the dispatcher keep its promises? Each invariant is a named error whose
// text is the promise, a small function, and one file. They take linear time, so that every run can be judged in full;
// package linearize adds what only a search can find.
//
// A verdict is valid, invalid or unknown, and unknown is not a pass. An invariant that nothing put to the test is
// "not exercised", and says so.
package checker

import (
	"cmp"
	"slices"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/checker/linearize"
)

// Options of a check. The zero Options check everything.
type Options struct {
	// SkipLinearizability leaves L1 and L2 out: they are then not exercised.
	SkipLinearizability bool
	// Linearize has the budget of the search. Unknown outcomes are always narrowed by the server's log.
	Linearize linearize.Options
}

// Invariant is one promise and how it is judged.
type Invariant struct {
	Name    string
	Promise error
	// Of says what its count of exercises counts.
	Of string

	judge func(*finding)
}

// linearizability judges L1 and L2, apart from the oracles because both come from one search.
var linearizability = []Invariant{
	{Name: "L1-ledger", Promise: ErrLedger, Of: "operations on tasks"},
	{Name: "L2-leadership", Promise: ErrLeadership, Of: "operations on leadership"},
}

var oracles = []Invariant{
	{"I1-overlap", ErrOverlap, "tasks that ran more than once", overlap},
	{"I1-effect", ErrEffect, "tasks with more than one chance of an effect", effect},
	{"I2-stranded", ErrStranded, "undisturbed times that a running row had nothing alive until somebody changed the row", stranded},
	{"I3-loss", ErrLoss, "submitted tasks that had the time to stop", loss},
	{"I4-cancel", ErrCancel, "acknowledged cancels of tasks that had not stopped", cancel},
	{"I5-budget", ErrBudget, "tasks that ran more than once or were charged", budget},
	{"I5-rate", ErrRate, "series of more than one call of a kind in a minute", rate},
	{"I5-false-death", ErrFalseDeath, "requeues, and deletions of what was alive", falseDeath},
	{"I6-fence", ErrFence, "terms that followed another and wrote, and writes and tickets refused as superseded", fence},
	{"I7-progress", ErrProgress, "times that a task was claimable", progress},
	{"I7-limit", ErrLimit, "claims and requeues under a limit", limit},
	{"I8-truth", ErrTruth, "rows compared with what happened", truth},
	{"I8-terminal", ErrTerminal, "rows that reached a terminal phase", terminal},
	{"I8-leak", ErrLeak, "stopped tasks that had an object", leak},
}

// Invariants lists every invariant in the order of reports.
func Invariants() []Invariant { return slices.Concat(oracles, linearizability) }

// Names lists the names of every invariant in the order of reports.
func Names() []string {
	var names []string
	for _, i := range Invariants() {
		names = append(names, i.Name)
	}
	return names
}

// Check judges a history.
func Check(h *history.History, o Options) Report {
	r := newRun(h)
	var report Report
	for i := range oracles {
		f := newFinding(r, &oracles[i])
		f.judge(f)
		report.add(f)
	}
	for _, f := range linearizable(r, o) {
		report.add(f)
	}
	slices.SortStableFunc(report.Violations, func(a, b Violation) int { return cmp.Compare(a.Seq, b.Seq) })
	report.Verdict = verdict(report.Invariants)
	return report
}

func (r *Report) add(f *finding) {
	r.Violations = append(r.Violations, f.kept...)
	r.Invariants = append(r.Invariants, f.conclude())
}

// verdict merges the invariants'. Where none at all was exercised nothing is known.
func verdict(of []InvariantResult) Verdict {
	v := NotExercised
	for _, i := range of {
		v = v.Merge(i.Verdict)
	}
	if v == NotExercised {
		return Unknown
	}
	return v
}
