package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/reports"
	"github.com/squall-chaos/squall/scenarios"
	"github.com/squall-chaos/squall/scenarios/experiment"
)

// uncontrolled is why a find proves nothing: the control, which lacks the defect and the same line of defence, fails under the
// same seed.
func (x trial) uncontrolled(seed uint64) []string {
	if x.defect == nil || x.defect.Bare == nil {
		return nil
	}
	options := x.job.options()
	options.System, options.Seed, options.Plan = *x.defect.Bare, seed, x.job.plan
	r := scenarios.Run(context.Background(), x.job.scenario, options)
	if r.Err == nil && r.Verdict == checker.Valid {
		return nil
	}
	why := r.Verdict.String()
	if r.Err != nil {
		why = r.Err.Error()
	}
	return []string{fmt.Sprintf("the control of %s is not valid under seed %d: %s: %s", x.defect.System.Name, seed, x.defect.Bare.Summary, why)}
}

// kill is what the hunt says of the defect; nil when none was planted.
func (x trial) kill(o outcome) *reports.Kill {
	d := x.defect
	if d == nil {
		return nil
	}
	k := &reports.Kill{Defect: d.System.Name, About: d.System.Summary, Incident: d.Incident, Second: x.part == partWitness,
		Scenario: x.job.scenario.Name, Within: x.job.count, Lone: d.Witness == nil, SimOnly: d.SimOnly}
	if d.Bare != nil {
		k.Control = d.Bare.Summary
	}
	if o.foundUnder > 0 {
		k.Seeds, k.Oracles = int(o.foundUnder-x.job.from)+1, violated(o)
	}
	return k
}

// ofNone is what none in n seeds proves, as text that follows a verdict; empty if there were some, or one seed only.
func ofNone(invalid, n int) string {
	if invalid > 0 || n < 2 {
		return ""
	}
	return fmt.Sprintf(": none of %d, so at most %s of all seeds fail (95 %% confidence)", n, experiment.ShareOf(0, n).Most())
}

// killed writes how well the suite sees: how many defects were found, how fast, and by what.
func (r tried) killed(w io.Writer, i ink) {
	var all []reports.Summary
	for _, o := range r.results.outcomes {
		all = append(all, reports.Summary{Kill: o.kill})
	}
	kills := reports.KillsOf(all)
	for n, line := range kills.Lines() {
		switch {
		case n > 0:
			line = "  " + line
		case kills.All():
			line = i.good("✓") + " " + line
		default:
			line = i.bad("✗ " + line)
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}
