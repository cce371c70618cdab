package kubernetes

import (
	"time"

	"github.com/squall-chaos/squall/clusters/sim/kernel"
	"github.com/squall-chaos/squall/dispatcher"
)

// Digest takes in all that the cluster will do otherwise for: two clusters with the same one, and the same events to come, go on in the same way. Times
// count in grains. guest adds the Host's own part of a container. What is left out, and why, is in TestEveryFieldIsInTheDigest.
func (s *Server) Digest(d *kernel.Digest, guest func(d *kernel.Digest, of any)) {
	d.Add(s.uids)
	d.Add(uint64(s.quota))
	d.Add(uint64(s.zone))
	d.Add(uint64(len(s.deferred)))
	d.Add(uint64(len(s.snapshots)))
	d.Flags(s.held, s.down, s.watched, s.cache.on, s.journal.on)
	d.Moment(s.lag.Typical())
	d.Moment(s.taintedAt)
	for _, t := range [...]kernel.Timer{s.tainting, s.pass, s.sweep} {
		d.Timer(t)
	}
	for _, p := range s.byName {
		p.digest(d)
	}
	for _, p := range s.waiting {
		d.Text(p.w.Name)
	}
	for i := range s.groups {
		d.Add(uint64(s.groups[i].nodes)<<32 | uint64(s.groups[i].named))
	}
	for _, u := range s.upcoming {
		d.Add(uint64(u.group))
	}
	for _, n := range s.nodes {
		n.digest(d, guest)
	}
	for _, n := range s.toTaint {
		d.Text(n.name)
	}
	s.digestCache(d)
}

// digestCache is what stale lists show, and what they will.
func (s *Server) digestCache(d *kernel.Digest) {
	for i := range s.cache.items {
		digestWorkload(d, &s.cache.items[i])
	}
	if !s.cache.on {
		return
	}
	for _, c := range s.journal.changes[max(s.cache.applied-s.journal.start, 0):] {
		digestWorkload(d, c.w)
		d.Add(uint64(c.typ))
		if at := c.at + s.lag.Max(); at > s.k.Now() {
			d.Moment(at)
		}
	}
}

// digest is what is told of the object, and what only the API server knows of it.
func (p *pod) digest(d *kernel.Digest) {
	digestWorkload(d, &p.w)
	d.Flags(p.immediate, p.disrupted, p.gone, p.unselected, p.container != nil)
	for _, part := range p.parts {
		d.Text(string(part.w.UID))
	}
	if p.whole != nil {
		d.Text(string(p.whole.w.UID))
	}
	if p.launcher != nil {
		d.Text(string(p.launcher.Workload.UID))
	}
	if n := p.node; n != nil && n.gone {
		d.Flags(n.missed)
		d.Moment(n.missedAt)
	}
}

func digestWorkload(d *kernel.Digest, w *dispatcher.Workload) {
	for _, text := range [...]string{w.Name, string(w.UID), string(w.Task), w.Node, string(w.State), string(w.Failure)} {
		d.Text(text)
	}
	d.Add(uint64(w.Attempt)<<32 | uint64(w.Token))
	d.Add(uint64(w.ExitCode)<<8 | uint64(w.Restarts))
	d.Flags(w.OnDemand, w.Held, w.Deleting, w.Owns)
	for _, t := range [...]time.Duration{w.Deadline, w.Grace, time.Duration(w.DeletedAt.UnixNano())} {
		d.Moment(t)
	}
}

// digest is the machine, and what its kubelet knows.
func (n *node) digest(d *kernel.Digest, guest func(d *kernel.Digest, of any)) {
	d.Text(n.name)
	d.Add(uint64(n.bound))
	d.Flags(n.gone, n.cordoned, n.ready, n.tainted, n.queued, n.on, n.cut, n.leaving, n.pulled)
	for _, t := range [...]kernel.Timer{n.pulling, n.heartbeat, n.silence, n.eviction} {
		d.Timer(t)
	}
	for _, c := range n.pullers {
		d.Text(string(c.Workload.UID))
	}
	for _, c := range n.containers {
		c.digest(d)
		if c.Guest != nil {
			guest(d, c.Guest)
		}
	}
}

// digest is the container, whatever the API server knows of it. Its pod's object may be gone.
func (c *Container) digest(d *kernel.Digest) {
	d.Text(string(c.Workload.UID))
	d.Text(string(c.state))
	d.Text(string(c.failure))
	d.Add(uint64(c.stage)<<8 | uint64(c.cause))
	d.Add(uint64(c.code)<<8 | uint64(c.restarts))
	d.Flags(c.poweredOff, c.parked, c.pod.gone, c.decided)
	for _, p := range c.made {
		d.Text(string(p.w.UID))
	}
	d.Add(uint64(c.outcome))
	d.Moment(c.startTime)
	for _, t := range [...]kernel.Timer{c.starting, c.deadline, c.grace} {
		d.Timer(t)
	}
}
