package kubernetes

import "slices"

// upcoming is a machine on its way.
type upcoming struct {
	group int
	room  int
}

// autoscale orders a machine for every node's worth of pods that fit nowhere and for which none is on its way, up to Max
// of a fitting group. A scheduler that is held finds no pod unschedulable, so nothing is ordered either.
func (s *Server) autoscale() {
	if s.held || s.down || len(s.waiting) == 0 || !slices.ContainsFunc(s.groups, group.grows) {
		return
	}
	var onDemand, any int // pods waiting
	for _, p := range s.waiting {
		switch {
		case !schedulable(p):
		case p.w.OnDemand:
			onDemand++
		default:
			any++
		}
	}
	for _, u := range s.upcoming {
		if s.groups[u.group].spot() {
			any -= u.room
		} else {
			onDemand -= u.room
		}
	}
	for onDemand > 0 && s.order(true, &onDemand) {
	}
	any += min(onDemand, 0) // on-demand room that on-demand work leaves
	for any > 0 && s.order(false, &any) {
	}
}

// order takes one machine of the first group that fits and has not reached its Max.
func (s *Server) order(onDemand bool, need *int) bool {
	best := -1
	for i := range s.groups {
		g := &s.groups[i]
		if !g.grows() || onDemand && g.spot() {
			continue
		}
		if best < 0 || g.spot() && !s.groups[best].spot() {
			best = i
		}
	}
	if best < 0 {
		return false
	}
	g := &s.groups[best]
	g.nodes++
	*need -= g.Pods
	u := &upcoming{group: best, room: g.Pods}
	s.upcoming = append(s.upcoming, u)
	s.control(s.on(g.spot()).Provisioning.Draw(s.streams.provisioning), s.labels.provision, func() { s.arrive(u) })
	return true
}

// arrive is the new machine, as a ready node.
func (s *Server) arrive(u *upcoming) {
	i := slices.Index(s.upcoming, u)
	s.upcoming = slices.Delete(s.upcoming, i, i+1)
	s.groups[u.group].nodes-- // addNode counts it again, now as a Node object
	s.addNode(u.group)
	s.reschedule()
}
