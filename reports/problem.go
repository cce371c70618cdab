package reports

import "fmt"

// The codes of what may be wrong with a bundle; `squall explain` says more about each.
const (
	CodeHistory = "SQ402" // a damaged line in the history
	CodeBundle  = "SQ403" // not a run bundle, or one that lacks a file
	CodeVersion = "SQ404" // written by another version
	CodeDamaged = "SQ405" // a file was cut off or changed

	// CodeBaseline is of a baseline that cannot be used.
	CodeBaseline = "SQ406"
)

// Problem is why a bundle cannot be used, and what to do about it.
type Problem struct {
	Code, Path, Message, Remedy string
	// WrittenBy is who wrote the bundle, where that may be the reason; may be empty.
	WrittenBy string
	Err       error // the cause; may be nil
}

// Error is one line, and the remedy below it.
func (p *Problem) Error() string {
	text := fmt.Sprintf("%s: %s %s", p.Path, p.Code, p.Message)
	if p.Err != nil {
		text += ": " + p.Err.Error()
	}
	if p.WrittenBy != "" {
		text += "\n  the bundle was written by " + p.WrittenBy
	}
	return text + "\n  fix: " + p.Remedy
}

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Err }
