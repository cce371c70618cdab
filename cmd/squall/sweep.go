package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/squall-chaos/squall/scenarios/experiment"
)

func newSweepCommand(c *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sweep",
		Short: "Split a comparison into shards that run anywhere, and merge them",
		Long: `Split a comparison into shards. Each can run on another machine, in any order, be killed and started again; merged they give
the result that one machine gives, bit for bit.

  squall sweep plan a.yaml b.yaml --seeds 10000 --shards 4 --to plan.json
  squall sweep run plan.json --shard 0 --results r0     # and so on, anywhere
  squall sweep merge plan.json --results r0 --results r1 --results r2 --results r3

squall manifests --sweep plan.json prints a Kubernetes Job that does all of it.`,
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSweepPlanCommand(c), newSweepRunCommand(c), newSweepMergeCommand(c))
	return cmd
}

const maxShards = 10_000

func newSweepPlanCommand(c *console) *cobra.Command {
	var f compareFlags
	var shards int
	var to string
	cmd := &cobra.Command{
		Use:     "plan SETTINGS.yaml...",
		Short:   "Write down a comparison, and in how many shards it is to be run",
		Example: "  squall sweep plan --sweep recovery_grace=240s..600s:30s --seeds 10000 --shards 4 --to plan.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			if shards < 1 || shards > maxShards {
				return usage("--shards %d: from 1 to %d", shards, maxShards)
			}
			s, err := f.study(cmd, args)
			if err != nil {
				return err
			}
			s.command = strings.Replace(s.command, "sweep plan", "compare", 1)
			p, err := s.plan(cmd.Context(), &f, shards)
			if err != nil {
				return broken(err)
			}
			text, err := p.text()
			if err != nil {
				return broken(err)
			}
			if to == "" {
				_, err = c.out.Write(text)
				return err
			}
			if err := checkFile(to); err != nil {
				return err
			}
			return writeFile(to, func(f *os.File) error {
				_, err := f.Write(text)
				return err
			})
		},
	}
	f.add(cmd)
	cmd.Flags().IntVar(&shards, "shards", 4, "in how many parts to run it")
	cmd.Flags().StringVar(&to, "to", "", "the `file` to write (default: stdout)")
	return cmd
}

func newSweepRunCommand(c *console) *cobra.Command {
	var shard, workers int
	var results string
	cmd := &cobra.Command{
		Use:   "run PLAN",
		Short: "Run one shard of a plan; what was run before is not run again",
		Long: `Run one shard of a plan and keep its results in a directory. A shard that was killed goes on where it was. In a pod of an
Indexed Job the number of the shard is that of the pod.`,
		Example: "  squall sweep run plan.json --shard 2 --results results",
		Args:    exactly("plan", "the file that `squall sweep plan` wrote"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("shard") {
				index, err := strconv.Atoi(os.Getenv("JOB_COMPLETION_INDEX"))
				if err != nil {
					return usage("which shard? --shard N, from 0 on")
				}
				shard = index
			}
			return runShard(cmd.Context(), c, args[0], shard, workers, results)
		},
	}
	cmd.Flags().IntVar(&shard, "shard", 0, "which one, from 0 on (default: $JOB_COMPLETION_INDEX)")
	cmd.Flags().IntVar(&workers, "workers", 0, "runs side by side (default: one per processor)")
	cmd.Flags().StringVar(&results, "results", "results", "the `directory` for its results; shards may share one")
	return cmd
}

func runShard(ctx context.Context, c *console, path string, shard, workers int, results string) error {
	p, s, err := readPlan(path, workers)
	if err != nil {
		return err
	}
	if shard < 0 || shard >= p.Shards {
		return usage("--shard %d: the plan has shards from 0 to %d", shard, p.Shards-1)
	}
	if err := writable(results); err != nil {
		return usage("--results: %w", err)
	}
	if err := p.sameProgram(ctx, s); err != nil {
		return err
	}
	e := s.experiment
	e.Store = &experiment.Store{Dir: results}
	cells := s.allCells()
	owed, of, err := e.Owed(cells, shard, p.Shards)
	if err != nil {
		return usage("--results: %w", err)
	}
	if owed < of {
		c.note("squall: shard %d: %d of %d runs were kept from before", shard, of-owed, of)
	}
	progress := c.begin("runs", owed)
	defer progress.end()
	e.Step = func(n, bad int, kept bool) {
		if !kept {
			for i := range n {
				progress.step(i < bad)
			}
		}
	}
	err = e.RunShard(ctx, cells, shard, p.Shards)
	progress.end()
	switch {
	case ctx.Err() != nil:
		c.note("squall: interrupted; what was run is kept: the same command goes on from there")
		return ended(exitInterrupted)
	case err != nil:
		return broken(err)
	}
	_, err = fmt.Fprintf(c.out, "shard %d of %d: %d runs, %d of them now\n", shard, p.Shards, of, owed)
	return err
}

func newSweepMergeCommand(c *console) *cobra.Command {
	var workers int
	var results []string
	var outputs []string
	var wait time.Duration
	cmd := &cobra.Command{
		Use:   "merge PLAN",
		Short: "Merge the results of all shards, and tell what they came to",
		Long: `Merge the results of all shards and tell what they came to, as squall compare does. Points that are added where the verdict
flips are run here.

Exit status: 0 there is a setting to recommend, 1 there is none, 2 wrong usage or bad input, 3 unknown,
4 Squall itself failed, 130 interrupted.`,
		Example: "  squall sweep merge plan.json --results r0 --results r1 -o html=report.html",
		Args:    exactly("plan", "the file that `squall sweep plan` wrote"),
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := comparisonOutputs(outputs)
			if err != nil {
				return err
			}
			return mergeShards(cmd.Context(), c, args[0], workers, results, wait, all)
		},
	}
	cmd.Flags().IntVar(&workers, "workers", 0, "runs side by side (default: one per processor)")
	cmd.Flags().StringArrayVar(&results, "results", []string{"results"}, "a `directory` with results; may be repeated")
	cmd.Flags().DurationVar(&wait, "wait", 0, "wait this long for shards that are under way")
	addOutputFlag(cmd, &outputs)
	return cmd
}

func mergeShards(ctx context.Context, c *console, path string, workers int, results []string, wait time.Duration, outputs []output) error {
	p, s, err := readPlan(path, workers)
	if err != nil {
		return err
	}
	for _, dir := range results {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return usage("--results %s: there is no such directory", dir)
		}
	}
	if err := writable(c.dir); err != nil {
		return usage("--dir: %w", err)
	}
	e := s.experiment
	e.Store = &experiment.Store{Dir: filepath.Join(c.dir, "results"), Also: results}
	if err := p.await(ctx, c, s, wait); err != nil {
		return err
	}
	if err := p.sameProgram(ctx, s); err != nil {
		return err
	}
	return s.perform(ctx, c, outputs, nil, worldOptions{})
}

// await returns once every shard is there, or says which are not.
func (p *sweepPlan) await(ctx context.Context, c *console, s *study, wait time.Duration) error {
	const every = 2 * time.Second
	until := time.Now().Add(wait)
	for told := false; ; told = true {
		missing, err := p.missing(s)
		if err != nil || len(missing) == 0 {
			return err
		}
		if time.Now().After(until) {
			return usage("results are missing:\n%s\nrun the shards, name more directories with --results, or wait for them with --wait", strings.Join(missing, "\n"))
		}
		if !told {
			c.note("squall: waiting for shards:\n%s", strings.Join(missing, "\n"))
		}
		select {
		case <-time.After(every):
		case <-ctx.Done():
			return ended(exitInterrupted)
		}
	}
}

// missing says which shards owe how much.
func (p *sweepPlan) missing(s *study) ([]string, error) {
	var lines []string
	owed, err := s.experiment.OwedByShard(s.allCells(), p.Shards)
	if err != nil {
		return nil, usage("--results: %w", err)
	}
	for shard, o := range owed {
		if o.Owed > 0 {
			lines = append(lines, fmt.Sprintf("  shard %d owes %d of %d runs", shard, o.Owed, o.Of))
		}
	}
	return lines, nil
}
