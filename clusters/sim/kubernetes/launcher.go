package kubernetes

import (
	"fmt"
	"slices"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// A launcher is a container whose work is done in other pods, its parts: it makes them, waits until all have ended, and ends as the first one did, or
// as one that failed. When one fails it deletes the others, as a group is ended as a whole (JobSet's and LeaderWorkerSet's failure policies). A part
// does not notice when its launcher dies. What sees to it then is the ownership, if there is one.

// askAgain is how long a launcher waits that did not reach the API server, or was refused.
const askAgain = time.Second

// makeLater has a launcher ask for its parts after a while.
func (s *Server) makeLater(c *Container, wait time.Duration) {
	s.k.After(wait, s.k.Label("launcher: makes its pod"), func() { s.makeParts(c) })
}

// makeParts makes the pods that do the work. Their names come from that of the launching object, so that a launcher that was started again in place
// finds those that it had made.
func (s *Server) makeParts(c *Container) {
	if c.stage != running {
		return
	}
	if !c.node.connected() || s.down {
		s.makeLater(c, askAgain)
		return
	}
	c.made = c.made[:0]
	for i := range max(c.Workload.Work.Pods, 1) {
		w := partOf(c.Workload, i)
		p := s.pods[w.Name]
		if p == nil {
			var err error
			if p, err = s.create(w, c); err != nil { // a quota, say
				s.makeLater(c, askAgain)
				return
			}
		}
		c.made = append(c.made, p)
	}
	for _, p := range c.made {
		if p.w.State.Ended() {
			s.tell(p)
		}
	}
}

// partOf is the launcher's part of that number. The first does the work; what the others do has no result.
func partOf(w dispatcher.Workload, number int) dispatcher.Workload {
	work := &w.Work
	w.Name = fmt.Sprintf("%s-%d-work", w.Name, w.Token)
	if number > 0 {
		w.Name = fmt.Sprintf("%s-%d", w.Name, number+1)
		work.NoResult = true
	}
	if number >= max(work.Pods, 1)-work.Stragglers {
		work.IgnoreTerm = true
	}
	work.Launcher, work.Stragglers, w.Held, w.Owns = false, 0, false, false
	return w
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

// heard is a launcher that learns of the end of a part. What ends the work is the end of its first part, or one that failed; the others
// are deleted then, and the launcher ends when all have.
func (s *Server) heard(p *pod) {
	c := p.launcher
	switch {
	case c.stage != running:
		return
	case !c.node.connected() || s.down:
		s.k.After(askAgain, s.k.Label("launcher: hears of its pod"), func() { s.heard(p) })
		return
	case !c.decided && (p == c.made[0] || p.w.State != dispatcher.WorkloadSucceeded):
		c.decided, c.outcome = true, p.endsLauncher()
	}
	if c.decided && s.endOthers(c) {
		c.decided = false // it may be started again in place
		c.Exit(c.outcome, "")
	}
}

// endsLauncher is the exit code of a launcher whose part has ended: code 1 where its work failed, and where it was ended from
// outside what says that the work itself did not.
func (p *pod) endsLauncher() int {
	switch {
	case p.w.State == dispatcher.WorkloadSucceeded:
		return 0
	case p.w.Failure != dispatcher.FailureError:
		return dispatcher.ExitFenced
	case p.w.ExitCode == killedCode:
		return 1
	}
	return p.w.ExitCode
}

// endOthers deletes the parts that have not ended, and tells whether there is none.
func (s *Server) endOthers(c *Container) bool {
	none := true
	for _, p := range c.made {
		if !p.gone && !p.w.State.Ended() {
			none = false
			s.delete(p, false)
		}
	}
	return none
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
