package sim

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/sim/kernel"
	"github.com/squall-chaos/squall/dispatcher"
)

// process is a dispatcher or reconciler replica, or a process of the harness. It is the machine's side: a
// coroutine comes and goes with each incarnation, the name and the clock stay.
type process struct {
	caller
	main        func(p *process) error
	once        bool // of the harness: not restarted when it returns
	incarnation int
	coroutine   *kernel.Process // nil: down
	paused      bool
	skew        time.Duration
	supervisor  kernel.Timer
}

// supervision is how long the platform waits before it restarts a replica whose loop returned.
const supervision = time.Second

func (c *Cluster) addProcess(name string, main func(p *process) error) *process {
	p := &process{main: main}
	p.caller = caller{world: c, name: name, id: c.record.processes.ID(name), process: p}
	c.processes = append(c.processes, p)
	return p
}

// instance names this life of the process.
func (p *process) instance() dispatcher.InstanceID {
	return dispatcher.InstanceID(fmt.Sprintf("%s/%d", p.name, p.incarnation))
}

// instanceProcess is the process that an instance was a life of.
func instanceProcess(i dispatcher.InstanceID) string {
	if cut := strings.LastIndexByte(string(i), '/'); cut >= 0 {
		return string(i[:cut])
	}
	return string(i)
}

// ports are what the process touches; the system under test may have put something in between.
func (p *process) ports() dispatcher.Ports {
	return dispatcher.Ports{
		Clock:     clock{p},
		Store:     store{&p.caller},
		Workloads: workloads{&p.caller},
		Leases:    leases{&p.caller},
		Watch:     workloads{&p.caller},
	}
}

// start begins a new incarnation.
func (p *process) start() {
	w := p.world
	p.incarnation++
	p.paused = false
	w.record.event(history.Event{Kind: history.ProcessStarted, Process: p.id, Detail: string(p.instance())})
	p.coroutine = w.kernel.Spawn(p.name, func(*kernel.Process) {
		err := p.main(p)
		if p.coroutine = nil; p.once {
			return
		}
		// The loops run until they are stopped from outside: a return is a crash in slow motion.
		w.record.event(history.Event{Kind: history.ProcessCrashed, Process: p.id, Detail: fmt.Sprintf("its loop returned: %v", err)})
		p.supervisor = w.kernel.After(supervision, w.labels.supervise, p.start)
	})
}

// crash ends the caller where it is.
func (c *caller) crash() {
	if c.worker != nil {
		c.worker.exit(137, "crashed")
		return
	}
	c.world.Crash(c.name)
}

// runDispatcher is the life of a dispatcher replica.
func runDispatcher(p *process) error {
	c := p.world.config
	return dispatcher.RunDispatcher(background, p.instance(), c.Settings, p.hooked())
}

// runReconciler is the life of a reconciler replica.
func runReconciler(p *process) error {
	c := p.world.config
	return dispatcher.RunReconciler(background, p.instance(), c.Settings, p.hooked(), c.System.Witness)
}

// hooked are the ports with the system's replacement, made anew for every incarnation: what it
// remembers dies with the process.
func (p *process) hooked() dispatcher.Ports {
	if hook := p.world.config.System.Ports; hook != nil {
		return hook(p.ports())
	}
	return p.ports()
}

func (c *Cluster) process(name string) *process {
	for _, p := range c.processes {
		if p.name == name {
			return p
		}
	}
	return nil
}

var _ clusters.ProcessFaults = (*Cluster)(nil)

// Crash kills the process where it is. Its calls in flight go on without it.
func (c *Cluster) Crash(name string) {
	p := c.process(name)
	if p == nil {
		return
	}
	p.supervisor.Stop()
	if p.coroutine == nil {
		return
	}
	c.record.event(history.Event{Kind: history.ProcessCrashed, Process: p.id})
	dying := p.coroutine
	p.coroutine = nil
	dying.Kill()
}

// Restart starts the process as a new instance, if it is down.
func (c *Cluster) Restart(name string) {
	if p := c.process(name); p != nil && p.coroutine == nil {
		p.supervisor.Stop()
		p.start()
	}
}

// Pause stops the process as SIGSTOP does: its calls in flight go on, replies and timers wait for Resume.
func (c *Cluster) Pause(name string) {
	if p := c.process(name); p != nil && p.coroutine != nil && !p.paused {
		p.paused = true
		p.coroutine.Pause()
		c.record.event(history.Event{Kind: history.ProcessPaused, Process: p.id})
	}
}

// Resume lets a paused process go on.
func (c *Cluster) Resume(name string) {
	if p := c.process(name); p != nil && p.paused {
		p.paused = false
		if p.coroutine == nil { // it crashed meanwhile
			return
		}
		p.coroutine.Resume()
		c.record.event(history.Event{Kind: history.ProcessResumed, Process: p.id})
	}
}

// SkewClock puts the process's wall clock off by that much, from now on and in later incarnations; 0 corrects it.
func (c *Cluster) SkewClock(name string, by time.Duration) {
	if p := c.process(name); p != nil {
		p.skew = by
	}
}

// Go starts a process of the harness within Run. It runs once.
func (c *Cluster) Go(name string, run func(ctx context.Context, p dispatcher.Ports)) {
	p := c.addProcess(name, func(p *process) error {
		run(background, p.ports())
		return nil
	})
	p.once = true
	p.start()
}
