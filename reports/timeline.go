package reports

import (
	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/reports/figure"
)

// The two forms of the minimal timeline: one for screens and paper, one for telephones.
const (
	wideWidth   = 1160
	wideGutter  = 156
	narrowWidth = 380
)

// timelines draws the scene twice: names beside the lanes, and above them.
func (s *scene) timelines(id, label string, moments []moment) (wide, narrow *figure.Drawing) {
	numbers := map[history.Seq]int{}
	for _, m := range moments {
		numbers[m.Seq] = m.Number
	}
	t := figure.Timeline{ID: id, Label: label, From: s.from, To: s.to, Width: wideWidth, Gutter: wideGutter,
		Lanes: s.lanes(numbers), Arrows: s.arrows(), Guides: s.guides(), Focus: s.spotlight()}
	wide = t.Draw()
	t.ID, t.Width, t.Gutter = id+"-narrow", narrowWidth, 0
	return wide, t.Draw()
}

// spotlight is the violation itself.
func (s *scene) spotlight() []figure.Focus {
	if s.broken == nil {
		return nil
	}
	label, length := s.broken.Invariant, s.focus.to-s.focus.from
	if s.broken.Invariant == "I1-overlap" && length > 0 {
		label = "two executions at once, " + seconds(length)
	} else if length > 0 {
		label += ", " + seconds(length)
	}
	return []figure.Focus{{From: s.focus.from, To: s.focus.to, Label: label, ID: "violation"}}
}

// guides are dashed lines where the drawn deadlines are due.
func (s *scene) guides() []figure.Guide {
	var guides []figure.Guide
	for _, d := range s.deadlines() {
		guides = append(guides, figure.Guide{At: d.Due, Class: d.Class, Title: d.Title()})
	}
	if s.part != nil {
		guides = append(guides, *s.part)
	}
	return guides
}

// arrows are the messages behind the calls that changed something, or should have.
func (s *scene) arrows() []figure.Arrow {
	var arrows []figure.Arrow
	for _, o := range s.calls {
		to := serverLane(o.Verb)
		if to == "" || routine(o) || s.again(o) {
			continue
		}
		a := figure.Arrow{At: o.CalledAt, From: "op-" + seed(uint64(o.Call)), To: to, Title: s.callTitle(o), Strong: o.Outcome != history.OK}
		switch {
		case o.Outcome == history.Unknown && o.Applied == history.OK:
			a.Lost = figure.Reply
		case o.Outcome == history.Unknown && o.Applied == history.Fail:
			a.Lost = figure.Request
		}
		arrows = append(arrows, a)
	}
	return arrows
}

// serverLane is the lane that a call goes to.
func serverLane(v history.Verb) string {
	switch v {
	case history.Create, history.Delete, history.Release, history.Get:
		return objectLane
	case history.Submit, history.Cancel, history.Resume, history.Claim, history.Launched, history.Unclaim,
		history.Reject, history.Requeue, history.Conclude, history.Cleaned, history.Start, history.Finish:
		return rowLane
	}
	return ""
}
