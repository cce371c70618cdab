package main

import (
	"context"
	"fmt"
	"time"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/reports"
	"github.com/squall-chaos/squall/scenarios"
)

// live runs seeds one by one in a world where nothing can be run again: every run's evidence is kept when it is made. The first
// invalid run, else the first that could not be decided, else the first, is the one to read.
func (p performance) live(ctx context.Context, j job) outcome {
	sum := outcome{job: j}
	began := time.Now()
	for i := range j.count {
		if i > 0 && (ctx.Err() != nil || !p.until.IsZero() && time.Now().After(p.until)) {
			break
		}
		one := j
		one.from, one.count = j.from+uint64(i), 1
		sum.take(p.single(ctx, one))
	}
	sum.settle(false)
	sum.tally.Wall = time.Since(began)
	sum.tally.Interrupted = ctx.Err() != nil && (sum.shown == nil || sum.tally.Seeds < j.count || sum.shown.Interrupted)
	return sum
}

// take adds one run more.
func (o *outcome) take(next outcome) {
	o.failed = firstError(o.failed, next.failed)
	if next.moody() {
		o.moods = append(o.moods, reports.Mood{Seed: next.job.from, Unmet: next.unmet(), Bundle: next.bundle, Report: reportIn(next.bundle)})
	}
	if o.tally.Seeds == 0 {
		o.tally, o.shown, o.bundle, o.contrast = next.tally, next.shown, next.bundle, next.contrast
		return
	}
	before := o.tally
	o.tally = added(before, next.tally)
	if gravity(next.tally) > gravity(before) {
		o.shown, o.bundle, o.contrast = next.shown, next.bundle, next.contrast
	}
}

// moody tells that all was valid, and something was not as expected.
func (o outcome) moody() bool {
	return o.failed == nil && o.verdict() == reports.Valid && len(o.unmet()) > 0
}

// settle sums up what runs of one scenario did not do as expected: in how many of them, and their bundles. Excused: it is told and does not
// count where another run was as expected.
func (o *outcome) settle(excused bool) {
	n := o.tally.Seeds - len(o.moods)
	switch {
	case o.tally.Seeds < 2 || o.verdict() != reports.Valid:
		o.moods = nil // there is nothing to compare with, or worse to tell
	case len(o.moods) == 0:
	case excused && n > 0:
		o.tally.Unmet = nil
	default:
		o.tally.Unmet = []string{fmt.Sprintf("as expected in %d of %d runs", n, o.tally.Seeds)}
	}
}

// gravity orders the runs by how much they are worth reading.
func gravity(t scenarios.Tally) int {
	switch {
	case len(t.Failed) > 0:
		return 3
	case len(t.Invalid) > 0:
		return 2
	case len(t.Unknown) > 0:
		return 1
	}
	return 0
}

// again says how the run can be looked into once more: replayed, where a seed decides everything.
func (o outcome) again() string {
	bundle := shellWord(o.bundle)
	if o.job.world.live {
		return fmt.Sprintf("judge again: squall check %s\nin sim: squall run --world sim --faults-from %s", bundle, bundle)
	}
	return "replay: squall replay " + bundle
}

// teller tells on stderr what a run comes to while it is under way; nothing when squall is to be quiet.
func (c *console) teller(j job) func(scenarios.Note) {
	if c.quiet {
		return nil
	}
	w := c.lines("")
	name := fmt.Sprintf("%s %s/%s", j.world.name, j.scenario.Name, j.system.Name)
	return func(n scenarios.Note) {
		fmt.Fprintf(w, "squall: %s +%s %s\n", name, n.At.Round(100*time.Millisecond), n.What)
	}
}

// merged is the verdict of two sets of runs.
func merged(a, b checker.Verdict) checker.Verdict {
	switch {
	case a == checker.Invalid || b == checker.Invalid:
		return checker.Invalid
	case a != checker.Valid || b != checker.Valid:
		return checker.Unknown
	}
	return checker.Valid
}
