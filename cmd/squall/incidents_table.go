package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/squall-chaos/squall/scenarios"
)

// incidentTable shows what became of rows of the catalogue.
type incidentTable struct {
	run    incidentRun
	done   map[trialKey]int // index of the outcome
	varied map[string][]int // by scenario: indexes of the outcomes of its variants
	tried  tried
}

// table prints, row by row, which dispatchers failed each scenario and how, and that the reference and the control passed.
func (r incidentRun) table(c *console, done tried, took time.Duration) {
	t := incidentTable{run: r, done: map[trialKey]int{}, varied: map[string][]int{}, tried: done}
	for n, x := range done.trials {
		if x.part == partVariants {
			t.varied[x.job.scenario.Name] = append(t.varied[x.job.scenario.Name], n)
			continue
		}
		t.done[trialKey{x.job.scenario.Name, x.job.system.Name}] = n
	}
	w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	line := func(cells ...string) { fmt.Fprintln(w, strings.TrimRight(strings.Join(cells, "\t"), "\t")) }
	if !c.quiet {
		line(t.with("VARIANTS", "ROW", "SCENARIO", "REFERENCE", "CONTROL", "FAILS IT")...)
		for _, i := range r.rows {
			t.row(line, i)
		}
	}
	_ = w.Flush() // an error shows again below
	t.complain(c)
	t.sum(c, took)
}

func (t incidentTable) row(line func(...string), i scenarios.Incident) {
	all := i.Scenarios()
	if len(all) == 0 {
		line(t.with("-", i.Row, "-", "-", "-", "not modelled yet: "+i.NotModelled)...)
		return
	}
	label := i.Row
	for _, s := range all {
		falls := t.falls(s)
		line(t.with(t.ofVariants(s), label, s.Name, t.came(s.Name, referenceName), t.control(s), falls[0])...)
		for _, more := range falls[1:] {
			line(t.with("", "", "", "", "", more)...)
		}
		label = ""
	}
}

// with puts the cell about variants where it belongs, if variants were asked for.
func (t incidentTable) with(variants string, cells ...string) []string {
	if t.run.varied == nil {
		return cells
	}
	return slices.Insert(cells, 4, variants)
}

// ofVariants is whether the variants of the scenario came out as they must, with all dispatchers of which it says how.
func (t incidentTable) ofVariants(s *scenarios.Scenario) string {
	if !t.run.varied[s.Name] {
		return "none"
	}
	good, all := 0, t.varied[s.Name]
	for _, n := range all {
		if t.tried.asMeant[n] {
			good++
		}
	}
	sign := "✓"
	if good < len(all) || len(all) == 0 {
		sign = "✗"
	}
	return fmt.Sprintf("%d of %s %s", good, count(len(all), "dispatcher", "dispatchers"), sign)
}

// falls are the dispatchers that had to fail the scenario, with what each broke.
func (t incidentTable) falls(s *scenarios.Scenario) []string {
	var all []string
	if s.Expect.Naive != nil {
		all = append(all, naiveName)
	}
	for _, f := range fallsIn(s) {
		all = append(all, f.Dispatcher)
	}
	for i, name := range all {
		all[i] = name + ": " + t.came(s.Name, name)
	}
	if len(all) == 0 {
		return []string{"nobody yet"}
	}
	return all
}

// control is how the scenario's control came out: the verdict of the reference, or that of the first that did not pass as it must.
func (t incidentTable) control(s *scenarios.Scenario) string {
	c, err := s.LoadControl()
	if c == nil || err != nil {
		return "-"
	}
	for _, name := range passing(c) {
		if n, ok := t.done[trialKey{c.Name, name}]; ok && !t.tried.asMeant[n] {
			return name + ": " + t.came(c.Name, name)
		}
	}
	return t.came(c.Name, referenceName)
}

// came is a cell: what a trial came to, with a sign for whether that is as it must be.
func (t incidentTable) came(scenario, dispatcher string) string {
	n, ok := t.done[trialKey{scenario, dispatcher}]
	if !ok {
		return "not run"
	}
	o := t.tried.results.outcomes[n]
	sign, text := "✓", o.tally.Verdict.String()
	if !t.tried.asMeant[n] {
		sign = "✗"
	}
	switch {
	case o.failed != nil:
		text = "failure of the harness"
	case o.tally.Interrupted:
		sign, text = "-", "interrupted"
	case len(violated(o)) > 0:
		text = strings.Join(violated(o), ", ")
	}
	return text + " " + sign
}

// complain says why trials did not come out as they must.
func (t incidentTable) complain(c *console) {
	for n, ok := range t.tried.asMeant {
		x, o := t.tried.trials[n], t.tried.results.outcomes[n]
		if ok || o.tally.Interrupted {
			continue
		}
		what := ""
		if x.part == partVariants {
			what = ", with other figures"
		}
		fmt.Fprintf(c.out, "\n%s %s, dispatcher %s%s\n", c.outInk().bad("✗"), x.job.scenario.Name, x.job.system.Name, what)
		for _, line := range x.complaints(o) {
			fmt.Fprintf(c.out, "    %s\n", indented(line))
		}
	}
	for _, n := range t.tried.results.notRun {
		fmt.Fprintf(c.out, "not run: %s\n", n)
	}
}

// sum is the last line: how many rows came out as they must.
func (t incidentTable) sum(c *console, took time.Duration) {
	good, modelled := 0, 0
	var safe []string
	for _, i := range t.run.rows {
		all := i.Scenarios()
		if len(all) == 0 {
			continue
		}
		modelled++
		if !slices.ContainsFunc(all, func(s *scenarios.Scenario) bool { return !t.asMeant(s) }) {
			good++
		}
		if !slices.ContainsFunc(all, failsSomebody) {
			safe = append(safe, i.Row)
		}
	}
	ink := c.outInk()
	line := fmt.Sprintf("%d of %s as expected", good, count(modelled, "modelled incident", "modelled incidents"))
	if good < modelled {
		line = ink.bad("✗ " + line)
	} else {
		line = ink.good("✓") + " " + line
	}
	if left := len(t.run.rows) - modelled; left > 0 {
		line += fmt.Sprintf("; %d not modelled yet", left)
	}
	if len(safe) > 0 {
		line += "; no dispatcher fails " + strings.Join(safe, ", ") + " yet"
	}
	fmt.Fprintf(c.out, "\n%s; took %s\n", line, took.Round(100*time.Millisecond))
	if t.tried.results.interrupted {
		fmt.Fprintln(c.out, ink.warn(fmt.Sprintf("interrupted: %d of %d trials were begun", len(t.tried.results.outcomes), t.tried.planned)))
	}
}

// asMeant tells whether all trials of the scenario and its control were run and came out as they must.
func (t incidentTable) asMeant(s *scenarios.Scenario) bool {
	names := []trialKey{{s.Name, referenceName}}
	if c, _ := s.LoadControl(); c != nil {
		for _, name := range passing(c) {
			names = append(names, trialKey{c.Name, name})
		}
	}
	if s.Expect.Naive != nil {
		names = append(names, trialKey{s.Name, naiveName})
	}
	for _, f := range fallsIn(s) {
		names = append(names, trialKey{s.Name, f.Dispatcher})
	}
	if t.run.varied[s.Name] && slices.ContainsFunc(t.varied[s.Name], func(n int) bool { return !t.tried.asMeant[n] }) {
		return false
	}
	return !slices.ContainsFunc(names, func(k trialKey) bool {
		n, ok := t.done[k]
		return !ok || !t.tried.asMeant[n]
	})
}

// failsSomebody tells whether a dispatcher must fail the scenario.
func failsSomebody(s *scenarios.Scenario) bool {
	e := s.Expect.Naive
	return e != nil && e.Verdict == "invalid" || len(fallsIn(s)) > 0
}
