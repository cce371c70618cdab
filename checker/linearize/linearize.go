package linearize

import (
	"context"

	"github.com/squall-chaos/squall/checker/history"
)

// Verdict is what the search found.
type Verdict uint8

// The verdicts. Unknown is not a pass: the budget ran out first.
const (
	Ok Verdict = iota + 1
	Illegal
	Unknown
)

// String returns the verdict in words.
func (v Verdict) String() string {
	switch v {
	case Ok:
		return "ok"
	case Illegal:
		return "illegal"
	case Unknown:
		return "unknown"
	}
	return "not checked"
}

// Budget bounds the search of one partition.
type Budget struct {
	Steps uint64 // calls of the step function
	// Configurations bounds the memory: how many are kept at once, at less than 100 bytes each.
	Configurations int
}

// Options of a check. The zero Options narrow nothing and use the default budget.
type Options struct {
	// Context bounds the time of the whole check; nil is no bound. It is looked at every few thousand steps.
	Context context.Context
	Budget  Budget // zero fields: those of DefaultBudget
	// Narrow uses the server's own log for operations whose outcome their caller does not know.
	Narrow bool
}

// DefaultBudget is a second or two for the worst partition, in some 100 MB.
func DefaultBudget() Budget { return Budget{Steps: 20_000_000, Configurations: 1 << 20} }

// Result is the outcome for both models.
type Result struct {
	Ledger     Finding // one partition per task
	Leadership Finding // one partition per role
}

// Finding is the outcome for one model. Illegal wins over Unknown.
type Finding struct {
	Verdict    Verdict
	Partitions int // that had operations
	Operations int // that the model was asked about
	Illegal    int // partitions
	Undecided  int // partitions whose budget ran out
	Fallbacks  int // partitions that porcupine decided
	Steps      uint64
	Failures   []Failure // of the first illegal partitions, at most FailuresMost
}

// FailuresMost is how many illegal partitions are described.
const FailuresMost = 16

// Failure is one illegal partition.
type Failure struct {
	Task history.ID // 0 for leadership
	Role string     // empty for the ledger
	// Operations are the indexes, in History.Operations, of what the search saw: the whole task, or for leadership the
	// operations around the culprit.
	Operations []int
	// Prefix is how many operations of the partition returned before the culprit and can be put in order; Culprit is
	// the index, in History.Operations, of the one that cannot follow them in any order. -1: porcupine
	// decided, and names none.
	Prefix      int
	Culprit     int
	Explanation string // one sentence
}

// Check decides whether the operations of the task ledger and of leadership are linearizable.
func Check(h *history.History, o Options) Result {
	o = o.filled()
	p := partition(h, o.Narrow)
	return Result{Ledger: checkLedger(h, o, p), Leadership: checkLeadership(h, o, p)}
}

func (o Options) filled() Options {
	if o.Context == nil {
		o.Context = context.Background()
	}
	d := DefaultBudget()
	if o.Budget.Steps == 0 {
		o.Budget.Steps = d.Steps
	}
	if o.Budget.Configurations == 0 {
		o.Budget.Configurations = d.Configurations
	}
	return o
}

// file counts one decided partition.
func (f *Finding) file(p progress, explain func() Failure) {
	switch p {
	case stuck:
		f.Illegal++
		if len(f.Failures) < FailuresMost {
			f.Failures = append(f.Failures, explain())
		}
	case spent:
		f.Undecided++
	}
}

// conclude draws the verdict.
func (f *Finding) conclude() Finding {
	f.Verdict = Ok
	switch {
	case f.Illegal > 0:
		f.Verdict = Illegal
	case f.Undecided > 0:
		f.Verdict = Unknown
	}
	return *f
}
