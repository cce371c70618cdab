package reports

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/reports/figure"
)

//go:embed page
var pageFiles embed.FS

// templates are parsed once; a mistake in them is found by any test.
var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"seconds": seconds, "precise": figure.Precise, "lower": strings.ToLower, "tied": tied, "count": count, "thousands": thousands,
}).ParseFS(pageFiles, "page/*.tmpl"))

// chrome is what every page needs around its content.
type chrome struct {
	Title   string
	Style   template.CSS
	Scripts []template.JS
	// Policy forbids the page to load anything, and to run any script but ours.
	Policy string
}

// newChrome is what every page needs, and the scripts that it needs besides.
func newChrome(title string, scripts ...string) (chrome, error) {
	style, err := pageFiles.ReadFile("page/style.css")
	if err != nil {
		return chrome{}, fmt.Errorf("read the style sheet: %w", err)
	}
	c := chrome{Title: title, Style: template.CSS(style)}
	allowed := ""
	for _, name := range append([]string{"script.js"}, scripts...) {
		script, err := pageFiles.ReadFile("page/" + name)
		if err != nil {
			return chrome{}, fmt.Errorf("read the script: %w", err)
		}
		sum := sha256.Sum256(script)
		allowed += " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
		c.Scripts = append(c.Scripts, template.JS(script))
	}
	c.Policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src" + allowed + "; base-uri 'none'; form-action 'none'"
	return c, nil
}

// runPage is the report of one run, one field per section, in their order.
type runPage struct {
	chrome
	Banner     banner
	Story      string
	Timeline   timelineSection
	Matters    *mattersSection
	Minimal    *minimalSection
	Control    *controlSection
	Invariants invariantsSection
	Faults     faultsSection
	All        gantt
	Full       explorer
	Settings   settingsSection
	Data       dataSection
}

// WriteHTML writes the report of one run as a single file that opens without network and without script.
func (r *Run) WriteHTML(w io.Writer) error {
	page, err := r.page()
	if err != nil {
		return err
	}
	if err := templates.ExecuteTemplate(w, "run", page); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

func (r *Run) page() (*runPage, error) {
	look := banners[r.Verdict()]
	c, err := newChrome(look.Word+": "+r.record().Meta.Scenario+", "+r.record().Meta.Dispatcher+", seed "+seed(r.record().Meta.Seed), "explorer.js")
	if err != nil {
		return nil, err
	}
	s := setScene(r)
	p := &runPage{chrome: c, Banner: r.banner(), Story: s.story(), Timeline: s.section(), All: s.fullTimeline(),
		Invariants: r.invariants(), Faults: s.faultLedger(), Settings: r.settings(), Matters: r.matters(), Minimal: r.minimal()}
	if r.Control != nil {
		p.Control = s.control(&p.Timeline)
	}
	if p.Full, err = s.explore(); err != nil {
		return nil, err
	}
	p.Timeline.View = p.Full.View
	if p.Data, err = s.data(); err != nil {
		return nil, err
	}
	return p, nil
}

// timelineSection is the minimal timeline with its steps and its table.
type timelineSection struct {
	Task         string
	Wide, Narrow *figure.Drawing
	Moments      []moment
	Table        []tableRow
	From, To     string
	Skipped      int
	Broken       *checker.Violation
	View         string // the same window in the full timeline
}

func (s *scene) section() timelineSection {
	moments := s.moments()
	section := timelineSection{Task: s.taskWord(), Moments: moments, Skipped: s.skipped, From: seconds(s.from), To: seconds(s.to), Broken: s.broken}
	label := "What happened to " + s.taskName() + " from " + section.From + " to " + section.To
	section.Wide, section.Narrow = s.timelines("timeline-figure", label, moments)
	section.Table = s.table(moments)
	return section
}
