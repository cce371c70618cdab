package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/reports"
	"github.com/squall-chaos/squall/scenarios"
)

// The formats of -o.
const (
	formatText     = "text"
	formatJSON     = "json"
	formatJUnit    = "junit"
	formatMarkdown = "markdown"
	formatHTML     = "html"
)

func formatNames() []string {
	return []string{formatText, formatJSON, formatJUnit, formatMarkdown, formatHTML}
}

// document is what a command has to say, in every format.
type document struct {
	title     string
	summaries []reports.Summary
	// suite is what a suite has to say besides.
	suite reports.Suite
	// page is the run whose page is the HTML; nil: the HTML is an index over the summaries.
	page *reports.Run
	// verdict, when set, makes JSON the verdict of page instead of the list of results.
	verdict bool
}

// write writes the document for a file in the directory, to which links in it are relative.
func (d document) write(w io.Writer, format, dir string) error {
	switch format {
	case formatText:
		return errors.Join(reports.WriteText(w, d.summaries), d.suite.WriteText(w))
	case formatJSON:
		if !d.verdict {
			return d.suite.WriteJSON(w, d.summaries)
		}
		text, err := d.page.VerdictJSON()
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	case formatJUnit:
		return reports.WriteJUnit(w, d.summaries)
	case formatMarkdown:
		return errors.Join(reports.WriteMarkdown(w, d.summaries), d.suite.WriteMarkdown(w))
	case formatHTML:
		if d.page != nil {
			return d.page.WriteHTML(w)
		}
		return linkedSuite(dir, d.suite).WriteHTML(w, d.title, thisBuild().recorded(), linkedFrom(dir, d.summaries))
	}
	panic(fmt.Sprintf("format %q was let through", format))
}

// linkedFrom makes links to reports relative to the directory, so that the whole can be moved or unpacked elsewhere.
func linkedFrom(dir string, all []reports.Summary) []reports.Summary {
	linked := make([]reports.Summary, len(all))
	for i, s := range all {
		linked[i] = s
		linked[i].Report = relative(dir, s.Report)
		linked[i].Moods = slices.Clone(s.Moods)
		for k := range linked[i].Moods {
			linked[i].Moods[k].Report = relative(dir, s.Moods[k].Report)
		}
	}
	return linked
}

// document is what the results of runs say.
func (r results) document(title string) document {
	d := document{title: title, suite: reports.Suite{Twins: r.twins}}
	for _, n := range r.notRun {
		d.suite.Left = append(d.suite.Left, reports.LeftOut{World: "kind", Scenario: n.scenario, Reason: n.reason})
	}
	for _, o := range r.outcomes {
		d.summaries = append(d.summaries, o.summary())
	}
	d.suite.Coverage = r.coverage()
	if r.known != nil {
		d.suite.Changes = r.known.Compare(d.summaries)
	}
	if !r.suite && len(r.outcomes) == 1 && r.outcomes[0].tally.Seeds == 1 && r.outcomes[0].shown != nil {
		d.page = r.outcomes[0].run()
	}
	return d
}

// coverage is what the reference met in a suite; nil where nobody looked.
func (r results) coverage() *reports.Coverage {
	var sum *reports.Coverage
	for _, o := range r.outcomes {
		if o.tally.Coverage == nil || o.job.system.Name != planted.Reference().Name {
			continue
		}
		if sum == nil {
			sum = &reports.Coverage{Coverage: scenarios.NewCoverage(), Exercised: map[string]int{}}
		}
		sum.Merge(o.tally.Coverage)
		for name, n := range o.tally.Exercised {
			sum.Exercised[name] += n
		}
	}
	return sum
}

// run is the shown run, with its bundle.
func (o outcome) run() *reports.Run {
	run := runOf(o.job, *o.shown, o.contrast)
	run.Bundle, run.Expected, run.Unmet = o.bundle, o.expected(), o.unmet()
	return run
}

func (o outcome) summary() reports.Summary {
	s := reports.Summarize(o.tally, o.job.world.name)
	if w := o.job.scenario.Which(); w.Number > 0 {
		s.Scenario = fmt.Sprintf("%s, variant %d", s.Scenario, w.Number)
	}
	s.Expected, s.Unmet = o.expected(), o.unmet()
	s.Moods = o.moods
	s.Group, s.Suite, s.Kill = o.group, o.group != "", o.kill
	if o.failed != nil && s.Broken == 0 {
		s.Broken, s.Failures = 1, []string{o.failed.Error()}
	}
	if o.shown != nil {
		s.Show(o.run())
	}
	if o.bundle != "" {
		s.Report = reportIn(o.bundle)
	}
	return s
}
