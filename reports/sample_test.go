package reports

import (
	"fmt"
	"slices"
	"time"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/dispatcher"
)

// tape records a history as a world would, at times given in seconds.
type tape struct {
	h     *history.History
	seq   history.Seq
	table struct{ processes, tasks, nodes *history.Table }
	items []taped
}

// taped is an event or an operation that waits for its place in the order.
type taped struct {
	at    float64
	order int
	event *history.Event
	op    *history.Operation
	back  bool // the return of op
	last  float64
}

func newTape(dispatcherName string) *tape {
	t := &tape{h: &history.History{Meta: history.Meta{Scenario: "stale-leader", Dispatcher: dispatcherName, World: "sim",
		Seed: 42, Version: "v0.1.0", TraceHash: 0x5eed0fc0ffee}}}
	t.table.processes, t.table.tasks, t.table.nodes = history.NewTable(), history.NewTable(), history.NewTable()
	return t
}

func (t *tape) event(at float64, e history.Event) {
	t.items = append(t.items, taped{at: at, order: len(t.items), event: &e})
}

// call adds a call from one second to another; until 0 means that it never returned.
func (t *tape) call(from, until float64, process, task string, o history.Operation) {
	o.Process, o.Task = t.table.processes.ID(process), t.table.tasks.ID(task)
	if o.Applied == 0 {
		o.Applied = history.Fail
		if o.Outcome == history.OK {
			o.Applied = history.OK
		}
	}
	t.items = append(t.items, taped{at: from, order: len(t.items), op: &o, last: until})
	if until > 0 {
		t.items = append(t.items, taped{at: until, order: len(t.items), op: &o, back: true})
	}
}

// history puts everything in order.
func (t *tape) history() *history.History {
	slices.SortStableFunc(t.items, func(a, b taped) int {
		switch {
		case a.at < b.at:
			return -1
		case a.at > b.at:
			return 1
		}
		return a.order - b.order
	})
	var ops []*history.Operation
	for _, i := range t.items {
		t.seq++
		at := sec(i.at)
		switch {
		case i.event != nil:
			i.event.Seq, i.event.At = t.seq, at
			t.h.Events = append(t.h.Events, *i.event)
		case i.back:
			i.op.Return, i.op.ReturnedAt = t.seq, at
		default:
			i.op.Call, i.op.CalledAt = t.seq, at
			ops = append(ops, i.op)
		}
	}
	for _, op := range ops {
		t.h.Operations = append(t.h.Operations, *op)
	}
	t.h.Processes, t.h.Tasks, t.h.Nodes = t.table.processes.Names(), t.table.tasks.Names(), t.table.nodes.Names()
	t.h.Specs = make([]history.Spec, len(t.h.Tasks))
	return t.h
}

func sec(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(time.Millisecond)
}

// run of one attempt: when it was claimed, when its container began and ended.
type attempt struct {
	task, node, leader  string
	token, epoch        uint64
	claim, start, end   float64
	createLost, refused bool
}

func (t *tape) uid(a attempt) string { return fmt.Sprintf("uid-%s-%d", a.task, a.token) }

// attempt records a claim, the object, the container and its result.
func (t *tape) attempt(a attempt) {
	task, node, uid := t.table.tasks.ID(a.task), t.table.nodes.ID(a.node), t.uid(a)
	t.call(a.claim, a.claim+.02, a.leader, a.task, history.Operation{Verb: history.Claim, Outcome: history.OK, Token: a.token, Epoch: a.epoch})
	t.event(a.claim+.01, history.Event{Kind: history.Row, Task: task, Phase: history.Running, Token: a.token, Epoch: a.epoch})
	if a.createLost {
		t.call(a.claim+.03, a.claim+10.03, a.leader, a.task, history.Operation{Verb: history.Create, Outcome: history.Unknown, Code: history.Timeout, Applied: history.OK, Token: a.token, Detail: uid})
	} else {
		t.call(a.claim+.03, a.claim+.08, a.leader, a.task, history.Operation{Verb: history.Create, Outcome: history.OK, Token: a.token, Detail: uid})
		t.call(a.claim+.09, a.claim+.11, a.leader, a.task, history.Operation{Verb: history.Launched, Outcome: history.OK, Token: a.token, Epoch: a.epoch, Detail: uid})
	}
	common := history.Event{Task: task, Token: a.token, Node: node, Object: uid}
	add := func(at float64, kind history.Kind, detail string) {
		e := common
		e.Kind, e.Detail = kind, detail
		t.event(at, e)
	}
	worker := "worker-" + a.task
	add(a.claim+.05, history.ObjectCreated, "task-"+a.task)
	add(a.start, history.ContainerStarted, "")
	t.call(a.start+.05, a.start+.1, worker, a.task, history.Operation{Verb: history.Start, Outcome: history.OK, Token: a.token, Detail: uid})
	add(a.start+.07, history.WorkStarted, "")
	for beat := a.start + 15; beat < a.end-1; beat += 15 {
		t.call(beat, beat+.02, worker, a.task, history.Operation{Verb: history.Heartbeat, Outcome: history.OK, Token: a.token})
	}
	if a.refused {
		t.call(a.end-.2, a.end-.15, worker, a.task, history.Operation{Verb: history.Finish, Outcome: history.Fail, Code: history.Refused, Token: a.token, Detail: "succeeded"})
		add(a.end-.18, history.EffectRefused, "")
	} else {
		t.call(a.end-.2, a.end-.15, worker, a.task, history.Operation{Verb: history.Finish, Outcome: history.OK, Token: a.token, Detail: "succeeded"})
		add(a.end-.18, history.EffectCounted, "")
		t.event(a.end-.179, history.Event{Kind: history.Row, Task: task, Phase: history.Succeeded, Token: a.token, Epoch: a.epoch})
	}
	add(a.end, history.WorkEnded, "")
	add(a.end, history.ContainerEnded, "exit 0")
	add(a.end+5, history.ObjectGone, "")
}

// background is what both runs have in common: the clients, eleven other tasks, nodes, terms, faults.
func (t *tape) background() {
	for i, node := range []string{"spot-1", "spot-2", "on-demand-1"} {
		t.event(float64(i)/1000, history.Event{Kind: history.NodeAdded, Node: t.table.nodes.ID(node), Detail: node})
	}
	for _, p := range []string{"dispatcher-1", "dispatcher-2", "reconciler-1"} {
		t.event(.1, history.Event{Kind: history.ProcessStarted, Process: t.table.processes.ID(p)})
	}
	d1, d2 := t.table.processes.ID("dispatcher-1"), t.table.processes.ID("dispatcher-2")
	t.call(.2, .25, "dispatcher-1", "", history.Operation{Verb: history.PutLease, Outcome: history.OK})
	t.event(.22, history.Event{Kind: history.LeaseHeld, Process: d1, Detail: "dispatcher"})
	t.call(.3, .34, "dispatcher-1", "", history.Operation{Verb: history.Lead, Outcome: history.OK, Epoch: 1, Detail: "dispatcher"})
	t.call(.3, .36, "reconciler-1", "", history.Operation{Verb: history.Lead, Outcome: history.OK, Epoch: 1, Detail: "reconciler"})
	for at := 5.0; at < 75; at += 5 {
		t.call(at, at+.02, "dispatcher-1", "", history.Operation{Verb: history.PutLease, Outcome: history.OK})
	}
	for i := 1; i <= 12; i++ {
		name := fmt.Sprint(i)
		t.call(1+float64(i)/4, 1.03+float64(i)/4, "client-1", name, history.Operation{Verb: history.Submit, Outcome: history.OK})
		t.event(1.01+float64(i)/4, history.Event{Kind: history.Row, Task: t.table.tasks.ID(name), Phase: history.Pending})
	}
	for i := 1; i <= 12; i++ {
		if i == 7 {
			continue
		}
		at := 5 + float64(i*4)
		t.attempt(attempt{task: fmt.Sprint(i), node: []string{"spot-1", "spot-2", "on-demand-1"}[i%3], leader: "dispatcher-1",
			token: uint64(i), epoch: 1, claim: at, start: at + 3, end: at + 60 + float64(i*5)})
	}
	fault := func(n int32, struck, observed, healed float64, what string) {
		t.event(.01, history.Event{Kind: history.FaultPlanned, Fault: n, Detail: what})
		if struck > 0 {
			t.event(struck, history.Event{Kind: history.FaultStruck, Fault: n, Detail: what})
		}
		if observed > 0 {
			t.event(observed, history.Event{Kind: history.FaultObserved, Fault: n, Detail: what})
		}
		if healed > 0 {
			t.event(healed, history.Event{Kind: history.FaultHealed, Fault: n, Detail: what})
		}
	}
	fault(1, 62, 66.04, 68, "the reply to create is lost for 6 s")
	fault(2, 74, 74, 134, "dispatcher-1 is paused for 60 s")
	fault(3, 200, 0, 240, "spot-2 is cut off from the API server for 40 s, its containers live on")
	fault(4, 0, 0, 0, "spot-9 is reclaimed with 30 s notice")
	t.event(74, history.Event{Kind: history.ProcessPaused, Process: d1})
	t.event(134, history.Event{Kind: history.ProcessResumed, Process: d1})
	t.call(91.5, 91.55, "dispatcher-2", "", history.Operation{Verb: history.PutLease, Outcome: history.OK})
	t.event(91.52, history.Event{Kind: history.LeaseHeld, Process: d2, Detail: "dispatcher"})
	t.call(92, 92.05, "dispatcher-2", "", history.Operation{Verb: history.Lead, Outcome: history.OK, Epoch: 2, Detail: "dispatcher"})
	t.event(300, history.Event{Kind: history.Healed})
	t.event(420, history.Event{Kind: history.Ended, Detail: "quiet"})
}

// failing is a run in which task 7 is executed twice: the reply to its create is lost, its dispatcher is
// paused before it can look, and the reconciler takes silence for death.
func failing() *Run {
	t := newTape("planted/silence-is-death")
	t.background()
	first := attempt{task: "7", node: "spot-1", leader: "dispatcher-1", token: 7, epoch: 1, claim: 66, start: 69.5, end: 190, createLost: true}
	second := attempt{task: "7", node: "on-demand-1", leader: "dispatcher-2", token: 31, epoch: 2, claim: 130, start: 134.2, end: 258}
	t.attempt(first)
	t.attempt(second)
	t.call(96, 96.04, "reconciler-1", "7", history.Operation{Verb: history.Get, Outcome: history.OK})
	t.call(126, 126.3, "reconciler-1", "7", history.Operation{Verb: history.Get, Outcome: history.Fail, Code: history.NotFound})
	t.call(126.4, 126.45, "reconciler-1", "7", history.Operation{Verb: history.Requeue, Outcome: history.OK, Token: 7, Epoch: 1, Detail: "workload lost"})
	t.event(126.42, history.Event{Kind: history.Row, Task: t.table.tasks.ID("7"), Phase: history.Pending, Token: 7, Epoch: 1, Detail: "workload lost", Disruptions: 1})
	t.call(134.5, 134.55, "dispatcher-1", "7", history.Operation{Verb: history.Launched, Outcome: history.Fail, Code: history.Fenced, Token: 7, Epoch: 1})
	r := &Run{History: t.history(), Settings: sampleSettings(), Virtual: 420 * time.Second, Wall: 3 * time.Millisecond,
		Scenario: []byte("apiVersion: squall/v1alpha1\nkind: Scenario\nname: stale-leader\n"), About: "A leader is paused after it launched.",
		Judged: checker.Invalid, Expected: Invalid, Bundle: ".squall/runs/stale-leader-42"}
	r.Report = sampleReport(checker.Invalid)
	at := func(kind history.Kind, token uint64) history.Seq {
		for _, e := range r.History.Events {
			if e.Kind == kind && e.Token == token && r.History.Tasks[e.Task-1] == "7" {
				return e.Seq
			}
		}
		panic("the sample has no such event")
	}
	r.Report.Violations = []checker.Violation{
		{Invariant: "I1-overlap", Task: "7", At: sec(134.27), Seq: at(history.WorkStarted, 31), Message: "task 7 is executed by uid-7-31 while uid-7-7 is still alive",
			Evidence: []history.Seq{at(history.WorkStarted, 7), at(history.WorkStarted, 31)}},
		{Invariant: "I1-effect", Task: "7", At: sec(257.82), Seq: at(history.EffectCounted, 31), Message: "two results of task 7 are counted",
			Evidence: []history.Seq{at(history.EffectCounted, 7), at(history.EffectCounted, 31)}},
	}
	return r
}

// passing is the control: the reference reads the object by name and leaves the task alone.
func passing() *Run {
	t := newTape("reference")
	t.background()
	t.attempt(attempt{task: "7", node: "spot-1", leader: "dispatcher-1", token: 7, epoch: 1, claim: 66, start: 69.5, end: 190, createLost: true})
	t.call(93, 93.05, "dispatcher-2", "7", history.Operation{Verb: history.Claim, Outcome: history.OK, Token: 7, Epoch: 2})
	t.call(93.1, 93.14, "dispatcher-2", "7", history.Operation{Verb: history.Create, Outcome: history.Fail, Code: history.Exists, Token: 7})
	t.call(93.2, 93.24, "dispatcher-2", "7", history.Operation{Verb: history.Get, Outcome: history.OK})
	t.call(93.3, 93.34, "dispatcher-2", "7", history.Operation{Verb: history.Launched, Outcome: history.OK, Token: 7, Epoch: 2})
	t.call(126, 126.3, "reconciler-1", "7", history.Operation{Verb: history.Get, Outcome: history.OK})
	t.call(134.5, 134.55, "dispatcher-1", "7", history.Operation{Verb: history.Launched, Outcome: history.Fail, Code: history.Fenced, Token: 7, Epoch: 1})
	return &Run{History: t.history(), Settings: sampleSettings(), Virtual: 420 * time.Second, Wall: 2 * time.Millisecond,
		Judged: checker.Valid, Report: sampleReport(checker.Valid)}
}

// sampleSettings have a worker lease that reaches out of the recovery grace.
func sampleSettings() dispatcher.Settings {
	s, _ := dispatcher.Profile("b0")
	s.WorkflowDeadline, s.StepTimeout, s.HTTPTimeout, s.WorkerLease = 150*time.Second, 90*time.Second, 60*time.Second, 75*time.Second
	return s
}

func sampleReport(v checker.Verdict) checker.Report {
	r := checker.Report{Verdict: v}
	add := func(name, promise, of string, exercised int, margin time.Duration, marginOf string) {
		i := checker.InvariantResult{Name: name, Promise: promise, Of: of, Exercised: exercised, WorstMargin: margin, MarginOf: marginOf, Verdict: checker.Valid}
		if exercised == 0 {
			i.Verdict, i.Note = checker.NotExercised, "no task was cancelled"
		}
		if v == checker.Invalid && (name == "I1-overlap" || name == "I1-effect") {
			i.Verdict, i.Violated = checker.Invalid, 1
		}
		r.Invariants = append(r.Invariants, i)
	}
	overlap := sec(2.4)
	if v == checker.Invalid {
		overlap = -sec(55.8)
	}
	add("I1-overlap", "at most one execution of a task is alive at any time", "pairs of executions", 13, overlap, "end of one execution to the start of the next")
	add("I1-effect", "at most one result of a task is counted", "results", 13, 0, "")
	add("I2-stranded", "a running row without anything alive is requeued within the bound B", "silences", 4, sec(211), "bound B")
	add("I3-loss", "every task reaches an end", "tasks", 12, 0, "")
	add("I4-cancel", "nothing starts after an acknowledged cancel", "cancels", 0, 0, "")
	add("I6-fence", "the store accepts no write from a superseded term or attempt", "fenced writes", 1, 0, "")
	add("L1-ledger", "the ledger of every task is linearizable", "operations", 164, 0, "")
	return r
}
