package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/reports"
	"github.com/squall-chaos/squall/scenarios"
)

// evidence is the bundle of one run while it is written.
type evidence struct {
	job     job
	seed    uint64
	bundle  *reports.Bundle
	partial string
}

// gather begins a bundle with what is known before the run.
func gather(dir string, j job, seed uint64) (*evidence, error) {
	settings, err := j.scenario.DispatcherSettings()
	if err != nil {
		return nil, err
	}
	m := history.Meta{Scenario: j.scenario.Name, Dispatcher: j.system.Name, World: j.world.name, Seed: seed, Version: thisBuild().recorded()}
	b, err := reports.Create(dir, m, time.Now())
	if err != nil {
		return nil, err
	}
	e := &evidence{job: j, seed: seed, bundle: b, partial: filepath.Join(filepath.Dir(b.Path()), ".partial-"+filepath.Base(b.Path()))}
	halfWritten.add(e.partial)
	if err := errors.Join(b.WriteScenario(j.text), b.WriteSettings(settings), b.WriteMade(j.made())); err != nil {
		e.discard()
		return nil, err
	}
	return e, nil
}

// made is what a run was made from besides scenario, settings and seed.
func (j job) made() reports.Made {
	return reports.Made{Scale: j.scenario.Scale(), Plan: j.plan, Order: j.order, Witness: j.world.witness}
}

// record keeps the history before anybody judges it.
func (e *evidence) record(h *history.History) error { return e.bundle.WriteHistory(h) }

// discard removes what was written.
func (e *evidence) discard() {
	_ = e.bundle.Discard() // what led here is the error to report
	halfWritten.done(e.partial)
}

// finish adds the verdict and the report, and gives the bundle its name.
func (e *evidence) finish(run *reports.Run) (string, error) {
	defer halfWritten.done(e.partial)
	if run.History == nil { // the harness failed before there was anything to record
		run.History = &history.History{Meta: history.Meta{Scenario: e.job.scenario.Name, Dispatcher: e.job.system.Name,
			World: e.job.world.name, Seed: e.seed, Version: thisBuild().recorded()}}
		if err := e.record(run.History); err != nil {
			return "", err
		}
	}
	if err := errors.Join(e.bundle.WriteVerdict(run), e.bundle.WriteReport(run), e.bundle.WriteSummary(run)); err != nil {
		return "", err
	}
	return e.bundle.Finish()
}

// runOf is a result as reports want it.
func runOf(j job, r scenarios.Result, contrast *scenarios.Result) *reports.Run {
	run := &reports.Run{History: r.History, Report: r.Report, Judged: r.Verdict, Tolerated: j.scenario.Expect.Tolerate,
		Settings: r.Settings, Virtual: r.Virtual, Wall: r.Wall, Err: r.Err, Scenario: j.text, About: j.scenario.Summary,
		Interrupted: r.Interrupted, Live: j.world.live, Made: j.made(), Fitted: j.scenario.Fitted()}
	if contrast != nil {
		run.Control = runOf(j, *contrast, nil)
		run.Control.Expected = reports.Valid
	}
	return run
}

// reportIn is the page of a bundle.
func reportIn(bundle string) string { return filepath.Join(bundle, reports.ReportFile) }

// contrastTo runs what should pass where the job failed: the same scenario and seed under the reference, or, when it was
// the reference that failed, the scenario's control. Nil when there is none: a report without it is better than none.
func contrastTo(j job, seed uint64) *scenarios.Result {
	s := j.scenario
	if j.world.live { // another run would take minutes: the simulation of the same scenario shows what should be
		j.world, j.tell = simulation(), nil
	}
	if j.system.Name == planted.Reference().Name {
		control, err := s.LoadControl()
		if err != nil || control == nil {
			return nil
		}
		if control, err = control.Scaled(s.Scale()); err != nil {
			return nil
		}
		s, j.plan, j.order.Delays = control, nil, nil
	}
	j.system = planted.Reference()
	options := j.options()
	options.Seed = seed
	r := scenarios.Run(context.Background(), s, options)
	if r.Err != nil || r.History == nil || r.Verdict != checker.Valid {
		return nil
	}
	return &r
}

// pointLatest lets dir/latest point at the bundle that the last lines of the output name, whichever was finished last.
func pointLatest(dir, bundle string) error {
	fresh := filepath.Join(dir, ".latest-"+filepath.Base(bundle))
	if err := os.Symlink(filepath.Join("runs", filepath.Base(bundle)), fresh); err != nil {
		return err
	}
	if err := os.Rename(fresh, filepath.Join(dir, latestName)); err != nil {
		_ = os.Remove(fresh)
		return err
	}
	return nil
}
