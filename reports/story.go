package reports

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/squall-chaos/squall/checker/history"
)

// Story is one sentence of what happened in the run.
func (r *Run) Story() string { return setScene(r).story() }

func (s *scene) story() string {
	switch s.run.Verdict() {
	case Broken:
		return "The harness itself failed, which says nothing about the dispatcher: " + sentence(s.run.Err.Error())
	case Valid:
		return s.quietStory()
	}
	if s.broken == nil {
		return s.openStory()
	}
	switch s.broken.Invariant {
	case "I1-overlap":
		if len(s.overlaps) > 0 {
			return s.overlapStory()
		}
	case "I1-effect":
		if text := s.effectStory(); text != "" {
			return text
		}
	case "I2-stranded":
		return s.strandedStory()
	}
	return s.plainStory()
}

// quietStory says how much a valid run withstood.
func (s *scene) quietStory() string {
	struck := 0
	for _, f := range s.truth.faults {
		if f.Struck {
			struck++
		}
	}
	return capital(count(len(s.real), "task", "tasks")) + " went through " + count(struck, "fault", "faults") + " in " +
		count(len(s.containers), "container", "containers") + ", and every invariant that was exercised held."
}

// openStory says what could not be decided.
func (s *scene) openStory() string {
	var open []string
	for _, i := range s.run.Report.Invariants {
		if word := i.Verdict.String(); word == "unknown" {
			open = append(open, i.Name+because(i.Note))
		}
	}
	if len(open) == 0 {
		return "Nothing was found, and not everything could be decided."
	}
	return "No violation was found, but this could not be decided: " + strings.Join(open, ", ") + "."
}

func (s *scene) overlapStory() string {
	o := s.overlaps[0]
	for _, other := range s.overlaps {
		if s.broken.At >= other.From && s.broken.At <= other.To {
			o = other
			break
		}
	}
	steps := append(s.faultBefore(o.From), s.cause(o))
	return chain(steps) + ", and from " + seconds(o.From) + ", when the second one begins on " + s.node(o.Second.Node) +
		", two executions are alive at once for " + seconds(o.To-o.From) + "."
}

// chain tells steps one after the other.
func chain(steps []string) string { return capital(strings.Join(steps, "; ")) }

// cause is what let the second execution begin: the last requeue before it, else the later create.
func (s *scene) cause(o overlap) string {
	var requeue, create *history.Operation
	for i := range s.h.Operations {
		call := &s.h.Operations[i]
		if call.Task != s.task || call.CalledAt > o.From || call.Outcome == history.Fail {
			continue
		}
		switch {
		case call.Verb == history.Requeue && call.CalledAt >= o.First.From:
			requeue = call
		case call.Verb == history.Create && (call.Detail == o.First.Object || call.Detail == o.Second.Object):
			create = call // the later one: which of the two containers began first is chance
		}
	}
	working := " while its container on " + s.node(o.First.Node) + " is still working"
	switch {
	case requeue != nil:
		return "at " + seconds(requeue.CalledAt) + " " + s.process(requeue.Process) + " requeues " + s.taskWord() + because(requeue.Detail) + working
	case create == nil:
		return s.taskWord() + " is started again" + working
	case create.CalledAt < o.First.WorkFrom:
		working = " beside the first one"
	}
	return "at " + seconds(create.CalledAt) + " " + s.process(create.Process) + " creates a second object for " + s.taskWord() + working
}

func (s *scene) effectStory() string {
	var counted []string
	for _, c := range s.own {
		for _, e := range c.Effects {
			if e.Counted && !e.Lost {
				counted = append(counted, "at "+seconds(e.At)+" from "+s.node(c.Node)+" (token "+seed(e.Token)+")")
			}
		}
	}
	if len(counted) < 2 {
		return ""
	}
	told := strconv.Itoa(len(counted)) + " results of " + s.taskWord() + " are counted, " + listed(counted)
	return chain(append(s.faultBefore(s.broken.At), told)) + "."
}

func (s *scene) strandedStory() string {
	told := s.taskWord() + " is running in the database while nothing of it is alive"
	if length := s.focus.to - s.focus.from; length > 0 {
		told = "from " + seconds(s.focus.from) + " to " + seconds(s.focus.to) + ", for " + seconds(length) + ", " + told
	}
	return chain(append(s.faultBefore(s.broken.At), told)) + ": " + sentence(s.broken.Message)
}

// plainStory is the checker's message, after the fault that came before.
func (s *scene) plainStory() string {
	return chain(append(s.faultBefore(s.broken.At), sentence(s.broken.Message)))
}

// faultBefore is the last fault that was felt before a moment, still mattered within the window and touched the task;
// faults describe themselves in the present tense, and so the story is told in it.
func (s *scene) faultBefore(at time.Duration) []string {
	var last *faultSpan
	var since time.Duration
	for i := range s.faults {
		f := &s.faults[i]
		from, _ := f.felt()
		if f.Observed > 0 && f.FirstObserved <= at && (last == nil || from >= since) && s.touches(*f, at) {
			last, since = f, from
		}
	}
	if last == nil {
		return nil
	}
	return []string{"at " + seconds(since) + " " + strings.TrimSuffix(last.What, ".")}
}

// sentence makes a message end in a full stop, once.
func sentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" || strings.HasSuffix(text, ".") || strings.HasSuffix(text, "!") {
		return text
	}
	return text + "."
}

// capital writes the first letter large, unless it begins the name of a task or a process.
func capital(text string) string {
	word, _, _ := strings.Cut(text, " ")
	if strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }) {
		return text
	}
	r, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return text
	}
	return string(unicode.ToUpper(r)) + text[size:]
}

// listed joins words as a sentence does.
func listed(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
