package reports

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"github.com/squall-chaos/squall/clusters/calibration"
	"github.com/squall-chaos/squall/reports/figure"
	"github.com/squall-chaos/squall/scenarios"
)

// calibrationPage is the report of a calibration.
type calibrationPage struct {
	chrome
	Look      look
	Headline  string
	Story     string
	Facts     []fact
	Table     []calibrationRow
	Measures  []measureSection
	Unseen    []fact
	Untold    []string // of the runs among the sources
	Downloads []download
	Least     map[string]int
}

// calibrationRow is one result.
type calibrationRow struct {
	Measure, On         string
	Link                string
	Samples, Unfinished int
	Median, P99, Fitted string
	Taken, Why          string
	Sign                look
	Curve               string // the percentiles that are taken
	Candidates          []candidateRow
}

type candidateRow struct {
	Family, Dist, AICc, Distance string
	Best                         bool
}

// measureSection is what there is to see of one measure.
type measureSection struct {
	ID, Name, About string
	Wide, Narrow    *figure.Drawing
	Rows            []calibrationRow
	Left            []calibration.LeftOut
	Slowest         []slowRow
}

type slowRow struct{ Value, Of, Node, On string }

// WriteHTML writes the page.
func (c *Calibration) WriteHTML(w io.Writer) error {
	page, err := c.page()
	if err != nil {
		return err
	}
	if err := templates.ExecuteTemplate(w, "calibration", page); err != nil {
		return fmt.Errorf("write the calibration's report: %w", err)
	}
	return nil
}

func (c *Calibration) page() (*calibrationPage, error) {
	head, err := newChrome("Squall: measured on " + strings.Join(c.Sources, ", "))
	if err != nil {
		return nil, err
	}
	own, err := pageFiles.ReadFile("page/calibration.css")
	if err != nil {
		return nil, fmt.Errorf("read the style sheet: %w", err)
	}
	head.Style += template.CSS(own)
	p := &calibrationPage{chrome: head, Least: map[string]int{"Fitted": calibration.LeastFitted, "Measured": calibration.LeastMeasured}}
	good, seen := 0, 0
	for _, f := range c.Findings {
		if f.All.Status == calibration.None {
			p.Unseen = append(p.Unseen, fact{string(f.Measure), "needs " + elsewhere[f.Measure]})
			continue
		}
		seen++
		if f.Usable() {
			good++
		}
		section := c.section(f)
		p.Measures = append(p.Measures, section)
		p.Table = append(p.Table, section.Rows...)
	}
	p.Untold = c.untold()
	p.sum(c, good, seen)
	return p, p.data(c)
}

// sum fills the banner.
func (p *calibrationPage) sum(c *Calibration, good, seen int) {
	p.Headline = fmt.Sprintf("%d of %s can be taken", good, count(len(c.Findings), "measure", "measures"))
	switch {
	case good == 0:
		p.Look = look{"Too little data", "?", "warn"}
	case good < seen:
		p.Look = look{"Measured in part", "!", "warn"}
	default:
		p.Look = look{"Measured", "✓", "good"}
	}
	var taken, not []string
	for _, m := range p.Measures {
		some := false
		for _, r := range m.Rows {
			some = some || r.Sign.Class == "good"
		}
		if some {
			taken = append(taken, m.Name)
		} else {
			not = append(not, m.Name)
		}
	}
	p.Story = "Out of " + c.Read + ": " + either(strings.Join(taken, ", "), "nothing") + "."
	if len(not) > 0 {
		p.Story += " There is too little to say anything of " + strings.Join(not, ", ") + "."
	}
	p.Facts = []fact{{"Read", strings.Join(c.Sources, ", ")}, {"Nodes", either(c.Nodes, "–")}}
	if !c.Until.IsZero() {
		p.Facts = append(p.Facts, fact{"Until", c.Until.Format(time.RFC3339)})
	}
	if c.Anonymised {
		p.Facts = append(p.Facts, fact{"Names", "hashed with a salt"})
	}
	p.Facts = append(p.Facts, fact{"Squall", c.Version})
}

// section is one measure's.
func (c *Calibration) section(f calibration.Finding) measureSection {
	name := string(f.Measure)
	s := measureSection{ID: "measure-" + fileWord(name), Name: name, About: f.Measure.About(), Left: f.Left,
		Wide: shares(f, false), Narrow: shares(f, true)}
	for _, r := range f.Rows() {
		row := rowOf(r)
		row.Link = s.ID
		s.Rows = append(s.Rows, row)
	}
	const most = 5
	for _, slow := range f.All.Slowest(most) {
		value := seconds(slow.Value)
		if slow.AtLeast {
			value = "over " + value
		}
		of := slow.Of.Pod
		if slow.Of.Namespace != "" {
			of = slow.Of.Namespace + "/" + of
		}
		s.Slowest = append(s.Slowest, slowRow{Value: value, Of: of, Node: slow.Of.Node})
	}
	return s
}

func rowOf(r calibration.Result) calibrationRow {
	row := calibrationRow{Measure: string(r.Measure), On: kindWords(r), Samples: len(r.Samples), Unfinished: len(r.Samples) - r.Ended,
		Median: measuredQuantile(r, 0.5), P99: measuredQuantile(r, 0.99), Fitted: "–", Taken: taken(r), Why: reason(r),
		Sign: look{"not taken", "○", "warn"}}
	if r.Usable() {
		row.Sign = look{"taken", "✓", "good"}
		row.Fitted = seconds(r.TakenQuantile(0.99))
		if r.Status == calibration.Fitted && r.P > 0 {
			row.Fitted += fmt.Sprintf(" (%s to %s)", seconds(r.P99[0]), seconds(r.P99[1]))
		}
	}
	if r.Status == calibration.Measured {
		row.Curve = scenarios.DistText(r.Dist)
	}
	for i, candidate := range r.Candidates {
		row.Candidates = append(row.Candidates, candidateRow{candidate.Family, scenarios.DistText(candidate.Dist),
			fmt.Sprintf("+%.1f", candidate.AICc-r.Candidates[0].AICc), fmt.Sprintf("%.3f", candidate.Distance), i == 0})
	}
	return row
}

// data adds what can be taken out of the page.
func (p *calibrationPage) data(c *Calibration) error {
	var profile, samples bytes.Buffer
	if c.Usable() {
		if err := c.WriteProfile(&profile); err != nil {
			return err
		}
		p.Downloads = append(p.Downloads, newDownload("measured.yaml", "the file that scenarios take", "application/yaml", profile.Bytes()))
	}
	if err := c.WriteJSON(&samples); err != nil {
		return err
	}
	if samples.Len() <= plainMost {
		p.Downloads = append(p.Downloads, newDownload("calibration.json", "every result and every sample", "application/json", samples.Bytes()))
		return nil
	}
	packed, err := pack(samples.Bytes())
	if err == nil && len(packed) <= packedMost {
		p.Downloads = append(p.Downloads, newDownload("calibration.json.gz", "every result and every sample, compressed", "application/gzip", packed))
	}
	return err
}
