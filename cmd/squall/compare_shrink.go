package main

import (
	"context"
	"path/filepath"

	"github.com/squall-chaos/squall/reports"
)

// shrinkCase shrinks the counterexample of the unsafe setting that is nearest to the recommended one (the first one, where none is
// recommended): what shows in the smallest form why not to go there. The others have their bundles, to shrink by hand.
func (s *study) shrinkCase(ctx context.Context, c *console, k *reports.Comparison) error {
	i := k.NearestUnsafe()
	if one, ok := k.Cases[i]; !ok || one.Bundle == "" {
		if i = firstKept(k); i < 0 {
			return nil
		}
	}
	one := k.Cases[i]
	before, err := c.openBundle(one.Bundle)
	if err != nil {
		return broken(err)
	}
	invariant, err := violatedIn(before, "")
	if err != nil {
		return nil // what is unsafe is tolerated by the scenario
	}
	latest, err := c.findBundle(latestName)
	if err != nil {
		return broken(err)
	}
	workload, seed := s.experiment.Block(k.Cells[i].Smallest)
	j, err := s.jobOf(k.Cells[i].Cell, workload, seed)
	if err != nil {
		return broken(err)
	}
	f := shrinkFlags{to: filepath.Join(one.Bundle, minimalDir)}
	f.workers = s.experiment.Workers
	m, err := f.shrink(ctx, c, j, before, invariant)
	if err != nil {
		return err
	}
	one.Minimal, one.Size = "squall run "+shellWord(m.file), m.result.To.String()
	k.Cases[i] = one
	return pointLatest(c.dir, latest)
}

// firstKept is the first cell whose counterexample has a bundle, -1: none has.
func firstKept(k *reports.Comparison) int {
	for i := range k.Cells {
		if k.Cases[i].Bundle != "" {
			return i
		}
	}
	return -1
}
