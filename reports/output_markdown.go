package reports

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds of a summary: GitHub drops the summary of a step that is larger than 1 MiB, and nobody reads that far.
const (
	mostMarkdown     = 9         // failures told
	mostMarkdownRows = 400       // rows of the table
	mostMarkdownText = 2000      // characters of one text, before it is escaped
	mostMarkdownSize = 600 << 10 // bytes of all failures; what a suite adds comes behind them
)

// WriteMarkdown writes summaries for a CI's step summary: totals, a table, and the first failure as a Mermaid diagram.
func WriteMarkdown(w io.Writer, all []Summary) error {
	sign := "✅"
	if slices.ContainsFunc(all, func(s Summary) bool { return !s.Passed() && !s.Known }) {
		sign = "❌"
	}
	lines := []string{"## " + sign + " Squall: " + totalsWords(TotalsOf(all)), ""}
	lines = append(lines, markdownTable(all)...)
	size, told, untold := 0, 0, 0
	for _, s := range all {
		if s.Passed() || s.Known {
			continue
		}
		section := failure(s, told == 0)
		length := len(strings.Join(section, "\n"))
		if told == mostMarkdown || size+length > mostMarkdownSize {
			untold++
			continue
		}
		lines, size, told = append(lines, section...), size+length, told+1
	}
	for _, s := range all {
		if len(s.Moods) > 0 {
			lines = append(lines, "", "Flaky: "+cell(s.Scenario)+" against "+cell(s.Dispatcher)+" was "+s.flaky()+"; "+cell(strings.Join(s.moods(), "; ")))
		}
	}
	if untold > 0 {
		lines = append(lines, "", strconv.Itoa(untold)+" more: see the report.")
	}
	if _, err := io.WriteString(w, strings.Join(lines, "\n")+"\n"); err != nil {
		return fmt.Errorf("write Markdown: %w", err)
	}
	return nil
}

// markdownTable has a row for each result, and where those are too many, first those that did not pass.
func markdownTable(all []Summary) []string {
	lines := []string{"| | scenario | dispatcher | seeds | verdict | violated |", "|---|---|---|---:|---|---|"}
	shown := all
	if len(all) > mostMarkdownRows {
		shown = slices.Clone(all)
		slices.SortStableFunc(shown, func(a, b Summary) int { return rank(a.Passed()) - rank(b.Passed()) })
		shown = shown[:mostMarkdownRows]
	}
	for _, s := range shown {
		lines = append(lines, "| "+strings.Join([]string{passSign(s), code(s.Scenario), code(s.Dispatcher), strconv.Itoa(s.Seeds),
			cell(verdictWords(s)), cell(violatedWords(s))}, " | ")+" |")
	}
	if more := len(all) - len(shown); more > 0 {
		lines = append(lines, "", count(more, "more result: see", "more results: see")+" the report.")
	}
	return lines
}

func rank(passed bool) int {
	if passed {
		return 1
	}
	return 0
}

func failure(s Summary, drawn bool) []string {
	lines := []string{"", "### " + passSign(s) + " " + cell(s.Scenario) + " against " + cell(s.Dispatcher)}
	for _, text := range append(append([]string{}, s.Failures...), s.Unmet...) {
		lines = append(lines, "", paragraphed(text))
	}
	if s.Story != "" {
		lines = append(lines, "", paragraphed(s.Story))
	}
	if s.Minimal != "" {
		lines = append(lines, "", "The smallest scenario found that fails in the same way, its timeline below:", "", fenced("sh", s.Minimal))
	}
	if drawn && s.Case != "" {
		lines = append(lines, "", fenced("mermaid", s.Case))
	}
	if s.Replay != "" {
		lines = append(lines, "", fenced("sh", s.Replay))
	}
	return lines
}

// markdownEscapes keeps text from being read as Markdown, HTML or formulas: names and messages come from scenario files.
var markdownEscapes = strings.NewReplacer("\\", "\\\\", "|", "\\|", "&", "&amp;", "<", "&lt;", ">", "&gt;", "`", "\\`", "*", "\\*", "_", "\\_",
	"[", "\\[", "~", "\\~", "$", "\\$", "\n", " ", "\r", " ")

// cell is text in a table's cell or within a line.
func cell(text string) string { return markdownEscapes.Replace(shortened(text)) }

// lineMark is what makes the start of a line a heading, a list or a rule.
var lineMark = regexp.MustCompile(`^\s*(#|[-+=]|\d+[.)])`)

// paragraphed is text as a paragraph of its own.
func paragraphed(text string) string {
	text = cell(text)
	if at := lineMark.FindStringIndex(text); at != nil {
		return text[:at[1]-1] + "\\" + text[at[1]-1:]
	}
	return text
}

// code is text as it is, in a table's cell.
func code(text string) string {
	return "`" + strings.NewReplacer("`", "'", "|", "\\|", "\n", " ", "\r", " ").Replace(shortened(text)) + "`"
}

// fenced is text as a block of code, behind a fence that the text has not.
func fenced(language, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + language + "\n" + strings.TrimRight(text, "\n") + "\n" + fence
}

// shortened cuts what would fill the summary by itself.
func shortened(text string) string {
	if utf8.RuneCountInString(text) <= mostMarkdownText {
		return text
	}
	return string([]rune(text)[:mostMarkdownText]) + " …"
}
