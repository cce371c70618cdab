package checker

import (
	"errors"
	"strings"
	"time"

	"github.com/squall-chaos/squall/checker/history"
)

// ErrStranded is I2-stranded.
var ErrStranded = errors.New("no row stands as running with nothing alive for longer than the bound B")

const strandedMargin = "between the longest time that a running row had nothing alive and B"

// stranded follows every task's row and what is there of it. A task is stranded while its row is running and there is none of
// these: an execution that is alive (of any attempt: waiting is no stranding while something really runs), a
// container of the current attempt that is alive, an object of the current attempt that waits for its container and may
// still do so (waiting.go), a create call in flight. An object that is being deleted, or has ended, is nothing.
func stranded(f *finding) {
	if !f.timed() {
		return
	}
	s := &stranding{finding: f, tasks: make([]strandable, len(f.Tasks)), free: -1}
	for i := range s.tasks {
		s.tasks[i].bodies = -1
	}
	creates := f.verbs[history.Create]
	for _, i := range f.bodies {
		e := &f.Events[i]
		for len(creates) > 0 && f.Operations[creates[0]].Call < e.Seq {
			s.create(&f.Operations[creates[0]])
			creates = creates[1:]
		}
		s.event(e)
	}
	for _, i := range creates {
		s.create(&f.Operations[i])
	}
	for i := range s.tasks {
		t := &s.tasks[i]
		if t.nothing {
			s.close(t, history.ID(i+1), f.last, 0, true)
		}
		s.stopWaiting(t, history.ID(i+1), f.last, 0)
	}
}

// stranding is the state of the pass.
type stranding struct {
	*finding
	tasks  []strandable
	bodies []body
	free   int32 // head of the bodies that can be used again

	lost    crowd // those that have nothing
	waiting crowd // those that only wait
}

// crowd is how many tasks are in a state at once, and the most since any moment: peaks is decreasing, so that the first peak
// at or after a position is the highest since.
type crowd struct {
	count   int
	changes int32
	peaks   []peak
}

type peak struct {
	change int32
	count  int
}

// strandable is one task.
type strandable struct {
	token   uint64
	since   time.Duration // nothing: from when it counts
	busy    time.Duration // a create call is in flight until then
	seq     history.Seq   // nothing: where that began
	opened  int32         // nothing: the change of count
	bodies  int32         // list of what is there, -1: none
	phase   history.Phase
	nothing bool
	wait
}

// body is what an object's UID stands for: the object and its container.
type body struct {
	object                                              string
	token                                               uint64
	next                                                int32
	known, started, alive, working, leaving, over, gone bool
}

func (s *stranding) event(e *history.Event) {
	t := &s.tasks[e.Task-1]
	ended := false // the row itself ended what there was
	if e.Kind == history.Row {
		ended = t.phase == history.Running && (e.Phase != history.Running || e.Token != t.token)
		if ended && t.nothing {
			s.close(t, e.Task, e.At, e.Seq, true)
		}
		s.claimed(t, e)
		t.phase, t.token = e.Phase, e.Token
	} else {
		s.change(t, e)
	}
	there := s.present(t)
	nothing := t.phase == history.Running && there == absent
	s.wait(t, e, t.phase == history.Running && there == expected)
	switch {
	case nothing && !t.nothing:
		s.open(t, e)
	case !nothing && t.nothing:
		s.close(t, e.Task, e.At, e.Seq, false)
	}
}

// change applies an event of an object or its container.
func (s *stranding) change(t *strandable, e *history.Event) {
	at := s.find(t, e)
	b := &s.bodies[at]
	switch e.Kind {
	case history.ObjectCreated:
		b.known = true
	case history.ObjectDeleting:
		b.leaving = true
	case history.ObjectGone:
		b.gone = true
	case history.ObjectPhase:
		b.over = strings.HasPrefix(e.Detail, "succeeded") || strings.HasPrefix(e.Detail, "failed")
	case history.ContainerStarted:
		b.started, b.alive = true, true
	case history.ContainerEnded:
		b.alive, b.working = false, false
	case history.WorkStarted:
		b.started, b.working = true, true
	case history.WorkEnded:
		b.working = false
	}
	if (b.gone || !b.known) && !b.alive && !b.working {
		s.drop(t, at)
	}
}

// find returns the task's body of the event's object, a new one if need be.
func (s *stranding) find(t *strandable, e *history.Event) int32 {
	for at := t.bodies; at >= 0; at = s.bodies[at].next {
		if s.bodies[at].object == e.Object {
			return at
		}
	}
	at := s.free
	if at >= 0 {
		s.free = s.bodies[at].next
	} else {
		at = int32(len(s.bodies))
		s.bodies = append(s.bodies, body{})
	}
	s.bodies[at] = body{object: e.Object, token: e.Token, next: t.bodies}
	t.bodies = at
	return at
}

func (s *stranding) drop(t *strandable, gone int32) {
	link := &t.bodies
	for *link != gone {
		link = &s.bodies[*link].next
	}
	*link = s.bodies[gone].next
	s.bodies[gone] = body{next: s.free}
	s.free = gone
}

// presence is what there is of a task.
type presence uint8

const (
	absent   presence = iota
	expected          // an object that waits for its container
	alive
)

func (s *stranding) present(t *strandable) presence {
	there := absent
	for at := t.bodies; at >= 0; at = s.bodies[at].next {
		b := &s.bodies[at]
		waiting := b.known && !b.started && !b.leaving && !b.over && !b.gone
		switch {
		case b.working || b.token == t.token && b.alive:
			return alive
		case b.token == t.token && waiting:
			there = expected
		}
	}
	return there
}

// create has the task wait for a create call. One without a known return is in flight for as long as it may at most.
func (s *stranding) create(o *history.Operation) {
	if o.Task == 0 {
		return
	}
	until := o.ReturnedAt
	if o.Return == 0 {
		until = o.CalledAt + s.limits.CallMax
	}
	t := &s.tasks[o.Task-1]
	t.busy = max(t.busy, until)
	if t.nothing {
		s.judge(t, o.Task, o.CalledAt, o.Call, false)
		t.since, t.seq = max(t.since, t.busy), o.Call
	}
}

func (s *stranding) open(t *strandable, e *history.Event) {
	t.nothing, t.since, t.seq = true, max(e.At, t.busy), e.Seq
	s.lost.counted(+1)
	t.opened = s.lost.changes
}

// close ends a time with nothing; counts tells that nobody but the system itself ended it.
func (s *stranding) close(t *strandable, task history.ID, at time.Duration, seq history.Seq, counts bool) {
	s.judge(t, task, at, seq, counts)
	t.nothing = false
	s.lost.counted(-1)
}

func (c *crowd) counted(by int) {
	c.count += by
	c.changes++
	for n := len(c.peaks); n > 0 && c.peaks[n-1].count <= c.count; n-- {
		c.peaks = c.peaks[:n-1]
	}
	c.peaks = append(c.peaks, peak{c.changes, c.count})
}

// most is how many tasks were in the state at the same time, since a change of the count.
func (c *crowd) most(since int32) int {
	low, high := 0, len(c.peaks)
	for low < high {
		if middle := (low + high) / 2; c.peaks[middle].change < since {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return c.peaks[low].count
}

// judge looks at the time with nothing from t.since to at.
func (s *stranding) judge(t *strandable, task history.ID, at time.Duration, seq history.Seq, counts bool) {
	if at <= t.since {
		return
	}
	if counts && s.disturbed.undisturbed(t.since, at) > 0 {
		s.exercised++
	}
	if s.harmless(s.bound(1) - (at - t.since)) {
		return
	}
	lost := s.lost.most(t.opened)
	allowed := allowance{s.bound(lost), s.restart()}
	excess := s.disturbed.excess(t.since, at, allowed)
	s.margin(-excess, strandedMargin)
	if excess <= 0 {
		return
	}
	b, how := s.stood(task, t.seq, s.disturbed.reached(t.since, at, allowed), at, seq)
	s.violate(b, "%s stood as running with nothing alive for %s, from %s (%s): %s of them were undisturbed, and B is %s with %s lost at once",
		s.task(task), clock(at-t.since), clock(t.since), how, clock(s.disturbed.undisturbed(t.since, at)),
		clock(allowed.bound), plural(lost, "task"))
}

// stood is the breach of a row that stood as it must not, from the event first until at; seq is the event that ended it, 0 if none did.
func (s *stranding) stood(task history.ID, first history.Seq, moment, at time.Duration, seq history.Seq) (b breach, how string) {
	b = breach{task, moment, s.seqAt(moment), []history.Seq{first}}
	if seq == 0 {
		return b, "it still stood so when the run ended"
	}
	b.evidence = append(b.evidence, seq)
	return b, "until " + clock(at)
}
