package sim

import (
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/sim/kernel"
)

// digest takes in what the world is like by value, beside what a state follows.
func (c *Cluster) digest(d *kernel.Digest) {
	c.kube.Digest(d, func(d *kernel.Digest, of any) { of.(*worker).digest(d) })
	d.Add(uint64(c.database.LastToken()))
	d.Add(uint64(c.database.Timeline())<<32 | uint64(c.outages))
	for _, p := range c.processes {
		p.digest(d)
	}
	for _, r := range c.rules {
		r.digest(d)
	}
	for _, p := range [...]*port{&c.ports.api, &c.ports.store} {
		s := p.server
		d.Flags(s.down != nil, s.frozen)
		d.Add(uint64(s.life)<<32 | uint64(len(s.held)))
	}
	d.Add(c.underWay())
	var times uint64
	// order does not matter: a sum
	for task, run := range c.runTimes {
		times += mix(word(task), uint64(run))
	}
	d.Add(times)
}

// digest is the process as the machine has it; what its coroutine knows is not to be seen.
func (p *process) digest(d *kernel.Digest) {
	d.Add(uint64(p.incarnation))
	d.Flags(p.paused, p.coroutine != nil, p.coroutine != nil && p.coroutine.Held())
	d.Moment(p.skew)
	d.Timer(p.supervisor)
}

func (w *worker) digest(d *kernel.Digest) {
	d.Flags(w.executing, w.working, w.finishing, w.stopping, w.dead)
	d.Moment(w.beganAt)
	d.Moment(w.provenAt)
	for _, t := range [...]kernel.Timer{w.retry, w.work, w.crashing, w.beat, w.fence, w.shutdown} {
		d.Timer(t)
	}
}

func (r *rule) digest(d *kernel.Digest) {
	for _, text := range [...]string{string(r.Port), r.Process, r.Node, r.Task, string(r.Action)} {
		d.Text(text)
	}
	d.Add(uint64(r.Verb)<<8 | uint64(r.Code))
	d.Flags(r.Applied, r.Share > 0 && r.Share < 1)
	d.Moment(r.Delay.Typical())
	if r.Nth > 0 {
		d.Add(uint64(max(r.Nth-r.seen, 0)))
	}
}

// underWay are the calls that have not come to their end, in no order.
func (c *Cluster) underWay() uint64 {
	var sum uint64
	for _, k := range c.record.open {
		var d kernel.Digest
		k.digest(&d)
		sum += uint64(d)
	}
	return sum
}

// digest is what the call asks for, how far it is and what its caller will be told. When that comes is among the events to come.
func (c *call) digest(d *kernel.Digest) {
	d.Text(c.by.name)
	d.Add(uint64(c.verb))
	d.Text(c.task)
	d.Flags(c.due, c.settled, c.served, c.left)
	d.Moment(c.deadline)
	_, code := clusters.OutcomeOf(c.answer)
	d.Add(uint64(code))
	d.Text(string(c.fate.action))
	op, r := c.operation(), &c.request
	d.Add(op.Token)
	d.Add(op.Epoch)
	d.Text(op.Detail)
	d.Add(r.ref.Version)
	d.Text(string(r.result))
	d.Text(string(r.lease.Holder))
	d.Moment(time.Duration(r.lease.RenewedAt.UnixNano()))
}
