package reports

import (
	"sort"
	"time"

	"github.com/squall-chaos/squall/checker/history"
)

// container is the true life of one container: what no row and no API object can hide.
type container struct {
	Task, Node history.ID
	Token      uint64
	Object     string
	Seq        history.Seq
	From, To   time.Duration
	Ended      bool // otherwise it was alive at the end of the record
	Exit       string
	EndSeq     history.Seq
	// Work is the execution inside it; Worked is false when the store did not let it begin.
	Worked           bool
	WorkFrom, WorkTo time.Duration
	WorkSeq          history.Seq
	Effects          []effect
}

// effect is a result that reached the store.
type effect struct {
	At      time.Duration
	Seq     history.Seq
	Counted bool
	Lost    bool // counted, then lost with a failover
	Token   uint64
}

// span is a fault as it went.
type faultSpan struct {
	Number         int32
	What           string
	Planned        bool
	Struck, Healed bool
	StruckAt       time.Duration
	HealedAt       time.Duration
	Observed       int
	FirstObserved  time.Duration
	Seq            history.Seq
	ObservedSeq    history.Seq
	Task           history.ID // what it struck, 0 when that is not one
	Node           history.ID
	Process        history.ID
}

// truth is what a history says happened, gathered once.
type truth struct {
	names
	tasks
	containers []container // in order of start
	faults     []faultSpan // by number
	end        time.Duration
	healed     time.Duration // when the safety phase ended; 0: never
}

func gather(h *history.History) *truth {
	t := &truth{names: names{h}, tasks: sortTasks(h)}
	alive := map[string]int{}
	for i := range h.Events {
		e := &h.Events[i]
		t.end = max(t.end, e.At)
		switch e.Kind {
		case history.ContainerStarted:
			alive[e.Object] = len(t.containers)
			t.containers = append(t.containers, container{Task: e.Task, Node: e.Node, Token: e.Token, Object: e.Object, Seq: e.Seq, From: e.At})
		case history.ContainerEnded, history.WorkStarted, history.WorkEnded:
			if at, ok := alive[e.Object]; ok {
				t.containers[at].observe(e)
			}
		case history.EffectCounted, history.EffectRefused, history.EffectLost:
			t.effect(e, alive)
		case history.FaultPlanned, history.FaultStruck, history.FaultObserved, history.FaultHealed, history.FaultMissed:
			t.fault(e)
		case history.Healed:
			t.healed = e.At
		}
	}
	for _, o := range h.Operations {
		t.end = max(t.end, o.CalledAt, o.ReturnedAt)
	}
	for i := range t.containers {
		t.containers[i].close(t.end)
	}
	return t
}

func (c *container) observe(e *history.Event) {
	switch e.Kind {
	case history.ContainerEnded:
		c.To, c.Ended, c.Exit, c.EndSeq = e.At, true, e.Detail, e.Seq
	case history.WorkStarted:
		c.Worked, c.WorkFrom, c.WorkSeq = true, e.At, e.Seq
	case history.WorkEnded:
		c.WorkTo = e.At
	}
}

// close ends what the record leaves open at its end.
func (c *container) close(end time.Duration) {
	if !c.Ended {
		c.To = end
	}
	if c.Worked && c.WorkTo == 0 {
		c.WorkTo = c.To
	}
}

// effect adds a result to the container that it came from: that of the object, else the last one of the token.
func (t *truth) effect(e *history.Event, alive map[string]int) {
	at, ok := alive[e.Object]
	for i := len(t.containers) - 1; !ok && i >= 0; i-- {
		if c := t.containers[i]; c.Task == e.Task && c.Token == e.Token {
			at, ok = i, true
		}
	}
	if !ok {
		return
	}
	c := &t.containers[at]
	if e.Kind == history.EffectLost {
		for i := range c.Effects {
			c.Effects[i].Lost = c.Effects[i].Lost || c.Effects[i].Counted
		}
		return
	}
	c.Effects = append(c.Effects, effect{At: e.At, Seq: e.Seq, Counted: e.Kind == history.EffectCounted, Token: e.Token})
}

func (t *truth) fault(e *history.Event) {
	at := sort.Search(len(t.faults), func(i int) bool { return t.faults[i].Number >= e.Fault })
	if at == len(t.faults) || t.faults[at].Number != e.Fault {
		t.faults = append(t.faults, faultSpan{})
		copy(t.faults[at+1:], t.faults[at:])
		t.faults[at] = faultSpan{Number: e.Fault, What: e.Detail, Seq: e.Seq}
	}
	f := &t.faults[at]
	switch e.Kind {
	case history.FaultPlanned:
		f.Planned = true
	case history.FaultStruck:
		f.Struck, f.StruckAt, f.Seq = true, e.At, e.Seq
		f.Task, f.Node, f.Process = e.Task, e.Node, e.Process
	case history.FaultObserved:
		if f.Observed == 0 {
			f.FirstObserved, f.ObservedSeq = e.At, e.Seq
		}
		f.Observed++
	case history.FaultHealed:
		f.Healed, f.HealedAt = true, e.At
	}
	if (e.Kind == history.FaultStruck || e.Kind == history.FaultMissed) && e.Detail != "" {
		f.What = e.Detail // by now it is known whom it hit, or why nobody
	}
}

// until is when the fault was over, or the end of the record.
func (f faultSpan) until(end time.Duration) time.Duration {
	if f.Healed {
		return f.HealedAt
	}
	return end
}

// of returns the containers of a task.
func (t *truth) of(task history.ID) []container {
	var own []container
	for _, c := range t.containers {
		if c.Task == task {
			own = append(own, c)
		}
	}
	return own
}

// overlap is a stretch of time in which two executions of a task were alive.
type overlap struct {
	First, Second container
	From, To      time.Duration
}

// overlaps finds every pair of executions that were alive at once.
func overlaps(own []container) []overlap {
	var found []overlap
	for i, a := range own {
		for _, b := range own[i+1:] {
			from, to := max(a.WorkFrom, b.WorkFrom), min(a.WorkTo, b.WorkTo)
			if !a.Worked || !b.Worked || to <= from {
				continue
			}
			if b.WorkFrom < a.WorkFrom {
				a, b = b, a
			}
			found = append(found, overlap{a, b, from, to})
		}
	}
	return found
}
