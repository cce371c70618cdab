package reports

import (
	"fmt"
	"io"
	"strings"
)

// WriteMarkdown writes the comparison for a CI's step summary or a pull request.
func (c *Comparison) WriteMarkdown(w io.Writer) error {
	lines := []string{"## Squall: settings compared", "", c.Headline(), ""}
	for _, remark := range c.Remarks() {
		lines = append(lines, "- "+remark)
	}
	lines = append(lines, "", "| | setting | unsafe runs | recovery p50 / p95 / worst | stranded | wasted | throughput | cost | against the baseline |",
		"|---|---|---|---|---:|---:|---:|---:|---|")
	rows, left := c.textRows(false)
	for _, i := range rows {
		one := c.Cells[i]
		lines = append(lines, fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s | %s | %s |", signOf(one), cell(c.marked(i)), unsafeWords(one), recoveryWords(one),
			c.mean(one, "stranded_time", " s"), c.mean(one, "wasted", " s"), c.mean(one, "throughput", "/h"), c.mean(one, "cost", ""), cell(c.againstBaseline(i))))
	}
	if left > 0 {
		lines = append(lines, "", fmt.Sprintf("And %s.", count(left, "more setting", "more settings")))
	}
	first := true
	for _, i := range rows {
		k, ok := c.Cases[i]
		if !ok {
			continue
		}
		if first {
			lines = append(lines, "", "Counterexamples, the smallest of each setting:", "")
			first = false
		}
		lines = append(lines, fmt.Sprintf("- %s: seed %s of %s, %s: `%s`", c.name(i), seed(k.Seed), k.Scenario, strings.Join(k.Violated, ", "), either(k.Replay, k.Note)))
	}
	for _, f := range c.Confirmed {
		lines = append(lines, fmt.Sprintf("- in %s: %s: %s", f.World, c.name(f.Cell), f.words()))
	}
	if c.Command != "" {
		lines = append(lines, "", "Made by `"+c.Command+"`")
	}
	if _, err := io.WriteString(w, strings.Join(lines, "\n")+"\n"); err != nil {
		return fmt.Errorf("write Markdown: %w", err)
	}
	return nil
}
