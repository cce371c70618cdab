package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/reports"
	"github.com/squall-chaos/squall/scenarios"
	"github.com/squall-chaos/squall/scenarios/reduction"
)

// minimal is what shrink leaves.
type minimal struct {
	file, test, bundle string
	text               []byte
	scenario           *scenarios.Scenario
	run                *reports.Run
	system             dispatcher.System
	invariant          string
	result             reduction.Result
	tried              int
}

// again are the ways to run the minimal scenario: in the simulation, in real clusters, or why not, and as a Go test.
func (m minimal) again() []string {
	lines := []string{"run it: squall run " + shellWord(m.file)}
	for _, world := range worldEntries {
		if world.live && !world.named {
			lines = append(lines, m.in(world))
		}
	}
	return append(lines, "Go test: "+m.test+", in a module that requires "+modulePath)
}

// modulePath is what the Go test imports.
const modulePath = "github.com/squall-chaos/squall"

// in says how the minimal scenario runs in a real cluster: scaled so that in the simulation of just that it still fails, by the world's own factor
// if possible.
func (m minimal) in(world worldEntry) string {
	command := fmt.Sprintf("squall run %s --world %s", shellWord(m.file), world.name)
	own := world.scaleOf(m.scenario)
	factors := []float64{own.Factor}
	for f := own.Factor / 2; f > 1; f /= 2 {
		factors = append(factors, f)
	}
	var why []string
	for i, factor := range append(factors, 1) {
		sc := own
		sc.Factor = factor
		scaled, misfits := world.fitted(m.scenario, sc)
		switch {
		case len(misfits) > 0 && i == 0:
			why = misfits
		case len(misfits) > 0:
		case !m.failsIn(scaled):
		case i == 0:
			return fmt.Sprintf("in %s: %s", world.name, command)
		default:
			return fmt.Sprintf("in %s: %s --scale %g", world.name, command, factor)
		}
	}
	if len(why) > 0 {
		return fmt.Sprintf("not in %s: %s", world.name, strings.Join(why, "; "))
	}
	return fmt.Sprintf("in %s: %s (it runs, and need not fail: held within what %s can keep, it does not fail in the simulation)", world.name, command, world.name)
}

// failsIn tells whether the simulation of the scaled scenario still violates the invariant, under one of a few seeds.
func (m minimal) failsIn(scaled *scenarios.Scenario) bool {
	const seeds = 5
	t := scenarios.Seeds(context.Background(), scaled, scenarios.Many{Options: scenarios.Options{System: m.system, World: simulation().open},
		From: m.result.Seed, Count: seeds, Forget: true})
	return t.Violations[m.invariant] > 0
}

func (f *shrinkFlags) writeMinimal(c *console, j job, r reduction.Result, invariant string) (minimal, error) {
	dir := cmp.Or(f.to, filepath.Join(c.dir, minimalDir))
	m := minimal{file: filepath.Join(dir, minimalFile), test: filepath.Join(dir, minimalTest), system: j.system, invariant: invariant}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return m, err
	}
	own := *r.Scenario
	own.Dispatcher = j.system.Name // the file runs against what failed
	if own.Name != minimalDir {
		own.Summary = fmt.Sprintf("The smallest timeline found in which %s violates %s; from %s, seed %d.", j.system.Name, invariant, own.Name, j.from)
		own.Name = minimalDir
	}
	s, err := scenarios.Parse(minimalFile, own.Written())
	if err != nil {
		return m, err
	}
	text := s.Written()
	m.text, m.scenario = text, s
	for path, content := range map[string][]byte{m.file: text, m.test: goTest(j.system.Name, invariant)} {
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return m, err
		}
	}
	one := job{scenario: s, text: text, system: j.system, world: simulation(), from: r.Seed, count: 1}
	o := performance{console: c, workers: 1, keepAll: true, progress: (&console{quiet: true}).begin("seeds", 1)}.perform(context.Background(), one)
	m.bundle, m.run = o.bundle, o.run()
	if o.failed == nil && o.tally.Verdict != checker.Invalid {
		return m, fmt.Errorf("the minimal scenario %s does not fail: verdict %s", m.file, o.tally.Verdict)
	}
	return m, o.failed
}
