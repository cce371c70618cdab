package kubernetes

import (
	"time"

	"github.com/squall-chaos/squall/checker/history"
)

// The periods of node heartbeats and of their judge (kubernetes.io/docs/concepts/architecture/nodes; kubelet
// nodeLeaseDurationSeconds 40 renewed at a quarter; kube-controller-manager --node-monitor-period). A heartbeat that is on
// time changes nothing, so it is no event: only a silence, and the heartbeat that ends it, are computed from the period.
const (
	heartbeatPeriod = 10 * time.Second
	monitorPeriod   = 5 * time.Second
)

// The limits of tainting (pkg/controller/nodelifecycle/config: --node-eviction-rate 0.1,
// --unhealthy-zone-threshold 0.55, --large-cluster-size-threshold 50).
const (
	taintEvery        = 10 * time.Second
	unhealthyFraction = 0.55
	largeCluster      = 50
	slowTaintEvery    = 100 * time.Second // --secondary-node-eviction-rate 0.01
)

// zoneState is the health of the cluster as node lifecycle judges it (ComputeZoneState).
type zoneState uint8

const (
	zoneNormal zoneState = iota
	zonePartial
	zoneFull
)

// unreachable starts the clock of a node that has just fallen silent.
func (s *Server) unreachable(n *node) {
	n.heartbeat.Stop()
	if n.silence.Active() || !n.ready {
		return
	}
	// The controller counts from its own first look at the last heartbeat (monitorNodeHealth, probeTimestamp).
	last := n.firstBeat + (s.k.Now()-n.firstBeat)/heartbeatPeriod*heartbeatPeriod
	at := ceil(max(last, 0), monitorPeriod) + ceil(s.settings.NodeGrace, monitorPeriod)
	n.silence = s.control(at-s.k.Now(), s.labels.silence, func() { s.notReady(n) })
}

// reachable is a kubelet that runs and sees the API server again.
func (s *Server) reachable(n *node) {
	if !n.connected() || s.down {
		return
	}
	s.k.After(s.hop(), s.labels.sync, func() { s.resync(n) })
	if !n.heartbeat.Active() {
		next := n.firstBeat + ((s.k.Now()-n.firstBeat)/heartbeatPeriod+1)*heartbeatPeriod
		n.heartbeat = s.k.After(next-s.k.Now(), s.labels.heartbeat, func() { s.beat(n) })
	}
}

// beat is the first heartbeat after a silence. Taints go with the condition: at once, for the model.
func (s *Server) beat(n *node) {
	n.silence.Stop()
	if n.ready || n.leaving {
		return
	}
	n.ready = true
	s.unready--
	s.untaint(n)
	s.observeNode(n, history.NodeReady)
	s.judgeZone()
	s.reschedule()
}

// notReady marks the node, which gets nothing from now on. A kubelet that is back renews at once, so that
// it is spared although its next heartbeat is not due.
func (s *Server) notReady(n *node) {
	if !n.ready || n.gone || n.connected() {
		return
	}
	n.ready = false
	s.unready++
	s.observeNode(n, history.NodeNotReady)
	s.judgeZone()
	s.taintLater(n)
}

// judgeZone stops evictions while so many nodes are silent that the fault is more likely the network's or
// the control plane's (handleDisruption), and takes them up again.
func (s *Server) judgeZone() {
	was := s.zone
	switch all := len(s.nodes); {
	case s.unready > 0 && s.unready == all:
		s.zone = zoneFull
	case s.unready > 2 && float64(s.unready)/float64(all) >= unhealthyFraction:
		s.zone = zonePartial
	default:
		s.zone = zoneNormal
	}
	if s.zone == was {
		return
	}
	for _, n := range s.nodes {
		switch {
		case s.zone == zoneFull:
			s.untaint(n) // "Entering master disruption mode": taints are removed, evictions cancelled
		case !n.ready && !n.tainted:
			s.taintLater(n)
		}
	}
	s.tainting.Stop() // the rate has changed
	s.armTaint()
}

// taintRate is how often a node is tainted, 0 for not at all.
func (s *Server) taintRate() time.Duration {
	switch {
	case s.zone == zoneNormal:
		return taintEvery
	case s.zone == zonePartial && len(s.nodes) > largeCluster:
		return slowTaintEvery
	}
	return 0
}

// taintLater queues a NotReady node for its NoExecute taint.
func (s *Server) taintLater(n *node) {
	if !n.queued {
		n.queued = true
		s.toTaint = append(s.toTaint, n)
	}
	s.armTaint()
}

// armTaint has the next queued node tainted when the rate allows it (zoneNoExecuteTainter, a queue with a limiter).
func (s *Server) armTaint() {
	rate := s.taintRate()
	if rate > 0 && len(s.toTaint) > 0 && !s.tainting.Active() {
		s.tainting = s.control(s.taintedAt+rate-s.k.Now(), s.labels.taint, s.taintNext)
	}
}

// taintNext taints the first queued node that is still silent.
func (s *Server) taintNext() {
	for len(s.toTaint) > 0 && s.taintRate() > 0 {
		n := s.toTaint[0]
		s.toTaint = s.toTaint[1:]
		n.queued = false
		if !n.ready && !n.gone && !n.tainted {
			s.taint(n)
			break
		}
	}
	s.armTaint()
}

// taint starts the pods' tolerationSeconds (pkg/controller/tainteviction).
func (s *Server) taint(n *node) {
	n.tainted = true
	s.taintedAt = s.k.Now()
	n.eviction = s.control(s.settings.UnreachableToleration, s.labels.evict, func() { s.evictAll(n) })
}

func (s *Server) untaint(n *node) {
	n.tainted = false
	n.eviction.Stop()
}

// evictAll deletes the pods of a tainted node, ended ones too: the controller asks for no phase. With the kubelet
// out of reach nobody confirms, so those that have not ended stay, terminating.
func (s *Server) evictAll(n *node) {
	if n.gone || !n.tainted {
		return
	}
	for _, p := range s.podsOf(n) {
		p.disrupted = true // reason DeletionByTaintManager
		s.delete(p, false)
	}
}

// podsOf returns the objects that are bound to the node, in order of name.
func (s *Server) podsOf(n *node) []*pod {
	var bound []*pod
	for _, p := range s.byName {
		if p.node == n {
			bound = append(bound, p)
		}
	}
	return bound
}
