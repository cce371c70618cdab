package history

import "fmt"

// order checks that operations and events come in order, and that what needs a task has one.
type order struct {
	last Operation // Call, Process and Verb of the last one
	seq  Seq
}

// operation refuses what is out of order of Call. One call that concerns several tasks is several
// operations with the same Call.
func (r *order) operation(o *Operation) error {
	last := r.last
	switch {
	case o.Call == 0:
		return fmt.Errorf("operation without a call: expected one after %d", last.Call)
	case o.Call < last.Call:
		return fmt.Errorf("call %d is out of order: expected %d or more", o.Call, last.Call)
	case o.Call == last.Call && (o.Process != last.Process || o.Verb != last.Verb):
		return fmt.Errorf("call %d is taken by another operation: expected %d or more", o.Call, last.Call+1)
	case o.Return != 0 && o.Return <= o.Call:
		return fmt.Errorf("return %d is out of order: expected more than the call's %d", o.Return, o.Call)
	case o.Effect != 0 && o.Effect <= o.Call:
		return fmt.Errorf("effect %d is out of order: expected more than the call's %d", o.Effect, o.Call)
	case o.Visible != 0 && o.Visible <= o.Effect:
		return fmt.Errorf("visible %d is out of order: expected more than the effect's %d", o.Visible, o.Effect)
	}
	r.last.Call, r.last.Process, r.last.Verb = o.Call, o.Process, o.Verb
	return nil
}

func (r *order) event(e *Event) error {
	if e.Seq <= r.seq {
		return fmt.Errorf("event %d is out of order: expected %d or more", e.Seq, r.seq+1)
	}
	if e.Task == 0 && e.Kind.ofTask() {
		return fmt.Errorf("event %d is of no task: expected the task of this %s", e.Seq, e.Kind)
	}
	r.seq = e.Seq
	return nil
}

// ofTask tells whether an event of the kind means nothing without its task.
func (k Kind) ofTask() bool {
	return k == Row || k == WorkStarted || k == WorkEnded || k == EffectCounted || k == EffectRefused || k == EffectLost
}
