package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/scenarios"
	"github.com/squall-chaos/squall/scenarios/explore"
)

// What is compared: the swarms by their seeds, and the worlds that are small enough to be searched.
var (
	comparedSwarms = []string{"swarm-b0", "swarm-standard"}
	smallWorlds    = explore.SmallWorlds()
)

// compareStrategies tells how long the strategies take to see each planted defect.
func compareStrategies(cmd *cobra.Command, c *console, f *exploreFlags) error {
	given := cmd.Flags().Changed
	for _, name := range []string{"profile", "set", "unsafe", "seed", "all"} {
		if given(name) {
			return usage("--%s is for one scenario: --compare runs %s from seed 1, and searches %s", name, strings.Join(comparedSwarms, " and "), strings.Join(smallWorlds, ", "))
		}
	}
	if !given("depth") {
		f.bounds.Reversals = 0
	}
	if !given("kinds") {
		f.bounds.Kinds = explore.Kinds()
	}
	if f.most < 1 {
		return usage("--most %d: at least one run", f.most)
	}
	if err := f.checkBounds(cmd); err != nil {
		return err
	}
	systems, err := f.compared()
	if err != nil {
		return err
	}
	world, err := findWorld("sim")
	if err != nil {
		return err
	}
	t := detectionTable{out: c.out}
	comparison := explore.Comparison{Systems: systems, World: world.open, Most: f.most, Bounds: f.bounds, MostEach: mostOfEach, Workers: f.workerCount(),
		PCT: clusters.Order{Strategy: clusters.PCT, Window: f.bounds.Window, Depth: comparedDepth}}
	if comparison.Swarms, err = scenariosNamed(comparedSwarms); err != nil {
		return err
	}
	if comparison.Small, err = scenariosNamed(smallWorlds); err != nil {
		return err
	}
	if f.budget > 0 {
		comparison.Until = time.Now().Add(f.budget)
	}
	if t.kept, err = openComparison(f.resume, &comparison); err != nil {
		return err
	}
	return t.compare(cmd.Context(), c, comparison)
}

// comparedDepth is how many ordered pairs of events PCT looks for: two reversals are in most published failures of that kind.
const comparedDepth = 3

// mostOfEach is how many runs of one small world are made until a defect counts as not seen in it.
const mostOfEach = 1500

// compared are the defects that are looked for.
func (f *exploreFlags) compared() ([]dispatcher.System, error) {
	if f.dispatcher != "" {
		system, ok := planted.Lookup(f.dispatcher)
		if !ok {
			return nil, unknownName("dispatcher", f.dispatcher, planted.Names(), "squall list --dispatchers shows all")
		}
		return []dispatcher.System{system}, nil
	}
	var systems []dispatcher.System
	for _, d := range planted.Defects() {
		systems = append(systems, d.System)
	}
	return systems, nil
}

func scenariosNamed(names []string) ([]*scenarios.Scenario, error) {
	var all []*scenarios.Scenario
	for _, name := range names {
		s, err := scenarios.Find(name)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// detectionTable is the comparison, for people, row by row as they come.
type detectionTable struct {
	out  io.Writer
	rows []explore.Detection
	kept *comparisonFile
}

// strategies are the columns, and what of a row is in each.
var strategies = []struct {
	name string
	of   func(*explore.Detection) *explore.Sight
}{
	{"random", func(d *explore.Detection) *explore.Sight { return &d.Random }},
	{"pct", func(d *explore.Detection) *explore.Sight { return &d.PCT }},
	{"explore", func(d *explore.Detection) *explore.Sight { return &d.Explore }},
}

func (t *detectionTable) compare(ctx context.Context, c *console, x explore.Comparison) error {
	progress := c.begin("defects", len(x.Systems))
	out := progress.over(c.out)
	fmt.Fprintf(out, "runs until a planted defect is seen, and the calls made in all of them\n")
	fmt.Fprintf(out, "  random   seeds of %s in turn, at most %d\n", strings.Join(comparedSwarms, " and "), x.Most)
	fmt.Fprintf(out, "  pct      the same, events ordered by priorities: depth %d, window %s\n", x.PCT.Depth, x.PCT.Window)
	fmt.Fprintf(out, "  explore  %s, searched with up to %s and %s, at most %d runs of each\n\n", strings.Join(smallWorlds, ", "),
		count(x.Bounds.Faults, "fault", "faults"), count(x.Bounds.Reversals, "race reversed", "races reversed"), x.MostEach)
	fmt.Fprintf(out, "%-26s%16s%16s%16s  %s\n", "defect", "random", "pct", "explore", "where explore sees it, and what it violates")
	var unsaved error
	x.Each = func(d explore.Detection) {
		progress.step(false)
		t.rows = append(t.rows, d)
		fmt.Fprintln(out, detectionRow(&d))
		unsaved = firstError(unsaved, t.kept.add(d))
	}
	explore.Compare(ctx, x)
	progress.end()
	t.sum()
	if unsaved != nil {
		return unsaved
	}
	for i := range t.rows {
		if err := t.rows[i].Failed(); err != nil && ctx.Err() == nil {
			return broken(err)
		}
	}
	switch {
	case ctx.Err() != nil:
		return ended(exitInterrupted)
	case len(t.rows) < len(x.Systems):
		fmt.Fprintf(t.out, "not all: the budget was over after %d of %s; with --resume the same command goes on\n", len(t.rows), count(len(x.Systems), "defect", "defects"))
		return ended(exitUnknown)
	}
	return nil
}

func detectionRow(d *explore.Detection) string {
	line := fmt.Sprintf("%-26s", d.System)
	for _, s := range strategies {
		sight := s.of(d)
		cell := fmt.Sprintf("%d (%s)", sight.Runs, roughly(sight.Calls))
		if sight.Runs == 0 {
			cell = fmt.Sprintf("none of %d", sight.Tried)
		}
		line += fmt.Sprintf("%16s", cell)
	}
	if e := &d.Explore; e.Runs > 0 {
		line += fmt.Sprintf("  %s: %s", e.Where, strings.Join(e.Violated, ", "))
	}
	return line
}

// roughly is a number of calls in no more than four characters.
func roughly(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 10_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// sum closes the table: how many were found, and what that took.
func (t *detectionTable) sum() {
	if len(t.rows) == 0 {
		return
	}
	lines := map[string]string{}
	for _, s := range strategies {
		var runs, calls []int
		for i := range t.rows {
			if sight := s.of(&t.rows[i]); sight.Runs > 0 {
				runs, calls = append(runs, sight.Runs), append(calls, sight.Calls)
			}
		}
		slices.Sort(runs)
		slices.Sort(calls)
		cells := [...]string{fmt.Sprintf("%d of %d", len(runs), len(t.rows)), "-", "-"}
		if n := len(runs); n > 0 {
			cells[1] = fmt.Sprintf("%d (%s)", runs[n/2], roughly(calls[n/2]))
			cells[2] = fmt.Sprintf("%d (%s)", runs[n-1], roughly(calls[n-1]))
		}
		for i, name := range sums {
			lines[name] += fmt.Sprintf("%16s", cells[i])
		}
	}
	fmt.Fprintln(t.out)
	for _, name := range sums {
		fmt.Fprintf(t.out, "%-26s%s\n", name, lines[name])
	}
	t.alone()
}

var sums = [...]string{"found", "median of those", "worst of those"}

// alone names what one strategy sees and no other, and what none does.
func (t *detectionTable) alone() {
	by := make([][]string, len(strategies))
	var none []string
	for i := range t.rows {
		var seen []int
		for n, s := range strategies {
			if s.of(&t.rows[i]).Runs > 0 {
				seen = append(seen, n)
			}
		}
		switch len(seen) {
		case 0:
			none = append(none, t.rows[i].System)
		case 1:
			by[seen[0]] = append(by[seen[0]], t.rows[i].System)
		}
	}
	for n, names := range by {
		if len(names) > 0 {
			fmt.Fprintf(t.out, "only %s: %s\n", strategies[n].name, wrapped(strings.Join(names, ", "), 2))
		}
	}
	if len(none) > 0 {
		fmt.Fprintf(t.out, "by none of them: %s\n", wrapped(strings.Join(none, ", "), 2))
	}
}
