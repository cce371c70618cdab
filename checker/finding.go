package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/squall-chaos/squall/checker/history"
)

// finding is one invariant being judged.
type finding struct {
	*run
	*Invariant
	exercised int
	violated  int
	kept      []Violation // the earliest MaxViolations
	worst     time.Duration
	worstOf   string
	undecided string // why the verdict cannot be Valid
	note      string
}

func newFinding(r *run, i *Invariant) *finding { return &finding{run: r, Invariant: i} }

// breach is where and when a violation is.
type breach struct {
	task     history.ID
	at       time.Duration
	seq      history.Seq
	evidence []history.Seq
}

// violate adds a violation. The message is a sentence without its full stop.
func (f *finding) violate(b breach, message string, args ...any) {
	f.violated++
	if len(f.kept) == MaxViolations {
		last := slices.IndexFunc(f.kept, func(v Violation) bool { return v.Seq > b.seq })
		if last < 0 {
			return
		}
		f.kept = f.kept[:MaxViolations-1]
	}
	text := fmt.Sprintf(message, args...)
	v := Violation{
		Invariant: f.Name, Err: fmt.Errorf("%w: %s", f.Promise, text), Task: f.task(b.task),
		At: b.at, Seq: b.seq, Message: text, Evidence: b.evidence,
	}
	at, _ := slices.BinarySearchFunc(f.kept, v, func(a, b Violation) int { return cmp.Compare(a.Seq, b.Seq) })
	f.kept = slices.Insert(f.kept, at, v)
}

// margin notes how far from a violation something stayed.
func (f *finding) margin(d time.Duration, of string) {
	if f.worstOf == "" || d < f.worst {
		f.worst, f.worstOf = d, of
	}
}

// harmless tells that a margin of d or more is neither a violation nor the worst so far: it needs no closer look.
func (f *finding) harmless(d time.Duration) bool { return f.worstOf != "" && d >= max(f.worst, 0) }

func (f *finding) conclude() InvariantResult {
	result := InvariantResult{
		Name: f.Name, Promise: f.Promise.Error(), Exercised: f.exercised, Of: f.Of,
		WorstMargin: f.worst, MarginOf: f.worstOf, Violated: f.violated, Note: f.note,
	}
	switch {
	case f.violated > 0:
		result.Verdict = Invalid
	case f.undecided != "":
		result.Verdict, result.Note = Unknown, f.undecided
	case f.exercised == 0:
		result.Verdict = NotExercised
	default:
		result.Verdict = Valid
	}
	return result
}
