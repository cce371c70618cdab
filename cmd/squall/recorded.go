package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/squall-chaos/squall/reports"
)

// runRecorded runs the scenario of a bundle with the faults as they struck there: what happened in a real cluster, in the
// simulation.
func runRecorded(cmd *cobra.Command, c *console, f *runFlags, args []string) error {
	if len(args) > 0 {
		return usage("--faults-from brings its scenario along: leave %s out", args[0])
	}
	for _, flag := range []string{"profile", "set", "scale", "unsafe", "budget", "calibration"} {
		if cmd.Flags().Changed(flag) {
			return usage("--faults-from takes scenario, settings and scale from the bundle: leave --%s out", flag)
		}
	}
	if err := f.check(cmd); err != nil {
		return err
	}
	run, err := c.openBundle(f.faultsFrom)
	if err != nil {
		return err
	}
	j, err := f.recordedJob(cmd, run)
	if err != nil {
		return err
	}
	return f.runJobs(cmd, c, []job{j}, "Squall: "+run.History.Meta.Scenario+", with recorded faults")
}

func (f *runFlags) recordedJob(cmd *cobra.Command, run *reports.Run) (job, error) {
	world, err := f.findWorld()
	if err != nil {
		return job{}, err
	}
	if err := f.cluster.check(cmd, world); err != nil {
		return job{}, err
	}
	j, err := jobFrom(run, world)
	if err != nil {
		return j, err
	}
	plan := j.plan
	if plan == nil {
		if plan, err = j.scenario.Plan(run.History.Meta.Seed); err != nil {
			return j, err
		}
	}
	j.plan = plan.AsRecorded(run.History)
	if j.order, err = f.ordering.order(cmd, world); err != nil {
		return j, err
	}
	if f.dispatcher != "" {
		if j.system, err = f.system(j.scenario); err != nil {
			return j, err
		}
	}
	if cmd.Flags().Changed("seed") || f.seeds > 0 || cmd.Flags().Changed("from") {
		j.from, j.count = f.seedsOf(cmd, j.scenario)
	}
	if err := inRange(j.from, j.count); err != nil {
		return j, err
	}
	return j, world.suits(j.scenario, j.from, j.count)
}

// refuseReplay says what there is instead for a run that no seed can make again.
func refuseReplay(run *reports.Run) error {
	bundle := shellWord(run.Bundle)
	return usage("bundle %s was recorded in world %s, where time is real and no seed makes the same run again\n"+
		"judge its record again:           squall check %s\n"+
		"run it in sim, faults as recorded: squall run --world sim --faults-from %s", run.Bundle, run.History.Meta.World, bundle, bundle)
}

// isLive tells whether the world of that name runs in real time.
func isLive(world string) bool {
	w, err := knownWorld(world)
	return err == nil && w.live
}

// scaleWords says how a job was scaled; empty: not at all.
func (j job) scaleWords() string {
	if !j.scenario.Scale().Changes() {
		return ""
	}
	return fmt.Sprint(j.scenario.Scale())
}
