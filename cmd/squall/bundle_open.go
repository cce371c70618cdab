package main

import (
	"os"
	"path/filepath"

	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/reports"
	"github.com/squall-chaos/squall/scenarios"
)

// latestName stands for the newest bundle.
const latestName = "latest"

const bundleHint = "the path that a run printed, or latest"

// openBundle reads the bundle that an argument means: a path, latest, or the name of one in the directory of bundles.
func (c *console) openBundle(name string) (*reports.Run, error) {
	path, err := c.findBundle(name)
	if err != nil {
		return nil, err
	}
	return reports.Open(path)
}

func (c *console) findBundle(name string) (string, error) {
	if name == latestName {
		path, err := filepath.EvalSymlinks(filepath.Join(c.dir, latestName))
		if err != nil {
			return "", usage("there is no bundle in %s yet: `squall demo` or `squall run` leaves one", c.dir)
		}
		return path, nil
	}
	for _, path := range []string{name, filepath.Join(c.dir, "runs", name)} {
		info, err := os.Stat(path)
		switch {
		case err != nil || name == "":
		case !info.IsDir():
			return "", usage("%s is a file; a bundle is a directory, %s (a history alone can be judged: squall check)", path, bundleHint)
		default:
			return filepath.Clean(path), nil
		}
	}
	return "", usage("there is no bundle %s: name %s", name, bundleHint)
}

// jobOf is what a bundle's run was made from, so that it can be made again.
func jobOf(r *reports.Run) (job, error) {
	world, err := findWorld(r.History.Meta.World)
	if err != nil {
		return job{}, err
	}
	return jobFrom(r, world)
}

// jobFrom is what a bundle's run was made from, in that world.
func jobFrom(r *reports.Run, world worldEntry) (job, error) {
	m := r.History.Meta
	s, err := scenarios.Parse(filepath.Join(r.Bundle, reports.ScenarioFile), r.Scenario)
	if err != nil {
		return job{}, err
	}
	if s, err = s.Scaled(r.Made.Scale); err != nil {
		return job{}, err
	}
	system, ok := planted.Lookup(m.Dispatcher)
	if !ok {
		return job{}, usage("bundle %s: this build has no dispatcher %q", r.Bundle, m.Dispatcher)
	}
	as := *s
	as.Settings = scenarios.OverridesTo(r.Settings)
	if _, err := as.Config(system, m.Seed); err != nil {
		return job{}, usage("bundle %s cannot be run: %w", r.Bundle, err)
	}
	return job{scenario: &as, text: r.Scenario, system: system, world: world, from: m.Seed, count: 1, plan: r.Made.Plan, order: r.Made.Order}, nil
}
