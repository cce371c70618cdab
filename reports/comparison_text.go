package reports

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/squall-chaos/squall/scenarios/experiment"
)

// mostTextRows is how many settings a terminal is shown, unless all are asked for.
const mostTextRows = 40

// WriteText writes the comparison for a terminal or a log.
func (c *Comparison) WriteText(w io.Writer, all bool) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s of %s, dispatcher %s: %s\n\n", c.seedWords(), strings.Join(c.Workloads, ", "), c.System, count(len(c.Cells), "setting", "settings"))
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\tsetting\tunsafe runs\trecovery p50 / p95 / worst\tstranded\twasted\tthroughput\tcost\tagainst the baseline")
	rows, left := c.textRows(all)
	for _, i := range rows {
		cell := c.Cells[i]
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", signOf(cell), c.marked(i), unsafeWords(cell), recoveryWords(cell),
			c.mean(cell, "stranded_time", " s"), c.mean(cell, "wasted", " s"), c.mean(cell, "throughput", "/h"), c.mean(cell, "cost", ""), c.againstBaseline(i))
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("write text: %w", err)
	}
	if left > 0 {
		fmt.Fprintf(&b, "and %s; -v shows all\n", count(left, "more setting", "more settings"))
	}
	fmt.Fprintf(&b, "\n%s\n", wrap(c.Headline()))
	for _, remark := range c.Remarks() {
		fmt.Fprintf(&b, "%s\n", wrap(remark))
	}
	c.textCases(&b, rows)
	for _, f := range c.Confirmed {
		fmt.Fprintf(&b, "in %s: %s: %s\n", f.World, c.name(f.Cell), f.words())
	}
	if _, err := io.WriteString(w, trimLines(b.String())); err != nil {
		return fmt.Errorf("write text: %w", err)
	}
	return nil
}

// textRows are the settings that are shown: of many, those that a reader looks for first.
func (c *Comparison) textRows(all bool) (rows []int, left int) {
	wanted := map[int]bool{c.Baseline: true, c.Winner: true, c.Fastest: true, c.Unruly: true, c.Least: true}
	for _, l := range c.Lines {
		for _, cliff := range l.Cliffs {
			wanted[cliff.Safe], wanted[cliff.Unsafe] = true, true
		}
	}
	for i := range c.Cells {
		if all || wanted[i] || len(rows) < mostTextRows {
			rows = append(rows, i)
		} else {
			left++
		}
	}
	return rows, left
}

func (c *Comparison) textCases(b *bytes.Buffer, rows []int) {
	first := true
	for _, i := range rows {
		k, ok := c.Cases[i]
		if !ok {
			continue
		}
		if first {
			fmt.Fprintln(b, "\ncounterexamples, the smallest of each setting:")
			first = false
		}
		fmt.Fprintf(b, "  %s: seed %s of %s, %s\n    %s\n", c.name(i), seed(k.Seed), k.Scenario, strings.Join(k.Violated, ", "), either(k.Replay, k.Note))
		if k.Minimal != "" {
			fmt.Fprintf(b, "    shrunk to %s: %s\n", k.Size, k.Minimal)
		}
	}
}

// marked is a cell's name with what it is.
func (c *Comparison) marked(i int) string {
	name := c.name(i)
	switch {
	case i == c.Winner && i == c.Baseline:
		return name + " (baseline, recommended)"
	case i == c.Winner:
		return name + " (recommended)"
	case i == c.Baseline:
		return name + " (baseline)"
	}
	return name
}

func signOf(c experiment.CellResult) string { return banners[verdictOfCell(c)].Sign }

func unsafeWords(c experiment.CellResult) string {
	text := shareWords(c.Unsafe)
	if c.Unknown > 0 {
		text += fmt.Sprintf(", %d unknown", c.Unknown)
	}
	return text
}

func recoveryWords(c experiment.CellResult) string {
	if c.Recoveries == 0 {
		return "nothing was lost"
	}
	return fmt.Sprintf("%s / %s / %s s", amount(c.Percentile[0].Value), amount(c.Percentile[1].Value), amount(c.Worst.Seconds()))
}

func (c *Comparison) mean(cell experiment.CellResult, key, unit string) string {
	m := cell.Estimates[measureIndex(key)].Mean
	if m.N == 0 {
		return "–"
	}
	return amount(m.Value) + unit
}

// againstBaseline says what is shown to differ.
func (c *Comparison) againstBaseline(i int) string {
	cell := c.Cells[i]
	if i == c.Baseline {
		return ""
	}
	var words []string
	if n, m := len(cell.Gained), len(cell.Healed); n+m > 0 {
		word := fmt.Sprintf("%d runs worse, %d better", n, m)
		if cell.P >= 0.05 {
			word += " (may be chance)"
		}
		words = append(words, word)
	}
	for _, key := range []string{"recovery", "wasted", "cost"} {
		if e := cell.Estimates[measureIndex(key)]; e.Shown() {
			m := experiment.Measures()[measureIndex(key)]
			words = append(words, m.Name+" "+signed(e.Difference.Value)+unitShort(m))
		}
	}
	if len(words) == 0 {
		return "no difference shown"
	}
	return strings.Join(words, ", ")
}

func unitShort(m experiment.Measure) string {
	if strings.HasPrefix(m.Unit, "s") {
		return " s"
	}
	return ""
}

func (f Confirmation) words() string {
	if f.Verdict == "" {
		return "not run: " + f.Note
	}
	text := string(f.Verdict)
	if len(f.Violated) > 0 {
		text += ": " + strings.Join(f.Violated, ", ")
	}
	if f.Note != "" {
		text += "; " + f.Note
	}
	return text
}

// wrap breaks a paragraph into lines that fit a terminal of 100 columns.
func wrap(text string) string {
	var b strings.Builder
	column := 0
	for _, word := range strings.Fields(text) {
		length := len([]rune(word))
		switch {
		case column == 0:
		case column+1+length > 100:
			b.WriteString("\n  ")
			column = 2
		default:
			b.WriteString(" ")
			column++
		}
		b.WriteString(word)
		column += length
	}
	return b.String()
}
