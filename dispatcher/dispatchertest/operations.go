package dispatchertest

import (
	"github.com/squall-chaos/squall/dispatcher"
)

// same is the outcome of a call that finds its work done: accepted, and nothing written.
const same = "same"

// operation is a call on one row, with what becomes of the row in each state.
type operation struct {
	name string
	call func(f *fixture, t dispatcher.Task) (dispatcher.Task, error)
	// outcomes is the summary of the row by state; the states left out refuse the call.
	outcomes map[string]string
	refusal  error
}

// operations is the table of the protocol: what may be done when, and what follows.
var operations = []operation{
	{"Cancel", func(f *fixture, t dispatcher.Task) (dispatcher.Task, error) {
		return f.store.Cancel(f.ctx, t.Spec.ID)
	}, map[string]string{
		"pending":                  "cancelled, cancel",
		"launching":                "running, cancel",
		"launched":                 "running, cancel",
		"executing":                "running, cancel",
		"launching, cancel":        same,
		"launched, cancel":         same,
		"executing, cancel":        same,
		"requeued":                 "pending, cancel, owing",
		"requeued, cancel":         same,
		"attention":                "cancelled, cancel",
		"attention, owing":         "needs-attention, cancel, owing",
		"attention, owing, cancel": same,
		"succeeded":                same,
		"succeeded, owing":         same,
		"failed":                   same,
		"failed, owing":            same,
		"cancelled":                same,
		"cancelled, owing":         same,
	}, nil},
	{"Resume", func(f *fixture, t dispatcher.Task) (dispatcher.Task, error) {
		return f.store.Resume(f.ctx, t.Spec.ID)
	}, map[string]string{
		"attention":        "pending",
		"attention, owing": "pending, owing",
	}, dispatcher.ErrConflict},
	{"Launched", func(f *fixture, t dispatcher.Task) (dispatcher.Task, error) {
		return f.store.Launched(f.ctx, f.disp, t.Ref(), ticket(t).Workload)
	}, map[string]string{
		"launching":                "running",
		"launching, cancel":        "running, cancel",
		"launched":                 same,
		"launched, cancel":         same,
		"executing":                same,
		"executing, cancel":        same,
		"requeued":                 same,
		"requeued, cancel":         same,
		"attention":                same,
		"attention, owing":         same,
		"attention, owing, cancel": same,
		"succeeded":                same,
		"succeeded, owing":         same,
		"failed":                   same,
		"failed, owing":            same,
		"cancelled":                same,
		"cancelled, owing":         same,
	}, dispatcher.ErrConflict},
	{"Launched, another object", func(f *fixture, t dispatcher.Task) (dispatcher.Task, error) {
		return f.store.Launched(f.ctx, f.disp, t.Ref(), "uid-other")
	}, map[string]string{
		"launching":         "running",
		"launching, cancel": "running, cancel",
	}, dispatcher.ErrConflict},
	{"Unclaim", func(f *fixture, t dispatcher.Task) (dispatcher.Task, error) {
		return f.store.Unclaim(f.ctx, f.disp, t.Ref(), minute)
	}, map[string]string{
		"launching":         "pending",
		"launching, cancel": "cancelled, cancel",
	}, dispatcher.ErrConflict},
	{"Reject", func(f *fixture, t dispatcher.Task) (dispatcher.Task, error) {
		return f.store.Reject(f.ctx, f.disp, t.Ref())
	}, map[string]string{
		"launching":         "failed, owing",
		"launching, cancel": "cancelled, cancel, owing",
	}, dispatcher.ErrConflict},
	{"Observe", func(f *fixture, t dispatcher.Task) (dispatcher.Task, error) {
		return f.store.Observe(f.ctx, f.rec, t.Ref(), dispatcher.Observation{State: dispatcher.SightEnded, Version: 7})
	}, map[string]string{
		"launching":                "running",
		"launched":                 "running",
		"executing":                "running",
		"launching, cancel":        "running, cancel",
		"launched, cancel":         "running, cancel",
		"executing, cancel":        "running, cancel",
		"requeued":                 "pending, owing",
		"requeued, cancel":         "pending, cancel, owing",
		"attention, owing":         "needs-attention, owing",
		"attention, owing, cancel": "needs-attention, cancel, owing",
	}, dispatcher.ErrConflict},
	requeueing(dispatcher.ReasonWorkFailed),
	requeueing(dispatcher.ReasonNoResult),
	requeueing(dispatcher.ReasonLost),
	requeueing(dispatcher.ReasonDisrupted),
	requeueing(dispatcher.ReasonStartTimeout),
	concluding(dispatcher.ReasonDeadline, "failed, owing"),
	concluding(dispatcher.ReasonStartDeadline, "failed, owing"),
	concluding(dispatcher.ReasonCancelled, ""),
	{"Cleaned", func(f *fixture, t dispatcher.Task) (dispatcher.Task, error) {
		return f.store.Cleaned(f.ctx, f.rec, t.Ref())
	}, map[string]string{
		"requeued":                 "pending",
		"requeued, cancel":         "cancelled, cancel",
		"attention, owing":         "needs-attention",
		"attention, owing, cancel": "cancelled, cancel",
		"succeeded, owing":         "succeeded",
		"failed, owing":            "failed",
		"cancelled, owing":         "cancelled, cancel",
	}, dispatcher.ErrConflict},
	{"Postpone", func(f *fixture, t dispatcher.Task) (dispatcher.Task, error) {
		return f.store.Postpone(f.ctx, f.rec, t.Ref(), minute)
	}, map[string]string{
		"requeued":                 "pending, owing",
		"requeued, cancel":         "pending, cancel, owing",
		"attention, owing":         "needs-attention, owing",
		"attention, owing, cancel": "needs-attention, cancel, owing",
		"succeeded, owing":         "succeeded, owing",
		"failed, owing":            "failed, owing",
		"cancelled, owing":         "cancelled, cancel, owing",
	}, dispatcher.ErrConflict},
	{"Start", func(f *fixture, t dispatcher.Task) (dispatcher.Task, error) {
		return f.store.Start(f.ctx, ticket(t))
	}, map[string]string{
		"launching": "running",
		"launched":  "running",
		"executing": same,
	}, dispatcher.ErrRefused},
	{"Start, another object", func(f *fixture, t dispatcher.Task) (dispatcher.Task, error) {
		return f.store.Start(f.ctx, dispatcher.Ticket{ID: t.Spec.ID, Token: t.Attempt.Token, Workload: "uid-other"})
	}, map[string]string{
		"launching": "running",
	}, dispatcher.ErrRefused},
	{"Heartbeat", func(f *fixture, t dispatcher.Task) (dispatcher.Task, error) {
		if err := f.store.Heartbeat(f.ctx, ticket(t)); err != nil {
			return dispatcher.Task{}, err
		}
		return f.store.Read(f.ctx, t.Spec.ID)
	}, map[string]string{
		"executing": "running",
	}, dispatcher.ErrRefused},
	{"Finish, succeeded", func(f *fixture, t dispatcher.Task) (dispatcher.Task, error) {
		return f.store.Finish(f.ctx, ticket(t), dispatcher.ResultSucceeded)
	}, map[string]string{
		"executing":        "succeeded, owing",
		"succeeded":        same,
		"succeeded, owing": same,
	}, dispatcher.ErrRefused},
	{"Finish, failed", func(f *fixture, t dispatcher.Task) (dispatcher.Task, error) {
		return f.store.Finish(f.ctx, ticket(t), dispatcher.ResultFailed)
	}, map[string]string{
		"executing":                "pending, owing",
		"attention":                same, // these three stopped by that very call
		"attention, owing":         same,
		"attention, owing, cancel": same,
	}, dispatcher.ErrRefused},
	{"Finish, another object", func(f *fixture, t dispatcher.Task) (dispatcher.Task, error) {
		return f.store.Finish(f.ctx, dispatcher.Ticket{ID: t.Spec.ID, Token: t.Attempt.Token, Workload: "uid-other"}, dispatcher.ResultSucceeded)
	}, nil, dispatcher.ErrRefused},
}

// running returns the outcomes of a call that ends an attempt: wanted tasks go on as said, the others are Cancelled.
func running(wanted string) map[string]string {
	outcomes := map[string]string{}
	for _, activity := range []string{"launching", "launched", "executing"} {
		outcomes[activity+", cancel"] = "cancelled, cancel, owing"
		if wanted != "" {
			outcomes[activity] = wanted
		}
	}
	return outcomes
}

func requeueing(why dispatcher.Reason) operation {
	return operation{"Requeue, " + string(why), func(f *fixture, t dispatcher.Task) (dispatcher.Task, error) {
		return f.store.Requeue(f.ctx, f.rec, t.Ref(), why)
	}, running("pending, owing"), dispatcher.ErrConflict}
}

func concluding(why dispatcher.Reason, wanted string) operation {
	return operation{"Conclude, " + string(why), func(f *fixture, t dispatcher.Task) (dispatcher.Task, error) {
		return f.store.Conclude(f.ctx, f.rec, t.Ref(), why)
	}, running(wanted), dispatcher.ErrConflict}
}

// exercise makes the call on one task in each state. Refused or in vain, it leaves the row exactly as it was.
// Accepted, it does what the table says and answers with the row; a terminal row keeps all but its cleanup.
func (o operation) exercise(f *fixture) {
	at := f.everywhere()
	for _, s := range states {
		before := at[s.name]
		after, err := o.call(f, before)
		want := o.outcomes[s.name]
		switch {
		case want == "" && err == nil:
			f.Fatalf("accepted in state %q, want %v", s.name, o.refusal)
		case want == "":
			f.is(err, o.refusal)
			f.unchanged(before)
			continue
		case err != nil:
			f.Fatalf("refused in state %q: %v", s.name, err)
		}
		f.unchanged(after)
		if want == same {
			f.unchanged(before)
			continue
		}
		f.equal("row that was "+s.name, summary(after), want)
		f.grown(before, after)
		if before.Phase.Terminal() {
			after.Version, after.CleanupAt = before.Version, before.CleanupAt
			f.equal("terminal row", plain(after), plain(before))
		}
	}
}
