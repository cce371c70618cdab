package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/reports"
	"github.com/squall-chaos/squall/scenarios"
)

func (x trial) try(ctx context.Context, p performance) outcome {
	o := outcome{}
	switch {
	case x.quarry != nil && x.job.world.live:
		o = x.confirm(ctx, p)
	case x.quarry != nil:
		o = x.hunt(ctx, p)
	case x.variants != nil:
		o = x.vary(ctx, p)
	case x.part == partLive:
		o = x.live(ctx, p)
	default:
		o = p.perform(ctx, x.job)
	}
	o.group = string(x.part)
	return o
}

// live runs a scenario in a real cluster. Where all was valid but did not end as expected it is run again, as often as every such scenario: a
// machine that is short of processors breaks time-outs that no fault has broken. In how many of the runs all was as expected is told, with the
// bundles of the others, and one is enough to pass. A violation is never excused, and ends it.
func (x trial) live(ctx context.Context, p performance) outcome {
	sum := outcome{job: x.job}
	began := time.Now()
	good := 0
	for run := range uint64(liveTries) {
		if run > 0 {
			p.progress.add(-1) // one more than was planned
		}
		one := x.job
		one.from, one.count = x.job.from+run, 1
		next := p.single(ctx, one)
		sum.take(next)
		settled := next.failed == nil && next.verdict() == reports.Valid && len(next.unmet()) == 0
		if settled {
			if good++; good == 1 {
				sum.shown, sum.bundle, sum.contrast = next.shown, next.bundle, next.contrast
			}
		}
		if ctx.Err() != nil || run == 0 && settled || !settled && !next.moody() {
			break
		}
	}
	sum.settle(true)
	sum.tally.Wall = time.Since(began)
	sum.tally.Interrupted = ctx.Err() != nil && (sum.shown == nil || sum.shown.Interrupted)
	return sum
}

// hunt runs seeds until the quarry was seen.
func (x trial) hunt(ctx context.Context, p performance) outcome {
	x.job = x.job.measured(ctx)
	o := outcome{job: x.job, hunted: true}
	last := x.job.from + uint64(x.job.count)
	began := time.Now()
	m := scenarios.Many{Options: x.job.options(), Workers: p.workers, UntilInvalid: true,
		Each: func(scenarios.Result) { p.progress.step(false) }}
	var t scenarios.Tally
	for m.From = x.job.from; m.From < last && ctx.Err() == nil; m.From++ {
		m.Count = int(last - m.From)
		t = scenarios.Seeds(ctx, x.job.scenario, m)
		o.tally = joined(o.tally, t)
		if t.FirstInvalid == nil {
			break
		}
		m.From = t.FirstInvalid.Seed
		if len(x.quarry.missing(o.tally.Violations)) == 0 {
			o.foundUnder = m.From
			break
		}
	}
	switch found := t.FirstInvalid; {
	case o.foundUnder == 0:
		o.tally.Interrupted = ctx.Err() != nil
		o.missed = []string{fmt.Sprintf("%s must be seen within %s", x.quarry, count(x.job.count, "seed", "seeds"))}
	case x.part == partWitness: // its evidence is of the kind that the defect's own trial keeps
		o.missed = nil
	default:
		o.keep(p, found.Seed, found.History.Meta.TraceHash, found.History)
		o.missed = x.uncontrolled(found.Seed)
	}
	o.kill = x.kill(o)
	if len(o.tally.Failed) > 0 {
		o.failed = firstError(o.failed, o.tally.Failed[0])
	}
	o.tally.Wall = time.Since(began)
	p.progress.add(x.job.count - o.tally.Seeds)
	return o
}

// confirm runs until the quarry was seen in a real world, where every run has its evidence.
func (x trial) confirm(ctx context.Context, p performance) outcome {
	sum := outcome{job: x.job, hunted: true}
	began := time.Now()
	for i := 0; i < x.job.count && ctx.Err() == nil; i++ {
		one := x.job
		one.from, one.count = x.job.from+uint64(i), 1
		sum.take(p.single(ctx, one))
		if sum.failed != nil || len(x.quarry.missing(sum.tally.Violations)) == 0 {
			break
		}
	}
	sum.tally.Interrupted = ctx.Err() != nil
	if missing := x.quarry.missing(sum.tally.Violations); len(missing) > 0 && sum.failed == nil {
		sum.missed = []string{fmt.Sprintf("%s must be seen within %s", x.quarry, count(x.job.count, "run", "runs"))}
	}
	sum.tally.Wall = time.Since(began)
	p.progress.add(x.job.count - sum.tally.Seeds)
	return sum
}

// joined is the tally over the seeds of both; they follow each other, and the first had an invalid seed, or there would be no
// second.
func joined(a, b scenarios.Tally) scenarios.Tally {
	if a.Seeds == 0 {
		return b
	}
	sum := added(a, b)
	if sum.Verdict == checker.Valid {
		sum.Verdict = checker.Invalid
	}
	return sum
}

// added is the tally over the seeds of both.
func added(a, b scenarios.Tally) scenarios.Tally {
	sum := b
	sum.Seeds, sum.Valid, sum.Virtual, sum.Wall = a.Seeds+b.Seeds, a.Valid+b.Valid, a.Virtual+b.Virtual, a.Wall+b.Wall
	sum.Invalid, sum.Unknown = slices.Concat(a.Invalid, b.Invalid), slices.Concat(a.Unknown, b.Unknown)
	sum.Choices, sum.Owners = max(a.Choices, b.Choices), max(a.Owners, b.Owners)
	sum.Failed, sum.Unmet = slices.Concat(a.Failed, b.Failed), slices.Concat(a.Unmet, b.Unmet)
	sum.Verdict, sum.Interrupted = merged(a.Verdict, b.Verdict), a.Interrupted || b.Interrupted
	for _, counts := range []struct{ to, from map[string]int }{{sum.Violations, a.Violations}, {sum.Exercised, a.Exercised}} {
		for name, n := range counts.from {
			counts.to[name] += n
		}
	}
	return sum
}
