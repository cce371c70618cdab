package main

import (
	"context"
	"path/filepath"

	"github.com/squall-chaos/squall/reports"
	"github.com/squall-chaos/squall/scenarios"
)

// twinSeeds is how many seeds of the simulation a real run is set beside: one verdict of a model says little of a race.
const twinSeeds = 20

// twin is what the simulation makes of the same scenario, scaled the same; nil when there is nothing to compare.
func (o outcome) twin(ctx context.Context) *reports.Twin {
	if !o.job.world.live || o.shown == nil || o.shown.History == nil {
		return nil
	}
	j := o.job
	j.world, j.tell, j.from, j.count = simulation(), nil, 1, twinSeeds
	options := j.options()
	tally := scenarios.Seeds(ctx, j.scenario, scenarios.Many{Options: options, From: 1, Count: twinSeeds, UntilInvalid: o.hunted})
	shown := tally.FirstInvalid
	if shown == nil {
		options.Seed = 1
		r := scenarios.Run(ctx, j.scenario, options)
		shown = &r
	}
	if shown.History == nil {
		return nil
	}
	c := reports.TwinOf(runOf(j, *shown, nil), reports.Summarize(tally, j.world.name), o.run(), o.summary())
	return &c
}

// linkedSuite makes the links of a suite relative to the directory, as linkedFrom does those of results.
func linkedSuite(dir string, s reports.Suite) reports.Suite {
	linked := make([]reports.Twin, len(s.Twins))
	for i, c := range s.Twins {
		c.Real.Report = relative(dir, c.Real.Report)
		linked[i] = c
	}
	s.Twins = linked
	return s
}

// relative is the path as seen from the directory; as it is, where that cannot be said.
func relative(dir, path string) string {
	if path == "" {
		return ""
	}
	from, err := filepath.Abs(dir)
	if err != nil {
		return path
	}
	to, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	link, err := filepath.Rel(from, to)
	if err != nil {
		return path
	}
	return filepath.ToSlash(link)
}
