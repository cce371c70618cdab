// Package kernel runs a simulation: one thread, one virtual clock, one heap of events, and
// coroutines for the processes that run sequential code.
//
// Everything that a run does follows from the seed. Events are ordered by time, then by a tie-break
// drawn from the seed, then by the order of their making; so events that fall on one instant
// happen in any order, the same for the same seed, and no model may rely on first come, first served within an
// instant. Every purpose draws from a stream of its own: one more draw in one does not shift the others.
//
// A Kernel belongs to one goroutine. It starts none: a process is a coroutine (iter.Pull), so a
// switch is a function call and the Go scheduler has no say. Events are executed by whoever is about to wait for one (see strand).
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
	host      strand  // whoever called Run
	floor     *strand // who goes on at the moment
	start     Label
	executing Label
	failure   error

	until time.Duration // of the present Run, as all below
	done  func() bool
	since int           // events since done was asked
	asked time.Duration // when that was
	over  bool          // it is, or the simulation is broken

	ordered *ordered // nil without a Strategy
}

// New returns a simulation at time zero whose every decision follows from the seed.
func New(seed uint64) *Kernel {
	k := &Kernel{byName: map[string]Label{}, streams: map[string]*rand.Rand{}, sources: map[string]*rand.PCG{}}
	k.begin(seed)
	return k
}

// Reset closes a simulation that is over and makes it what New returns, on the memory that it has: for those who run many.
func (k *Kernel) Reset(seed uint64) {
	k.Close()
	clear(k.byName)
	clear(k.streams)
	clear(k.sources)
	clear(k.queue.slots)
	*k = Kernel{byName: k.byName, streams: k.streams, sources: k.sources, labels: k.labels[:0], processes: k.processes[:0],
		queue: queue{heap: k.queue.heap[:0], slots: k.queue.slots[:0], free: k.queue.free[:0]}}
	k.begin(seed)
}

func (k *Kernel) begin(seed uint64) {
	k.seed, k.floor = seed, &k.host
	k.ties = k.source("kernel: tie-break")
	k.Label("") // label 0
	k.start = k.Label("start")
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
func (k *Kernel) Run(until time.Duration, done func() bool) error {
	k.until, k.done, k.since, k.asked, k.over = until, done, 0, 0, k.failure != nil
	k.pursue(nil)
	k.done = nil
	return k.failure
}

// pursue executes events until it is p's turn, or without p until the run is over.
func (k *Kernel) pursue(self *Process) {
	for k.proceed() {
		var order uint64
		var e event
		if k.ordered != nil {
			order, e = k.choose()
		} else {
			order, e = k.queue.pop()
		}
		k.executing = e.label
		k.trace.event(k.now, order, e.label)
		switch p := e.process; {
		case p == nil:
			k.call(e.fn)
			if self != nil && self.killed {
				return
			}
		case p.ended || e.park != p.parks || p.paused:
			p.hold(&e)
		case p == self:
			p.parks++
			p.value = e.value
			return
		default:
			p.parks++
			p.value = e.value
			if k.give(&p.strand); self != nil {
				return
			}
		}
	}
	if self != nil {
		k.give(&k.host)
	}
}

// call has an event happen.
func (k *Kernel) call(fn func()) {
	defer k.recovered()
	fn()
}

// proceed tells whether there is another event in this Run, and advances the clock to it.
func (k *Kernel) proceed() bool {
	if k.ordered != nil && !k.onward() {
		return false
	}
	if k.over || k.done != nil && k.finished() {
		return false
	}
	at, ok := k.queue.peek()
	if !ok || at > k.until {
		k.now, k.over = max(k.now, k.until), true
		return false
	}
	if k.ordered == nil {
		k.now = at
	}
	k.since++
	return true
}

// finished asks now and then whether the run is done.
func (k *Kernel) finished() bool {
	if k.since == 0 || k.since < doneEvery && k.now-k.asked < doneAfter {
		return false
	}
	k.since, k.asked = 0, k.now
	k.over = k.done()
	return k.over
}

// recovered turns the panic of an event into the run's failure.
func (k *Kernel) recovered() {
	if r := recover(); r != nil {
		k.fail(fmt.Errorf("panic in event %q at %v: %v\n%s", k.labels[k.executing], k.now, r, debug.Stack()))
	}
}

// fail keeps the first failure.
func (k *Kernel) fail(err error) {
	if k.failure == nil {
		k.failure, k.over = err, true
	}
}

// Close kills every process, newest first.
func (k *Kernel) Close() {
	for len(k.processes) > 0 {
		k.processes[len(k.processes)-1].Kill()
	}
}
