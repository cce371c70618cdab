package reports

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/squall-chaos/squall/checker/history"
)

// selected matches what the sentence of a fault on single calls says of them (package faults, phrase.go): a number when it is
// one call, and the verb, "call" for any.
var selected = regexp.MustCompile(`(?:the (\d+)(?:st|nd|rd|th)|all|of the) ([a-z-]+)`)

// struckCalls tells whether the fault picks calls, which one (empty: many) and of which verb ("call" or "calls": any).
func (f faultSpan) struckCalls() (nth, verb string, ok bool) {
	m := selected.FindStringSubmatch(f.What)
	if m == nil {
		return "", "", false
	}
	if _, err := history.ParseVerb(m[2]); err != nil && m[2] != "call" && m[2] != "calls" {
		return "", "", false
	}
	return m[1], m[2], true
}

// felt is when the fault began to be felt, and its place in the record. One on calls lies in wait from the moment at
// which it is armed, which says nothing; what counts is its first hit.
func (f faultSpan) felt() (time.Duration, history.Seq) {
	if _, _, ok := f.struckCalls(); ok && f.Observed > 0 {
		return f.FirstObserved, f.ObservedSeq
	}
	return max(f.StruckAt, 0), f.Seq
}

// touches tells whether the fault can have had to do with the task by a moment: it hit everybody, or the task itself, a node
// where one of its containers lived, a process that called for it or led, or a call made for it.
func (s *scene) touches(f faultSpan, by time.Duration) bool {
	if s.task == 0 {
		return true
	}
	tasks, nodes, processes := s.named(f)
	switch {
	case len(tasks) > 0 && !slices.Contains(tasks, s.task),
		len(nodes) > 0 && !slices.ContainsFunc(nodes, func(id history.ID) bool { return s.lived(id, f, by) }),
		len(processes) > 0 && !slices.ContainsFunc(processes, func(id history.ID) bool { return s.served(id, by) }):
		return false
	}
	nth, verb, ok := f.struckCalls()
	if !ok || len(tasks) > 0 {
		return true
	}
	for i := range s.h.Operations {
		o := &s.h.Operations[i]
		if o.CalledAt <= by && s.hit(f, o, nth) && (verb == "call" || verb == "calls" || verb == o.Verb.String()) && s.forTask(o, by) {
			return true
		}
	}
	return false
}

// hit tells whether the call can be one that the fault hit: when it hit one only, the call was under way then.
func (s *scene) hit(f faultSpan, o *history.Operation, nth string) bool {
	if nth != "" {
		return o.Call < f.ObservedSeq && (o.Return == 0 || o.Return > f.ObservedSeq)
	}
	return o.CalledAt <= f.until(s.end) && returned(*o, s.end) >= f.StruckAt
}

// forTask tells whether a call was made for the task, or for no task in particular by a process that serves it.
func (s *scene) forTask(o *history.Operation, by time.Duration) bool {
	task := s.taskOf(o)
	return task == s.task || task == 0 && s.served(o.Process, by)
}

// named lists what a fault is aimed at, from its record and its sentence; a pattern names every process that it matches.
func (s *scene) named(f faultSpan) (tasks, nodes, processes []history.ID) {
	tasks, nodes, processes = some(f.Task), some(f.Node), some(f.Process)
	for _, word := range strings.FieldsFunc(f.What, func(r rune) bool { return r == ' ' || r == ',' || r == ':' }) {
		if id := find(s.h.Tasks, word); id != 0 && !isNumber(word) {
			tasks = append(tasks, id)
		}
		if id := find(s.h.Nodes, word); id != 0 && !isNumber(word) {
			nodes = append(nodes, id)
		}
		prefix, pattern := strings.CutSuffix(word, "*")
		for i, name := range s.h.Processes {
			if name == word || pattern && strings.HasPrefix(name, prefix) {
				processes = append(processes, history.ID(i+1))
			}
		}
	}
	return tasks, nodes, processes
}

func some(id history.ID) []history.ID {
	if id == 0 {
		return nil
	}
	return []history.ID{id}
}

// lived tells whether a container of the task lived on the node since the fault struck, up to a moment.
func (s *scene) lived(node history.ID, f faultSpan, by time.Duration) bool {
	return slices.ContainsFunc(s.own, func(c container) bool {
		return c.Node == node && c.From <= by && c.To >= f.StruckAt
	})
}

// served tells whether the process called for the task by a moment, or led, when everything waits for it.
func (s *scene) served(process history.ID, by time.Duration) bool {
	if s.servants == nil {
		s.servants = s.findServants()
	}
	since, ok := s.servants[process]
	return ok && since <= by
}

// findServants maps each process that called for the task, or led, to when it first did.
func (s *scene) findServants() map[history.ID]time.Duration {
	since := map[history.ID]time.Duration{}
	for i := range s.h.Operations {
		o := &s.h.Operations[i]
		if _, ok := since[o.Process]; !ok && (o.Verb == history.Lead && o.Outcome == history.OK || s.taskOf(o) == s.task) {
			since[o.Process] = o.CalledAt
		}
	}
	return since
}
