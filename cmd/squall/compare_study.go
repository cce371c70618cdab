package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/reports"
	"github.com/squall-chaos/squall/scenarios"
	"github.com/squall-chaos/squall/scenarios/experiment"
)

// compareFlags are the flags of commands that compare settings.
type compareFlags struct {
	scenarios      []string
	calibration    string // a file that squall calibrate wrote
	seeds          int
	from           uint64
	dispatcher     string
	sweeps         []string
	baseline       string
	points, refine int
	onDemand, spot float64
	workers, cases int
	chain          string
	confirm        string
	dryRun, afresh bool
	outputs        []string
	cluster        worldOptions
}

// Defaults of a comparison.
const (
	defaultWorkload = "swarm-standard"
	defaultSeeds    = 200
	defaultPoints   = 40
	defaultRefine   = 16
	defaultCases    = 20
)

func (f *compareFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.calibration, "calibration", "", "let this `file`, which squall calibrate wrote, fill what scenarios leave out of the platform")
	flags.StringArrayVar(&f.scenarios, "scenario", nil, "the scenario to run settings under, by name or path; may be repeated, for a mix (default "+defaultWorkload+")")
	flags.IntVar(&f.seeds, "seeds", defaultSeeds, "run each setting under this many seeds of each scenario")
	flags.Uint64Var(&f.from, "from", 1, "the first of the seeds")
	flags.StringVar(&f.dispatcher, "dispatcher", "", "the dispatcher under test (default: the scenario's, or reference)")
	flags.StringArrayVar(&f.sweeps, "sweep", nil, "vary a setting, or spot_share: `name=from..to:step`; may be repeated, up to four")
	flags.StringVar(&f.baseline, "baseline", "", "the `name` or file of the settings that others are measured against (default: the first)")
	flags.IntVar(&f.points, "points", defaultPoints, "run at most this many points of a sweep; a grid that has more is sampled")
	flags.IntVar(&f.refine, "refine", defaultRefine, "add at most this many points to a sweep of several settings, where the verdict flips")
	flags.Float64Var(&f.onDemand, "price-on-demand", 1, "what a pod-second costs on an on-demand machine")
	flags.Float64Var(&f.spot, "price-spot", 1, "what a pod-second costs on a spot machine")
	flags.IntVar(&f.cases, "cases", defaultCases, "keep at most this many counterexamples as bundles")
	flags.IntVar(&f.workers, "workers", 0, "runs side by side (default: one per processor)")
	flags.StringVar(&f.chain, "chain", "", "a chain `file` of squall lint, which tells where each value stands and whose it is")
	_ = cmd.RegisterFlagCompletionFunc("scenario", completeScenarios)
}

func (f *compareFlags) check(args []string) error {
	switch {
	case len(args) == 0 && len(f.sweeps) == 0:
		return usage("squall compare: which settings? Name files (kind: Settings), or ranges with --sweep recovery_grace=240s..600s:30s")
	case len(args) == 1 && len(f.sweeps) == 0:
		return usage("squall compare: there is only one setting: name another file to compare %s with, or ranges with --sweep", args[0])
	case f.seeds < 1:
		return usage("--seeds %d: at least 1 seed must run", f.seeds)
	case f.points < 2:
		return usage("--points %d: a sweep has at least 2 points", f.points)
	case f.refine < 0 || f.cases < 0:
		return usage("--refine and --cases are numbers from 0 on")
	case !(f.onDemand >= 0 && f.spot >= 0 && f.onDemand+f.spot > 0):
		return usage("--price-on-demand %g, --price-spot %g: prices are not negative, and not both nothing", f.onDemand, f.spot)
	}
	return inRange(f.from, f.seeds)
}

// study is a comparison before it is run.
type study struct {
	experiment *experiment.Experiment
	cells      []experiment.Cell
	baseline   int
	sweep      *experiment.Sweep
	prices     experiment.Prices
	cases      int
	command    string
	places     map[string]reports.Place // of the chain's values
}

// study makes of the command line what is to be run. Whatever is wrong is found here.
func (f *compareFlags) study(cmd *cobra.Command, args []string) (*study, error) {
	if err := f.check(args); err != nil {
		return nil, err
	}
	given := cmd.Flags().Changed
	s := &study{cases: f.cases, prices: experiment.Prices{OnDemand: f.onDemand, Spot: f.spot, Given: given("price-on-demand") || given("price-spot")},
		command:    commandLine(cmd, args),
		experiment: &experiment.Experiment{From: f.from, Count: f.seeds, World: simulation().open, Workers: f.workers}}
	if f.workers < 1 {
		s.experiment.Workers = runtime.GOMAXPROCS(0)
	}
	for _, step := range []func() error{func() error { return s.openWorkloads(f) }, func() error { return s.openSettings(args) },
		func() error { return s.openSweep(f) }, func() error { return s.chooseBaseline(f.baseline) }, s.sound} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// commandLine is the command as it was given, but for where its output goes.
func commandLine(cmd *cobra.Command, args []string) string {
	words := []string{cmd.CommandPath()}
	for _, a := range args {
		words = append(words, shellWord(a))
	}
	for _, name := range []string{"scenario", "sweep"} {
		values, _ := cmd.Flags().GetStringArray(name)
		for _, v := range values {
			words = append(words, "--"+name, shellWord(v))
		}
	}
	for _, name := range []string{"calibration", "seeds", "from", "dispatcher", "baseline", "points", "refine", "price-on-demand", "price-spot"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			words = append(words, "--"+name, shellWord(f.Value.String()))
		}
	}
	return strings.Join(words, " ")
}

func (s *study) openWorkloads(f *compareFlags) error {
	names := f.scenarios
	if len(names) == 0 {
		names = []string{defaultWorkload}
	}
	dispatchers := &runFlags{dispatcher: f.dispatcher}
	for i, name := range names {
		scenario, text, err := openScenario(name)
		if err == nil && f.calibration != "" {
			scenario, text, err = scenarios.Calibrated(name, text, f.calibration, false) // every setting is judged by itself
		}
		if err != nil {
			return err
		}
		for _, w := range s.experiment.Workloads {
			if w.Scenario.Name == scenario.Name {
				return usage("--scenario %s: there is a scenario %s already", name, scenario.Name)
			}
		}
		system, err := dispatchers.system(scenario)
		if err != nil {
			return err
		}
		if i > 0 && system.Name != s.experiment.System.Name {
			return usage("the scenarios are for different dispatchers, %s and %s: name one with --dispatcher", s.experiment.System.Name, system.Name)
		}
		if err := simulation().suits(scenario, f.from, f.seeds); err != nil {
			return err
		}
		s.experiment.System = system
		s.experiment.Workloads = append(s.experiment.Workloads, experiment.Workload{Scenario: scenario, Text: text})
	}
	return nil
}

func (s *study) openSettings(files []string) error {
	for _, file := range files {
		v, err := scenarios.LoadVariant(file)
		if err != nil {
			return err
		}
		for _, c := range s.cells {
			if c.Name == v.Name {
				return usage("%s and %s are both named %s: give one of them another `name`", c.Source, file, v.Name)
			}
		}
		s.cells = append(s.cells, experiment.FromVariant(v, file))
	}
	if len(files) == 0 {
		s.cells = append(s.cells, experiment.Own())
	}
	return nil
}

func (s *study) openSweep(f *compareFlags) error {
	if len(f.sweeps) == 0 {
		return nil
	}
	var axes []experiment.Axis
	for _, text := range f.sweeps {
		a, err := experiment.ParseAxis(text)
		if err != nil {
			return usage("--sweep %s: %w", text, err)
		}
		axes = append(axes, a)
	}
	if err := experiment.CheckAxes(axes); err != nil {
		return usage("--sweep: %w", err)
	}
	s.sweep = &experiment.Sweep{Axes: axes, Base: s.cells[0], Points: f.points}
	if len(axes) > 1 { // of one setting the cliff is all that there is to refine
		s.sweep.Refine = f.refine
	}
	return nil
}

func (s *study) chooseBaseline(name string) error {
	if name == "" {
		return nil
	}
	var names []string
	for i, c := range s.cells {
		if c.Name == name || c.Source != "" && sameFile(c.Source, name) {
			s.baseline = i
			return nil
		}
		names = append(names, c.Name)
	}
	return unknownName("value of --baseline", name, names, oneOf(names))
}

// sound refuses settings that have no meaning. Such as do not nest are what comparisons are for.
func (s *study) sound() error {
	cells := s.cells
	if s.sweep != nil {
		cells = s.sweep.Cells(cells, s.experiment)
	}
	for _, c := range cells {
		for _, w := range s.experiment.Workloads {
			if _, _, err := c.Check(w.Scenario); err != nil {
				return usage("%w", err)
			}
		}
	}
	return nil
}

// print is the plan of a dry run.
func (s *study) print(w io.Writer) error {
	cells := s.cells
	if s.sweep != nil {
		cells = s.sweep.Cells(cells, s.experiment)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "SETTING\tFROM\tRULES")
	for i, c := range cells {
		_, found, _ := c.Check(s.experiment.Workloads[0].Scenario)
		found = slices.DeleteFunc(found, func(f dispatcher.Finding) bool { return f.Severity != dispatcher.SeverityError })
		rules := "kept"
		if len(found) > 0 {
			rules = "broken: " + found[0].Rule
			if n := len(found) - 1; n > 0 {
				rules += fmt.Sprintf(" and %d more", n)
			}
		}
		name, source := c.Name, c.Source
		if i == s.baseline {
			name += " (baseline)"
		}
		if source == "" {
			source = "sweep"
			if c.Name == experiment.Own().Name {
				source = "scenario"
			}
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", name, source, rules)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s, %s each: %d runs%s\n", count(len(cells), "setting", "settings"), count(s.experiment.Blocks(), "run", "runs"), len(cells)*s.experiment.Blocks(),
		map[bool]string{true: ", and more where the verdict flips"}[s.sweep != nil])
	return err
}

// jobOf is one run of the comparison as a job of its own.
func (s *study) jobOf(c experiment.Cell, workload int, seed uint64) (job, error) {
	w := s.experiment.Workloads[workload]
	plan, err := s.experiment.Plan(c, workload, seed)
	if err != nil {
		return job{}, err
	}
	text, err := c.Text(w)
	if err != nil {
		return job{}, err
	}
	return job{scenario: c.Scenario(w.Scenario), text: text, system: s.experiment.System, world: simulation(), from: seed, count: 1, plan: plan}, nil
}

// liveJob is one run of the comparison in a world where time is real: it draws its own faults, scaled to what the world can keep.
func (s *study) liveJob(c experiment.Cell, workload int, seed uint64, w worldEntry) (job, error) {
	load := s.experiment.Workloads[workload]
	text, err := c.Text(load)
	if err != nil {
		return job{}, err
	}
	j := job{text: text, system: s.experiment.System, world: w, from: seed, count: 1}
	if j.scenario, err = c.Scenario(load.Scenario).Scaled(w.scaleOf(load.Scenario)); err != nil {
		return j, err
	}
	return j, w.suits(j.scenario, seed, 1)
}

// programIdentity names this program by its content: a build of another source may do something else under the same seed, and a working
// tree with changes has no name.
var programIdentity = sync.OnceValues(func() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	f, err := os.Open(filepath.Clean(path))
	if err != nil {
		return "", fmt.Errorf("read this program: %w", err)
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("read this program: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
})
