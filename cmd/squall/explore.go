package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/scenarios/explore"
)

// exploreFlags are the flags of explore.
type exploreFlags struct {
	runFlags
	bounds explore.Bounds
	all    bool
	// compare is another thing altogether, and most its bound.
	compare bool
	most    int
}

func newExploreCommand(c *console) *cobra.Command {
	var f exploreFlags
	cmd := &cobra.Command{
		Use:   "explore SCENARIO",
		Short: "Run a small scenario in every way it can go, within bounds",
		Long: `Run a scenario with every placement of faults, and in every order of events that race, within bounds; without chance: latencies are
fixed. From the run in which nothing goes wrong others depart by a fault in one of its calls, or by two conflicting accesses to a
server in the other order; from those others, up to --faults and --depth. A run that comes into a known state ends there.
Runs with fewer departures come first, and the first that fails is kept as a bundle, which replays.

"Exhausted" means that every run within the bounds was made or ended in a known state. The bounds are part of what was shown: the
scenario's tasks and times, the kinds and number of faults, the number of reversals, the window, and that states
whose times differ by less than a second count as one.

With --compare, all planted defects are looked for in three ways, by random seeds of the swarms, by pct, and by a search of the small worlds
with one fault of any kind, and a table tells how many runs and calls each took. That takes some three minutes of a processor; with --resume it
may be interrupted, or have a --budget, and goes on where it was.

Kinds of faults:
` + exploreKinds() + `
The status is 0 when nothing failed and all was exhausted, 1 when a run failed, 3 when the budget was over before, 130 after
Ctrl-C; the other values are those of squall run.`,
		Example: "  squall explore two-tasks-control\n  squall explore two-tasks-control --dispatcher random-names --kinds lost-reply\n" +
			"  squall explore --compare",
		Args: func(cmd *cobra.Command, args []string) error {
			if f.compare {
				return none(cmd, args)
			}
			return exactly("scenario", "a name of the library, or a file; two-tasks-control is made for it")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.compare {
				return compareStrategies(cmd, c, &f)
			}
			return runExplore(cmd, c, &f, args[0])
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&f.bounds.Reversals, "depth", 1, "reverse up to this many races in one run")
	flags.IntVar(&f.bounds.Faults, "faults", 1, "place up to this many faults in one run")
	flags.StringSliceVar(&f.bounds.Kinds, "kinds", explore.UsualKinds(), "the `kinds` of faults to place")
	flags.DurationVar(&f.bounds.Window, "window", explore.Window, "an event may be delayed by up to this much")
	flags.BoolVar(&f.compare, "compare", false, "run no one scenario: tell how many runs random seeds, pct and a search take to see each planted defect")
	flags.IntVar(&f.most, "most", 200, "compare: give a strategy up after so many seeds")
	flags.BoolVar(&f.all, "all", false, "go on after the first failure, and count them all")
	flags.StringVar(&f.dispatcher, "dispatcher", "", "the dispatcher under test (default: the scenario's, or reference)")
	flags.StringVar(&f.profile, "profile", "", "settings to start from")
	flags.StringArrayVar(&f.set, "set", nil, "change a setting, `name=value`; may be repeated")
	flags.StringVar(&f.unsafe, "unsafe", "", "run settings that do not nest, for this `reason`")
	flags.Uint64Var(&f.seed, "seed", 1, "the seed that arrivals and lengths of work are drawn from")
	flags.DurationVar(&f.budget, "budget", 0, "begin no run after this much time; compare: no defect")
	flags.StringVar(&f.resume, "resume", "", "compare: keep what was found in this `file`, and go on from it when it is there")
	f.addWorkers(cmd)
	completeRunFlags(cmd)
	return cmd
}

func exploreKinds() string {
	var b strings.Builder
	for _, k := range explore.Kinds() {
		usual := ""
		if slices.Contains(explore.UsualKinds(), k) {
			usual = " (placed unless --kinds says otherwise)"
		}
		fmt.Fprintf(&b, "  %-13s %s\n", k, wrapped(explore.Does(k)+usual, 16))
	}
	return b.String()
}

func runExplore(cmd *cobra.Command, c *console, f *exploreFlags, name string) error {
	f.world = "sim"
	if f.resume != "" {
		return usage("--resume is for --compare: a search of one scenario is not resumed")
	}
	if err := f.checkBounds(cmd); err != nil {
		return err
	}
	jobs, err := f.jobs(cmd, []string{name})
	if err != nil {
		return err
	}
	if err := writable(c.dir); err != nil {
		return usage("--dir: %w", err)
	}
	j := jobs[0]
	j.from, j.count = f.seed, 1
	progress := c.begin("runs", 0)
	o := f.search(cmd.Context(), j, func(p explore.Progress) { progress.reach(p.Runs, p.Runs+p.Waiting, p.Failures) })
	progress.end()
	o.print(c.out, f.bounds)
	if o.Failed != nil {
		return broken(o.Failed)
	}
	if o.First != nil {
		if err := c.keepFailure(cmd.Context(), j, o.First); err != nil {
			return err
		}
	}
	switch {
	case o.Interrupted:
		return ended(exitInterrupted)
	case o.First != nil:
		return ended(exitInvalid)
	case !o.Exhausted || o.Unknown > 0:
		return ended(exitUnknown)
	}
	return nil
}

// mostReversals is more than the small worlds have races in a row: as good as no bound.
const mostReversals = 200

func (f *exploreFlags) checkBounds(cmd *cobra.Command) error {
	b := f.bounds
	switch {
	case b.Reversals < 0 || b.Reversals > mostReversals:
		return usage("--depth %d: from 0 to %d races may be reversed in one run", b.Reversals, mostReversals)
	case b.Faults < 0 || b.Faults > 3:
		return usage("--faults %d: from 0 to 3 may be placed in one run", b.Faults)
	case b.Window <= 0 || b.Window > time.Minute:
		return usage("--window %s: a delay of more than nothing, and of no more than a minute", b.Window)
	}
	for _, k := range b.Kinds {
		if !slices.Contains(explore.Kinds(), k) {
			return unknownName("kind of fault to place", k, explore.Kinds(), oneOf(explore.Kinds()))
		}
	}
	return nil
}

// search explores the job's scenario.
func (f *exploreFlags) search(ctx context.Context, j job, each func(explore.Progress)) exploration {
	s := explore.Search{Scenario: j.scenario, Options: j.options(), Bounds: f.bounds, Workers: f.workerCount(), All: f.all, Each: each}
	s.Options.Seed = j.from
	if f.budget > 0 {
		s.Until = time.Now().Add(f.budget)
	}
	return exploration{explore.Run(ctx, s), j}
}

// exploration is what a search came to, for people.
type exploration struct {
	explore.Outcome
	job job
}

func (o exploration) print(w io.Writer, b explore.Bounds) {
	end := "exhausted"
	switch {
	case o.Interrupted:
		end = "interrupted"
	case o.First != nil:
		end = "stopped at the first failure"
	case !o.Exhausted:
		end = "not exhausted: the budget was over"
	}
	if o.First != nil && o.Exhausted {
		end = "exhausted"
	}
	fmt.Fprintf(w, "%s, dispatcher %s: %s\n", o.job.scenario.Name, o.job.system.Name, end)
	fmt.Fprintf(w, "  %s, %s; %d of the runs ended in a known state; up to %d accesses to servers in a run\n", count(o.Runs, "run", "runs"),
		count(o.States, "state", "states"), o.Cut, o.Most)
	fmt.Fprintf(w, "  %s placed, %s reversed", count(o.Placements, "fault", "faults"), count(o.Races, "race", "races"))
	if o.Waiting > 0 {
		fmt.Fprintf(w, "; %s known and not made", count(o.Waiting, "run", "runs"))
	}
	fmt.Fprintf(w, "; took %s\n", o.Wall.Round(time.Millisecond))
	fmt.Fprintf(w, "  %-8s  %s\n", "bounds", wrapped(o.bounds(b), 12))
	if o.Exhausted && o.Deepest < b.Reversals {
		fmt.Fprintf(w, "  %-8s  %s\n", "orders", wrapped(fmt.Sprintf("all: with %s reversed none was left that led to a new state, so that a higher --depth makes no difference",
			count(o.Deepest, "race", "races")), 12))
	}
	o.printTested(w)
	var violated []string
	for _, name := range checker.Names() {
		if n := o.Violations[name]; n > 0 {
			violated = append(violated, fmt.Sprintf("%s in %s", name, count(n, "run", "runs")))
		}
	}
	switch {
	case len(violated) > 0:
		fmt.Fprintf(w, "  %-8s  %s\n", "failing", wrapped(strings.Join(violated, ", "), 12))
	case o.Runs > 0:
		fmt.Fprintf(w, "  no run failed\n")
	}
	fmt.Fprintln(w)
}

// printTested says what the runs put to the test, and what not: about that they show nothing.
func (o exploration) printTested(w io.Writer) {
	var never []string
	all := checker.Names()
	for _, name := range all {
		if o.Exercised[name] == 0 {
			never = append(never, name)
		}
	}
	line := fmt.Sprintf("%d of %s", len(all)-len(never), count(len(all), "invariant", "invariants"))
	if len(never) > 0 {
		line += "; never " + strings.Join(never, ", ")
	}
	fmt.Fprintf(w, "  %-8s  %s\n", "tested", wrapped(line, 12))
}

func (o exploration) bounds(b explore.Bounds) string {
	s := o.job.scenario
	placed := "no faults"
	if b.Faults > 0 && len(b.Kinds) > 0 {
		placed = fmt.Sprintf("up to %s of %s, in any call", count(b.Faults, "fault", "faults"), strings.Join(b.Kinds, ", "))
	}
	config, err := s.Config(o.job.system, o.job.from)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s, %s, %s; %s; up to %s in a run, none delayed by more than %s; fixed latencies; times of states in whole seconds",
		count(config.Dispatchers, "dispatcher", "dispatchers"), count(config.Reconcilers, "reconciler", "reconcilers"),
		count(len(s.TaskNames()), "task", "tasks"), placed, count(b.Reversals, "race reversed", "races reversed"), b.Window)
}

// keepFailure makes the failing run again, as any other run is made, and keeps it.
func (c *console) keepFailure(ctx context.Context, j job, p *explore.Path) error {
	j.plan, j.order = p.Plan, p.Order
	if j.plan == nil {
		j.plan = faults.Plan{}
	}
	progress := c.begin("seeds", 1)
	o := performance{console: c, workers: 1, keepAll: true, progress: progress}.perform(context.WithoutCancel(ctx), j)
	progress.end()
	for _, d := range p.Order.Delays {
		fmt.Fprintf(c.out, "  reversed: event %d of %s waits for event %d of %s\n", d.Event.Nth, d.Event.Owner, d.Past.Nth, d.Past.Owner)
	}
	for _, f := range p.Plan {
		fmt.Fprintf(c.out, "  placed: %8s  %s\n", short(f.At), f)
	}
	o.print(c.out, c, true)
	r := results{outcomes: []outcome{o}}
	if o.failed != nil {
		return broken(o.failed)
	}
	if o.tally.Verdict != checker.Invalid {
		return broken(fmt.Errorf("the failing run was valid when it was made again: %s", p.Order.Strategy))
	}
	outputs, err := parseOutputs([]string{formatText})
	if err != nil {
		return err
	}
	return c.publish(&r, outputs, "Squall: explore")
}
