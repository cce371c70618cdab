package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/squall-chaos/squall/checker"
)

// What the demo shows.
const (
	demoScenario   = "demo"
	demoDispatcher = "random-names"
	demoSeeds      = 20 // the failure is there within this many
)

func newDemoCommand(c *console) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "See a dispatcher fail on purpose, and why",
		Long: `Run a scenario against a dispatcher with one well-known mistake, and explain the failure. It takes a few seconds and needs
nothing but this program. The status is 1, as of any run that is invalid.`,
		Example: "  squall demo",
		Args:    none,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runDemo(cmd, c) },
	}
}

func runDemo(cmd *cobra.Command, c *console) error {
	f := runFlags{world: "sim", dispatcher: demoDispatcher, seeds: demoSeeds, from: 1}
	jobs, err := f.jobs(cmd, []string{demoScenario})
	if err != nil {
		return err
	}
	if err := writable(c.dir); err != nil {
		return usage("--dir: %w", err)
	}
	j := jobs[0]
	i := c.outInk()
	fmt.Fprintf(c.out, "%s\n\n", i.bold("Squall demo"))
	fmt.Fprintf(c.out, "  scenario    %s\n", j.scenario.Summary)
	fmt.Fprintf(c.out, "  dispatcher  %s: %s\n\n", j.system.Name, j.system.Summary)
	p := performance{console: c, workers: f.workerCount(), keepAll: true, progress: c.begin("seeds", j.count)}
	o := p.perform(cmd.Context(), j)
	p.progress.end()
	r := results{outcomes: []outcome{o}, interrupted: cmd.Context().Err() != nil}
	if o.failed != nil {
		return r.ending()
	}
	if r.interrupted {
		return firstError(c.close(r, []output{{format: formatText}}), r.ending())
	}
	if o.shown.Verdict != checker.Invalid {
		return broken(fmt.Errorf("the demo's dispatcher was not seen to fail under any of %d seeds", demoSeeds))
	}
	o.printDemo(c)
	if err := c.close(r, []output{{format: formatText}}); err != nil {
		return err
	}
	return r.ending()
}

func (o outcome) printDemo(c *console) {
	i := c.outInk()
	run := o.run()
	first := o.shown.Fatal()[0]
	fmt.Fprintf(c.out, "%s  %s is violated under %d of %d seeds (%s)\n\n", i.verdict(o.verdict()), i.bold(first.Invariant),
		o.tally.Violations[first.Invariant], o.tally.Seeds, o.amount())
	fmt.Fprintf(c.out, "  the promise    %s\n", wrapped(promiseOf(first.Invariant), 17))
	fmt.Fprintf(c.out, "  under seed %-3d %s\n\n", o.shown.Seed, wrapped(run.Story(), 17))
	printSteps(c.out, i, run)
	fmt.Fprintln(c.out)
	if o.contrast != nil {
		fmt.Fprintf(c.out, "  the fix        %s\n", wrapped("Name the pod after its task: the API server then refuses a second one. When a reply is lost, read "+
			"by name before deciding anything.", 17))
		fmt.Fprintf(c.out, "  the proof      %s\n", wrapped(fmt.Sprintf("Dispatcher %s does that, and is %s under the same seed.", o.contrast.Dispatcher,
			i.verdict(verdictOf(o.contrast.Verdict))), 17))
	}
	fmt.Fprintf(c.out, "\nNext: open the report in a browser. `squall chaos` runs the whole suite, and `squall list` shows what is in it.\n\n")
}
