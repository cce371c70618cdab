package reports

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/squall-chaos/squall/scenarios"
)

// suitePage is the index over many results.
type suitePage struct {
	chrome
	Look     look
	Headline string
	Facts    []fact
	Failing  []suiteRow
	Classes  []classRow
	Changes  *changesSection
	Groups   []suiteGroup
	Kills    []killRow
	Told     []string // how well planted defects are seen
	Twins    []twinRow
	Left     []LeftOut
	Coverage *coverageSection
	Idle     []string // invariants that nothing put to the test anywhere
	JSON     string
	Download download
}

// suiteGroup is a table under a heading.
type suiteGroup struct {
	Name, ID string
	Rows     []suiteRow
	Good     int
}

// suiteRow is one result.
type suiteRow struct {
	Summary
	ID                string
	Sign, Got, Wanted look
	Violated          string
	Broke             []string // the same, one by one
	Told              string   // the story, else what the scenario is about
	Flaky             string
}

// groupNames are the headings of the groups that `make chaos` has.
var groupNames = map[string]string{
	"reference": "The reference must pass", "naive": "The naive dispatcher must fail", "defect": "Every planted defect must be found",
	"variants": "The same incidents at other times and sizes", "witness": "Second witnesses of planted defects",
	"swarm": "The reference under many seeds", "kind": "The reference in kind", "confirm": "Planted defects confirmed in kind", "": "Results",
}

// WriteHTML writes the index over many results as one page, with what else the suite has to say; links to single reports are the
// summaries' Report.
func (x Suite) WriteHTML(w io.Writer, title, version string, all []Summary) error {
	c, err := newChrome(title)
	if err != nil {
		return err
	}
	page := suitePage{chrome: c, Idle: idleEverywhere(all), Twins: x.rows(), Left: x.Left, Changes: x.changes(), Classes: classesOf(all), Coverage: x.coverage(),
		Kills: KillsOf(all).rows(), Told: KillsOf(all).Lines()}
	page.sum(version, all)
	at := map[string]int{}
	for i, s := range all {
		row := newSuiteRow(i, s)
		if !s.AsExpected() && !s.Known {
			page.Failing = append(page.Failing, row)
		}
		if _, ok := at[s.Group]; !ok {
			at[s.Group] = len(page.Groups)
			page.Groups = append(page.Groups, suiteGroup{Name: either(groupNames[s.Group], s.Group), ID: "group-" + either(fileWord(s.Group), "all")})
		}
		g := &page.Groups[at[s.Group]]
		g.Rows = append(g.Rows, row)
		if s.AsExpected() {
			g.Good++
		}
	}
	if len(page.Groups) > 1 && at[""] > 0 {
		page.Groups[at[""]].Name = "Other results"
	}
	var text strings.Builder
	if err := x.WriteJSON(&text, all); err != nil {
		return err
	}
	page.Download = newDownload("results.json", "every result", "application/json", []byte(text.String()))
	if err := templates.ExecuteTemplate(w, "suite", page); err != nil {
		return fmt.Errorf("write the suite's report: %w", err)
	}
	return nil
}

// sum fills the banner.
func (p *suitePage) sum(version string, all []Summary) {
	t := TotalsOf(all)
	p.Headline = strconv.Itoa(t.AsExpected) + " of " + count(t.Results, "result", "results") + " as expected"
	known, flaky := 0, 0
	for _, s := range all {
		if s.Known {
			known++
		}
		if len(s.Moods) > 0 {
			flaky++
		}
	}
	switch bad := t.Results - t.AsExpected; {
	case t.Results == 0:
		p.Look, p.Headline = look{"Nothing was run", "?", "warn"}, "No results"
	case bad == 0:
		p.Look = look{"As expected", "✓", "good"}
	case bad == known:
		p.Look = look{"Only known failures", "≈", "warn"}
	case t.Fail > 0:
		p.Look = look{"Harness failure", "!", "warn"}
	default:
		p.Look = look{"Not as expected", "✗", "bad"}
	}
	p.Facts = []fact{{"Valid", strconv.Itoa(t.Valid)}, {"Invalid", strconv.Itoa(t.Invalid)}, {"Unknown", strconv.Itoa(t.Unknown)},
		{"Harness failures", strconv.Itoa(t.Fail)}, {"Seeds", thousands(t.Seeds)}, {"Virtual time", hours(t.Virtual.Seconds())},
		{"Wall time", seconds(t.Wall)}, {"Squall", version}}
	if flaky > 0 {
		p.Facts = append(p.Facts, fact{"Flaky", strconv.Itoa(flaky)})
	}
}

func hours(seconds float64) string {
	if seconds < 7200 {
		return strconv.FormatFloat(seconds, 'f', 0, 64) + " s"
	}
	return thousands(int(seconds/3600)) + " h"
}

func newSuiteRow(i int, s Summary) suiteRow {
	row := suiteRow{Summary: s, ID: "result-" + strconv.Itoa(i+1), Got: banners[s.Verdict()], Violated: violatedWords(s), Broke: violatedList(s), Flaky: s.flaky()}
	row.Told = s.Story
	if known, err := scenarios.Find(s.Scenario); err == nil && s.Story == "" {
		row.Told = known.Summary
	}
	row.Sign = look{"as expected", "✓", "good"}
	if !s.AsExpected() {
		row.Sign = look{"not as expected", "✗", "bad"}
		switch {
		case s.Known:
			row.Sign = look{"not as expected, known", "≈", "warn"}
		case s.Verdict() == Unknown || s.Verdict() == Broken:
			row.Sign = look{"not as expected", banners[s.Verdict()].Sign, "warn"}
		}
	}
	if wanted := s.Expected; wanted != "" {
		row.Wanted = banners[wanted]
	} else {
		row.Wanted = banners[Valid]
	}
	return row
}

// idleEverywhere names the invariants that no result put to the test.
func idleEverywhere(all []Summary) []string {
	sum := map[string]int{}
	for _, s := range all {
		sum = added(sum, s.Exercised)
	}
	return Summary{Exercised: sum}.idle()
}
