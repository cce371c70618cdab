package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/squall-chaos/squall/checker"
)

// trialTable prints the suite line by line, as trials end.
type trialTable struct {
	trials       []trial
	ink          ink
	verbose      bool
	shown        bool // a person reads it
	quiet        bool
	names, those int // widths of columns
}

func newTrialTable(trials []trial, c *console, text bool) *trialTable {
	t := &trialTable{trials: trials, ink: c.outInk(), shown: text, verbose: c.verbose, quiet: c.quiet}
	for _, x := range trials {
		t.names = max(t.names, len(x.job.scenario.Name))
		t.those = max(t.those, len(x.job.system.Name))
	}
	return t
}

// plan lists the trials without running them.
func (t *trialTable) plan(w io.Writer) error {
	for _, x := range t.trials {
		if _, err := fmt.Fprintf(w, "%-9s  %-*s  %-*s  %s\n", x.part, t.names, x.job.scenario.Name, t.those, x.job.system.Name, x.job.seedWords()); err != nil {
			return err
		}
	}
	return nil
}

func (t *trialTable) begin(w io.Writer) {
	if t.shown && !t.quiet {
		t.line(w, "", t.ink.faint, "PART", "SCENARIO", "DISPATCHER", "SEEDS", "TIME", "VERDICT")
	}
}

func (t *trialTable) row(w io.Writer, x trial, o outcome) {
	ok := x.asMeant(o)
	if !t.shown || t.quiet && ok {
		return
	}
	sign := t.ink.good("✓")
	switch {
	case o.tally.Interrupted:
		sign = t.ink.warn("-")
	case !ok:
		sign = t.ink.bad("✗")
	}
	plain := func(s string) string { return s }
	t.line(w, sign, plain, string(x.part), x.job.scenario.Name, x.job.system.Name, fmt.Sprint(o.tally.Seeds),
		fmt.Sprintf("%.2fs", o.tally.Wall.Seconds()), t.came(x, o))
	if o.tally.Interrupted || ok && len(o.moods) == 0 {
		return
	}
	for _, line := range x.complaints(o) {
		fmt.Fprintf(w, "    %s\n", indented(line))
	}
}

func (t *trialTable) line(w io.Writer, sign string, paint func(string) string, cells ...string) {
	if sign == "" {
		sign = " "
	}
	fmt.Fprintln(w, strings.TrimRight(sign+" "+paint(fmt.Sprintf("%-9s  %-*s  %-*s  %5s  %7s  ", cells[0], t.names, cells[1],
		t.those, cells[2], cells[3], cells[4]))+paint(cells[5]), " "))
}

// came says what a trial came to.
func (t *trialTable) came(x trial, o outcome) string {
	switch {
	case o.failed != nil:
		return t.ink.warn("failure of the harness")
	case o.tally.Interrupted:
		return "interrupted"
	case x.hunts() && len(o.missed) == 0:
		return fmt.Sprintf("found: %s under seed %d", strings.Join(violated(o), ", "), o.seedFound())
	case x.hunts() && o.foundUnder > 0:
		return t.ink.bad(fmt.Sprintf("found under seed %d, and its control is no better", o.foundUnder))
	case x.hunts():
		return t.ink.bad("not found")
	case o.tally.Verdict == checker.Invalid:
		return "invalid: " + strings.Join(violated(o), ", ")
	case len(o.moods) > 0:
		return t.ink.warn(fmt.Sprintf("valid, and as expected in %s", o.asExpectedIn()))
	}
	return o.tally.Verdict.String() + noneOf(o)
}

// asExpectedIn is n of N runs of a real cluster.
func (o outcome) asExpectedIn() string {
	return fmt.Sprintf("%d of %d runs", o.tally.Seeds-len(o.moods), o.tally.Seeds)
}

// noneOf is what so many valid seeds prove of all that could be drawn; empty where a seed draws next to nothing.
func noneOf(o outcome) string {
	if o.job.scenario.Swarm == "" || len(o.tally.Unknown) > 0 {
		return ""
	}
	return ofNone(len(o.tally.Invalid), o.tally.Seeds)
}

// hunts tells whether the trial is over a planted defect.
func (x trial) hunts() bool {
	return x.part == partDefect || x.part == partWitness || x.part == partConfirm
}

// seedFound is the seed under which it was; in a real cluster, that of the run.
func (o outcome) seedFound() uint64 {
	if o.foundUnder == 0 && o.shown != nil {
		return o.shown.Seed
	}
	return o.foundUnder
}

// violated names the invariants that were, the gravest first.
func violated(o outcome) []string {
	var names []string
	for _, name := range checker.Names() {
		if o.tally.Violations[name] > 0 && !slices.Contains(o.job.scenario.Expect.Tolerate, name) {
			names = append(names, name)
		}
	}
	return names
}

// complaints say why a trial did not come out as it must.
func (x trial) complaints(o outcome) []string {
	switch {
	case o.failed != nil:
		return []string{o.failed.Error()}
	}
	const most = 3
	lines := slices.Clone(o.unmet())
	for _, m := range o.moods {
		lines = append(lines, m.String())
	}
	if more := len(lines) - most; more > 1 {
		lines = append(lines[:most], fmt.Sprintf("and %d more", more))
	}
	if len(o.tally.Invalid) > 0 {
		lines = append(lines, "invalid seeds: "+someSeeds(o.tally.Invalid))
	}
	if o.bundle != "" {
		lines = append(lines, o.again())
	}
	return lines
}
