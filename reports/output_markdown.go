package reports

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// mostMarkdown is how many failures a summary tells of: GitHub cuts a step's summary at 1 MiB, and nobody reads that far.
const mostMarkdown = 9

// WriteMarkdown writes summaries for a CI's step summary: totals, a table, and the first failure as a Mermaid diagram.
func WriteMarkdown(w io.Writer, all []Summary) error {
	totals := TotalsOf(all)
	sign := "✅"
	if slices.ContainsFunc(all, func(s Summary) bool { return !s.Passed() }) {
		sign = "❌"
	}
	lines := []string{"## " + sign + " Squall: " + totalsWords(totals), "",
		"| | scenario | dispatcher | seeds | verdict | violated |", "|---|---|---|---:|---|---|"}
	for _, s := range all {
		lines = append(lines, "| "+strings.Join([]string{passSign(s), code(s.Scenario), code(s.Dispatcher), strconv.Itoa(s.Seeds),
			cell(verdictWords(s)), cell(violatedWords(s))}, " | ")+" |")
	}
	failures := 0
	for _, s := range all {
		if s.Passed() {
			continue
		}
		if failures++; failures > mostMarkdown {
			continue
		}
		lines = append(lines, failure(s, failures == 1)...)
	}
	if failures > mostMarkdown {
		lines = append(lines, "", strconv.Itoa(failures-mostMarkdown)+" more: see the report.")
	}
	if _, err := io.WriteString(w, strings.Join(lines, "\n")+"\n"); err != nil {
		return fmt.Errorf("write Markdown: %w", err)
	}
	return nil
}

func failure(s Summary, drawn bool) []string {
	lines := []string{"", "### " + passSign(s) + " " + cell(s.Scenario) + " against " + cell(s.Dispatcher)}
	for _, text := range append(append([]string{}, s.Failures...), s.Unmet...) {
		lines = append(lines, "", cell(text))
	}
	if s.Story != "" {
		lines = append(lines, "", cell(s.Story))
	}
	if drawn && s.Case != "" {
		lines = append(lines, "", "```mermaid", strings.TrimRight(s.Case, "\n"), "```")
	}
	if s.Replay != "" {
		lines = append(lines, "", "```sh", s.Replay, "```")
	}
	return lines
}

// cell keeps text from being read as Markdown or HTML: names and messages come from scenario files.
func cell(text string) string {
	return strings.NewReplacer("\\", "\\\\", "|", "\\|", "<", "&lt;", ">", "&gt;", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "\n", " ", "\r", " ").Replace(text)
}

// code is text as it is, in a table's cell.
func code(text string) string {
	return "`" + strings.NewReplacer("`", "'", "|", "\\|", "\n", " ", "\r", " ").Replace(text) + "`"
}
