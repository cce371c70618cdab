package kubernetes

import (
	"slices"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// The periods of pod garbage collection (pkg/controller/podgc/gc_controller.go).
const (
	collectPeriod  = 20 * time.Second // gcCheckPeriod
	quarantineTime = 40 * time.Second
)

// armCollection has the next sweep happen. A sweep that finds nothing changes nothing, so that
// only those are events that may find something.
func (s *Server) armCollection() {
	if !s.sweep.Active() {
		next := (s.k.Now()/collectPeriod + 1) * collectPeriod
		s.sweep = s.control(next-s.k.Now(), s.labels.collect, s.collect)
	}
}

// collect is one sweep.
func (s *Server) collect() {
	again := false
	for _, p := range slices.Clone(s.byName) {
		switch {
		case p.gone || p.immediate && p.w.State.Ended(): // nothing left to do
		case p.node == nil && p.w.Deleting:
			// gcUnscheduledTerminating: only a finalizer keeps such a pod, and its phase becomes Failed.
			s.collectPod(p)
		case p.node != nil && p.node.gone:
			if s.orphaned(p.node) {
				p.disrupted = true // reason DeletionByPodGC
				s.collectPod(p)
			} else {
				again = true
			}
		}
	}
	if again {
		s.armCollection()
	}
}

// orphaned tells whether the Node object has been missing for the quarantine time, counted from the sweep that
// first missed it (gcOrphaned): so a pod goes 40 to 60 s after its node.
func (s *Server) orphaned(n *node) bool {
	if !n.missed {
		n.missed, n.missedAt = true, s.k.Now()
	}
	return s.k.Now()-n.missedAt >= quarantineTime
}

// collectPod is markFailedAndDeletePod: a phase that is not terminal becomes Failed, then the object is deleted by
// force; a finalizer still holds it.
func (s *Server) collectPod(p *pod) {
	s.setState(p, outcome{state: dispatcher.WorkloadFailed, failure: dispatcher.FailureEvicted})
	s.delete(p, true)
}
