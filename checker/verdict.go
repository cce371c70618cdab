package checker

import (
	"fmt"
	"time"

	"github.com/squall-chaos/squall/checker/history"
)

// Verdict is what a check came to. Its zero value is Unknown: whoever forgets to decide has not passed.
type Verdict uint8

// The verdicts. NotExercised is said of one invariant only: nothing happened that could have violated it.
const (
	Unknown Verdict = iota
	Valid
	Invalid
	NotExercised
)

var verdictWords = [...]string{Unknown: "unknown", Valid: "valid", Invalid: "invalid", NotExercised: "not exercised"}

// String returns the verdict's word.
func (v Verdict) String() string {
	if int(v) < len(verdictWords) {
		return verdictWords[v]
	}
	return fmt.Sprintf("verdict %d", uint8(v))
}

// MarshalText writes the verdict's word.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads the verdict's word.
func (v *Verdict) UnmarshalText(text []byte) error {
	for i, word := range verdictWords {
		if word == string(text) {
			*v = Verdict(i)
			return nil
		}
	}
	return fmt.Errorf("unknown verdict %q", text)
}

// Merge joins two verdicts: invalid over unknown over valid. What was not exercised changes nothing.
func (v Verdict) Merge(other Verdict) Verdict {
	for _, worst := range []Verdict{Invalid, Unknown, Valid} {
		if v == worst || other == worst {
			return worst
		}
	}
	return NotExercised
}

// Violation is one way in which a history breaks an invariant.
type Violation struct {
	Invariant string        `json:"invariant"` // I1-overlap, ...
	Err       error         `json:"-"`         // wraps the invariant's named error
	Task      string        `json:"task,omitempty"`
	At        time.Duration `json:"at"`
	Seq       history.Seq   `json:"seq"` // where it became a violation
	Message   string        `json:"message"`
	Evidence  []history.Seq `json:"evidence,omitempty"`
}

// InvariantResult is what became of one invariant.
type InvariantResult struct {
	Name    string `json:"name"`
	Promise string `json:"promise"`
	// Exercised counts what could have violated it, and Of says what that is.
	Exercised int    `json:"exercised"`
	Of        string `json:"of"`
	// WorstMargin is how close the run came to a violation, negative once it was one; MarginOf
	// says what it is the margin of, and is empty when nothing was measured.
	WorstMargin time.Duration `json:"worst_margin"`
	MarginOf    string        `json:"margin_of,omitempty"`
	// Violated counts all violations; Report.Violations has the first few of them.
	Violated int     `json:"violated"`
	Verdict  Verdict `json:"verdict"`
	// Note says why the verdict is Unknown or NotExercised, when there is something to say.
	Note string `json:"note,omitempty"`
}

// Report is the judgement of one history.
type Report struct {
	Verdict    Verdict           `json:"verdict"`
	Violations []Violation       `json:"violations"` // in order of Seq; at most MaxViolations of each invariant
	Invariants []InvariantResult `json:"invariants"` // in the order of Invariants()
}

// MaxViolations is how many violations of one invariant a report keeps.
const MaxViolations = 25

// First returns the earliest violation, or nil.
func (r *Report) First() *Violation {
	if len(r.Violations) == 0 {
		return nil
	}
	return &r.Violations[0]
}

// Invariant returns the result of the named invariant, or nil.
func (r *Report) Invariant(name string) *InvariantResult {
	for i := range r.Invariants {
		if r.Invariants[i].Name == name {
			return &r.Invariants[i]
		}
	}
	return nil
}
