package main

import (
	"io/fs"
	"path/filepath"
)

// keepOthers keeps bundles of the failing seeds behind the first, as long as there is room; the first is the one that the outcome tells of.
func (o *outcome) keepOthers(p performance, failing []trace) {
	if len(failing) < 2 || p.bundles < 2 {
		return
	}
	kept, room := 0, p.room
	for _, t := range failing[1:min(len(failing), p.bundles)] {
		if room <= 0 {
			break
		}
		one := outcome{job: o.job}
		one.keep(p, t.Seed, t.Hash, nil)
		if one.failed != nil {
			o.failed = firstError(o.failed, one.failed)
			return
		}
		kept++
		room -= sizeOf(one.bundle)
	}
	p.console.note("squall: %s: bundles of %d more of %s are in %s", o.job.scenario.Name, kept, count(len(o.tally.Invalid), "failing seed", "failing seeds"),
		filepath.Join(p.console.dir, "runs"))
	if room <= 0 {
		p.console.note("squall: no more are kept: %d MB are used up (--bundles-size)", p.room>>20)
	}
}

// sizeOf is how many bytes the files in a directory have.
func sizeOf(dir string) int64 {
	total := int64(0)
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if info, err := d.Info(); err == nil {
				total += info.Size()
			}
		}
		return nil // what cannot be read takes no room that could be spared
	})
	return total
}
