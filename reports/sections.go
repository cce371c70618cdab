package reports

import (
	"strconv"
	"time"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/reports/figure"
)

// controlSection is the same scenario and seed under a dispatcher that passes.
type controlSection struct {
	Dispatcher   string
	Look         look
	Story        string
	Wide, Narrow *figure.Drawing
	Moments      []moment
	Table        []tableRow
	Difference   difference
	Task         string
}

// control draws the passing twin in the same frame, and marks in both where they part.
func (s *scene) control(failed *timelineSection) *controlSection {
	twin := setSceneLike(s.run.Control, s)
	c := &controlSection{Dispatcher: s.run.Control.record().Meta.Dispatcher, Look: banners[s.run.Control.Verdict()],
		Story: s.run.Control.Story(), Task: s.taskName(), Difference: firstDifference(s, twin)}
	twin.part, s.part = c.Difference.mark(c.Difference.ThereAt), c.Difference.mark(c.Difference.HereAt)
	c.Moments = twin.moments()
	c.Wide, c.Narrow = twin.timelines("control-figure", "The same task under "+c.Dispatcher, c.Moments)
	c.Table = twin.table(c.Moments)
	label := failed.Wide.Label
	failed.Wide, failed.Narrow = s.timelines("timeline-figure", label, failed.Moments)
	return c
}

// mark is the guide that shows where two runs part; nil when they never do.
func (d difference) mark(at time.Duration) *figure.Guide {
	if !d.Found {
		return nil
	}
	return &figure.Guide{At: at, Class: "part", Title: "First difference to the control, at " + seconds(at), Label: "first difference"}
}

// invariantsSection is what was promised, how often it was put to the test, and how close it came.
type invariantsSection struct {
	Rows      []invariantRow
	Exercised int
}

type invariantRow struct {
	checker.InvariantResult
	Look   look
	Margin string
	Of     string
}

func (r *Run) invariants() invariantsSection {
	var section invariantsSection
	for _, i := range r.Report.Invariants {
		row := invariantRow{InvariantResult: i, Of: i.Of}
		switch i.Verdict {
		case checker.Valid:
			row.Look = look{"held", "✓", "good"}
		case checker.Invalid:
			row.Look = look{"violated", "✗", "bad"}
			if r.tolerates(i.Name) {
				row.Look = look{"violated, tolerated", "✗", "warn"}
			}
		case checker.NotExercised:
			row.Look = look{"not exercised", "○", "warn"}
		default:
			row.Look = look{"unknown", "?", "warn"}
		}
		if i.Exercised == 0 && i.Verdict == checker.Valid {
			row.Look = look{"not exercised", "○", "warn"}
		}
		if i.Exercised > 0 {
			section.Exercised++
		}
		if i.MarginOf != "" {
			row.Margin = seconds(i.WorstMargin)
		}
		section.Rows = append(section.Rows, row)
	}
	return section
}

// faultsSection is the ledger: what was planned, what struck, whom it reached.
type faultsSection struct {
	Rows    []faultRow
	Planned int
	Struck  int
	Reached int
}

type faultRow struct {
	faultSpan
	Length string
	Look   look
}

func (s *scene) faultLedger() faultsSection {
	var section faultsSection
	for _, f := range s.truth.faults {
		row := faultRow{faultSpan: f, Length: "–"}
		if f.Struck {
			section.Struck++
			row.Length = seconds(f.until(s.end) - f.StruckAt)
		}
		switch {
		case f.Observed > 0:
			section.Reached++
			row.Look = look{"had an effect", "●", "ink"}
		case f.Struck:
			row.Look = look{"met nobody", "○", "warn"}
		default:
			row.Look = look{"did not strike", "–", "warn"}
		}
		section.Planned++
		section.Rows = append(section.Rows, row)
	}
	return section
}

// ID is the row's anchor.
func (f faultRow) ID() string { return "fault-" + strconv.Itoa(int(f.Number)) }
