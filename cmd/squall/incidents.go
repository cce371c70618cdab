package main

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/scenarios"
)

// incidentRun is rows of the catalogue, and the trials that show them: each scenario with the reference, which must do as the
// scenario expects, with naive and the planted dispatchers that must fail it, and the control, which must pass.
type incidentRun struct {
	rows   []scenarios.Incident
	trials []trial
	left   []notRun
	// planned are the trials by scenario and dispatcher: rows share scenarios.
	planned map[trialKey]bool
	// varied are the scenarios of which variants are run too; nil: variants are not asked for.
	varied map[string]bool
}

type trialKey struct{ scenario, dispatcher string }

func meansIncidents(name string) bool { return strings.HasPrefix(name, scenarios.IncidentPrefix) }

// runIncidents runs what the patterns mean, and ends with a table of rows.
func runIncidents(cmd *cobra.Command, c *console, f *runFlags, patterns []string) error {
	r, err := f.incidents(cmd, patterns)
	if err != nil {
		return err
	}
	outputs, err := parseOutputs(f.outputs)
	if err != nil {
		return err
	}
	as := chaosFlags{runFlags: *f}
	if f.dryRun {
		return suite{trials: r.trials, left: r.left}.plan(c)
	}
	if err := writable(c.dir); err != nil {
		return usage("--dir: %w", err)
	}
	ctx := cmd.Context()
	end, err := as.readyAll(ctx, c, r.trials)
	if err != nil {
		return errors.Join(notReady(ctx, err), end())
	}
	text := textOnStdout(outputs)
	began := time.Now()
	done := as.tryAll(ctx, c, r.trials, newTrialTable(r.trials, c, text && c.verbose))
	done.results.left = end()
	done.results.notRun = append(r.left, done.spared...)
	if text {
		r.table(c, done, time.Since(began))
	}
	if err := c.publish(&done.results, outputs, "Squall: "+strings.Join(patterns, ", ")); err != nil {
		return err
	}
	return done.ending()
}

// incidents turns the patterns into trials. Whatever is wrong is found before anything starts.
func (f *runFlags) incidents(cmd *cobra.Command, patterns []string) (incidentRun, error) {
	r := incidentRun{planned: map[trialKey]bool{}}
	if f.dispatcher != "" {
		return r, usage("incidents are run with the reference and with the dispatchers that must fail: leave --dispatcher out, or name a scenario (`squall list --incidents`)")
	}
	if err := f.check(cmd); err != nil {
		return r, err
	}
	world, err := f.findWorld()
	if err != nil {
		return r, err
	}
	if err := f.cluster.check(cmd, world); err != nil {
		return r, err
	}
	if f.variants > 0 && world.live {
		return r, usage("--variants: variants of incidents are run in the simulation; leave --world %s out", world.name)
	}
	for _, p := range patterns {
		if !meansIncidents(p) {
			return r, usage("%s is a scenario and %s means incidents: run them apart", p, firstOf(patterns, meansIncidents))
		}
		found, err := scenarios.FindIncidents(p)
		if err != nil {
			return r, usage("%w", err)
		}
		for _, i := range found {
			if !slices.ContainsFunc(r.rows, func(o scenarios.Incident) bool { return o.Row == i.Row }) {
				r.rows = append(r.rows, i)
			}
		}
	}
	for _, i := range r.rows {
		for _, s := range i.Scenarios() {
			if err := r.plan(cmd, f, world, s); err != nil {
				return r, err
			}
		}
	}
	err = r.vary(cmd, f, world)
	return r, err
}

// vary adds the variants of each scenario that has any.
func (r *incidentRun) vary(cmd *cobra.Command, f *runFlags, world worldEntry) error {
	if f.variants == 0 {
		return nil
	}
	r.varied = map[string]bool{}
	for _, i := range r.rows {
		for _, s := range i.Scenarios() {
			if len(s.Variants) == 0 || r.varied[s.Name] || len(world.misfits(s)) > 0 {
				continue
			}
			r.varied[s.Name] = true
			more, err := variantTrials(s, f.variants, func(dispatcher string, variant int) (job, error) {
				with := *f
				with.dispatcher = dispatcher
				return with.job(cmd, world, s.Name, variant)
			})
			if err != nil {
				return err
			}
			r.trials = append(r.trials, more...)
		}
	}
	return nil
}

func firstOf(all []string, is func(string) bool) string {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i]
	}
	return ""
}

// plan adds the trials of a scenario and of its control.
func (r *incidentRun) plan(cmd *cobra.Command, f *runFlags, world worldEntry, s *scenarios.Scenario) error {
	if r.planned[trialKey{s.Name, referenceName}] {
		return nil
	}
	if err := r.add(cmd, f, world, s, referenceName); err != nil {
		return err
	}
	if s.Expect.Naive != nil {
		if err := r.add(cmd, f, world, s, naiveName); err != nil {
			return err
		}
	}
	for _, d := range fallsIn(s) {
		if err := r.add(cmd, f, world, s, d.Dispatcher); err != nil {
			return err
		}
	}
	if s.Control == "" {
		return nil
	}
	control, err := s.LoadControl()
	if err != nil || r.planned[trialKey{control.Name, referenceName}] {
		return err
	}
	for _, name := range passing(control) {
		if err := r.add(cmd, f, world, control, name); err != nil {
			return err
		}
	}
	return nil
}

// passing are the dispatchers that must pass the control: the reference, and those of which it says so.
func passing(control *scenarios.Scenario) []string {
	all := []string{referenceName}
	for _, name := range planted.Names()[1:] {
		if e := control.Expect.Of(name); e != nil && e.Verdict == "valid" {
			all = append(all, name)
		}
	}
	return all
}

var referenceName = planted.Reference().Name

func (r *incidentRun) add(cmd *cobra.Command, f *runFlags, world worldEntry, s *scenarios.Scenario, dispatcher string) error {
	r.planned[trialKey{s.Name, dispatcher}] = true
	if why := world.misfits(s); len(why) > 0 {
		n := notRun{s.Name, strings.Join(why, "; ")}
		if !slices.Contains(r.left, n) {
			r.left = append(r.left, n)
		}
		return nil
	}
	with := *f
	with.dispatcher = dispatcher
	j, err := with.job(cmd, world, s.Name, 0)
	if err != nil {
		return err
	}
	r.trials = append(r.trials, trialOf(j))
	return nil
}

// trialOf is the trial of a job: what must fail is hunted where more than one seed may be needed to see it.
func trialOf(j job) trial {
	switch name := j.system.Name; {
	case name == referenceName && j.world.live:
		return trial{part: partLive, job: j}
	case name == referenceName:
		return trial{part: partReference, job: j}
	case j.world.live:
		j.count = confirmTries
		return trial{part: partConfirm, job: j, quarry: &quarry{names: brokenBy(name, j.scenario)}}
	case j.scenario.Expect.Of(name) != nil:
		return naiveTrial(j)
	default: // the defect says that it shows here
		for _, d := range planted.Defects() {
			if d.System.Name != name {
				continue
			}
			seeds, breaks := d.Seeds, d.Breaks
			if d.Scenario != j.scenario.Name {
				seeds, breaks = d.Witness.Seeds, d.Witness.Breaks
			}
			j.count = max(j.count, seeds)
			return trial{part: partDefect, job: j, quarry: &quarry{names: breaks}}
		}
		panic("dispatcher " + name + " fails nothing here")
	}
}
