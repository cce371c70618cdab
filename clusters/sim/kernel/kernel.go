// Package kernel runs a simulation: one thread, one virtual clock, one heap of events, and
// coroutines for the processes that run sequential code.
//
// Everything that a run does follows from the seed. Events are ordered by time, then by a tie-break
// drawn from the seed, then by the order of their making; so events that fall on one instant
// happen in any order, the same for the same seed, and no model may rely on first come, first served within an
// instant. Every purpose draws from a stream of its own: one more draw in one does not shift the others.
//
// A Kernel belongs to one goroutine. It starts none: a process is a coroutine (iter.Pull), so a
// switch is a function call and the Go scheduler has no say.
package kernel

import (
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"
)

// Epoch is virtual time zero as a time.Time.
var Epoch = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

// Label names what an event or a note is about.
type Label uint32

// Kernel is one simulation.
type Kernel struct {
	now   time.Duration
	queue queue
	seq   uint64
	ties  *rand.PCG

	trace  trace
	labels []string
	byName map[string]Label

	seed      uint64
	streams   map[string]*rand.Rand
	sources   map[string]*rand.PCG
	processes []*Process
	running   *Process
	start     Label
	executing Label
	failure   error

	ordered *ordered // nil without a Strategy
}

// New returns a simulation at time zero whose every decision follows from the seed.
func New(seed uint64) *Kernel {
	k := &Kernel{seed: seed, byName: map[string]Label{}, streams: map[string]*rand.Rand{}, sources: map[string]*rand.PCG{}}
	k.ties = k.source("kernel: tie-break")
	k.Label("") // label 0
	k.start = k.Label("start")
	return k
}

// Now is the virtual time, as an offset from the start.
func (k *Kernel) Now() time.Duration { return k.now }

// Time is the virtual time as a time.Time.
func (k *Kernel) Time() time.Time { return Epoch.Add(k.now) }

// Label returns the one label of the name. Intern once, not per event.
func (k *Kernel) Label(name string) Label {
	if l, ok := k.byName[name]; ok {
		return l
	}
	l := Label(len(k.labels))
	k.labels = append(k.labels, name)
	k.byName[name] = l
	return l
}

// LabelName is the name of a label.
func (k *Kernel) LabelName(l Label) string { return k.labels[l] }

// Events is how many events were executed so far.
func (k *Kernel) Events() uint64 { return k.trace.events }

// After has fn called d from now (at once, but never synchronously, when d is not positive).
func (k *Kernel) After(d time.Duration, label Label, fn func()) Timer {
	slot := k.schedule(d, label)
	k.queue.slots[slot].fn = fn
	return Timer{queue: &k.queue, slot: slot, generation: k.queue.slots[slot].generation}
}

func (k *Kernel) schedule(d time.Duration, label Label) uint32 {
	k.seq++
	if k.ordered != nil {
		return k.enter(k.now+max(d, 0), label)
	}
	return k.queue.push(k.now+max(d, 0), order(k.ties.Uint64(), k.seq), label)
}

// doneEvery and doneAfter bound how seldom Run asks whether it is done.
const (
	doneEvery = 128
	doneAfter = time.Second
)

// Run executes events up to and including the instant until, or until done says so (asked
// now and then, at points that only depend on the events; may be nil). The error is a panic in a process or in an event; after it the
// simulation is broken and every further Run returns the same error.
func (k *Kernel) Run(until time.Duration, done func() bool) (err error) {
	defer k.recovered(&err)
	var asked time.Duration
	var since int
	for k.failure == nil {
		at, ok := k.queue.peek()
		if !ok || at > until {
			k.now = max(k.now, until)
			break
		}
		if k.ordered != nil {
			if k.stepChosen(until); k.ordered.halted {
				break
			}
		} else {
			k.now = at
			k.step()
		}
		if since++; done != nil && (since >= doneEvery || k.now-asked >= doneAfter) {
			since, asked = 0, k.now
			if done() {
				break
			}
		}
	}
	return k.failure
}

// step executes the next event.
func (k *Kernel) step() {
	order, e := k.queue.pop()
	k.executing = e.label
	k.trace.event(k.now, order, e.label)
	if e.process != nil {
		e.process.resume(e)
		return
	}
	e.fn()
}

// recovered turns the panic of an event into the run's failure.
func (k *Kernel) recovered(err *error) {
	if r := recover(); r != nil {
		k.fail(fmt.Errorf("panic in event %q at %v: %v\n%s", k.labels[k.executing], k.now, r, debug.Stack()))
		*err = k.failure
	}
}

// fail keeps the first failure.
func (k *Kernel) fail(err error) {
	if k.failure == nil {
		k.failure = err
	}
}

// Close kills every process, newest first.
func (k *Kernel) Close() {
	for len(k.processes) > 0 {
		k.processes[len(k.processes)-1].Kill()
	}
}
