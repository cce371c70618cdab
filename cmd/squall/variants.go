package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/scenarios"
)

// suiteVariants is how many variants of a scenario the suite runs: one where all is least, one where all is greatest, and some drawn.
const suiteVariants = 6

// varied is the job with the variant of that number of its scenario.
func (j job) varied(number int) (job, error) {
	if len(j.scenario.Variants) == 0 {
		return j, usage("scenario %s has no variants: in `variants` it says what may be otherwise (`squall explain %s` has an example)", j.scenario.Name, scenarios.CodeVariation)
	}
	s, err := j.scenario.Varied(number)
	if err != nil {
		return j, err
	}
	j.scenario, j.text = s, s.Text()
	return j, nil
}

// variantTrials are the trials over the first variants of a scenario, with each dispatcher of which it expects something. A job of variant 0
// is that of the scenario as it is.
func variantTrials(s *scenarios.Scenario, variants int, of func(dispatcher string, variant int) (job, error)) ([]trial, error) {
	var names []string
	if s.Expect.Reference != nil {
		names = append(names, referenceName)
	}
	if s.Expect.Naive != nil {
		names = append(names, naiveName)
	}
	for _, p := range s.Expect.Planted {
		names = append(names, p.Defect)
	}
	var trials []trial
	for _, name := range names {
		x := trial{part: partVariants}
		var err error
		if x.job, err = of(name, 0); err != nil {
			return nil, err
		}
		for number := 1; number <= variants; number++ {
			j, err := of(name, number)
			if err != nil {
				return nil, err
			}
			x.variants = append(x.variants, j)
		}
		x.job.count *= variants
		trials = append(trials, x)
	}
	return trials, nil
}

// vary runs the variants and sums up. One that must pass must in all of them; of the first in which it does not the evidence is kept. One that
// must fail must in half of them at least, whose invariants are summed: a defect need not strike under every seed.
func (x trial) vary(ctx context.Context, p performance) outcome {
	sum := outcome{job: x.job}
	began := time.Now()
	mustFail := verdictWanted(x.job.scenario.Expect.Of(x.job.system.Name)) == "invalid"
	failed := 0
	for i, j := range x.variants {
		j = j.measured(ctx)
		one := outcome{job: j, tally: scenarios.Seeds(ctx, j.scenario, scenarios.Many{Options: j.options(), From: j.from, Count: j.count,
			Workers: p.workers, Forget: true, Each: func(scenarios.Result) { p.progress.step(false) }})}
		if one.tally.Verdict == checker.Invalid {
			failed++
		}
		if mustFail {
			one.tally.Unmet = nil
		}
		bad := len(one.tally.Failed) > 0 || len(one.unmet()) > 0
		one.tally.Unmet = inVariant(j.scenario.Which(), one.tally.Unmet)
		if i == 0 {
			sum.tally = one.tally
		} else {
			sum.tally = added(sum.tally, one.tally)
		}
		if ctx.Err() != nil {
			break
		}
		if bad && sum.shown == nil && sum.failed == nil {
			p.progress.add(-j.count) // run once more
			kept := p.perform(ctx, j)
			sum.job, sum.shown, sum.bundle, sum.contrast, sum.failed = j, kept.shown, kept.bundle, kept.contrast, kept.failed
		}
	}
	sum.tally.Interrupted, sum.tally.Wall = ctx.Err() != nil, time.Since(began)
	if mustFail && !sum.tally.Interrupted {
		sum.tally.Unmet = x.unseen(sum.tally, failed)
	}
	return sum
}

// unseen is what a dispatcher that must fail did not.
func (x trial) unseen(t scenarios.Tally, failed int) []string {
	var lines []string
	if 2*failed < len(x.variants) {
		lines = append(lines, fmt.Sprintf("invalid in %d of %s, expected in half of them", failed, count(len(x.variants), "variant", "variants")))
	}
	for _, name := range x.job.scenario.Expect.Of(x.job.system.Name).Violates {
		if t.Violations[name] == 0 {
			lines = append(lines, fmt.Sprintf("%s was not violated in any of %s", name, count(len(x.variants), "variant", "variants")))
		}
	}
	return lines
}

// inVariant says of differences which variant showed them.
func inVariant(w scenarios.Which, unmet []string) []string {
	said := slices.Clone(unmet)
	for n, text := range said {
		said[n] = w.String() + ": " + text
	}
	return said
}
