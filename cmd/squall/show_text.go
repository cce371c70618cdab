package main

import (
	"fmt"
	"io"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/reports"
)

// documentOf is what one run says.
func documentOf(run *reports.Run) document {
	return document{title: "Squall: " + run.History.Meta.Scenario, summaries: []reports.Summary{reports.SummaryOf(run)}, page: run}
}

// printRun writes a run for people: verdict, story, the steps that led there, violations and invariants.
func (c *console) printRun(run *reports.Run) {
	w, i, m := c.out, c.outInk(), run.History.Meta
	fmt.Fprintf(w, "%s  %s\n", i.headline(run.Verdict(), run.Expected, run.Unmet), i.bold(fmt.Sprintf("%s, dispatcher %s, world %s, seed %d", m.Scenario, m.Dispatcher, m.World, m.Seed)))
	if c.quiet {
		return
	}
	if run.About != "" {
		fmt.Fprintf(w, "  scenario       %s\n", wrapped(run.About, 17))
	}
	fmt.Fprintf(w, "  what happened  %s\n", wrapped(run.Story(), 17))
	if run.Verdict() == reports.Invalid {
		fmt.Fprintln(w)
		printSteps(w, i, run)
		fmt.Fprintln(w)
		c.printViolations(w, run.Report.Violations)
	}
	if run.Interrupted {
		fmt.Fprintf(w, "  interrupted    judged until %s of virtual time\n", short(run.Virtual))
	}
	for _, line := range expectationLines(run.Verdict(), run.Expected, run.Unmet) {
		fmt.Fprintf(w, "  %s\n", line)
	}
	c.printMargins(run)
	fmt.Fprintf(w, "  recorded       %s, %s, trace hash %016x, squall %s\n", count(len(run.History.Operations), "call", "calls"),
		count(len(run.History.Events), "event", "events"), m.TraceHash, m.Version)
	if run.Bundle != "" {
		if run.Live {
			fmt.Fprintf(w, "judge again: %s\nin sim: %s\n", run.Replay(), run.Rerun())
		} else {
			fmt.Fprintf(w, "replay: %s\n", run.Replay())
		}
		fmt.Fprintf(w, "report: %s\n", reportIn(run.Bundle))
	}
}

// printSteps writes the minimal timeline: one line per step, with the sequence number that replay --until takes.
func printSteps(w io.Writer, i ink, run *reports.Run) {
	for _, s := range run.Steps() {
		text := wrapped(s.Text, 27)
		if s.Bad {
			text = i.bad("✗ ") + text
		} else {
			text = "  " + text
		}
		fmt.Fprintf(w, "  %10.2fs %10s %s\n", s.At.Seconds(), fmt.Sprintf("[%d]", s.Seq), text)
	}
}

// mostViolations is how many violations are worth a line each.
const mostViolations = 5

func (c *console) printViolations(w io.Writer, all []checker.Violation) {
	for n, v := range all {
		if n == mostViolations && !c.verbose {
			fmt.Fprintf(w, "  and %s (-v shows all)\n", count(len(all)-n, "more violation", "more violations"))
			return
		}
		head := fmt.Sprintf("  %s at %s: ", v.Invariant, short(v.At))
		fmt.Fprintf(w, "  %s at %s: %s\n", c.outInk().bad(v.Invariant), short(v.At), hanging(v.Message, len(head), 6))
	}
}

// printMargins says how close each invariant came, with -v.
func (c *console) printMargins(run *reports.Run) {
	if !c.verbose {
		return
	}
	for _, inv := range run.Report.Invariants {
		fmt.Fprintf(c.out, "  %-15s %-13s exercised %d: %s", inv.Name, inv.Verdict, inv.Exercised, inv.Of)
		if inv.MarginOf != "" {
			fmt.Fprintf(c.out, "; worst margin %s %s", short(inv.WorstMargin), inv.MarginOf)
		}
		fmt.Fprintln(c.out)
	}
}
