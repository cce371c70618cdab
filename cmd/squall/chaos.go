package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"
)

// chaosFlags are the flags of the suite; its seeds are those of the swarm.
type chaosFlags struct{ runFlags }

func newChaosCommand(c *console) *cobra.Command {
	var f chaosFlags
	cmd := &cobra.Command{
		Use:   "chaos",
		Short: "Run the whole suite: the reference must pass, every planted defect must be found",
		Long: `Run every scenario of the library and its control with the reference dispatcher, which must pass, and with the naive
one, which must fail where the scenario says so; hunt every planted defect; and run the swarm with the reference.

The status is 0 only if the reference passed everywhere and every planted defect was found. 1 means that the
suite did not come out as expected; the other values are those of squall run.`,
		Example: "  squall chaos --seeds 1000 -o junit=results.xml",
		Args:    none,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runChaos(cmd, c, &f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.world, "world", "sim", "where to run: sim")
	flags.IntVar(&f.seeds, "seeds", 200, "seeds of the swarm")
	flags.Uint64Var(&f.from, "from", 1, "the first seed of the swarm")
	f.addWorkers(cmd)
	flags.BoolVar(&f.dryRun, "dry-run", false, "list the trials and run nothing")
	addOutputFlag(cmd, &f.outputs)
	completeRunFlags(cmd)
	return cmd
}

func runChaos(cmd *cobra.Command, c *console, f *chaosFlags) error {
	trials, err := f.trials(cmd)
	if err != nil {
		return err
	}
	outputs, err := parseOutputs(f.outputs)
	if err != nil {
		return err
	}
	if f.dryRun {
		return newTrialTable(trials, c, true).plan(c.out)
	}
	if err := writable(c.dir); err != nil {
		return usage("--dir: %w", err)
	}
	return f.tryAndTell(cmd.Context(), c, trials, outputs)
}

// tryAndTell runs the trials and writes all there is to say of them.
func (f *chaosFlags) tryAndTell(ctx context.Context, c *console, trials []trial, outputs []output) error {
	t := newTrialTable(trials, c, textOnStdout(outputs))
	began := time.Now()
	r := f.tryAll(ctx, c, trials, t)
	if t.shown {
		r.summary(c, time.Since(began))
		r.example(c)
	}
	if err := c.publish(&r.results, outputs, "Squall: the suite"); err != nil {
		return err
	}
	return r.ending()
}

// tried is what became of the suite, as far as it came.
type tried struct {
	results results
	trials  []trial // of the outcomes
	asMeant []bool
	planned int
}

// tryAll runs the trials side by side and shows them in order; the swarm has many seeds and runs by itself at the end.
func (f *chaosFlags) tryAll(ctx context.Context, c *console, trials []trial, t *trialTable) tried {
	total, alone := 0, len(trials)
	for i, x := range trials {
		total += x.job.count
		if x.part == partSwarm {
			alone = min(alone, i)
		}
	}
	progress := c.begin("seeds", total)
	defer progress.end()
	w := progress.over(c.out)
	t.begin(w)
	r := tried{planned: len(trials), results: results{suite: true}}
	add := func(i int, o outcome) {
		x := trials[i]
		r.results.outcomes = append(r.results.outcomes, o)
		r.trials, r.asMeant = append(r.trials, x), append(r.asMeant, x.asMeant(o))
		t.row(w, x, o)
	}
	side := performance{console: c, progress: progress, workers: 1}
	sideBySide(ctx, alone, f.workerCount(), func(i int) outcome { return trials[i].try(ctx, side) }, add)
	wide := performance{console: c, progress: progress, workers: f.workerCount()}
	for i := alone; i < len(trials) && ctx.Err() == nil; i++ {
		add(i, trials[i].try(ctx, wide))
	}
	r.results.interrupted = ctx.Err() != nil
	return r
}

func (r tried) ending() error {
	if r.results.interrupted {
		return ended(exitInterrupted)
	}
	if err := r.results.failed(); err != nil {
		return broken(err)
	}
	for _, ok := range r.asMeant {
		if !ok {
			return ended(exitInvalid)
		}
	}
	return nil
}
