package reports

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// WriteText writes summaries for a terminal or a log: a table, then what is worth reading.
func WriteText(w io.Writer, all []Summary) error {
	var b bytes.Buffer
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\tscenario\tdispatcher\tworld\tseeds\tverdict\tviolated")
	for _, s := range all {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\t%s\t%s\n", passSign(s), s.Scenario, s.Dispatcher, s.World, s.Seeds, verdictWords(s), violatedWords(s))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("write text: %w", err)
	}
	text := trimLines(b.String())
	for _, s := range all {
		if !s.Passed() && !s.Known || len(s.Moods) > 0 {
			text += "\n" + paragraph(s)
		}
	}
	text += "\n" + totalsWords(TotalsOf(all)) + "\n"
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("write text: %w", err)
	}
	return nil
}

// trimLines removes the blanks that padding leaves at the ends of lines.
func trimLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

func passSign(s Summary) string {
	switch {
	case s.Passed():
		return "✓"
	case s.Known:
		return "≈"
	case s.Verdict() == Unknown:
		return "?"
	case s.Verdict() == Broken:
		return "!"
	}
	return "✗"
}

// verdictWords is the verdict, and what was expected if it is something else.
func verdictWords(s Summary) string {
	got := string(s.Verdict())
	if got == string(Broken) {
		got = "harness failure"
	}
	if s.Interrupted {
		got += ", interrupted"
	}
	if s.Known {
		got += ", known"
	}
	if flaky := s.flaky(); flaky != "" {
		got += ", " + flaky
	}
	switch {
	case s.Expected == s.Verdict() && s.Expected == Invalid && len(s.Unmet) == 0:
		return got + " as expected"
	case s.Expected != "" && s.Expected != s.Verdict():
		return got + ", expected " + string(s.Expected)
	}
	return got
}

// violatedWords says what was violated under how many seeds.
func violatedWords(s Summary) string { return strings.Join(violatedList(s), ", ") }

func violatedList(s Summary) []string {
	var words []string
	for _, name := range s.violated() {
		word := name
		if s.Seeds > 1 {
			word += " (" + strconv.Itoa(s.Violations[name]) + ")"
		}
		if slices.Contains(s.Tolerated, name) {
			word += " tolerated"
		}
		words = append(words, word)
	}
	return words
}

func paragraph(s Summary) string {
	lines := []string{passSign(s) + " " + s.Scenario + " against " + s.Dispatcher}
	if s.FirstInvalid != nil {
		lines[0] += ", seed " + seed(*s.FirstInvalid)
	}
	for _, text := range slices.Concat(s.Failures, s.Unmet, s.moods()) {
		lines = append(lines, "  "+text)
	}
	if s.Story != "" {
		lines = append(lines, "  "+s.Story)
	}
	if s.Replay != "" {
		lines = append(lines, "  "+s.again())
	}
	return strings.Join(lines, "\n") + "\n"
}

func totalsWords(t Totals) string {
	return fmt.Sprintf("%d of %s as expected: %d valid, %d invalid, %d unknown, %s; %s of virtual time in %s", t.AsExpected,
		count(t.Results, "result", "results"), t.Valid, t.Invalid, t.Unknown, count(t.Fail, "harness failure", "harness failures"), hours(t.Virtual.Seconds()), seconds(t.Wall))
}
