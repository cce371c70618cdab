package checker

import (
	"time"

	"github.com/squall-chaos/squall/checker/history"
)

// An attempt that has not begun may wait for its machine, its image, its turn: until its start timeout or its deadline is over, the earlier
// of the two, counted from its claim. From then on what waits is nothing, and the system has the time B to see that
// (argoproj/argo-workflows#12329: the deadline passes while pending, and the parent stays running).

// wait is the part of a strandable task that is about this.
type wait struct {
	by      time.Duration // when the attempt must have begun; 0: there is no limit
	waits   bool
	waited  time.Duration // waits: since when, or from the limit on
	awaited history.Seq   // waits: where that began
	joined  int32         // waits: the change of the count
}

// claimed notes by when a new attempt must begin.
func (s *stranding) claimed(t *strandable, e *history.Event) {
	if e.Phase != history.Running || t.phase == history.Running && t.token == e.Token {
		return
	}
	limit := s.limits.Deadline
	if n := int(e.Task); n <= len(s.Specs) && s.Specs[n-1].Deadline > 0 {
		limit = s.Specs[n-1].Deadline
	}
	if start := s.limits.StartTimeout; limit == 0 || start > 0 && start < limit {
		limit = start
	}
	t.by = 0
	if limit > 0 {
		t.by = e.At + limit
	}
}

// wait begins or ends a time in which an attempt only waits. One that has begun once waits for nothing any more that has a limit.
func (s *stranding) wait(t *strandable, e *history.Event, waits bool) {
	if e.Kind == history.WorkStarted && e.Token == t.token {
		t.by = 0
	}
	switch {
	case !waits:
		s.stopWaiting(t, e.Task, e.At, e.Seq)
	case !t.waits && t.by > 0:
		s.waiting.counted(+1)
		t.waits, t.waited, t.awaited, t.joined = true, max(e.At, t.by), e.Seq, s.waiting.changes
	}
}

// stopWaiting judges how long an attempt waited when it no longer might.
func (s *stranding) stopWaiting(t *strandable, task history.ID, at time.Duration, seq history.Seq) {
	if !t.waits {
		return
	}
	t.waits = false
	crowd := s.waiting.most(t.joined) + s.lost.count
	s.waiting.counted(-1)
	if at <= t.waited {
		return
	}
	if s.disturbed.undisturbed(t.waited, at) > 0 {
		s.exercised++
	}
	allowed := allowance{s.bound(crowd), s.restart()}
	excess := s.disturbed.excess(t.waited, at, allowed)
	s.margin(-excess, strandedMargin)
	if excess <= 0 {
		return
	}
	b, how := s.stood(task, t.awaited, s.disturbed.reached(t.waited, at, allowed), at, seq)
	s.violate(b, "%s stood as running for %s after it had to begin by %s, and its object only waited (%s): %s were undisturbed, and B is %s with %s waiting at once",
		s.task(task), clock(at-t.waited), clock(t.waited), how, clock(s.disturbed.undisturbed(t.waited, at)), clock(allowed.bound), plural(crowd, "task"))
}
