package reports

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/squall-chaos/squall/reports/figure"
	"github.com/squall-chaos/squall/scenarios/experiment"
)

// comparisonPage is the report of a comparison, one field per section, in their order.
type comparisonPage struct {
	chrome
	Look        look
	Headline    string
	Remarks     []string
	Command     string
	Facts       []fact
	Ladder      *ladderSection
	Forest      []forestPlot
	Same        []string // measures in which no setting differs from the baseline
	Baseline    string
	Matrix      *matrixSection
	Scatter     []scatterPlot
	Sweep       *sweepSection
	Sensitivity []sensitivityRow
	Rows        []comparisonRow
	Columns     []string
	Method      []string
	Confirmed   []confirmedRow
	Download    download
}

// comparisonRow is one setting in the table of all of them.
type comparisonRow struct {
	ID      string
	Look    look
	Name    string
	Summary string
	Source  string
	Unsafe  string
	Broke   string
	Broken  []string
	Values  []string
	Case    *Case
	Seeds   string // unsafe ones
	More    string // against the baseline
}

type confirmedRow struct {
	Confirmation
	Name string
	Look look
	Told string
}

// WriteHTML writes the comparison as a single file that opens without network and without script.
func (c *Comparison) WriteHTML(w io.Writer, version string) error {
	page, err := c.page(version)
	if err != nil {
		return err
	}
	if err := templates.ExecuteTemplate(w, "comparison", page); err != nil {
		return fmt.Errorf("write the comparison: %w", err)
	}
	return nil
}

func (c *Comparison) page(version string) (*comparisonPage, error) {
	frame, err := newChrome("Settings compared: " + strings.Join(c.Workloads, ", "))
	if err != nil {
		return nil, err
	}
	p := &comparisonPage{chrome: frame, Headline: c.Headline(), Remarks: c.Remarks(), Command: c.Command, Baseline: c.name(c.Baseline), Method: c.Assumptions()}
	switch c.Verdict() {
	case Valid:
		p.Look = look{"Recommended", "✓", "good"}
		if c.NoDifference {
			p.Look.Word = "No difference shown"
		}
	case Invalid:
		p.Look = look{"No setting is safe", "✗", "bad"}
		if c.Unruly >= 0 {
			p.Look = look{"Nothing to recommend", "!", "warn"}
		}
	default:
		p.Look = look{"Undecided", "?", "warn"}
	}
	p.Facts = []fact{{"Settings", strconv.Itoa(len(c.Cells))}, {"Runs of each", thousands(c.runs())}, {"Seeds", strings.TrimPrefix(strings.TrimPrefix(c.seedWords(), "seeds "), "seed ")},
		{"Scenarios", strings.Join(c.Workloads, ", ")}, {"Dispatcher", c.System}, {"Squall", version}}
	p.Ladder = c.ladders()
	p.Forest, p.Same = c.forest()
	p.Matrix = c.matrix()
	p.Scatter = c.scatter()
	p.Sweep = c.sweepSection()
	p.Sensitivity = c.sensitivity()
	p.table(c)
	for _, f := range c.Confirmed {
		row := confirmedRow{Confirmation: f, Name: c.name(f.Cell), Told: f.words(), Look: look{"Not run", "–", "warn"}}
		if f.Verdict != "" {
			row.Look = banners[f.Verdict]
		}
		p.Confirmed = append(p.Confirmed, row)
	}
	var text bytes.Buffer
	if err := c.WriteJSON(&text); err != nil {
		return nil, err
	}
	p.Download = newDownload("comparison.json", "every setting, measure and verdict", "application/json", text.Bytes())
	return p, nil
}

// table fills in the rows of all settings.
func (p *comparisonPage) table(c *Comparison) {
	for _, m := range experiment.Measures() {
		p.Columns = append(p.Columns, m.Name+", "+m.Unit)
	}
	for i, cell := range c.Cells {
		row := comparisonRow{ID: cellID(i), Look: banners[verdictOfCell(cell)], Name: c.marked(i), Summary: cell.Summary, Source: cell.Source, Unsafe: unsafeWords(cell),
			More: c.againstBaseline(i), Seeds: c.unsafeSeeds(cell)}
		if cell.Refined {
			row.Source = "added to locate a flip"
		}
		for _, v := range cell.Violations {
			row.Broke += v.Invariant + " × " + strconv.Itoa(v.Runs) + " "
		}
		for _, f := range cell.Broken() {
			row.Broken = append(row.Broken, f.String())
		}
		for k := range experiment.Measures() {
			row.Values = append(row.Values, intervalWords(cell.Estimates[k].Mean))
		}
		if one, ok := c.Cases[i]; ok {
			row.Case = &one
		}
		p.Rows = append(p.Rows, row)
	}
}

func cellID(i int) string { return "setting-" + strconv.Itoa(i+1) }

// mostSeedsNamed is how many unsafe seeds of a setting are named; the data has all.
const mostSeedsNamed = 30

func (c *Comparison) unsafeSeeds(cell experiment.CellResult) string {
	var words []string
	for i, letter := range letters(cell) {
		if letter != 'x' {
			continue
		}
		word := seed(c.From + uint64(i%c.Count))
		if len(c.Workloads) > 1 {
			word = c.Workloads[i/c.Count] + " " + word
		}
		words = append(words, word)
	}
	return firstNames(words, mostSeedsNamed)
}

// picked are the settings that figures show: all if they are few, else those that a reader looks for, and as many others as fit.
func (c *Comparison) picked(most int) []int {
	wanted := map[int]bool{c.Baseline: true, c.Winner: true, c.Fastest: true, c.Unruly: true}
	for _, l := range c.Lines {
		for _, k := range l.Cliffs {
			wanted[k.Safe], wanted[k.Unsafe] = true, true
		}
	}
	room := most
	for i := range c.Cells {
		if wanted[i] {
			room--
		}
	}
	var all []int
	for i := range c.Cells {
		switch {
		case wanted[i]:
			all = append(all, i)
		case room > 0:
			all = append(all, i)
			room--
		}
	}
	return c.inOrder(all)
}

// inOrder puts points of a sweep of one setting in the order of that setting, behind the others.
func (c *Comparison) inOrder(all []int) []int {
	if len(c.Axes) != 1 {
		return all
	}
	var others, points []int
	for _, i := range all {
		if c.Cells[i].Point == nil {
			others = append(others, i)
		} else {
			points = append(points, i)
		}
	}
	sortBy(points, func(i int) int64 { return c.Cells[i].Point[0] })
	return append(others, points...)
}

// clip fits a name into the gutter of a figure.
func clip(name string, width float64) string {
	if short := figure.Fit(name, 12.5, width); short != "" {
		return short
	}
	return "…"
}
