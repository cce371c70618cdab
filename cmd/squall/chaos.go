package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/scenarios"
)

// chaosFlags are the flags of the suite.
type chaosFlags struct {
	runFlags
	swarmSeeds int
}

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
	flags.IntVar(&f.swarmSeeds, "seeds", 200, "seeds of the swarm")
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
	t := newTrialTable(trials, c, textOnStdout(outputs))
	if f.dryRun {
		return t.plan(c.out)
	}
	if err := writable(c.dir); err != nil {
		return usage("--dir: %w", err)
	}
	began := time.Now()
	r := f.tryAll(cmd.Context(), c, trials, t)
	if t.shown {
		r.summary(c, time.Since(began))
	}
	if err := c.publish(&r.results, outputs, "Squall: the suite"); err != nil {
		return err
	}
	return r.ending()
}

// part is a part of the suite.
type part string

const (
	partReference part = "reference" // must do what the scenario expects of it
	partNaive     part = "naive"     // likewise: mostly, it must be seen to fail
	partDefect    part = "defect"    // must be found
	partSwarm     part = "swarm"     // the reference must be valid under every seed
)

// trial is one line of the suite.
type trial struct {
	part   part
	job    job
	defect planted.Defect // that is hunted
}

// trials lists the suite.
func (f *chaosFlags) trials(cmd *cobra.Command) ([]trial, error) {
	if cmd.Flags().Changed("seeds") && f.swarmSeeds < 1 {
		return nil, usage("--seeds %d: at least 1 seed must run", f.swarmSeeds)
	}
	if err := f.check(cmd); err != nil {
		return nil, err
	}
	world, err := findWorld(f.world)
	if err != nil {
		return nil, err
	}
	of := func(s *scenarios.Scenario, dispatcher string, from uint64, count int) job {
		text, _ := scenarios.LibraryFile(s.Name)
		system, _ := planted.Lookup(dispatcher)
		return job{scenario: s, text: text, system: system, world: world, from: from, count: count}
	}
	var reference, naive, defects, swarm []trial
	for _, s := range scenarios.Library() {
		if s.Swarm != "" {
			swarm = append(swarm, trial{part: partSwarm, job: of(s, "reference", f.from, f.swarmSeeds)})
		} else {
			reference = append(reference, trial{part: partReference, job: of(s, "reference", 1, max(s.Seeds, 1))})
		}
		if s.Expect.Naive != nil {
			naive = append(naive, trial{part: partNaive, job: of(s, "naive", 1, max(s.Seeds, 1))})
		}
	}
	for _, d := range planted.Defects() {
		s, err := scenarios.Find(d.Scenario)
		if err != nil {
			return nil, broken(fmt.Errorf("planted defect %s: %w", d.System.Name, err))
		}
		defects = append(defects, trial{part: partDefect, job: of(s, d.System.Name, 1, d.Seeds), defect: d})
	}
	return append(append(append(reference, naive...), defects...), swarm...), nil
}

// tried is what became of the suite.
type tried struct {
	results results
	trials  []trial
	asMeant []bool
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
	r := tried{trials: trials, results: results{suite: true}}
	add := func(o outcome) {
		x := trials[len(r.results.outcomes)]
		r.results.outcomes = append(r.results.outcomes, o)
		r.asMeant = append(r.asMeant, x.asMeant(o))
		t.row(w, x, o)
	}
	side := performance{console: c, progress: progress, workers: 1}
	sideBySide(ctx, alone, f.workerCount(), func(i int) outcome { return trials[i].try(ctx, side) }, add)
	wide := performance{console: c, progress: progress, workers: f.workerCount()}
	for i := alone; i < len(trials) && ctx.Err() == nil; i++ {
		add(trials[i].try(ctx, wide))
	}
	r.results.interrupted = ctx.Err() != nil
	return r
}

// sideBySide does n things on several workers and hands over what came of them, in order.
func sideBySide[T any](ctx context.Context, n, workers int, do func(int) T, take func(T)) {
	slots := make([]chan T, n)
	for i := range slots {
		slots[i] = make(chan T, 1)
	}
	next := make(chan int, n)
	for i := range n {
		next <- i
	}
	close(next)
	for range min(workers, n) {
		go func() {
			for i := range next {
				if ctx.Err() == nil {
					slots[i] <- do(i)
				}
				close(slots[i])
			}
		}()
	}
	for _, slot := range slots {
		if result, ok := <-slot; ok {
			take(result)
		} else {
			return
		}
	}
}

func (x trial) try(ctx context.Context, p performance) outcome {
	o := outcome{}
	if x.part == partDefect {
		o = x.hunt(ctx, p)
	} else {
		o = p.perform(ctx, x.job)
	}
	o.group = string(x.part)
	return o
}

// hunt looks for the first seed under which the defect breaks what it is known to break.
func (x trial) hunt(ctx context.Context, p performance) outcome {
	o := outcome{job: x.job, hunted: true}
	last := x.job.from + uint64(x.job.count)
	began := time.Now()
	m := scenarios.Many{Options: x.job.options(), Workers: p.workers, UntilInvalid: true,
		Each: func(scenarios.Result) { p.progress.step(false) }}
	for m.From = x.job.from; m.From < last && ctx.Err() == nil; m.From++ {
		m.Count = int(last - m.From)
		t := scenarios.Seeds(ctx, x.job.scenario, m)
		o.tally = joined(o.tally, t)
		if t.FirstInvalid == nil {
			break
		}
		m.From = t.FirstInvalid.Seed
		if x.breaks(t) {
			o.keep(p, m.From, t.FirstInvalid.History.Meta.TraceHash, t.FirstInvalid.History)
			break
		}
	}
	if o.shown == nil {
		o.missed = []string{fmt.Sprintf("%s must be seen within %s", strings.Join(x.defect.Breaks, " or "), count(x.defect.Seeds, "seed", "seeds"))}
	}
	if len(o.tally.Failed) > 0 {
		o.failed = firstError(o.failed, o.tally.Failed[0])
	}
	o.tally.Wall = time.Since(began)
	p.progress.add(x.job.count - o.tally.Seeds)
	return o
}

// breaks tells whether the first invalid seed violated what was hunted.
func (x trial) breaks(t scenarios.Tally) bool {
	return slices.ContainsFunc(x.defect.Breaks, func(name string) bool {
		i := t.FirstInvalid.Report.Invariant(name)
		return i != nil && i.Verdict == checker.Invalid
	})
}

// joined is the tally over the seeds of both; they follow each other.
func joined(a, b scenarios.Tally) scenarios.Tally {
	if a.Seeds == 0 {
		return b
	}
	sum := b
	sum.Seeds, sum.Valid, sum.Virtual = a.Seeds+b.Seeds, a.Valid+b.Valid, a.Virtual+b.Virtual
	sum.Invalid, sum.Unknown = slices.Concat(a.Invalid, b.Invalid), slices.Concat(a.Unknown, b.Unknown)
	sum.Failed = slices.Concat(a.Failed, b.Failed)
	for _, counts := range []struct{ to, from map[string]int }{{sum.Violations, a.Violations}, {sum.Exercised, a.Exercised}} {
		for name, n := range counts.from {
			counts.to[name] += n
		}
	}
	if sum.Verdict == checker.Valid {
		sum.Verdict = checker.Invalid // the first had an invalid seed, or there would be no second
	}
	return sum
}

// asMeant tells whether the trial came out as it must.
func (x trial) asMeant(o outcome) bool {
	if o.failed != nil || o.tally.Interrupted {
		return false
	}
	return len(o.unmet()) == 0
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
		{partDefect, "planted defects found:", "defects"},
		{partSwarm, "reference valid in", "swarms"},
	} {
		good, all := r.count(p.part)
		line := fmt.Sprintf("%s %d of %d %s", p.good, good, all, p.what)
		if good < all {
			line = i.bad("✗ " + line)
		} else {
			line = i.good("✓") + " " + line
		}
		fmt.Fprintln(c.out, line)
	}
	fmt.Fprintf(c.out, "took %s\n", took.Round(100*time.Millisecond))
}

func (r tried) count(p part) (good, all int) {
	for n, x := range r.trials {
		if x.part != p {
			continue
		}
		all++
		if n < len(r.asMeant) && r.asMeant[n] {
			good++
		}
	}
	return good, all
}
