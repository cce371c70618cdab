package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/squall-chaos/squall/reports"
	"github.com/squall-chaos/squall/scenarios/reduction"
)

// shrinkFlags are the flags of shrink.
type shrinkFlags struct {
	runFlags
	invariant string
	to        string
}

// The files that shrink writes, and where.
const (
	minimalFile = "minimal.yaml"
	minimalTest = "minimal_test.go"
	minimalDir  = "minimal"
)

func newShrinkCommand(c *console) *cobra.Command {
	var f shrinkFlags
	cmd := &cobra.Command{
		Use:   "shrink BUNDLE|latest",
		Short: "Find the smallest scenario that still fails in the same way",
		Long: `Find the smallest scenario that still violates the same invariant: fewest faults, tasks, replicas and nodes, shortest times, roundest
figures. What the bundle's seed has drawn is written out first, and then taken away piece by piece. It writes minimal.yaml, a Go test
that fails while the violation is there, and a bundle of the minimal run. Interrupted, it keeps the smallest found so far.

The status is 0 when a minimal scenario was written, and 2 for a bundle in which nothing was violated.`,
		Example: "  squall shrink latest\n  squall run .squall/minimal/minimal.yaml",
		Args:    exactly("bundle", bundleHint),
		RunE:    func(cmd *cobra.Command, args []string) error { return runShrink(cmd, c, &f, args[0]) },
	}
	cmd.Flags().StringVar(&f.invariant, "invariant", "", "what must stay violated (default: the bundle's first violation)")
	cmd.Flags().StringVar(&f.to, "to", "", "the `directory` to write to (default: minimal, where bundles are kept)")
	f.addWorkers(cmd)
	return cmd
}

func runShrink(cmd *cobra.Command, c *console, f *shrinkFlags, path string) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	before, err := c.openBundle(path)
	if err != nil {
		return err
	}
	invariant, err := violatedIn(before, f.invariant)
	if err != nil {
		return err
	}
	j, err := simulatedJob(before)
	if err != nil {
		return err
	}
	began := time.Now()
	minimal, err := f.shrink(cmd.Context(), c, j, before, invariant)
	if err != nil {
		return err
	}
	i := c.outInk()
	fmt.Fprintf(c.out, "%s  %s still violates %s\n", i.bold("minimal"), minimal.file, invariant)
	fmt.Fprintf(c.out, "  before   %s\n  now      %s\n", minimal.result.From, minimal.result.To)
	fmt.Fprintf(c.out, "  tried    %s in %s\n\n%s\n", count(minimal.tried, "candidate", "candidates"), time.Since(began).Round(100*time.Millisecond), minimal.text)
	for _, line := range before.Minimal.Again {
		fmt.Fprintln(c.out, line)
	}
	fmt.Fprintf(c.out, "replay: squall replay %s\nexplain: squall explain %s\nreport: %s\n", shellWord(minimal.bundle), shellWord(minimal.bundle), reportIn(before.Bundle))
	if minimal.result.Interrupted {
		c.note("squall: interrupted: this is the smallest found until then")
		return ended(exitInterrupted)
	}
	return nil
}

// shrink shrinks a job whose bundle was opened, writes what it found, and adds it to the bundle.
func (f *shrinkFlags) shrink(ctx context.Context, c *console, j job, before *reports.Run, invariant string) (minimal, error) {
	p := c.begin("candidates", 0)
	result, err := reduction.Shrink(ctx, j.scenario, j.from, j.plan, reduction.Options{System: j.system, World: j.world.open,
		Invariant: invariant, Workers: f.workerCount(), Tried: func(n int, smallest reduction.Size) {
			p.count.Add(int64(n))
			p.at("now "+smallest.String(), 0, 0)
		}})
	p.end()
	switch {
	case ctx.Err() != nil && result.Scenario == nil:
		return minimal{}, ended(exitInterrupted)
	case err != nil:
		return minimal{}, usage("bundle %s cannot be shrunk: %w%s", before.Bundle, err, recordedElsewhere(before))
	}
	m, err := f.writeMinimal(c, j, result, invariant)
	if err != nil {
		return m, broken(err)
	}
	m.result, m.tried = result, int(p.count.Load())
	before.Minimal = &reports.Minimal{Invariant: invariant, Scenario: string(m.text), Seed: result.Seed, Before: result.From.String(),
		Now: result.To.String(), Tried: m.tried, Again: m.again(), Run: m.run}
	if err := errors.Join(c.amend(before), reports.ShowMinimal(before, m.run, m.file)); err != nil {
		c.note("squall: %s", err) // the bundle may be somebody else's
	}
	return m, nil
}

// violatedIn is the invariant that the commands about a failure are about; the error says that there is none.
func violatedIn(run *reports.Run, wanted string) (string, error) {
	first := run.First()
	if run.Verdict() != reports.Invalid || first == nil {
		return "", usage("bundle %s is %s: there is no violation in it", run.Bundle, run.Verdict())
	}
	for _, v := range run.Report.Violations {
		if wanted == v.Invariant {
			return wanted, nil
		}
	}
	if wanted != "" {
		return "", usage("bundle %s does not violate %s: its first violation is of %s", run.Bundle, wanted, first.Invariant)
	}
	return first.Invariant, nil
}

// simulatedJob is a bundle's run in the simulation: with the faults as they struck, where it is from a real cluster.
func simulatedJob(run *reports.Run) (job, error) {
	j, err := jobFrom(run, simulation())
	if err != nil {
		return j, recordedBy(run, err)
	}
	if !isLive(run.History.Meta.World) {
		return j, nil
	}
	plan := j.plan
	if plan == nil {
		if plan, err = j.scenario.Plan(run.History.Meta.Seed); err != nil {
			return j, err
		}
	}
	j.plan = plan.AsRecorded(run.History)
	return j, nil
}

// recordedElsewhere says why a bundle may not do here what it did there.
func recordedElsewhere(run *reports.Run) string {
	text := ""
	if now := thisBuild().recorded(); run.RecordedBy != now {
		text += fmt.Sprintf("\nit was recorded by squall %s, and this is squall %s", run.RecordedBy, now)
	}
	if world := run.History.Meta.World; isLive(world) {
		text += fmt.Sprintf("\nit was recorded in world %s, and candidates run in the simulation, with the faults as they struck there", world)
	}
	return text
}
