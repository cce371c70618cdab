package reports

import (
	"sort"
	"strconv"
	"time"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/reports/figure"
)

// scene is the part of a run that its first violation is about: one task, the time around it, and
// those who touched it. A run without violations shows its most disturbed task.
type scene struct {
	*truth
	run      *Run
	task     history.ID         // 0: the violation is not about a task
	broken   *checker.Violation // the violation; nil: none
	focus    window             // when the violation was going on
	window                      // what the figure shows
	own      []container
	overlaps []overlap
	calls    []history.Operation // that concern the task, within the window
	events   []history.Event     // of the task, its nodes and the processes involved, within the window
	faults   []faultSpan         // that were active within the window
	actors   []history.ID        // processes that made the calls, in order of appearance
	part     *figure.Guide       // where the run and its control part; nil: not compared
	series   map[history.Seq]*series
	servants map[history.ID]time.Duration // since when who serves the task; see served
	skipped  int                          // calls left out, because there were too many
}

// mostCalls bounds the calls of a scene: a task that is polled for hours must not fill the page.
const mostCalls = 400

func setScene(r *Run) *scene {
	s := &scene{truth: gather(r.record()), run: r}
	s.task = s.mostDisturbed()
	if s.broken = r.First(); s.broken != nil {
		s.task = find(r.record().Tasks, s.broken.Task)
	}
	s.own = s.of(s.task)
	s.overlaps = overlaps(s.own)
	s.focus = s.trouble()
	s.frame()
	s.fill()
	return s
}

// setSceneLike shows a control in the frame of the scene that failed.
func setSceneLike(r *Run, failed *scene) *scene {
	s := &scene{truth: gather(r.record()), run: r, window: failed.window}
	s.task = find(r.record().Tasks, failed.taskName())
	s.own = s.of(s.task)
	s.overlaps = overlaps(s.own)
	s.fill()
	return s
}

func (s *scene) taskName() string { return s.names.task(s.task) }

// taskWord is the task's name as a sentence needs it: a bare number says nothing.
func (s *scene) taskWord() string {
	name := s.taskName()
	if name != "" && name[0] >= '0' && name[0] <= '9' {
		return "task " + name
	}
	return name
}

// mostDisturbed is the task with the most containers; among equals the first.
func (s *scene) mostDisturbed() history.ID {
	counts := map[history.ID]int{}
	var best history.ID
	for _, c := range s.containers {
		counts[c.Task]++
		if best == 0 || counts[c.Task] > counts[best] {
			best = c.Task
		}
	}
	if best == 0 && len(s.real) > 0 {
		best = s.real[0]
	}
	return best
}

// window is a stretch of time.
type window struct{ from, to time.Duration }

// trouble is when the violation was going on: an overlap from its first to its last moment, what lasts from its
// earliest evidence to where it became a violation, anything else at that moment.
func (s *scene) trouble() window {
	if s.broken == nil {
		return window{}
	}
	at := s.broken.At
	if s.broken.Invariant == "I1-overlap" {
		for _, o := range s.overlaps {
			if at >= o.From && at <= o.To {
				return window{o.From, o.To}
			}
		}
	}
	if s.broken.Invariant == "I4-cancel" {
		return window{s.cancelled(at), at}
	}
	if w := s.proof(); lasting[s.broken.Invariant] {
		return w
	}
	return window{at, at}
}

// cancelled is when the task's cancel was acknowledged, before a moment; that moment if it never was.
func (s *scene) cancelled(before time.Duration) time.Duration {
	at := before
	for _, o := range s.h.Operations {
		if o.Verb == history.Cancel && o.Task == s.task && o.Outcome == history.OK && o.ReturnedAt <= before {
			at = o.ReturnedAt
		}
	}
	return at
}

// proof is from the earliest evidence of the violation to the latest.
func (s *scene) proof() window {
	w := window{s.broken.At, s.broken.At}
	for _, seq := range s.broken.Evidence {
		if t, ok := s.when(seq); ok {
			w.from, w.to = min(w.from, t), max(w.to, t)
		}
	}
	return w
}

// when is the time of a position in the record.
func (s *scene) when(seq history.Seq) (time.Duration, bool) {
	events := s.h.Events
	i := sort.Search(len(events), func(i int) bool { return events[i].Seq >= seq })
	if i < len(events) && events[i].Seq == seq {
		return events[i].At, true
	}
	for _, o := range s.h.Operations {
		switch seq {
		case o.Call:
			return o.CalledAt, true
		case o.Return, o.Effect:
			return o.ReturnedAt, true
		}
	}
	return 0, false
}

// frame chooses the window: from the claim that began the trouble to the end of the violation, with
// some air on both sides.
func (s *scene) frame() {
	w := s.extent()
	if w.to <= w.from {
		w.to = w.from + time.Second
	}
	air := (w.to - w.from) / 16
	s.window = window{max(w.from-air, 0), min(w.to+air, max(s.end, w.to))}
}

// extent is what must be seen: the violation and the attempts that it is about.
func (s *scene) extent() window {
	if s.broken == nil {
		return s.life()
	}
	w := s.proof()
	w.from, w.to = min(w.from, s.focus.from), max(w.to, s.focus.to)
	for _, c := range s.involved(s.focus) {
		w.from = min(w.from, s.claimed(c))
	}
	length := w.to - w.from
	for _, c := range s.involved(s.focus) {
		if c.Ended && c.To < s.focus.to+length/3 {
			w.to = max(w.to, c.To)
		}
	}
	return w
}

// life is from the task's first call to its last sign.
func (s *scene) life() window {
	from, to := s.end, time.Duration(0)
	for _, o := range s.h.Operations {
		if o.Task == s.task && s.task != 0 {
			from, to = min(from, o.CalledAt), max(to, o.CalledAt, o.ReturnedAt)
		}
	}
	for _, e := range s.h.Events {
		if e.Task == s.task && s.task != 0 {
			from, to = min(from, e.At), max(to, e.At)
		}
	}
	if to < from {
		return window{0, s.end}
	}
	return window{from, to}
}

// involved are the containers alive during the violation, or else the last one before it.
func (s *scene) involved(w window) []container {
	var during, before []container
	for _, c := range s.own {
		switch {
		case c.From <= w.to && c.To >= w.from:
			during = append(during, c)
		case c.To < w.from:
			before = []container{c}
		}
	}
	if len(during) == 0 {
		return before
	}
	return during
}

// claimed is when the attempt behind a container was claimed, or when the container began.
func (s *scene) claimed(c container) time.Duration {
	at := c.From
	for _, o := range s.h.Operations {
		if o.Task == c.Task && o.Verb == history.Claim && o.Token == c.Token {
			at = min(at, o.CalledAt)
		}
	}
	return at
}

// fill collects what lies within the window.
func (s *scene) fill() {
	for _, o := range s.h.Operations {
		if s.task != 0 && s.taskOf(&o) == s.task && s.within(o.CalledAt, returned(o, s.end)) {
			s.calls = append(s.calls, o)
		}
	}
	s.thin()
	s.actors = s.callers()
	s.leadership()
	s.series = findSeries(s.calls)
	for _, e := range s.h.Events {
		if s.within(e.At, e.At) && s.concerns(e) {
			s.events = append(s.events, e)
		}
	}
	for _, f := range s.truth.faults {
		if from, _ := f.felt(); f.Struck && s.within(from, f.until(s.end)) && s.touches(f, s.to) {
			s.faults = append(s.faults, f)
		}
	}
}

// isNumber: a task that is named by a bare number cannot be told from any other number.
func isNumber(word string) bool {
	_, err := strconv.Atoi(word)
	return err == nil
}

// within tells whether any of [from, to] lies in the window.
func (w window) within(from, to time.Duration) bool { return from <= w.to && to >= w.from }

// returned is when the caller stopped waiting; an operation without a return was open to the end.
func returned(o history.Operation, end time.Duration) time.Duration {
	if o.Return == 0 && o.ReturnedAt == 0 {
		return end
	}
	return o.ReturnedAt
}

// thin leaves out routine calls when there are too many, the middle ones first.
func (s *scene) thin() {
	if len(s.calls) <= mostCalls {
		return
	}
	kept := make([]history.Operation, 0, mostCalls)
	routineLeft := mostCalls / 2
	for _, o := range s.calls {
		if routine(o) {
			if routineLeft--; routineLeft < 0 {
				continue
			}
		}
		if len(kept) < mostCalls {
			kept = append(kept, o)
		}
	}
	s.skipped = len(s.calls) - len(kept)
	s.calls = kept
}

// routine tells whether a call went as most do and changed nothing.
func routine(o history.Operation) bool {
	if o.Outcome != history.OK {
		return false
	}
	switch o.Verb {
	case history.Heartbeat, history.Read, history.Now, history.Confirm, history.Scan, history.Observe,
		history.Get, history.List, history.NodeExists, history.GetLease, history.PutLease, history.Watch, history.Postpone:
		return true
	}
	return false
}

// byWorker tells whether a call was made from inside the workload.
func byWorker(v history.Verb) bool {
	return v == history.Start || v == history.Heartbeat || v == history.Finish
}

// callers are the processes behind the calls, workers left out: their calls are shown with their containers.
func (s *scene) callers() []history.ID {
	var order []history.ID
	seen := map[history.ID]bool{}
	for _, o := range s.calls {
		if !byWorker(o.Verb) && o.Process != 0 && !seen[o.Process] {
			seen[o.Process] = true
			order = append(order, o.Process)
		}
	}
	return order
}

// leadership adds how the callers won and lost their terms: what is not about one task, but decides
// who may write.
func (s *scene) leadership() {
	actor := map[history.ID]bool{}
	for _, id := range s.actors {
		actor[id] = true
	}
	for _, o := range s.h.Operations {
		if o.Task != 0 || !actor[o.Process] || !s.within(o.CalledAt, returned(o, s.end)) || len(s.calls) >= mostCalls {
			continue
		}
		leads := o.Verb == history.Lead
		lost := (o.Verb == history.PutLease || o.Verb == history.Confirm) && o.Outcome != history.OK
		if leads || lost {
			s.calls = append(s.calls, o)
		}
	}
	sort.SliceStable(s.calls, func(i, j int) bool { return s.calls[i].Call < s.calls[j].Call })
}

// concerns tells whether an event is about the task, or about a process or node that touched it.
func (s *scene) concerns(e history.Event) bool {
	switch e.Kind {
	case history.LeaseHeld:
		return true
	case history.ProcessStarted, history.ProcessCrashed, history.ProcessPaused, history.ProcessResumed:
		return s.acts(e.Process)
	case history.NodeAdded, history.NodeReady, history.NodeNotReady, history.NodeGone:
		for _, c := range s.own {
			if c.Node == e.Node {
				return true
			}
		}
		return false
	}
	return e.Task != 0 && e.Task == s.task
}

func (s *scene) acts(process history.ID) bool {
	for _, id := range s.actors {
		if id == process {
			return true
		}
	}
	return false
}
