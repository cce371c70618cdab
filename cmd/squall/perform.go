package main

import (
	"context"
	"fmt"
	"time"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/reports"
	"github.com/squall-chaos/squall/scenarios"
)

// outcome is what became of a job.
type outcome struct {
	job   job
	tally scenarios.Tally
	// shown is the run worth reading, and bundle where it is kept: the only one, else the first invalid, else the first
	// unknown one. Nil when all of many were valid.
	shown  *scenarios.Result
	bundle string
	// contrast is what passes where the shown run does not.
	contrast *scenarios.Result
	// group is the part of a suite that the job belongs to; missed is what a hunt did not find.
	group  string
	hunted bool
	missed []string
	// foundUnder is the seed that ended a hunt, 0 if none did; kill is what a hunt for a planted defect came to.
	foundUnder uint64
	kill       *reports.Kill
	// moods are the runs in a real cluster that were valid and not as expected, where there was more than one run.
	moods []reports.Mood
	// spared was not begun at all.
	spared bool
	// failed is a failure of the harness: of a run, of the bundle, or lost determinism.
	failed error
}

// verdict is the job's own, whatever was expected.
func (o outcome) verdict() reports.Verdict {
	switch {
	case o.failed != nil:
		return reports.Broken
	case o.tally.Verdict == checker.Invalid:
		return reports.Invalid
	case o.tally.Verdict != checker.Valid || o.tally.Interrupted:
		return reports.Unknown
	}
	return reports.Valid
}

// standing is what the job counts as, for the exit status and for which one is worth reading: an unmet expectation is a
// finding, even when the verdict is valid.
func (o outcome) standing() reports.Verdict {
	if v := o.verdict(); v != reports.Valid || len(o.unmet()) == 0 {
		return v
	}
	return reports.Invalid
}

// asked tells whether the job was such that the scenario's expectation applies: what it expects of many seeds is not asked
// of fewer, nor of those that somebody interrupted.
func (o outcome) asked() bool {
	return o.tally.Verdict == checker.Invalid || (o.tally.Seeds >= o.job.scenario.Seeds || o.job.world.live) && !o.tally.Interrupted
}

// expected is the verdict that is expected of the job; empty when nothing is.
func (o outcome) expected() reports.Verdict {
	switch e := o.job.scenario.Expect.Of(o.job.system.Name); {
	case o.hunted && e == nil:
		return reports.Invalid
	case e == nil || !o.hunted && !o.asked():
		return ""
	default:
		return reports.Verdict(verdictWanted(e))
	}
}

// unmet lists what differs from what was expected.
func (o outcome) unmet() []string {
	switch {
	case o.hunted && o.tally.Interrupted:
		return nil
	case o.hunted:
		return o.missed
	case !o.asked():
		return nil
	case o.job.scenario.Expect.Of(o.job.system.Name) == nil && o.job.system.Name != planted.Reference().Name:
		return nil // the scenario says nothing of this dispatcher
	}
	return o.tally.Unmet
}

// performance is how jobs are run.
type performance struct {
	console  *console
	progress *progress
	workers  int
	until    time.Time // no seed begins later; zero: no limit
	// keepAll leaves a bundle of every job, valid or not.
	keepAll bool
	// bundles is how many failing seeds of a job leave a bundle, as long as all of them take no more than room bytes.
	bundles int
	room    int64
	// journal, when set, is where the state of many seeds is kept, to go on from it.
	journal *journal
	// cover has tallies say what the runs met.
	cover bool
}

func (j job) options() scenarios.Options {
	return scenarios.Options{System: j.system, World: j.world.open, Version: thisBuild().recorded(), Plan: j.plan, Order: j.order, Tell: j.tell}
}

// perform runs a job and keeps the run that is worth reading.
func (p performance) perform(ctx context.Context, j job) outcome {
	if j.world.live {
		return p.live(ctx, j)
	}
	j = j.measured(ctx)
	if j.count == 1 && p.keepAll {
		return p.single(ctx, j)
	}
	seeds := watch{progress: p.progress, suite: !p.keepAll, most: p.bundles}
	m := scenarios.Many{Options: j.options(), From: j.from, Count: j.count, Workers: p.workers, Until: p.until, Each: seeds.see, Forget: true, Cover: p.cover}
	o := outcome{job: j}
	if o.failed = p.journal.resume(&m, j, &seeds, p.progress); o.failed != nil {
		return o
	}
	o.tally = scenarios.Seeds(ctx, j.scenario, m)
	o.failed = p.journal.save()
	o.discount(seeds.cut)
	if len(o.tally.Failed) > 0 {
		o.failed = o.tally.Failed[0]
	}
	o.keepOthers(p, seeds.failing)
	switch first := o.tally.FirstInvalid; {
	case first != nil:
		o.keep(p, first.Seed, first.History.Meta.TraceHash, first.History)
		first.History = nil // the bundle has it
	case len(seeds.failing) > 0: // before this was resumed
		o.keep(p, seeds.failing[0].Seed, seeds.failing[0].Hash, nil)
	case seeds.doubtful.Seen:
		o.keep(p, seeds.doubtful.Seed, seeds.doubtful.Hash, nil)
	case (p.keepAll || len(o.unmet()) > 0) && seeds.first.Seen:
		o.keep(p, seeds.first.Seed, seeds.first.Hash, nil)
	case p.keepAll && seeds.cut != nil:
		o.keepCut(p, seeds.cut)
	}
	return o
}

// discount takes the run that was interrupted out of the valid ones: nobody saw how it would have ended.
func (o *outcome) discount(cut *scenarios.Result) {
	if cut == nil || !cut.Interrupted || cut.Err != nil || cut.Verdict != checker.Valid {
		return
	}
	o.tally.Valid--
	o.tally.Unknown = append(o.tally.Unknown, cut.Seed)
	if o.tally.Verdict == checker.Valid {
		o.tally.Verdict = checker.Unknown
	}
}

// watch follows the results of many seeds.
type watch struct {
	progress        *progress
	suite           bool // where invalid is mostly what should come out: progress does not count it
	first, doubtful trace
	failing         []trace // the first of them, at most so many
	most            int
	cut             *scenarios.Result // the run that was interrupted
}

// trace is what one seed did.
type trace struct {
	Seen bool   `json:"seen"`
	Seed uint64 `json:"seed"`
	Hash uint64 `json:"trace_hash,string"`
}

func (w *watch) see(r scenarios.Result) {
	w.progress.step(r.Verdict == checker.Invalid && !w.suite)
	if r.Err != nil || r.History == nil {
		return
	}
	if r.Interrupted {
		w.cut = &r
		return
	}
	t := trace{true, r.Seed, r.History.Meta.TraceHash}
	if !w.first.Seen {
		w.first = t
	}
	if !w.doubtful.Seen && r.Verdict == checker.Unknown {
		w.doubtful = t
	}
	if r.Verdict == checker.Invalid && len(w.failing) < max(w.most, 1) {
		w.failing = append(w.failing, t)
	}
}

// single runs one seed; its history is on disk before it is judged.
func (p performance) single(ctx context.Context, j job) outcome {
	o := outcome{job: j}
	kept, err := gather(p.console.dir, j, j.from)
	if err != nil {
		o.failed = err
		return o
	}
	options := j.options()
	options.Record = kept.record
	m := scenarios.Many{Options: options, From: j.from, Count: 1, Until: p.until, Each: func(r scenarios.Result) {
		p.progress.step(r.Verdict == checker.Invalid)
		o.shown = &r
	}}
	o.tally = scenarios.Seeds(ctx, j.scenario, m)
	o.discount(o.shown)
	if len(o.tally.Failed) > 0 {
		o.failed = o.tally.Failed[0]
	}
	o.finish(p, kept)
	return o
}

// keep runs a seed again, with its history written before it is judged, and compares the traces: a simulation
// in which the same seed does something else is broken. The first history, if it is still there, shows where.
func (o *outcome) keep(p performance, seed, hash uint64, before *history.History) {
	kept, err := gather(p.console.dir, o.job, seed)
	if err != nil {
		o.failed = err
		return
	}
	options := o.job.options()
	options.Seed, options.Record = seed, kept.record
	again := scenarios.Run(context.Background(), o.job.scenario, options)
	o.shown = &again
	switch {
	case again.Err != nil:
		o.failed = again.Err
	case again.History.Meta.TraceHash != hash:
		o.failed = firstError(o.failed, undetermined(again.History, hash, before))
	}
	o.finish(p, kept)
}

// keepCut keeps what there is of a run that was interrupted.
func (o *outcome) keepCut(p performance, cut *scenarios.Result) {
	kept, err := gather(p.console.dir, o.job, cut.Seed)
	if err == nil {
		err = kept.record(cut.History)
	}
	if err != nil {
		o.failed = err
		return
	}
	o.shown = cut
	o.finish(p, kept)
}

func (o *outcome) finish(p performance, kept *evidence) {
	if o.shown == nil { // interrupted before it began
		kept.discard()
		return
	}
	if o.shown.Verdict == checker.Invalid && o.shown.History != nil {
		o.contrast = contrastTo(o.job, o.shown.Seed)
	}
	dir, err := kept.finish(o.run())
	o.bundle = dir
	o.failed = firstError(o.failed, err)
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// undetermined is the failure of a seed that did something else the second time.
func undetermined(again *history.History, hash uint64, before *history.History) error {
	m := again.Meta
	text := ""
	if before != nil {
		text = "\n" + firstDifference(before, again)
	}
	return fmt.Errorf("determinism is lost: scenario %s, dispatcher %s, seed %d had trace hash %016x before, and now %016x%s",
		m.Scenario, m.Dispatcher, m.Seed, hash, m.TraceHash, text)
}
