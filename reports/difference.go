package reports

import (
	"time"

	"github.com/squall-chaos/squall/checker/history"
)

// difference is where a run and its control part: both were the same until then.
type difference struct {
	Found            bool
	Common           int // records of the task that both have in common
	Here, There      string
	HereAt, ThereAt  time.Duration
	HereSeq, TherSeq history.Seq
}

// record is one thing of a task's life, in a form that two runs can be compared by.
type record struct {
	seq  history.Seq
	at   time.Duration
	key  string // what is compared: neither time nor identity
	text string
}

// firstDifference compares what happened to the task in two runs.
func firstDifference(failed, control *scene) difference {
	a, b := failed.records(), control.records()
	for i := 0; i < len(a) || i < len(b); i++ {
		switch {
		case i < len(a) && i < len(b) && a[i].key == b[i].key:
			continue
		case i >= len(a):
			return difference{Found: true, Common: i, Here: "nothing more", HereAt: failed.end, There: b[i].text, ThereAt: b[i].at, TherSeq: b[i].seq}
		case i >= len(b):
			return difference{Found: true, Common: i, Here: a[i].text, HereAt: a[i].at, HereSeq: a[i].seq, There: "nothing more", ThereAt: control.end}
		}
		return difference{Found: true, Common: i, Here: a[i].text, HereAt: a[i].at, HereSeq: a[i].seq,
			There: b[i].text, ThereAt: b[i].at, TherSeq: b[i].seq}
	}
	return difference{Common: len(a)}
}

// records lists the calls and the true events of the scene's task, in order. Routine calls are left
// out: how often something is polled is no difference that matters.
func (s *scene) records() []record {
	var all []record
	events := s.h.Events
	next := 0
	flush := func(until history.Seq) {
		for ; next < len(events) && (until == 0 || events[next].Seq < until); next++ {
			if e := events[next]; e.Task == s.task && s.task != 0 {
				if text := s.eventText(e); text != "" {
					all = append(all, record{e.Seq, e.At, e.Kind.String() + " " + e.Phase.String(), text})
				}
			}
		}
	}
	for _, o := range s.h.Operations {
		if s.task == 0 || s.taskOf(&o) != s.task || routine(o) {
			continue
		}
		flush(o.Call)
		key := roleOf(s.process(o.Process)) + " " + o.Verb.String() + " " + o.Outcome.String() + " " + o.Code.String()
		all = append(all, record{o.Call, o.CalledAt, key, s.process(o.Process) + ": " + o.Verb.String() + ", " + outcomeWords(o)})
	}
	flush(0)
	return all
}

// eventText says what an event is; empty for those that follow from a call or from another event.
func (s *scene) eventText(e history.Event) string {
	switch e.Kind {
	case history.WorkStarted:
		return "the work begins on " + s.node(e.Node)
	case history.WorkEnded:
		return "the work ends" + s.on(e)
	case history.EffectCounted:
		return "a result is counted"
	case history.EffectRefused:
		return "a result is refused"
	case history.ObjectDeleting:
		return "the API object is being deleted"
	case history.ObjectGone:
		return "the API object is gone"
	}
	return ""
}
