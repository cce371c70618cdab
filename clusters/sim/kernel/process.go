package kernel

import (
	"fmt"
	"runtime/debug"
	"time"
)

// Process runs sequential code as a coroutine. It goes on only from within an event, and gives way only in Park.
type Process struct {
	kernel *Kernel
	name   string
	owner  Owner
	strand strand
	heir   *strand // has the floor when it ends

	index  int    // in Kernel.processes
	parks  uint64 // parks that are over: tells a wake meant for an earlier one
	value  any
	killed bool
	ended  bool
	paused bool
	due    *event // came up while paused
}

// killed is what a process panics with when it was killed, so that it unwinds wherever it is.
type killed struct{}

// Spawn starts a process at the present instant. It ends when run returns or it is killed; a panic ends
// the whole Run.
func (k *Kernel) Spawn(name string, run func(p *Process)) *Process {
	p := &Process{kernel: k, name: name, index: len(k.processes), owner: k.Owner(name), heir: &k.host}
	k.processes = append(k.processes, p)
	p.strand.begin(func() {
		defer p.finish()
		p.Live()
		k.running = p
		run(p)
	})
	k.Wake(p, 0, k.start, nil)
	return p
}

// Running is the process that is going on right now; nil while an event's callback is.
func (k *Kernel) Running() *Process { return k.running }

// Name is the name given to Spawn.
func (p *Process) Name() string { return p.name }

// Alive tells whether the process has not ended.
func (p *Process) Alive() bool { return !p.ended }

// Live unwinds the process if it was killed: its deferred calls must not reach out to the world.
func (p *Process) Live() {
	if p.killed {
		panic(killed{})
	}
}

// Park gives way until a Wake of this process comes up, and returns the value of that Wake.
// It must be called by the process itself.
func (p *Process) Park() any {
	p.Live()
	p.kernel.running = nil
	p.kernel.pursue(p)
	p.kernel.running = p
	p.Live()
	v := p.value
	p.value = nil
	return v
}

// Sleep gives way for d.
func (p *Process) Sleep(d time.Duration, label Label) {
	p.kernel.Wake(p, d, label, nil)
	p.Park()
}

// Wake has the process go on, d from now, from the Park that it is in or, when it is running, from
// its next one. Of several wakes for one Park the first counts; the others do nothing.
func (k *Kernel) Wake(p *Process, d time.Duration, label Label, value any) Timer {
	slot := k.schedule(d, label)
	e := &k.queue.slots[slot]
	e.process, e.value, e.park = p, value, p.parks
	if k.ordered != nil {
		k.ordered.made[slot].owner = p.owner
	}
	return Timer{queue: &k.queue, slot: slot, generation: e.generation}
}

// hold keeps a wake that comes up while the process is paused. One that was meant for an earlier Park does nothing.
func (p *Process) hold(e *event) {
	if !p.ended && e.park == p.parks && p.due == nil {
		p.due = &event{value: e.value, label: e.label}
	}
}

// Pause has wakes that come up from now on wait for Resume.
func (p *Process) Pause() { p.paused = true }

// Resume ends a Pause.
func (p *Process) Resume() {
	if p.paused = false; p.due != nil {
		p.kernel.Wake(p, 0, p.due.label, p.due.value)
		p.due = nil
	}
}

// Kill ends the process where it is parked: its deferred calls run, but whatever they wait for never
// comes. A process that kills itself does not return from Kill.
func (p *Process) Kill() {
	if p.ended || p.killed {
		return
	}
	k := p.kernel
	p.killed = true
	switch {
	case k.running == p:
		panic(killed{})
	case k.floor == &p.strand: // it is parked below the event that kills it, and unwinds when that is over
		p.end()
		return
	}
	caller := k.running
	k.running, p.heir = p, k.floor
	k.give(&p.strand)
	k.running = caller
}

// finish is the last thing that a process does.
func (p *Process) finish() {
	r := recover()
	p.end()
	p.kernel.running, p.kernel.floor = nil, p.heir
	if r == nil {
		return
	}
	if _, ok := r.(killed); !ok {
		p.kernel.fail(fmt.Errorf("panic in process %s at %v: %v\n%s", p.name, p.kernel.now, r, debug.Stack()))
	}
}

// end takes the process off the list.
func (p *Process) end() {
	if p.ended {
		return
	}
	p.ended = true
	list := p.kernel.processes
	last := list[len(list)-1]
	list[p.index], last.index = last, p.index
	list[len(list)-1] = nil
	p.kernel.processes = list[:len(list)-1]
}

// Held tells that something came up for the process while it was paused.
func (p *Process) Held() bool { return p.due != nil }
