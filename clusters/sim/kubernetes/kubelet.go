package kubernetes

import (
	"slices"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// The kubelet acts on what it can see of its pods (sync), on its own clock (deadlines, grace periods), and
// tells the API server (report). While it is cut off it does neither the first nor the last; resync catches up.

// minGrace is the shortest grace period that a kubelet gives (pkg/kubelet/pod_workers.go,
// calculateEffectiveGracePeriod: "no matter what, we always supply a grace period of 1").
const minGrace = time.Second

// notify tells the pod's kubelet, by its watch, that the pod changed.
func (s *Server) notify(p *pod) {
	if p.node.connected() && !s.down {
		before := s.k.Act(p.owner)
		s.k.After(s.hop(), s.labels.sync, p.seen)
		s.k.Act(before)
	}
}

// sync is what a kubelet does about a pod of its own as it is now.
func (s *Server) sync(p *pod) {
	n, c := p.node, p.container
	if !n.connected() || s.down {
		return
	}
	switch {
	case c == nil && !p.gone:
		s.admit(p)
	case c == nil || c.stage == ended && p.gone:
	case p.gone && c.stage == preparing:
		s.abandon(c, dispatcher.FailureEvicted)
	case p.gone && c.cause == byItself:
		// The deletion event carries a grace of zero, which the kubelet takes for "not set": the grace period of
		// the spec applies (calculateEffectiveGracePeriod). So a container outlives its object even on a healthy node.
		s.stop(c, byRemoval, c.Workload.Grace)
	case p.w.Deleting && c.stage == preparing:
		s.abandon(c, dispatcher.FailureEvicted)
	case p.w.Deleting && c.stage == running && c.cause == byItself:
		s.stop(c, byDeletion, c.Workload.Grace)
	case p.w.Deleting && c.stage == ended:
		s.report(c)
	}
}

// admit takes on a pod that the kubelet sees for the first time.
func (s *Server) admit(p *pod) {
	n := p.node
	s.containers++
	c := s.memory.containers.New()
	*c = Container{Workload: p.w, Ticket: p.ticket(), Node: n.name, Number: s.containers, Task: p.task, NodeID: n.id,
		server: s, pod: p, node: n, state: dispatcher.WorkloadPending, startTime: s.k.Now()}
	c.arrives = func() { s.reported(c) }
	p.container = c
	n.containers = append(n.containers, c)
	// A node that shuts down turns new pods away (pkg/kubelet/nodeshutdown, Admit: reason NodeShutdown); a pod that is
	// terminating before it was ever seen is never started, and Failed (pkg/kubelet/status, TerminatePod).
	if n.leaving || p.w.Deleting {
		s.abandon(c, dispatcher.FailureEvicted)
		return
	}
	s.prepare(c)
}

// prepare gets a container ready to run; its deadline counts from status.startTime, so the image pull is
// inside it and the wait for a node is not (pkg/kubelet/active_deadline.go).
func (s *Server) prepare(c *Container) {
	if d := c.Workload.Deadline; d > 0 {
		c.deadline = s.k.After(c.startTime+d-s.k.Now(), s.labels.deadline, func() { s.exceed(c) })
	}
	n := c.node
	switch {
	case n.pulled:
		s.launch(c)
	case n.pulling.Active():
		n.pullers = append(n.pullers, c) // images are pulled one at a time, and this one is on its way
	default:
		n.pullers = append(n.pullers, c)
		n.pulling = s.k.After(s.on(n.spot).ImagePull.Draw(s.streams.pull), s.labels.pull, func() { s.havePulled(n) })
	}
}

func (s *Server) havePulled(n *node) {
	n.pulled = true
	pullers := n.pullers
	n.pullers = nil
	for _, c := range pullers {
		if c.stage == preparing {
			s.launch(c)
		}
	}
}

func (s *Server) launch(c *Container) {
	before := s.k.Act(c.pod.owner)
	c.starting = s.k.After(s.on(c.node.spot).Startup.Draw(s.streams.startup), s.labels.start, func() { s.run(c) })
	s.k.Act(before)
}

// exceed enforces activeDeadlineSeconds, whether or not the API server can be reached.
func (s *Server) exceed(c *Container) {
	switch {
	case c.stage == preparing:
		s.abandon(c, dispatcher.FailureDeadline)
	case c.stage == running && c.cause == byItself:
		s.stop(c, byDeadline, c.Workload.Grace)
	}
}

// stop sends SIGTERM and, after the grace period, SIGKILL.
func (s *Server) stop(c *Container, why cause, grace time.Duration) {
	c.cause = why
	c.grace = s.k.After(max(grace, minGrace), s.labels.kill, func() {
		s.kill(c, "killed")
		s.report(c)
	})
	if c.Workload.Work.Launcher { // it only waits, and can stop doing so at once
		c.Exit(143, "")
		return
	}
	s.host.Terminate(c)
}

// abandon ends a pod whose container never ran.
func (s *Server) abandon(c *Container, f dispatcher.Failure) {
	c.starting.Stop()
	c.deadline.Stop()
	c.stage = ended
	c.state, c.failure = dispatcher.WorkloadFailed, f
	if c.pod.gone {
		c.node.forget(c)
		return
	}
	s.report(c)
}

// report sends the kubelet's word on the pod to the API server; what is current then arrives.
func (s *Server) report(c *Container) {
	if c.pod.gone || !c.node.connected() || s.down {
		return // resync reports it
	}
	before := s.k.Act(c.pod.owner)
	s.k.After(s.hop(), s.labels.report, c.arrives)
	s.k.Act(before)
}

// reported is the arrival of a status update and, when the pod is terminating and its container has ended, of
// the deletion with a grace of zero that follows it (pkg/kubelet/status/status_manager.go, syncPod).
func (s *Server) reported(c *Container) {
	p := c.pod
	if p.gone || !c.node.connected() || s.down {
		return
	}
	s.setState(p, outcome{c.state, c.failure, c.code})
	if c.stage == ended && p.w.Deleting && !p.immediate {
		s.shorten(p)
		if !s.leave(p) {
			s.changed(p, Modified)
		}
	}
}

// lostTrack is what a kubelet makes of a container that was gone when its machine came back: ContainerStatusUnknown
// (pkg/kubelet/kubelet_pods.go, convertToAPIContainerStatuses), unless the taint manager had marked the pod as disrupted.
func lostTrack(p *pod) dispatcher.Failure {
	if p.disrupted {
		return dispatcher.FailureEvicted
	}
	return dispatcher.FailureUnknown
}

// resync is a kubelet that sees the API server again: it drops what is gone, takes on what is new and reports what it missed.
func (s *Server) resync(n *node) {
	if !n.connected() || s.down {
		return
	}
	for _, c := range slices.Clone(n.containers) {
		if c.poweredOff && c.cause == byItself {
			c.failure = lostTrack(c.pod)
		}
		s.sync(c.pod)
		s.reported(c)
		s.restart(c)
	}
	for _, p := range slices.Clone(s.byName) {
		if p.node == n && p.container == nil {
			s.sync(p)
		}
	}
}

// restart takes up a pod whose container had not run when the machine was switched off; its deadline still counts from
// the old startTime. Containers that ran are dead and stay so (restartPolicy Never). A kubelet that starts needs
// the API server to know its pods, so that this waits for resync.
func (s *Server) restart(c *Container) {
	if c.parked && c.stage == preparing {
		c.parked = false
		s.prepare(c)
	}
}

// powerOff is the sudden end of everything on the machine.
func (s *Server) powerOff(n *node) {
	n.on = false
	n.pulling.Stop()
	n.pullers = nil
	for _, c := range slices.Clone(n.containers) {
		switch c.stage {
		case preparing:
			c.starting.Stop()
			c.deadline.Stop()
			c.parked = true
		case running:
			c.poweredOff = true
			s.kill(c, "killed")
		}
	}
}
