package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/reports"
)

// chaosFlags are the flags of the suite; its seeds are those of the swarm.
type chaosFlags struct {
	runFlags
	// baseline is a file of known failures, writeBaseline one to write.
	baseline, writeBaseline string
	known                   *reports.Baseline
}

func newChaosCommand(c *console) *cobra.Command {
	var f chaosFlags
	cmd := &cobra.Command{
		Use:   "chaos",
		Short: "Run the whole suite: the reference must pass, every planted defect must be found",
		Long: `Run every scenario of the library and its control with the reference dispatcher, which must pass, and with the naive
one, which must fail where the scenario says so; hunt every planted defect; and run the swarm with the reference.

In kind, the scenarios of the four families and further incidents are run for real, scaled to minutes, planted defects are
confirmed, and the report sets every result beside that of the simulation of the same scenario. Without --world the suite
is run in sim, and in kind too where this machine can do that now; else a line says what was not run.

The status is 0 only if the reference passed everywhere and every planted defect was found. 1 means that the
suite did not come out as expected, or that something never happened which the reference must come to sometimes; the other
values are those of squall run. Failures that --baseline lists are told and do not
count, unless they violate more than is listed; what is unknown, and a failure of Squall itself, always counts. With
--write-baseline what failed is known from then on: reasons that the file gives are kept, and what was not run stays in it.`,
		Example: "  squall chaos --seeds 1000 -o junit=results.xml\n  squall chaos --world kind --keep\n" +
			"  squall chaos --write-baseline known.yaml && squall chaos --baseline known.yaml",
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error { return runChaos(cmd, c, &f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.world, "world", "", "where to run: "+strings.Join(worldNames(), ", ")+" (default: sim, and what else can be run now)")
	flags.IntVar(&f.seeds, "seeds", 200, "seeds of the swarm")
	flags.Uint64Var(&f.from, "from", 1, "the first seed of the swarm")
	f.addWorkers(cmd)
	flags.Float64Var(&f.scale, "scale", 0, "kind: divide every time by `N` (default: what suits each scenario)")
	flags.DurationVar(&f.budget, "budget", 0, "kind: begin no run after this much time; those left are listed as not run")
	clusterFlags(flags, &f.cluster)
	f.ordering.add(cmd)
	flags.BoolVar(&f.dryRun, "dry-run", false, "list the trials and run nothing")
	flags.StringVar(&f.baseline, "baseline", "", "a `file` of known failures: only others count for the status")
	flags.StringVar(&f.writeBaseline, "write-baseline", "", "write what fails to this `file` of known failures; tells what is new and what is fixed, if it is there already")
	addOutputFlag(cmd, &f.outputs)
	completeRunFlags(cmd)
	return cmd
}

// suite is what the command runs.
type suite struct {
	trials []trial
	left   []notRun // scenarios that a world cannot do
	// without are worlds in which nothing is run now, with the reason and the command that changes that.
	without []string
	// whole tells that everything that the simulation has is in it, so that all must have happened that must sometimes.
	whole bool
}

func runChaos(cmd *cobra.Command, c *console, f *chaosFlags) error {
	s, err := f.suite(cmd)
	if err != nil {
		return err
	}
	outputs, err := parseOutputs(f.outputs)
	if err != nil {
		return err
	}
	if err := f.readBaseline(); err != nil {
		return err
	}
	if f.dryRun {
		return s.plan(c)
	}
	if err := writable(c.dir); err != nil {
		return usage("--dir: %w", err)
	}
	return f.tryAndTell(cmd.Context(), c, s, outputs)
}

// suite lists what is to be run where.
func (f *chaosFlags) suite(cmd *cobra.Command) (suite, error) {
	var s suite
	if err := f.check(cmd); err != nil {
		return s, err
	}
	if err := inRange(f.from, f.seeds); err != nil {
		return s, err
	}
	for _, w := range simulatedFirst(worldEntries) {
		if f.world == "" && w.named {
			continue
		}
		if f.world == "" && w.live {
			if why := f.notNow(cmd.Context(), w); why != "" {
				s.without = append(s.without, why)
				continue
			}
		} else if f.world != "" && f.world != w.name {
			continue
		}
		if err := s.add(f, cmd, w); err != nil {
			return s, err
		}
	}
	if f.world != "" {
		w, err := f.findWorld()
		if err != nil {
			return s, err
		}
		if !w.live && f.scale > 0 {
			return s, usage("--scale is for kind: the suite of the simulation has the whole library as it is; `squall run NAME --scale %g` scales one of it", f.scale)
		}
		return s, f.cluster.check(cmd, w)
	}
	return s, nil
}

func simulatedFirst(all []worldEntry) []worldEntry {
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b worldEntry) int {
		switch {
		case a.live == b.live:
			return 0
		case b.live:
			return -1
		}
		return 1
	})
	return sorted
}

func (s *suite) add(f *chaosFlags, cmd *cobra.Command, w worldEntry) error {
	order, err := f.ordering.order(cmd, w)
	if err != nil {
		return err
	}
	if !w.live {
		trials, err := f.simTrials(w)
		for i := range trials {
			trials[i].reorder(order)
		}
		s.trials, s.whole = append(s.trials, trials...), true
		return err
	}
	trials, left, err := f.liveTrials(w)
	s.trials, s.left = append(s.trials, trials...), append(s.left, left...)
	return err
}

// notNow says why nothing is run in the world unasked; empty: it can be.
func (f *chaosFlags) notNow(ctx context.Context, w worldEntry) string {
	switch {
	case f.ordering.strategy != randomName:
		return fmt.Sprintf("not run: world %s, where time is real: --strategy %s is for the simulation", w.name, f.ordering.strategy)
	case !w.here():
		return fmt.Sprintf("not run: world %s, which is not in this build; run it with: make chaos CLUSTER=%s", w.name, w.name)
	case w.ready == nil:
		return ""
	}
	if err := w.ready(ctx); err != nil {
		return fmt.Sprintf("not run: world %s: %s; squall doctor says more, and this runs it: squall chaos --world %s", w.name, inOneLine(err), w.name)
	}
	return ""
}

func (s suite) plan(c *console) error {
	if err := newTrialTable(s.trials, c, true).plan(c.out); err != nil {
		return err
	}
	s.rest(c)
	return nil
}

// rest says what is not run: nothing is left out in silence.
func (s suite) rest(c *console) {
	for _, n := range s.left {
		fmt.Fprintf(c.out, "not run in kind: %s\n", n)
	}
	s.unasked(c)
}

// unasked says in which worlds nothing was run, and how to do that.
func (s suite) unasked(c *console) {
	for _, line := range s.without {
		fmt.Fprintln(c.out, line)
	}
}

// tryAndTell runs the trials and writes all there is to say of them.
func (f *chaosFlags) tryAndTell(ctx context.Context, c *console, s suite, outputs []output) error {
	end, err := f.readyAll(ctx, c, s.trials)
	if err != nil {
		return errors.Join(notReady(ctx, err), end())
	}
	t := newTrialTable(s.trials, c, textOnStdout(outputs))
	began := time.Now()
	r := f.tryAll(ctx, c, s.trials, t)
	r.whole = s.whole && !r.results.interrupted
	r.results.left = end()
	s.left = append(s.left, r.spared...)
	r.results.notRun, r.results.known = s.left, f.known
	if t.shown {
		r.summary(c, time.Since(began))
		if err := r.results.document("").suite.WriteText(c.out); err != nil {
			return broken(err)
		}
		s.unasked(c)
		r.example(c)
	}
	if err := c.publish(&r.results, outputs, "Squall: the suite"); err != nil {
		return err
	}
	if f.writeBaseline != "" {
		return f.rewriteBaseline(c, r)
	}
	return r.ending()
}

// readyAll gets the worlds of all trials ready.
func (f *chaosFlags) readyAll(ctx context.Context, c *console, trials []trial) (func() error, error) {
	jobs := make([]*job, len(trials))
	o := f.cluster
	for i := range trials {
		j := &trials[i].job
		jobs[i] = j
		if j.world.live {
			j.tell = c.teller(*j)
			o.planted = o.planted || j.system.Name != planted.Reference().Name
		}
	}
	return openWorlds(ctx, c, jobs, o)
}

// tried is what became of the suite, as far as it came.
type tried struct {
	results results
	trials  []trial // of the outcomes
	asMeant []bool
	planned int
	spared  []notRun // not begun, because the time was up
	whole   bool     // see suite
}

// tryAll runs the trials and shows them in order: side by side those that let others be, and then by themselves the swarm, which
// has many seeds, and those that befall a whole world.
func (f *chaosFlags) tryAll(ctx context.Context, c *console, trials []trial, t *trialTable) tried {
	total := 0
	for _, x := range trials {
		total += x.job.count
	}
	progress := c.begin("seeds", total)
	defer progress.end()
	w := progress.over(c.out)
	t.begin(w)
	began := time.Now()
	r := tried{planned: len(trials), results: results{suite: true}}
	for _, g := range grouped(trials) {
		p := performance{console: c, progress: progress, workers: 1, cover: true}
		lanes := f.workerCount()
		switch {
		case g.alone:
			p.workers, lanes = f.workerCount(), 1
		case g.trials[0].job.lanes > 0:
			lanes = g.trials[0].job.lanes
		}
		try := func(i int) outcome {
			if f.late(g.trials[i], began) {
				return outcome{spared: true}
			}
			return g.trials[i].try(ctx, p)
		}
		sideBySide(ctx, len(g.trials), lanes, try, func(i int, o outcome) {
			x := g.trials[i]
			if o.spared {
				r.planned--
				r.spared = append(r.spared, notRun{x.job.scenario.Name + "/" + x.job.system.Name, fmt.Sprintf("the budget of %s was used up", f.budget)})
				progress.add(x.job.count)
				return
			}
			r.results.outcomes = append(r.results.outcomes, o)
			r.trials, r.asMeant = append(r.trials, x), append(r.asMeant, x.asMeant(o))
			t.row(w, x, o)
			if c := o.twin(ctx); c != nil {
				r.results.twins = append(r.results.twins, *c)
			}
		})
	}
	r.results.interrupted = ctx.Err() != nil
	return r
}

// late tells that the trial is not to begin any more.
func (f *chaosFlags) late(x trial, began time.Time) bool {
	return f.budget > 0 && x.job.world.live && time.Since(began) > f.budget
}

// batch is a set of trials that run side by side, or one after another.
type batch struct {
	trials []trial
	alone  bool
}

// grouped splits the trials into what can run at the same time, in the order of the suite.
func grouped(trials []trial) []batch {
	var simulated, swarm, side, alone batch
	swarm.alone, alone.alone = true, true
	for _, x := range trials {
		to := &simulated
		switch {
		case x.job.world.live && x.job.world.shared(x.job.scenario, x.job.from):
			to = &side
		case x.job.world.live:
			to = &alone
		case x.part == partSwarm:
			to = &swarm
		}
		to.trials = append(to.trials, x)
	}
	return slices.DeleteFunc([]batch{simulated, swarm, side, alone}, func(b batch) bool { return len(b.trials) == 0 })
}

func (r tried) ending() error {
	if r.results.interrupted {
		return ended(exitInterrupted)
	}
	if err := r.results.failed(); err != nil {
		return broken(err)
	}
	summaries := r.results.document("").summaries
	for i, ok := range r.asMeant {
		if !ok && !summaries[i].Known {
			return ended(exitInvalid)
		}
	}
	if len(r.neverReached()) > 0 {
		return ended(exitInvalid)
	}
	return nil
}

// neverReached names what the reference must have come to sometimes, and did not: such a suite has not put it to the test.
func (r tried) neverReached() []string {
	if !r.whole {
		return nil
	}
	return r.results.coverage().NeverReached()
}
