package kubernetes

import (
	"fmt"
	"slices"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// A launcher is a container whose work is done in another pod, its part: it makes that one, waits for its end, and ends as it did. A part
// does not notice when its launcher dies. What sees to it then is the ownership, if there is one.

// askAgain is how long a launcher waits that did not reach the API server, or was refused.
const askAgain = time.Second

// makeLater has a launcher ask for its part after a while.
func (s *Server) makeLater(c *Container, wait time.Duration) {
	s.k.After(wait, s.k.Label("launcher: makes its pod"), func() { s.makePart(c) })
}

// makePart makes the pod that does the work. Its name is that of the launching object, so that a launcher that was started again in place
// finds the part that it had made.
func (s *Server) makePart(c *Container) {
	if c.stage != running {
		return
	}
	if !c.node.connected() || s.down {
		s.makeLater(c, askAgain)
		return
	}
	w := c.Workload
	w.Name = fmt.Sprintf("%s-%d-work", w.Name, w.Token)
	w.Work.Launcher, w.Held, w.Owns = false, false, false
	p := s.pods[w.Name]
	if p == nil {
		var err error
		if p, err = s.create(w, c); err != nil { // a quota, say
			s.makeLater(c, askAgain)
			return
		}
	}
	if p.w.State.Ended() {
		s.tell(p)
	}
}

// belong makes a new pod a part.
func (s *Server) belong(p *pod, launcher *Container) {
	p.launcher, p.unselected = launcher, true
	s.unselected++
	if !launcher.Workload.Owns {
		return
	}
	p.whole = launcher.pod
	p.whole.parts = append(p.whole.parts, p)
	if p.whole.gone || p.whole.w.Deleting {
		s.collectLater(p.whole)
	}
}

// ticket is the UID that the pod's worker shows.
func (p *pod) ticket() dispatcher.UID {
	if p.launcher != nil {
		return p.launcher.Workload.UID
	}
	return p.w.UID
}

// tell has the launcher of a part hear of its end.
func (s *Server) tell(p *pod) {
	s.k.After(s.hop(), s.k.Label("launcher: hears of its pod"), func() { s.heard(p) })
}

// heard is a launcher that learns of the end of its part, and ends as that did: code 1 where its work failed, and where it was ended from
// outside what says that the work itself did not.
func (s *Server) heard(p *pod) {
	c := p.launcher
	switch {
	case c.stage != running:
	case !c.node.connected() || s.down:
		s.k.After(askAgain, s.k.Label("launcher: hears of its pod"), func() { s.heard(p) })
	case p.w.State == dispatcher.WorkloadSucceeded:
		c.Exit(0, "")
	case p.w.Failure != dispatcher.FailureError:
		c.Exit(dispatcher.ExitFenced, "")
	case p.w.ExitCode == killedCode:
		c.Exit(1, "")
	default:
		c.Exit(p.w.ExitCode, "")
	}
}

// collectLater has the garbage collector see to the parts of an object that goes, or is gone.
func (s *Server) collectLater(p *pod) {
	s.control(s.hop(), s.k.Label("garbage collector"), func() { s.collectParts(p) })
}

// collectParts deletes the parts, and lets their owner go when none is left.
func (s *Server) collectParts(p *pod) {
	for _, part := range slices.Clone(p.parts) {
		s.delete(part, false)
	}
	if p.gone || !p.w.Owns || len(p.parts) > 0 {
		return
	}
	p.w.Owns = false
	if !s.leave(p) {
		s.changed(p, Modified)
	}
}

// partsAfter is what becomes of parts and owner when an object has gone.
func (s *Server) partsAfter(p *pod) {
	if p.launcher != nil && !p.w.State.Ended() {
		s.tell(p)
	}
	if whole := p.whole; whole != nil {
		whole.parts = slices.DeleteFunc(whole.parts, func(o *pod) bool { return o == p })
		if whole.w.Deleting {
			s.collectLater(whole)
		}
	}
	if len(p.parts) > 0 {
		s.collectLater(p)
	}
}
