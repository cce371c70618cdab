package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/reports"
	"github.com/squall-chaos/squall/scenarios"
	"github.com/squall-chaos/squall/scenarios/causes"
)

// explainFlags are the flags of explain, for bundles.
type explainFlags struct {
	runFlags
	invariant string
	outputs   []string
}

// explainFormats are those of -o: what matters is no list of results.
var explainFormats = []string{formatText, formatJSON}

// isBundleName tells whether an argument means a bundle rather than a name that Squall prints.
func (c *console) isBundleName(name string) bool {
	if name == latestName || strings.ContainsAny(name, `/\`) {
		return true
	}
	path, err := c.findBundle(name)
	return err == nil && reports.IsBundle(path)
}

// explainBundle says what matters about a failing run, and adds it to its report.
func explainBundle(cmd *cobra.Command, c *console, f *explainFlags, path string) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	outputs, err := parseOutputsOf(f.outputs, explainFormats)
	if err != nil {
		return err
	}
	run, err := c.openBundle(path)
	if err != nil {
		return err
	}
	invariant, err := violatedIn(run, f.invariant)
	if err != nil {
		return err
	}
	j, err := simulatedJob(run)
	if err != nil {
		return err
	}
	if j.plan == nil {
		if j.plan, err = j.scenario.Plan(j.from); err != nil {
			return err
		}
	}
	if j.plan == nil {
		j.plan = faults.Plan{}
	}
	began := time.Now()
	p := c.begin("runs", 0)
	e, err := causes.Explain(cmd.Context(), j.scenario, j.from, causes.Options{System: j.system, Reference: planted.Reference(), World: j.world.open,
		Invariant: invariant, Plan: j.plan, Workers: f.workerCount(), Ran: func() { p.step(false) }, Stage: p.at})
	p.end()
	switch {
	case err != nil && cmd.Context().Err() != nil:
		return ended(exitInterrupted)
	case err != nil:
		return usage("bundle %s cannot be explained: %w%s", run.Bundle, err, recordedElsewhere(run))
	}
	j.tellPoint(e.Point)
	run.Matters = &e
	took := time.Since(began).Round(100 * time.Millisecond)
	if err := c.tellExplanation(run, outputs, took); err != nil {
		return err
	}
	if e.Interrupted {
		c.note("squall: interrupted: not everything was searched, and the report is as it was")
		return ended(exitInterrupted)
	}
	if err := c.amend(run); err != nil {
		c.note("squall: %s", err) // the bundle may be somebody else's
		return nil
	}
	if textOnStdout(outputs) {
		fmt.Fprintf(c.out, "report: %s\n", reportIn(run.Bundle))
	}
	return nil
}

// tellExplanation writes what matters in every format that was asked for.
func (c *console) tellExplanation(run *reports.Run, outputs []output, took time.Duration) error {
	return c.writeEach(outputs, true, func(w io.Writer, o output) error {
		if o.format == formatJSON {
			return run.WriteMatters(w)
		}
		i := ink(false)
		if o.path == "" {
			i = c.outInk()
		}
		printExplanation(w, i, run)
		_, err := fmt.Fprintf(w, "searched in %s, %s\n", count(run.Matters.Runs, "run", "runs"), took)
		return err
	})
}

// tellPoint puts the point of no return into words.
func (j job) tellPoint(p *causes.Point) {
	if p == nil || p.Last == 0 {
		return
	}
	here, there := j.runForked(clusters.Fork{}), j.runForked(clusters.Fork{At: p.Last, Seed: p.Seed})
	if here == nil || there == nil {
		return
	}
	all := records(here.History)
	n := 0
	for n < len(all) && all[n].seq <= p.Last {
		n++
	}
	if n > 0 {
		p.Record = all[n-1].String()
	}
	if parting := reports.PartingOf(here, there); parting != nil {
		p.Here, p.There = parting.Sides()
	}
}

// runForked is the job's run, continued otherwise from somewhere on; nil if it cannot be.
func (j job) runForked(fork clusters.Fork) *reports.Run {
	options := j.options()
	options.Seed, options.Fork = j.from, fork
	r := scenarios.Run(context.Background(), j.scenario, options)
	if r.Err != nil || r.History == nil {
		return nil
	}
	return runOf(j, r, nil)
}

// amend writes what was found out into the bundle, with the page made anew.
func (c *console) amend(run *reports.Run) error {
	if j, err := jobOf(run); err == nil {
		if contrast := contrastTo(j, j.from); contrast != nil {
			run.Control = runOf(j, *contrast, nil)
			run.Control.Expected = reports.Valid
		}
	}
	if m := run.Minimal; m != nil && m.Run == nil {
		m.Run = drawnAgain(run)
	}
	return run.Amend()
}

// drawnAgain runs the minimal case of a bundle, for its figure; nil if this build cannot.
func drawnAgain(run *reports.Run) *reports.Run {
	s, err := scenarios.Parse(minimalFile, []byte(run.Minimal.Scenario))
	if err != nil {
		return nil
	}
	system, ok := planted.Lookup(run.History.Meta.Dispatcher)
	if !ok {
		return nil
	}
	j := job{scenario: s, text: []byte(run.Minimal.Scenario), system: system, world: simulation(), from: run.Minimal.Seed, count: 1}
	options := j.options()
	options.Seed = j.from
	r := scenarios.Run(context.Background(), s, options)
	if r.Err != nil || r.History == nil {
		return nil
	}
	return runOf(j, r, nil)
}

// printExplanation writes what matters, for people.
func printExplanation(w io.Writer, i ink, run *reports.Run) {
	e, m := run.Matters, run.History.Meta
	fmt.Fprintf(w, "%s  %s\n", i.verdict(run.Verdict()), i.bold(fmt.Sprintf("%s, dispatcher %s, world %s, seed %d: %s", m.Scenario, m.Dispatcher, m.World, m.Seed, e.Invariant)))
	fmt.Fprintf(w, "  cause          %s\n", wrapped(e.Cause, 17))
	fmt.Fprintf(w, "  averted by     %s\n", wrapped(either(e.Remedy, "no single change that was tried"), 17))
	switch p := e.Point; {
	case p == nil:
	case p.Last == 0:
		fmt.Fprintf(w, "  inevitable     from the start: none of %d other interleavings of the same faults averts it\n", p.Tried)
	default:
		fmt.Fprintf(w, "  inevitable     %s\n", wrapped(fmt.Sprintf("up to the record below another interleaving still averts it, later none of %d does", p.Tried), 17))
		for _, line := range [][2]string{{"the record", p.Record}, {"here", p.Here}, {"otherwise", p.There}} {
			if line[1] != "" {
				fmt.Fprintf(w, "    %-12s %s\n", line[0], wrapped(line[1], 17))
			}
		}
	}
	others := fmt.Sprintf("%d of %d violate it under the same settings and faults", e.Others.Violated, e.Others.Of)
	if e.Others.Violated == 0 {
		others += ": whatever shifts the timing averts it"
	}
	fmt.Fprintf(w, "  interleavings  %s\n", wrapped(others, 17))
	printMatters(w, "faults", e.Faults)
	if len(e.Enough) > 0 {
		fmt.Fprintf(w, "  enough is      %s\n", wrapped("faults "+strings.Trim(strings.Join(strings.Fields(fmt.Sprint(e.Enough)), ", "), "[]")+" of those above, in order", 17))
	}
	printMatters(w, "settings", e.Settings)
}

// printMatters writes what flips, each with its values, and only names the rest.
func printMatters(w io.Writer, what string, all []causes.Matter) {
	rest := map[causes.Verdict][]string{}
	head := what
	for _, m := range all {
		if m.Verdict != causes.Flips {
			rest[m.Verdict] = append(rest[m.Verdict], m.Name)
			continue
		}
		fmt.Fprintf(w, "  %-13s  %s\n", head, wrapped(m.Name+": "+m.Value, 17))
		for _, f := range m.Flips {
			fmt.Fprintf(w, "                   %s\n", wrapped(f.Words(), 19))
		}
		head = ""
	}
	for _, v := range []causes.Verdict{causes.Chance, causes.Irrelevant} {
		if len(rest[v]) > 0 {
			separator := ", "
			if what == "faults" {
				separator = "; "
			}
			fmt.Fprintf(w, "  %-13s  %s\n", head, wrapped(v.Words()+": "+strings.Join(rest[v], separator), 17))
			head = ""
		}
	}
}
