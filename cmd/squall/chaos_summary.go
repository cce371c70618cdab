package main

import (
	"fmt"
	"strings"
	"time"
)

// summary says in a few lines what the suite came to.
func (r tried) summary(c *console, took time.Duration) {
	i := c.outInk()
	fmt.Fprintln(c.out)
	for _, p := range []struct {
		part       part
		good, what string
	}{
		{partReference, "reference as expected in", "scenarios"},
		{partNaive, "naive as expected in", "scenarios"},
		{partVariants, "variants as expected in", "trials"},
		{partWitness, "planted defects with a second witness:", "defects"},
		{partSwarm, "reference valid in", "swarms"},
		{partLive, "in kind, reference as expected in", "scenarios"},
		{partConfirm, "in kind, planted defects confirmed:", "defects"},
	} {
		good, all := r.count(p.part)
		if all == 0 {
			continue
		}
		line := fmt.Sprintf("%s %d of %d %s", p.good, good, all, p.what)
		if good < all {
			line = i.bad("✗ " + line)
		} else {
			line = i.good("✓") + " " + line
		}
		fmt.Fprintln(c.out, line)
		r.flaky(c, i, p.part)
	}
	r.killed(c.out, i)
	if never := r.neverReached(); len(never) > 0 {
		fmt.Fprintln(c.out, i.bad("✗ what must happen sometimes never did: "+strings.Join(never, ", ")))
	}
	if r.results.interrupted {
		fmt.Fprintln(c.out, i.warn(fmt.Sprintf("interrupted: %d of %d trials were begun", len(r.results.outcomes), r.planned)))
	}
	fmt.Fprintf(c.out, "took %s\n", took.Round(100*time.Millisecond))
}

// flaky names the scenarios of a part that were as expected in some of their runs only.
func (r tried) flaky(c *console, i ink, p part) {
	var names []string
	for n, o := range r.results.outcomes {
		if r.trials[n].part == p && len(o.moods) > 0 {
			names = append(names, fmt.Sprintf("%s in %s", o.job.scenario.Name, o.asExpectedIn()))
		}
	}
	if len(names) > 0 {
		fmt.Fprintln(c.out, i.warn("  flaky, as expected in part of their runs: "+strings.Join(names, ", ")))
	}
}

// example says what the last lines lead to.
func (r tried) example(c *console) {
	o := r.results.worthReading()
	if o == nil || o.shown == nil {
		return
	}
	how := "as expected"
	if len(o.unmet()) > 0 || o.failed != nil {
		how = "but not as expected"
	}
	fmt.Fprintf(c.out, "\nto read: dispatcher %s in scenario %s, seed %d, is %s, %s\n", o.job.system.Name, o.job.scenario.Name,
		o.shown.Seed, verdictOf(o.shown.Verdict), how)
}

func (r tried) count(p part) (good, all int) {
	for n, o := range r.results.outcomes {
		if r.trials[n].part != p || o.tally.Interrupted {
			continue
		}
		all++
		if r.asMeant[n] {
			good++
		}
	}
	return good, all
}
