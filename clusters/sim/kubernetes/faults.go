package kubernetes

import (
	"slices"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
)

// KillNode switches the machine off: its containers are dead and its kubelet is silent; the Node object stays.
func (s *Server) KillNode(name string) {
	if n := s.lookup(name); n != nil && n.on {
		s.powerOff(n)
		s.unreachable(n)
	}
}

// ReturnNode switches the machine on again. Containers that ran are not restarted; their pods become Failed.
func (s *Server) ReturnNode(name string) {
	if n := s.lookup(name); n != nil && !n.on && !n.leaving {
		n.on = true
		s.reachable(n)
	}
}

// RemoveNode takes the machine and its Node object away for good.
func (s *Server) RemoveNode(name string) {
	if n := s.lookup(name); n != nil {
		s.removeNode(n)
	}
}

// CutNode severs the node's kubelet from the API server. Other ports are those of the workers, and the Host's.
func (s *Server) CutNode(name string, port clusters.Port) {
	if n := s.lookup(name); n != nil && port == clusters.API && !n.cut {
		n.cut = true
		s.unreachable(n)
	}
}

// JoinNode undoes CutNode; the kubelet catches up both ways.
func (s *Server) JoinNode(name string, port clusters.Port) {
	if n := s.lookup(name); n != nil && port == clusters.API && n.cut {
		n.cut = false
		s.reachable(n)
	}
}

// ReclaimNode gives notice: the node is cordoned and shuts down gracefully, and after the notice it and its
// Node object are gone (kubernetes.io/docs/concepts/cluster-administration/node-shutdown).
func (s *Server) ReclaimNode(name string, notice time.Duration) {
	n := s.lookup(name)
	if n == nil || n.leaving {
		return
	}
	n.cordoned = true
	n.leaving = true
	if n.on {
		s.shutDown(n, notice)
	}
	s.k.After(notice, s.labels.gone, func() { s.removeNode(n) })
}

// shutDown is the kubelet's part: it reports NotReady at once, and gives no pod a longer grace than the notice
// (pkg/kubelet/nodeshutdown, killPods). The pods end Failed, reason Terminated, with condition DisruptionTarget.
func (s *Server) shutDown(n *node, notice time.Duration) {
	if n.ready && n.connected() && !s.down {
		n.ready = false
		n.silence.Stop()
		s.unready++
		s.observeNode(n, history.NodeNotReady)
		s.judgeZone()
		s.taintLater(n)
	}
	for _, c := range slices.Clone(n.containers) {
		switch {
		case c.stage == preparing:
			s.abandon(c, dispatcher.FailureEvicted)
		case c.stage == running && c.cause == byItself:
			s.stop(c, byShutdown, min(c.Workload.Grace, notice))
		}
	}
}

// EvictPod deletes the task's pod with its grace period, as the eviction API does. It tells whether there was a
// pod that was not already terminating.
func (s *Server) EvictPod(task string) bool {
	p := s.podOf(task)
	if p == nil || p.w.Deleting {
		return false
	}
	p.disrupted = true // reason EvictionByEvictionAPI
	s.delete(p, false)
	return true
}

// RemovePod takes the task's object away at once, finalizer included: what an operator does by force. It tells whether there was one.
func (s *Server) RemovePod(task string) bool {
	p := s.podOf(task)
	if p == nil {
		return false
	}
	p.w.Held, p.w.Owns = false, false
	if p.w.Deleting && p.immediate {
		s.leave(p)
	} else {
		s.delete(p, true)
	}
	return true
}

// RelabelPod edits the labels by which the pods of tasks are selected: to lists, caches and watches the task's pod is gone
// (kubernetes.io/docs/concepts/overview/working-with-objects/labels, and api-concepts: an object that leaves a selector is shown as
// deleted). It tells whether there was a pod that could be selected.
func (s *Server) RelabelPod(task string) bool {
	p := s.podOf(task)
	if p == nil || p.unselected {
		return false
	}
	s.changed(p, Deleted)
	p.unselected = true
	s.unselected++
	return true
}

// KillContainer kills the container of the task's pod (exit 137, as an OOM kill). It tells whether it ran.
func (s *Server) KillContainer(task string) bool {
	p := s.podOf(task)
	if p == nil || p.container == nil || !p.container.Alive() {
		return false
	}
	s.kill(p.container, "exit 137")
	s.report(p.container)
	return true
}

// podOf finds the pod that is the task's now, whatever name its dispatcher gave it: that of the newest attempt, and of several the one
// that has not ended, or was made last. Which task a pod is for was said when it was made, and nobody can change that.
func (s *Server) podOf(task string) *pod {
	id := dispatcher.TaskID(task)
	if p := s.pods[dispatcher.WorkloadName(id)]; p != nil && p.w.Task == id {
		return p
	}
	var current *pod
	for _, p := range s.byName {
		if p.w.Task == id && p.launcher == nil && (current == nil || p.newer(current)) {
			current = p
		}
	}
	return current
}

func (p *pod) newer(than *pod) bool {
	switch {
	case p.w.Token != than.w.Token:
		return p.w.Token > than.w.Token
	case p.w.State.Ended() != than.w.State.Ended():
		return than.w.State.Ended()
	}
	return p.number > than.number
}
