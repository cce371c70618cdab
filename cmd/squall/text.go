package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/reports"
)

// signs stand beside the words of verdicts, so that neither colour nor reading English is needed.
var signs = map[reports.Verdict]string{reports.Valid: "✓", reports.Invalid: "✗", reports.Unknown: "?", reports.Broken: "!"}

func (i ink) verdict(v reports.Verdict) string {
	text := signs[v] + " " + string(v)
	switch v {
	case reports.Valid:
		return i.good(text)
	case reports.Invalid:
		return i.bad(text)
	}
	return i.warn(text)
}

// headline is the verdict; what is valid and should not be is not called that alone, and not invalid either.
func (i ink) headline(got, wanted reports.Verdict, unmet []string) string {
	if got != reports.Valid || len(unmet) == 0 {
		return i.verdict(got)
	}
	return i.bad(signs[reports.Invalid] + " " + reports.Headline(got, wanted, unmet))
}

// print writes what became of a job, for people; with detail, the steps that led to a violation as well.
func (o outcome) print(w io.Writer, c *console, detail bool) {
	i := c.outInk()
	fmt.Fprintf(w, "%s  %s\n", i.headline(o.verdict(), o.expected(), o.unmet()), i.bold(o.title()))
	if c.quiet {
		return
	}
	amount := o.amount()
	if t := o.tally; t.Seeds > 1 {
		amount += fmt.Sprintf(" (%.3g seeds/s); %d valid, %d invalid, %d unknown%s", float64(t.Seeds)/t.Wall.Seconds(), t.Valid, len(t.Invalid), len(t.Unknown), noneOf(o))
	}
	fmt.Fprintf(w, "  %s\n", amount)
	if o.failed != nil {
		fmt.Fprintf(w, "  failure: %s\n", indented(o.failed.Error()))
	}
	if o.job.world.witness != "" {
		fmt.Fprintf(w, "  %-13s  %s\n", "the witness", wrapped(o.job.world.witness, 17))
	}
	o.printBound(w)
	o.printCounts(w)
	o.printStory(w, c, detail || c.verbose)
	for _, line := range o.expectationLines() {
		fmt.Fprintf(w, "  %s\n", line)
	}
	if late := o.slowStarts(); late != "" {
		fmt.Fprintf(w, "  %s\n", wrapped(late, 2))
	}
	if c.verbose || o.job.count == 1 {
		o.printInvariants(w, c)
	}
	fmt.Fprintln(w)
}

func (o outcome) title() string {
	name := o.job.scenario.Name
	if w := o.job.scenario.Which(); w.Number > 0 {
		name += ", " + w.String()
	}
	return fmt.Sprintf("%s, dispatcher %s, world %s, %s", name, o.job.system.Name, o.job.world.name, o.seedWords())
}

func (o outcome) seedWords() string {
	switch t := o.tally; {
	case t.Seeds == 1:
		return fmt.Sprintf("seed %d", o.job.from)
	case t.Seeds == 0:
		return "no seed"
	default:
		return fmt.Sprintf("seeds %d to %d", o.job.from, o.job.from+uint64(t.Seeds)-1)
	}
}

// amount says how much was run, and how fast.
func (o outcome) amount() string {
	t := o.tally
	text := fmt.Sprintf("%s of virtual time in %s", t.Virtual.Round(time.Second), t.Wall.Round(time.Millisecond))
	if o.job.world.live {
		text = fmt.Sprintf("ran for %s, %s with all around it", t.Virtual.Round(time.Second), t.Wall.Round(time.Second))
	}
	if scale := o.job.scaleWords(); scale != "" {
		text += ", " + scale
	}
	if t.Interrupted {
		text += ", interrupted"
	}
	return text
}

func (o outcome) printCounts(w io.Writer) {
	for _, name := range checker.Names() {
		if n := o.tally.Violations[name]; n > 0 && o.tally.Seeds > 1 {
			fmt.Fprintf(w, "  %s violated under %s of %d\n", name, count(n, "seed", "seeds"), o.tally.Seeds)
		}
	}
	if seeds := o.tally.Invalid; len(seeds) > 0 && o.tally.Seeds > 1 {
		fmt.Fprintf(w, "  invalid seeds: %s\n", someSeeds(seeds))
	}
	if seeds := o.tally.Unknown; len(seeds) > 0 && o.tally.Seeds > 1 {
		fmt.Fprintf(w, "  unknown seeds: %s\n", someSeeds(seeds))
	}
}

func someSeeds(seeds []uint64) string {
	const most = 8
	text := strings.ReplaceAll(strings.Trim(fmt.Sprint(seeds[:min(len(seeds), most)]), "[]"), " ", ", ")
	if more := len(seeds) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// printStory tells of the run that is shown, if it is not a valid one: what happened, and with detail how.
func (o outcome) printStory(w io.Writer, c *console, detail bool) {
	if o.shown == nil || o.shown.History == nil || o.shown.Verdict == checker.Valid {
		return
	}
	run := o.run()
	label := "what happened"
	if o.tally.Seeds > 1 {
		label = fmt.Sprintf("under seed %d", o.shown.Seed)
	}
	fmt.Fprintf(w, "  %-13s  %s\n", label, wrapped(run.Story(), 17))
	if detail && run.Verdict() == reports.Invalid {
		fmt.Fprintln(w)
		printSteps(w, c.outInk(), run)
		fmt.Fprintln(w)
	}
	c.printViolations(w, o.shown.Fatal())
}

// slowStarts is for a run in a real cluster that did not end as it should.
func (o outcome) slowStarts() string {
	if !o.job.world.live || o.shown == nil || o.shown.History == nil || len(o.unmet()) == 0 {
		return ""
	}
	return slowStarts(o.shown.History)
}

// expectationLines say whether all this was to be expected.
func (o outcome) expectationLines() []string {
	return expectationLines(o.verdict(), o.expected(), o.unmet())
}

func expectationLines(got, wanted reports.Verdict, unmet []string) []string {
	if len(unmet) == 0 && got == reports.Invalid && wanted == reports.Invalid {
		return []string{"as expected: this dispatcher is meant to fail here"}
	}
	var lines []string
	for _, u := range unmet {
		lines = append(lines, "not as expected: "+u)
	}
	return lines
}

// printInvariants says how often each invariant was put to the test: zero checks are no pass.
func (o outcome) printInvariants(w io.Writer, c *console) {
	var idle []string
	for _, inv := range checker.Invariants() {
		n := o.tally.Exercised[inv.Name]
		if n == 0 {
			idle = append(idle, inv.Name)
		} else if c.verbose {
			fmt.Fprintf(w, "  %-15s tested %d times: %s\n", inv.Name, n, inv.Of)
		}
	}
	if len(idle) > 0 {
		slices.Sort(idle)
		fmt.Fprintf(w, "  never put to the test: %s\n", strings.Join(idle, ", "))
	}
}

func indented(text string) string { return strings.ReplaceAll(text, "\n", "\n    ") }

// wrapped breaks a text that begins at a column into lines that fit a terminal of 100 columns, the later ones
// indented to the same column.
func wrapped(text string, indent int) string { return hanging(text, indent, indent) }

// hanging is wrapped with another column for the later lines.
func hanging(text string, column, indent int) string {
	const width = 100
	var b strings.Builder
	for n, word := range strings.Fields(text) {
		length := len([]rune(word))
		switch {
		case n == 0:
		case column+1+length > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		default:
			b.WriteString(" ")
			column++
		}
		b.WriteString(word)
		column += length
	}
	return b.String()
}
