package reports

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Suite is what a suite has to say besides its results.
type Suite struct {
	Twins []Twin
	// Left are scenarios that were not run in a world, with the reason.
	Left []LeftOut
	// Changes are the results against a baseline; nil: there is none.
	Changes *Changes
	// Coverage is what the reference met; nil: nobody looked.
	Coverage *Coverage
}

// LeftOut is a scenario that a world cannot do, and why.
type LeftOut struct{ World, Scenario, Reason string }

// WriteText writes it for a terminal or a log; nothing where there is nothing to say.
func (s Suite) WriteText(w io.Writer) error {
	var b bytes.Buffer
	if s.Changes != nil {
		b.WriteString(s.Changes.text())
	}
	if len(s.Twins) > 0 {
		t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "\nsim and kind, scaled the same")
		fmt.Fprintln(t, "\tscenario\tdispatcher\tscale\tsim\tkind\twhere they part")
		for _, c := range s.Twins {
			fmt.Fprintf(t, "%s\t%s\t%s\t%g\t%s\t%s\t%s\n", c.sign(), c.Scenario, c.Dispatcher, c.Scale, c.Model.words(), c.Real.words(), c.told())
		}
		if err := t.Flush(); err != nil {
			return fmt.Errorf("write text: %w", err)
		}
	}
	if s.Coverage != nil {
		for _, line := range s.Coverage.lines() {
			fmt.Fprintln(&b, line)
		}
	}
	for _, l := range s.Left {
		fmt.Fprintf(&b, "not run in %s: %s: %s\n", l.World, l.Scenario, l.Reason)
	}
	if _, err := io.WriteString(w, trimLines(b.String())); err != nil {
		return fmt.Errorf("write text: %w", err)
	}
	return nil
}

// WriteMarkdown writes it for a CI's step summary.
func (s Suite) WriteMarkdown(w io.Writer) error {
	var lines []string
	if s.Changes != nil {
		lines = append(lines, s.Changes.markdown()...)
	}
	if len(s.Twins) > 0 {
		lines = append(lines, "", "### sim and kind, scaled the same", "",
			"| | scenario | dispatcher | scale | sim | kind | where they part |", "|---|---|---|---:|---|---|---|")
		for _, c := range s.Twins {
			lines = append(lines, fmt.Sprintf("| %s | %s | %s | %g | %s | %s | %s |", c.sign(), cell(c.Scenario), cell(c.Dispatcher), c.Scale,
				cell(c.Model.words()), cell(c.Real.words()), cell(c.told())))
		}
	}
	if s.Coverage != nil {
		lines = append(lines, "", "### Coverage", "")
		for _, line := range s.Coverage.lines() {
			lines = append(lines, "- "+cell(strings.TrimSpace(line)))
		}
	}
	if len(s.Left) > 0 {
		lines = append(lines, "", "Not run:", "")
		for _, l := range s.Left {
			lines = append(lines, fmt.Sprintf("- %s in %s: %s", cell(l.Scenario), cell(l.World), cell(l.Reason)))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	if _, err := io.WriteString(w, strings.Join(lines, "\n")+"\n"); err != nil {
		return fmt.Errorf("write Markdown: %w", err)
	}
	return nil
}

// twinRow is a twin as the page shows it.
type twinRow struct {
	Twin
	Sign       look
	Sim, Kind  look
	Told       string
	ModelBroke string
	RealBroke  string
}

func (s Suite) rows() []twinRow {
	var rows []twinRow
	for _, c := range s.Twins {
		row := twinRow{Twin: c, Sign: look{"the same in both worlds", "=", "good"}, Sim: banners[c.Model.Verdict], Kind: banners[c.Real.Verdict],
			Told: c.told(), ModelBroke: strings.Join(c.Model.Violated, ", "), RealBroke: strings.Join(c.Real.Violated, ", ")}
		if !c.Agree() {
			row.Sign = look{"the worlds differ", "≠", "warn"}
		}
		rows = append(rows, row)
	}
	return rows
}
