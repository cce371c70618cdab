package linearize

import "github.com/squall-chaos/squall/checker/history"

// term is the newest epoch that the store granted, as numbered writes it.
type term uint64

func hashTerm(t term) uint64 { return uint64(t) * 0x9e3779b97f4a7c15 }

// leadership is the model of one role. Its step is pure; epochs belongs to the role.
type leadership struct {
	// epochs are those that anybody saw, in order: what a lost Lead may have been granted. Only
	// filled where a Lead of the role left no epoch.
	epochs []uint64
}

// step tells what becomes of the term when the operation happens, if it can happen with its answer: a
// Lead gets a larger epoch than all before it, a write is accepted under the newest epoch only, and fenced only
// when there is a newer one.
func (l *leadership) step(t term, o *op, choice int) (term, bool) {
	switch {
	case o.answer == fenced:
		return t, o.number < uint64(t)
	case o.verb != history.Lead:
		return t, o.number == uint64(t)
	}
	granted := o.number
	if granted == 0 {
		granted = unseen(uint64(t))
		if choice < len(l.epochs) {
			granted = l.epochs[choice]
		}
	}
	return term(granted), granted > uint64(t) || granted&1 == 1
}

// The roles, as Lead and Confirm name them in Detail.
const (
	dispatcherRole = "dispatcher"
	reconcilerRole = "reconciler"
)

// roleOf is the role under whose epoch a verb writes; empty when it writes under none, or when
// Detail says the role.
func roleOf(v history.Verb) string {
	switch v {
	case history.Claim, history.Launched, history.Unclaim, history.Reject:
		return dispatcherRole
	case history.Observe, history.Requeue, history.Conclude, history.Cleaned, history.Postpone:
		return reconcilerRole
	}
	return ""
}
