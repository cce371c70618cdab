package dispatchertest

import (
	"fmt"

	"github.com/squall-chaos/squall/dispatcher"
)

// state is a place in a task's life, and how to bring a submitted task there.
type state struct {
	name  string
	spec  dispatcher.Spec
	reach func(f *fixture, id dispatcher.TaskID)
}

// states are all places that differ in what may be done next. The claimable one comes last, because bringing a task
// anywhere else claims what there is to claim.
var states = []state{
	{"launching", dispatcher.Spec{}, func(f *fixture, id dispatcher.TaskID) { f.launching(id) }},
	{"launched", dispatcher.Spec{}, func(f *fixture, id dispatcher.TaskID) { f.launched(id) }},
	{"executing", dispatcher.Spec{}, func(f *fixture, id dispatcher.TaskID) { f.executing(id) }},
	{"launching, cancel", dispatcher.Spec{}, func(f *fixture, id dispatcher.TaskID) { f.launching(id); f.cancel(id) }},
	{"launched, cancel", dispatcher.Spec{}, func(f *fixture, id dispatcher.TaskID) { f.launched(id); f.cancel(id) }},
	{"executing, cancel", dispatcher.Spec{}, func(f *fixture, id dispatcher.TaskID) { f.executing(id); f.cancel(id) }},
	{"requeued", dispatcher.Spec{}, func(f *fixture, id dispatcher.TaskID) { f.requeue(f.executing(id), dispatcher.ReasonLost) }},
	{"requeued, cancel", dispatcher.Spec{}, func(f *fixture, id dispatcher.TaskID) {
		f.requeue(f.executing(id), dispatcher.ReasonLost)
		f.cancel(id)
	}},
	{"attention, owing", oneFailure, func(f *fixture, id dispatcher.TaskID) { f.stop(id) }},
	{"attention, owing, cancel", oneFailure, func(f *fixture, id dispatcher.TaskID) { f.stop(id); f.cancel(id) }},
	{"attention", oneFailure, func(f *fixture, id dispatcher.TaskID) { f.cleaned(f.stop(id)) }},
	{"succeeded, owing", dispatcher.Spec{}, func(f *fixture, id dispatcher.TaskID) {
		f.finish(f.executing(id), dispatcher.ResultSucceeded)
	}},
	{"succeeded", dispatcher.Spec{}, func(f *fixture, id dispatcher.TaskID) {
		f.cleaned(f.finish(f.executing(id), dispatcher.ResultSucceeded))
	}},
	{"failed, owing", dispatcher.Spec{}, func(f *fixture, id dispatcher.TaskID) { f.overrun(id) }},
	{"failed", dispatcher.Spec{}, func(f *fixture, id dispatcher.TaskID) { f.cleaned(f.overrun(id)) }},
	{"cancelled, owing", dispatcher.Spec{}, func(f *fixture, id dispatcher.TaskID) { f.abort(id) }},
	{"cancelled", dispatcher.Spec{}, func(f *fixture, id dispatcher.TaskID) { f.cleaned(f.abort(id)) }},
	{"pending", dispatcher.Spec{}, func(*fixture, dispatcher.TaskID) {}},
}

var oneFailure = dispatcher.Spec{MaxFailures: 1}

// everywhere brings one task to each state and returns them by its name.
func (f *fixture) everywhere() map[string]dispatcher.Task {
	f.Helper()
	at := map[string]dispatcher.Task{}
	for i, s := range states {
		s.spec.ID = stateID(i)
		f.must(f.store.Submit(f.ctx, s.spec))
		s.reach(f, s.spec.ID)
		at[s.name] = f.read(s.spec.ID)
	}
	for name, t := range at { // later claims took over the launching one
		at[name] = f.read(t.Spec.ID)
	}
	return at
}

func stateID(i int) dispatcher.TaskID { return dispatcher.TaskID(fmt.Sprintf("t%02d", i)) }

// stop spends the failure budget of a task that has one failure to spend.
func (f *fixture) stop(id dispatcher.TaskID) dispatcher.Task {
	f.Helper()
	return f.finish(f.executing(id), dispatcher.ResultFailed)
}

// overrun ends a task by its deadline.
func (f *fixture) overrun(id dispatcher.TaskID) dispatcher.Task {
	f.Helper()
	return f.must(f.store.Conclude(f.ctx, f.rec, f.executing(id).Ref(), dispatcher.ReasonDeadline))
}

// abort ends a task by a cancel.
func (f *fixture) abort(id dispatcher.TaskID) dispatcher.Task {
	f.Helper()
	f.executing(id)
	return f.must(f.store.Conclude(f.ctx, f.rec, f.cancel(id).Ref(), dispatcher.ReasonCancelled))
}

// summary is a row's phase, its goal when that is a cancel, and whether it owes cleanup.
func summary(t dispatcher.Task) string {
	s := string(t.Phase)
	if t.Desired == dispatcher.DesiredCancel {
		s += ", cancel"
	}
	if !t.CleanupAt.IsZero() {
		s += ", owing"
	}
	return s
}
