package main

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/scenarios"
)

// runFlags are the flags of commands that run scenarios.
type runFlags struct {
	world      string
	seed, from uint64
	seeds      int
	variants   int
	dispatcher string
	profile    string
	set        []string
	unsafe     string
	budget     time.Duration
	workers    int
	dryRun     bool
	outputs    []string
	scale      float64
	faultsFrom string
	// resume is a file with the state of many seeds; bundles and room bound what they leave behind.
	resume  string
	bundles int
	room    int
	journal *journal
	// calibration is a file that squall calibrate wrote.
	calibration string
	cluster     worldOptions
	ordering    strategyFlags
}

func (f *runFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.world, "world", "sim", "where to run: "+strings.Join(worldNames(), ", "))
	flags.Uint64Var(&f.seed, "seed", 0, "run this one seed")
	flags.IntVar(&f.seeds, "seeds", 0, "run this many seeds (default: what the scenario asks for)")
	flags.Uint64Var(&f.from, "from", 1, "the first of many seeds")
	flags.IntVar(&f.variants, "variants", 0, "run the scenario as it is, and besides `N` variants of it, in which what its variants name is otherwise")
	flags.StringVar(&f.dispatcher, "dispatcher", "", "the dispatcher under test (default: the scenario's, or reference)")
	flags.StringVar(&f.profile, "profile", "", "settings to start from: "+strings.Join(dispatcher.Profiles(), ", "))
	flags.StringArrayVar(&f.set, "set", nil, "change a setting, `name=value`; may be repeated")
	flags.StringVar(&f.calibration, "calibration", "", "let this `file`, which squall calibrate wrote, fill what scenarios leave out of the platform")
	flags.StringVar(&f.unsafe, "unsafe", "", "run settings that do not nest, for this `reason`")
	flags.DurationVar(&f.budget, "budget", 0, "begin no seed after this much time")
	f.addWorkers(cmd)
	f.addScale(cmd)
	flags.StringVar(&f.faultsFrom, "faults-from", "", "take the faults, and when each struck, from the record of a `bundle`, which brings its scenario along")
	clusterFlags(flags, &f.cluster)
	f.ordering.add(cmd)
	flags.BoolVar(&f.dryRun, "dry-run", false, "print the plan and run nothing")
	addOutputFlag(cmd, &f.outputs)
}

func (f *runFlags) addWorkers(cmd *cobra.Command) {
	cmd.Flags().IntVar(&f.workers, "workers", 0, "seeds run side by side (default: one per processor)")
}

func (f *runFlags) addScale(cmd *cobra.Command) {
	cmd.Flags().Float64Var(&f.scale, "scale", 0, fmt.Sprintf("divide every time by `N`, within what kind can keep (default: 1 in sim, %d in kind, %g for profile b0)", kindFactor, kindFactors["b0"]))
}

func (f *runFlags) check(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	switch {
	case given("scale") && (f.scale < 1 || f.scale > 1000):
		return usage("--scale %g: times are divided by a number from 1 to 1000", f.scale)
	case given("seed") && given("seeds"):
		return usage("--seed runs one seed and --seeds many: give one of them")
	case given("seed") && given("from"):
		return usage("--from is the first of many seeds: it makes no sense with --seed")
	case given("seeds") && f.seeds < 1:
		return usage("--seeds %d: at least 1 seed must run", f.seeds)
	case given("variants") && (f.variants < 0 || f.variants > scenarios.MaxVariants):
		return usage("--variants %d: a number of variants is from 0 to %d", f.variants, scenarios.MaxVariants)
	case given("budget") && f.budget <= 0:
		return usage("--budget %s: a budget is more than nothing", f.budget)
	case given("bundles") && f.bundles < 1:
		return usage("--bundles %d: at least the first failing seed is kept", f.bundles)
	case given("bundles-size") && f.room < 1:
		return usage("--bundles-size %d: at least 1 MB", f.room)
	case f.resume != "" && given("seed"):
		return usage("--resume is for many seeds: --seed runs one")
	case given("workers") && f.workers < 1:
		return usage("--workers %d: at least 1 worker must run", f.workers)
	}
	return nil
}

func (f *runFlags) workerCount() int {
	if f.workers > 0 {
		return f.workers
	}
	return runtime.GOMAXPROCS(0)
}

// job is a scenario to run against a dispatcher under some seeds.
type job struct {
	scenario *scenarios.Scenario
	text     []byte // the scenario's file
	system   dispatcher.System
	world    worldEntry
	from     uint64
	count    int
	// plan, when set, takes the place of the faults that the seed would draw.
	plan faults.Plan
	// order is how events close together are ordered.
	order clusters.Order
	// lanes is how many runs the world takes side by side; 0: as many as one likes.
	lanes int
	// tell is told what the run comes to while it is under way; nil: nobody asks.
	tell func(scenarios.Note)
}

func (j job) endless() bool { return j.count == endless }

// endless is a number of seeds that no budget gets to.
const endless = math.MaxInt32

// jobs turns arguments and flags into what is to be run. Whatever is wrong is found here, before anything starts.
func (f *runFlags) jobs(cmd *cobra.Command, names []string) ([]job, error) {
	if err := f.check(cmd); err != nil {
		return nil, err
	}
	world, err := f.findWorld()
	if err != nil {
		return nil, err
	}
	if err := f.cluster.check(cmd, world); err != nil {
		return nil, err
	}
	var all []job
	for _, name := range names {
		for variant := range f.variants + 1 {
			j, err := f.job(cmd, world, name, variant)
			if err != nil {
				return nil, err
			}
			all = append(all, j)
		}
	}
	return all, nil
}

// findWorld is the world to run in. A dry run needs only to know it.
func (f *runFlags) findWorld() (worldEntry, error) {
	if f.dryRun {
		return knownWorld(f.world)
	}
	w, err := findWorld(f.world)
	if err == nil && w.adapt != nil && f.cluster.context != "" && f.cluster.namespace != "" {
		w = w.adapt(w, f.cluster)
	}
	return w, err
}

func (f *runFlags) job(cmd *cobra.Command, world worldEntry, name string, variant int) (j job, err error) {
	j.world = world
	if j.order, err = f.ordering.order(cmd, world); err != nil {
		return j, err
	}
	if j.scenario, j.text, err = openScenario(name); err != nil {
		return j, err
	}
	if variant > 0 {
		if j, err = j.varied(variant); err != nil {
			return j, err
		}
	}
	if f.calibration != "" {
		strict := f.profile == "" && len(f.set) == 0 && f.unsafe == "" // else it is judged with these
		if j.scenario, j.text, err = scenarios.Calibrated(name, j.text, f.calibration, strict); err != nil {
			return j, err
		}
	}
	if j.scenario, err = f.adjusted(j.scenario); err != nil {
		return j, err
	}
	if j.scenario, err = j.scenario.Scaled(f.scaleIn(world, j.scenario)); err != nil {
		return j, err
	}
	if j.system, err = f.system(j.scenario); err != nil {
		return j, err
	}
	if why := planted.SimOnly(j.system.Name); why != "" && world.live {
		return j, usage("dispatcher %s cannot run in world %s: %s; leave --world %s out", j.system.Name, world.name, why, world.name)
	}
	j.from, j.count = f.seedsOf(cmd, j.scenario)
	if world.live && f.seeds == 0 && f.budget == 0 {
		j.count = 1 // no seed decides what happens there, and each run takes minutes
	}
	if err := inRange(j.from, j.count); err != nil {
		return j, err
	}
	return j, world.suits(j.scenario, j.from, j.count)
}

// scaleIn is how scenarios are scaled in the world. What the simulation is asked to scale is to be compared with kind, and so is
// kept within kind's limits.
func (f *runFlags) scaleIn(w worldEntry, s *scenarios.Scenario) scenarios.Scale {
	sc := w.scaleOf(s)
	if f.scale == 0 || f.scale == 1 && !w.live {
		return sc
	}
	if !w.live {
		sc.Limits = kindLimits
	}
	sc.Factor = f.scale
	return sc
}

// inRange refuses seeds beyond the largest number: they would go on from 0.
func inRange(from uint64, count int) error {
	if left := math.MaxUint64 - from; uint64(count)-1 > left {
		return usage("--from %d: the last seed is %d, and %d do not fit between them", from, uint64(math.MaxUint64), count)
	}
	return nil
}

func (f *runFlags) seedsOf(cmd *cobra.Command, s *scenarios.Scenario) (from uint64, count int) {
	first := f.from
	if s.From > 0 && !cmd.Flags().Changed("from") {
		first = uint64(s.From)
	}
	switch {
	case cmd.Flags().Changed("seed"):
		return f.seed, 1
	case f.seeds > 0:
		return first, f.seeds
	case f.budget > 0:
		return first, endless
	}
	return first, max(s.Seeds, 1)
}

func (f *runFlags) system(s *scenarios.Scenario) (dispatcher.System, error) {
	name := s.Dispatcher
	if f.dispatcher != "" {
		name = f.dispatcher
	}
	if name == "" {
		return planted.Reference(), nil
	}
	system, ok := planted.Lookup(name)
	if !ok {
		return dispatcher.System{}, unknownName("dispatcher", name, planted.Names(), "`squall list dispatchers` shows all")
	}
	return system, nil
}

// openScenario finds a scenario by name in the library, or by path.
func openScenario(name string) (*scenarios.Scenario, []byte, error) {
	if text, ok := scenarios.LibraryFile(name); ok {
		s, err := scenarios.Find(name)
		return s, text, err
	}
	if isPath(name) {
		s, err := scenarios.Load(name)
		if err != nil {
			return nil, nil, err
		}
		return s, s.Text(), nil
	}
	hint := "`squall list scenarios` shows all"
	if _, err := os.Stat(name + ".yaml"); err == nil {
		hint = fmt.Sprintf("for the file here write ./%s.yaml", name)
	}
	return nil, nil, unknownName("scenario", name, libraryNames(), hint)
}

func isPath(name string) bool {
	if strings.ContainsAny(name, `/\`) || strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") {
		return true
	}
	info, err := os.Stat(name)
	return err == nil && !info.IsDir()
}

func libraryNames() []string {
	var names []string
	for _, s := range scenarios.Library() {
		names = append(names, s.Name)
	}
	return names
}

// adjusted is the scenario with the profile and the settings of the command line.
func (f *runFlags) adjusted(s *scenarios.Scenario) (*scenarios.Scenario, error) {
	if f.profile == "" && len(f.set) == 0 && (f.unsafe == "" || f.calibration == "") {
		return s, nil
	}
	changed := *s
	if f.profile != "" {
		if _, ok := dispatcher.Profile(f.profile); !ok {
			return nil, unknownName("profile", f.profile, dispatcher.Profiles(), oneOf(dispatcher.Profiles()))
		}
		changed.Profile = f.profile
	}
	changed.Settings = append(scenarios.Overrides{}, s.Settings...)
	for _, text := range f.set {
		o, err := scenarios.ParseOverride(text)
		if err != nil {
			return nil, usage("--set %s: %w", text, err)
		}
		changed.Settings = append(changed.Settings, o)
	}
	if f.unsafe != "" {
		changed.UnsafeSettings = f.unsafe
	}
	return &changed, f.nest(&changed)
}

// nest refuses settings that do not nest, unless somebody gave a reason for them.
func (f *runFlags) nest(s *scenarios.Scenario) error {
	settings, err := s.DispatcherSettings()
	if err != nil || s.UnsafeSettings != "" {
		return err
	}
	var lines []string
	for _, finding := range settings.Check() {
		if finding.Severity == dispatcher.SeverityError {
			lines = append(lines, "  "+finding.String())
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return usage("scenario %s: these settings do not fit together:\n%s\nchange them, or say why they are to be run with --unsafe REASON",
		s.Name, strings.Join(lines, "\n"))
}
