package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/sim/kernel"
	"github.com/squall-chaos/squall/scenarios/explore"
)

// randomName is what the strategy without a name is called on the command line.
const randomName = "random"

// strategyFlags say how events are ordered that fall close together.
type strategyFlags struct {
	strategy string
	depth    int
	window   time.Duration
}

func strategyNames() []string { return []string{randomName, string(clusters.PCT)} }

func (f *strategyFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.strategy, "strategy", randomName, "how events close together are ordered: random, by the seed; or pct, probabilistic concurrency testing, whose bound is printed")
	flags.IntVar(&f.depth, "depth", 3, "pct: find failures that take this many ordered pairs of events")
	flags.DurationVar(&f.window, "window", explore.Window, "pct: an event may be delayed by up to this much")
}

// order is what the flags ask for.
func (f *strategyFlags) order(cmd *cobra.Command, world worldEntry) (clusters.Order, error) {
	given := cmd.Flags().Changed
	switch {
	case f.strategy == randomName && (given("depth") || given("window")):
		return clusters.Order{}, usage("--depth and --window are of --strategy %s", clusters.PCT)
	case f.strategy == randomName, f.strategy == "": // a command without the flag
		return clusters.Order{}, nil
	case f.strategy != string(clusters.PCT):
		return clusters.Order{}, unknownName("strategy", f.strategy, strategyNames(), oneOf(strategyNames()))
	case world.live:
		return clusters.Order{}, usage("--strategy %s: world %s has real time, and nobody orders what happens in it; it is for --world sim", f.strategy, world.name)
	case f.depth < 1 || f.depth > 10:
		return clusters.Order{}, usage("--depth %d: from 1 to 10 ordered pairs", f.depth)
	case f.window <= 0 || f.window > time.Minute:
		return clusters.Order{}, usage("--window %s: a delay of more than nothing, and of no more than a minute", f.window)
	}
	return clusters.Order{Strategy: clusters.PCT, Window: f.window, Depth: f.depth}, nil
}

// measured is the job with the length of its runs, which is what the change points of pct are drawn from: that of its first seed
// without any.
func (j job) measured(ctx context.Context) job {
	o := j.options()
	o.Seed = j.from
	j.order = explore.Measured(ctx, j.scenario, o)
	return j
}

// printBound says what pct promises of the runs that there were.
func (o outcome) printBound(w io.Writer) {
	order, t := o.job.order, o.tally
	if order.Strategy != clusters.PCT || t.Seeds == 0 {
		return
	}
	p := kernel.Bound(t.Owners, t.Choices, order.Depth)
	fmt.Fprintf(w, "  pct           %s\n", wrapped(fmt.Sprintf("depth %d, window %s; at most %s and %s in a run: a seed finds a failure that takes %s within the window with a probability of at least 1/(%d·%d^%d) = %.2g",
		order.Depth, order.Window, count(t.Owners, "owner", "owners"), count(t.Choices, "choice", "choices"), count(order.Depth, "ordered pair", "ordered pairs"),
		t.Owners, t.Choices, order.Depth-1, p), 16))
}
