// Package synthetic makes large histories without a simulation: many tasks that live through what tasks live
// through, interleaved. Benchmarks and cross-checks of checkers run on them.
package synthetic

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/squall-chaos/squall/checker/history"
)

// Options of a history.
type Options struct {
	Seed  uint64
	Tasks int
	// Lost is the share of tasks whose first attempt dies with its node and is recovered.
	Lost float64
	// Unknown is the share of calls whose reply is lost.
	Unknown float64
}

// OperationsPerTask is about how many operations one task makes.
const OperationsPerTask = 10

// apart is how long after each other tasks are submitted: some hundred are alive at once.
const apart = 200 * time.Millisecond

// History makes a history in which every invariant holds.
func History(o Options) *history.History {
	g := &generator{
		options: o,
		random:  rand.New(rand.NewPCG(o.Seed, 0)),
		history: history.History{
			Processes: []string{"client", "dispatcher-1", "reconciler-1", "worker"},
			Nodes:     []string{"spot-1", "spot-2", "spot-3", "on-demand-1"},
			Specs:     make([]history.Spec, o.Tasks),
		},
	}
	g.history.Meta = history.Meta{Scenario: "synthetic", World: "none", Seed: o.Seed, Limits: history.Limits{
		ClaimBatch: 10, RecoverBatch: 50, MaxFailures: 3, MaxDisruptions: 20, Tick: 5 * time.Second, RecoveryGrace: time.Minute,
		RecoverInterval: 30 * time.Second, CreateTimeout: 10 * time.Second, PodGrace: 30 * time.Second, Handover: 19 * time.Second,
		CallMax: 20 * time.Second,
	}}
	for _, p := range []history.ID{client, dispatcher, reconciler} {
		g.event(0, history.Event{Kind: history.ProcessStarted, Process: p})
	}
	g.call(0, history.Operation{Verb: history.Lead, Process: dispatcher, Epoch: 1, Detail: "dispatcher"})
	g.call(0, history.Operation{Verb: history.Lead, Process: reconciler, Epoch: 1, Detail: "reconciler"})
	for i := range o.Tasks {
		g.history.Tasks = append(g.history.Tasks, fmt.Sprintf("task-%07d", i+1))
		g.life(history.ID(i+1), time.Second+time.Duration(i)*apart)
	}
	end := time.Duration(o.Tasks)*apart + 10*time.Minute
	g.event(end-5*time.Minute, history.Event{Kind: history.Healed})
	g.event(end, history.Event{Kind: history.Ended, Detail: "quiet"})
	return g.merged()
}

// The processes.
const (
	client history.ID = iota + 1
	dispatcher
	reconciler
	worker
)

// point is something that takes a place in the one order: an event, or a call, an effect or a return.
type point struct {
	at     time.Duration
	number int32 // of the operation or event
	part   part
}

type part uint8

const (
	happens part = iota
	calls
	applies
	returns
)

type generator struct {
	options    Options
	random     *rand.Rand
	history    history.History
	operations []history.Operation
	events     []history.Event
	points     []point
	token      uint64
}

func (g *generator) event(at time.Duration, e history.Event) {
	e.At = at
	g.points = append(g.points, point{at, int32(len(g.events)), happens})
	g.events = append(g.events, e)
}

// call adds an operation that takes effect a little later and returns a little later still.
func (g *generator) call(at time.Duration, o history.Operation) {
	o.CalledAt, o.Outcome, o.Applied = at, history.OK, history.OK
	effect := at + time.Millisecond
	n := int32(len(g.operations))
	g.points = append(g.points, point{at, n, calls}, point{effect, n, applies})
	if g.random.Float64() < g.options.Unknown {
		o.Outcome, o.Code = history.Unknown, history.Timeout
		effect += 10 * time.Second
	}
	o.ReturnedAt = effect + time.Millisecond
	g.points = append(g.points, point{o.ReturnedAt, n, returns})
	g.operations = append(g.operations, o)
}

// life is one task from submission to the end of its cleanup.
func (g *generator) life(task history.ID, at time.Duration) {
	g.call(at, history.Operation{Verb: history.Submit, Process: client, Task: task, Phase: history.Pending})
	at += time.Millisecond
	g.event(at+1, history.Event{Kind: history.Row, Task: task, Phase: history.Pending, Due: at})
	disruptions := int32(0)
	if g.random.Float64() < g.options.Lost {
		a := g.attempt(task, at+g.between(time.Second, 5*time.Second))
		at = a.started + g.between(time.Second, 30*time.Second)
		g.dies(a, at, "killed")
		at += 5 * time.Second
		g.gone(a, at)
		at += g.between(5*time.Second, 30*time.Second)
		g.call(at, history.Operation{Verb: history.Requeue, Process: reconciler, Task: task, Token: a.token, Epoch: 1, Phase: history.Pending, Detail: "workload lost"})
		disruptions++
		at += time.Millisecond
		row := history.Event{Kind: history.Row, Task: task, Phase: history.Pending, Token: a.token, Epoch: 1, Disruptions: disruptions,
			Cleanup: true, Due: at, Detail: "workload lost"}
		g.event(at+1, row)
		at += time.Second
		g.cleaned(a, at, row)
	}
	a := g.attempt(task, at+g.between(time.Second, 5*time.Second))
	at = a.started + 10*time.Second
	g.call(at, history.Operation{Verb: history.Heartbeat, Process: worker, Task: task, Token: a.token})
	g.call(at, history.Operation{Verb: history.Read, Process: client, Task: task, Token: a.token, Phase: history.Running})
	at += g.between(time.Second, 50*time.Second)
	g.call(at, history.Operation{Verb: history.Finish, Process: worker, Task: task, Token: a.token, Phase: history.Succeeded, Detail: "succeeded"})
	at += time.Millisecond
	row := history.Event{Kind: history.Row, Task: task, Phase: history.Succeeded, Token: a.token, Epoch: 1, Disruptions: disruptions, Cleanup: true}
	g.event(at+1, row)
	g.event(at+2, history.Event{Kind: history.EffectCounted, Task: task, Token: a.token, Object: a.object})
	g.dies(a, at+time.Second, "exit 0")
	at += 5 * time.Second
	g.call(at, history.Operation{Verb: history.Delete, Process: reconciler, Task: task, Detail: a.object})
	at += 2 * time.Second
	g.gone(a, at)
	g.cleaned(a, at+time.Second, row)
}

// cleaned records that nothing is left of an attempt.
func (g *generator) cleaned(a attempt, at time.Duration, row history.Event) {
	g.call(at, history.Operation{Verb: history.Cleaned, Process: reconciler, Task: a.task, Token: a.token, Epoch: 1, Phase: row.Phase})
	row.Cleanup = false
	g.event(at+time.Millisecond+1, row)
}

func (g *generator) between(lo, hi time.Duration) time.Duration {
	return lo + time.Duration(g.random.Int64N(int64(hi-lo)))
}

// attempt is one claim and what came of it.
type attempt struct {
	task    history.ID
	node    history.ID
	token   uint64
	object  string
	started time.Duration
}

// attempt claims, creates and starts.
func (g *generator) attempt(task history.ID, at time.Duration) attempt {
	g.token++
	a := attempt{task: task, node: history.ID(1 + g.random.IntN(4)), token: g.token, object: fmt.Sprintf("uid-%d", g.token)}
	g.call(at, history.Operation{Verb: history.Claim, Process: dispatcher, Task: task, Token: a.token, Epoch: 1, Phase: history.Running})
	at += time.Millisecond
	g.event(at+1, history.Event{Kind: history.Row, Task: task, Phase: history.Running, Token: a.token, Epoch: 1})
	at += 3 * time.Millisecond
	g.call(at, history.Operation{Verb: history.Create, Process: dispatcher, Task: task, Token: a.token, Detail: a.object})
	at += time.Millisecond
	g.event(at+1, history.Event{Kind: history.ObjectCreated, Task: task, Token: a.token, Object: a.object, Detail: "task"})
	at += 3 * time.Millisecond
	g.call(at, history.Operation{Verb: history.Launched, Process: dispatcher, Task: task, Token: a.token, Epoch: 1, Phase: history.Running, Detail: a.object})
	at += g.between(time.Second, 3*time.Second)
	g.event(at, history.Event{Kind: history.ContainerStarted, Task: task, Token: a.token, Object: a.object, Node: a.node})
	at += 100 * time.Millisecond
	g.call(at, history.Operation{Verb: history.Start, Process: worker, Task: task, Token: a.token, Phase: history.Running, Detail: a.object})
	a.started = at + time.Millisecond + 1
	g.event(a.started, history.Event{Kind: history.WorkStarted, Task: task, Token: a.token, Object: a.object, Node: a.node})
	return a
}

func (g *generator) dies(a attempt, at time.Duration, how string) {
	g.event(at, history.Event{Kind: history.WorkEnded, Task: a.task, Token: a.token, Object: a.object, Node: a.node})
	g.event(at, history.Event{Kind: history.ContainerEnded, Task: a.task, Token: a.token, Object: a.object, Node: a.node, Detail: how})
}

func (g *generator) gone(a attempt, at time.Duration) {
	g.event(at-time.Millisecond, history.Event{Kind: history.ObjectDeleting, Task: a.task, Token: a.token, Object: a.object, Detail: "task"})
	g.event(at, history.Event{Kind: history.ObjectGone, Task: a.task, Token: a.token, Object: a.object, Detail: "task"})
}

// merged puts everything in order and numbers it.
func (g *generator) merged() *history.History {
	slices.SortStableFunc(g.points, func(a, b point) int { return int(a.at - b.at) })
	order := make([]int32, 0, len(g.operations))
	g.history.Events = make([]history.Event, 0, len(g.events))
	for i, p := range g.points {
		seq := history.Seq(i + 1)
		switch p.part {
		case happens:
			e := g.events[p.number]
			e.Seq = seq
			g.history.Events = append(g.history.Events, e)
		case calls:
			g.operations[p.number].Call = seq
			order = append(order, p.number)
		case applies:
			g.operations[p.number].Effect = seq
		case returns:
			g.operations[p.number].Return = seq
		}
	}
	g.history.Operations = make([]history.Operation, 0, len(order))
	for _, n := range order {
		g.history.Operations = append(g.history.Operations, g.operations[n])
	}
	h := g.history // by itself: a pointer into the generator would keep all that it gathered
	return &h
}
