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
		r.example(c)
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
	part part
	job  job
	// quarry is what is hunted: the first seed that ends the hunt is the last. Nil: every seed is run.
	quarry *quarry
}

// quarry is a set of invariants to see violated.
type quarry struct {
	names []string
	all   bool // all of them, not any
}

// missing are those that still have to be seen.
func (q quarry) missing(seen map[string]int) []string {
	var missing []string
	for _, name := range q.names {
		if seen[name] == 0 {
			missing = append(missing, name)
		} else if !q.all {
			return nil
		}
	}
	return missing
}

func (q quarry) String() string {
	if q.all {
		return strings.Join(q.names, " and ")
	}
	return strings.Join(q.names, " or ")
}

// trials lists the suite.
func (f *chaosFlags) trials(cmd *cobra.Command) ([]trial, error) {
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
			swarm = append(swarm, trial{part: partSwarm, job: of(s, "reference", f.from, f.seeds)})
		} else {
			reference = append(reference, trial{part: partReference, job: of(s, "reference", 1, max(s.Seeds, 1))})
		}
		if s.Expect.Naive != nil {
			naive = append(naive, naiveTrial(of(s, "naive", 1, max(s.Seeds, 1))))
		}
	}
	for _, d := range planted.Defects() {
		s, err := scenarios.Find(d.Scenario)
		if err != nil {
			return nil, broken(fmt.Errorf("planted defect %s: %w", d.System.Name, err))
		}
		defects = append(defects, trial{part: partDefect, job: of(s, d.System.Name, 1, d.Seeds), quarry: &quarry{names: d.Breaks}})
	}
	return append(append(append(reference, naive...), defects...), swarm...), nil
}

// naiveTrial is a trial of the naive dispatcher. Where a verdict needs many seeds it is hunted: it fails so often that to run
// them all would be the larger part of the suite.
func naiveTrial(j job) trial {
	x := trial{part: partNaive, job: j}
	if e := j.scenario.Expect.Naive; j.count > 1 && e.Verdict == "invalid" {
		x.quarry = &quarry{names: e.Violates, all: true}
	}
	return x
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
	if x.quarry != nil {
		o = x.hunt(ctx, p)
	} else {
		o = p.perform(ctx, x.job)
	}
	o.group = string(x.part)
	return o
}

// hunt runs seeds until the quarry was seen.
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
		if len(x.quarry.missing(o.tally.Violations)) == 0 {
			o.keep(p, m.From, t.FirstInvalid.History.Meta.TraceHash, t.FirstInvalid.History)
			break
		}
	}
	if missing := x.quarry.missing(o.tally.Violations); len(missing) > 0 {
		o.missed = []string{fmt.Sprintf("%s must be seen within %s", x.quarry, count(x.job.count, "seed", "seeds"))}
	}
	if len(o.tally.Failed) > 0 {
		o.failed = firstError(o.failed, o.tally.Failed[0])
	}
	o.tally.Wall = time.Since(began)
	p.progress.add(x.job.count - o.tally.Seeds)
	return o
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
	return o.failed == nil && !o.tally.Interrupted && len(o.unmet()) == 0
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
	}
	if r.results.interrupted {
		fmt.Fprintln(c.out, i.warn(fmt.Sprintf("interrupted: %d of %d trials were begun", len(r.results.outcomes), len(r.trials))))
	}
	fmt.Fprintf(c.out, "took %s\n", took.Round(100*time.Millisecond))
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
