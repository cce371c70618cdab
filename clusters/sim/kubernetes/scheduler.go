package kubernetes

// enqueue has kube-scheduler try a new pod.
func (s *Server) enqueue(p *pod) {
	before := s.k.Act(p.owner)
	s.k.After(s.platform.Scheduling.Draw(s.streams.scheduling), s.labels.schedule, func() { s.try(p) })
	s.k.Act(before)
}

// try binds the pod or finds it unschedulable.
func (s *Server) try(p *pod) {
	if !schedulable(p) {
		return
	}
	if !s.held && !s.down && s.place(p) {
		return
	}
	s.waiting = append(s.waiting, p)
	s.autoscale()
}

// schedulable: a pod that is being deleted is never bound (pkg/scheduler, skipPodSchedule;
// pkg/registry/core/pod/storage, assignPod).
func schedulable(p *pod) bool { return !p.gone && !p.w.Deleting && p.node == nil }

// reschedule has kube-scheduler look again at what it could not place, after the platform changed in its favour.
func (s *Server) reschedule() {
	if len(s.waiting) > 0 && !s.held && !s.down && !s.pass.Active() {
		s.pass = s.control(s.platform.Scheduling.Draw(s.streams.scheduling), s.labels.schedule, s.tryAll)
	}
}

// tryAll is one pass over the waiting pods. There are two kinds of pods; when one of a kind does not fit, none does.
func (s *Server) tryAll() {
	if s.held {
		return
	}
	kept := s.waiting[:0]
	var full [2]bool
	for i, p := range s.waiting {
		if full[0] && full[1] {
			kept = append(kept, s.waiting[i:]...)
			break
		}
		kind := 0
		if p.w.OnDemand {
			kind = 1
		}
		switch {
		case !schedulable(p):
		case full[kind]:
			kept = append(kept, p)
		case !s.place(p):
			full[kind] = true
			kept = append(kept, p)
		}
	}
	clear(s.waiting[len(kept):])
	s.waiting = kept
	s.autoscale()
}

// place binds the pod to the best node that fits: spot before on-demand for work that may use it, then the one
// with the most room, then by lot (pkg/scheduler/schedule_one.go, selectHost).
func (s *Server) place(p *pod) bool {
	var best *node
	equals := 0
	for _, n := range s.nodes {
		if !n.fits(p) {
			continue
		}
		switch better := n.compare(best, p); {
		case better > 0:
			best, equals = n, 1
		case better == 0:
			if equals++; s.streams.placement.IntN(equals) == 0 {
				best = n
			}
		}
	}
	if best == nil {
		return false
	}
	s.bind(p, best)
	return true
}

// compare is positive when n is better than other for the pod.
func (n *node) compare(other *node, p *pod) int {
	switch {
	case other == nil:
		return 1
	case n.spot != other.spot && !p.w.OnDemand:
		if n.spot {
			return 1
		}
		return -1
	}
	return (n.room - n.bound) - (other.room - other.bound)
}

func (s *Server) bind(p *pod, n *node) {
	p.node = n
	p.w.Node = n.name
	n.bound++
	s.k.Note(s.labels.bind, uint64(p.task), uint64(n.id))
	s.changed(p, Modified)
	s.notify(p)
}
