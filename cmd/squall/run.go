package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/reports"
)

func newRunCommand(c *console) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run SCENARIO...",
		Short: "Run scenarios and judge what happened",
		Long: `Run scenarios, from the library (by name, see squall list) or from files (by path), and judge what happened.

incidents/... runs the scenarios of all public incidents (see squall list --incidents), incidents/C those of a class,
incidents/C3 those of a row: each with the reference, with the dispatchers that must fail it, and its control; with --variants, also as many
variants of each. The status is then 0 if all of that came out as expected.

` + exitHelp,
		Example: "  squall run demo --dispatcher naive\n" +
			"  squall run my.yaml --seeds 1000 --set recovery_grace=6m -o junit=results.xml\n" +
			"  squall run incidents/...",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && f.faultsFrom == "" {
				return usage("%s: which scenario? `squall list scenarios` shows all, and files work as well", cmd.CommandPath())
			}
			return nil
		},
		ValidArgsFunction: completeScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.faultsFrom != "" {
				return runRecorded(cmd, c, &f, args)
			}
			if slices.ContainsFunc(args, meansIncidents) {
				return runIncidents(cmd, c, &f, args)
			}
			return runScenarios(cmd, c, &f, args)
		},
	}
	f.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.resume, "resume", "", "keep the state of many seeds in this `file`, and go on from it when it is there")
	flags.IntVar(&f.bundles, "bundles", 1, "keep a bundle of up to this many failing seeds of each scenario")
	flags.IntVar(&f.room, "bundles-size", 256, "keep no more bundles of a scenario once they take this many `MB`")
	completeRunFlags(cmd)
	return cmd
}

func runScenarios(cmd *cobra.Command, c *console, f *runFlags, names []string) error {
	jobs, err := f.jobs(cmd, names)
	if err != nil {
		return err
	}
	return f.runJobs(cmd, c, jobs, "Squall: "+strings.Join(names, ", "))
}

func (f *runFlags) runJobs(cmd *cobra.Command, c *console, jobs []job, title string) error {
	outputs, err := parseOutputs(f.outputs)
	if err != nil {
		return err
	}
	if f.dryRun {
		return printPlan(c.out, jobs)
	}
	if err := writable(c.dir); err != nil {
		return usage("--dir: %w", err)
	}
	if f.journal, err = openJournal(f.resume, jobs); err != nil {
		return err
	}
	end, err := f.ready(cmd.Context(), c, jobs)
	if err != nil {
		return errors.Join(notReady(cmd.Context(), err), end())
	}
	r := f.performAll(cmd.Context(), c, jobs, textOnStdout(outputs))
	r.left = end()
	if err := c.publish(&r, outputs, title); err != nil {
		return err
	}
	return r.ending()
}

// ready gets the worlds of the jobs ready.
func (f *runFlags) ready(ctx context.Context, c *console, jobs []job) (func() error, error) {
	all := make([]*job, len(jobs))
	o := f.cluster
	for i := range jobs {
		all[i] = &jobs[i]
		o.planted = o.planted || jobs[i].system.Name != planted.Reference().Name
		if jobs[i].world.live {
			jobs[i].tell = c.teller(jobs[i])
		}
	}
	return openWorlds(ctx, c, all, o)
}

// notReady is how a command ends whose world could not be got ready.
func notReady(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ended(exitInterrupted)
	}
	if statusOf(err) == exitUsage {
		return err
	}
	return broken(err)
}

func (f *runFlags) performAll(ctx context.Context, c *console, jobs []job, text bool) results {
	p := performance{console: c, workers: f.workerCount(), keepAll: true, progress: c.begin("seeds", seedsOf(jobs)), bundles: f.bundles, room: int64(f.room) << 20,
		journal: f.journal}
	defer p.progress.end()
	if f.budget > 0 {
		p.until = time.Now().Add(f.budget)
	}
	r := results{}
	take := func(_ int, o outcome) {
		r.outcomes = append(r.outcomes, o)
		if text {
			o.print(p.progress.over(c.out), c, len(jobs) == 1)
		}
	}
	do := func(i int) outcome { return p.perform(ctx, jobs[i]) }
	if lanes := lanesOf(jobs); lanes > 1 {
		sideBySide(ctx, len(jobs), lanes, do, take)
	} else {
		for i := range jobs {
			if take(i, do(i)); ctx.Err() != nil {
				break
			}
		}
	}
	if r.interrupted = ctx.Err() != nil; r.interrupted && f.resume != "" {
		c.note("squall: what was run so far is in %s: the same command goes on from there", f.resume)
	}
	return r
}

// lanesOf is how many of the jobs go side by side: as many as their real cluster takes, if none of them befalls the whole of it.
func lanesOf(jobs []job) int {
	lanes := len(jobs)
	for _, j := range jobs {
		if !j.world.live || !j.world.shared(j.scenario, j.from) {
			return 1
		}
		lanes = min(lanes, j.lanes)
	}
	return lanes
}

// publish writes what is left to write: the index over several outcomes, the formats asked for, the last lines.
func (c *console) publish(r *results, outputs []output, title string) error {
	d := r.document(title)
	if len(r.outcomes) > 1 || (r.suite && len(r.outcomes) > 0) {
		var err error
		if r.index, err = c.writeIndex(d); err != nil {
			return broken(err)
		}
	}
	if err := c.writeOutputs(outputs, d); err != nil {
		return err
	}
	return c.close(*r, outputs)
}

// seedsOf is how many seeds all jobs run; 0 when nobody knows.
func seedsOf(jobs []job) int {
	total := 0
	for _, j := range jobs {
		if j.endless() {
			return 0
		}
		total += j.count
	}
	return total
}

// results are the outcomes of one command.
type results struct {
	outcomes    []outcome
	interrupted bool
	suite       bool   // they are of the suite: an index is always written
	index       string // the report over all of them; empty: none was written
	notRun      []notRun
	twins       []reports.Twin
	known       *reports.Baseline // nil: there is none
	left        error             // what a world left behind when it ended
}

// standing is what the command's runs count as together.
func (r results) standing() reports.Verdict {
	var v reports.Verdict
	for _, o := range r.outcomes {
		v = v.Worse(o.standing())
	}
	return v
}

// failed is the first failure of the harness.
func (r results) failed() error {
	for _, o := range r.outcomes {
		if o.failed != nil {
			return o.failed
		}
	}
	return r.left
}

// ending is the exit status of the command.
func (r results) ending() error {
	if r.interrupted {
		return ended(exitInterrupted)
	}
	if err := r.failed(); err != nil {
		if statusOf(err) == exitUsage {
			return err // a world that could not be made for a reason that lies with whoever asked for it
		}
		return broken(err)
	}
	return endedWith(r.standing())
}

// close writes the last lines: how to see it again, and where to read about it. They go to stdout with the text, and else
// where they do not get into other formats.
func (c *console) close(r results, outputs []output) error {
	var w io.Writer = c.err
	if textOnStdout(outputs) {
		w = c.out
	}
	worth, report := r.worthReading(), r.index
	if worth != nil {
		if err := pointLatest(c.dir, worth.bundle); err != nil {
			return broken(err)
		}
		fmt.Fprintln(w, worth.again())
		if worth.verdict() == reports.Invalid {
			fmt.Fprintf(w, "shrink: squall shrink %[1]s\nexplain: squall explain %[1]s\n", shellWord(worth.bundle))
		}
		if report == "" {
			report = reportIn(worth.bundle)
		}
	}
	if report == "" {
		fmt.Fprintln(w, "nothing was run: there is no report")
		return nil
	}
	_, err := fmt.Fprintf(w, "report: %s\n", report)
	return err
}

// worthReading is the outcome that the last lines name: one that is not as expected, else the worst; the first of them.
func (r results) worthReading() *outcome {
	var worst *outcome
	for i := range r.outcomes {
		switch o := &r.outcomes[i]; {
		case o.bundle == "":
		case worst == nil, len(o.unmet()) > 0 && len(worst.unmet()) == 0,
			len(o.unmet()) > 0 == (len(worst.unmet()) > 0) && o.standing().Worse(worst.standing()) != worst.standing():
			worst = o
		}
	}
	return worst
}
