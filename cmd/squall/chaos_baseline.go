package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/squall-chaos/squall/reports"
)

// readBaseline reads the failures that are known, before anything is run.
func (f *chaosFlags) readBaseline() error {
	path, flag := f.baseline, "--baseline"
	switch {
	case f.baseline != "" && f.writeBaseline != "":
		return usage("--write-baseline compares with what its file knew before: give one of --baseline and --write-baseline")
	case f.writeBaseline != "":
		path, flag = f.writeBaseline, "--write-baseline"
		if err := writable(filepath.Dir(path)); err != nil {
			return usage("%s: %w", flag, err)
		}
	case f.baseline == "":
		return nil
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && f.writeBaseline != "" {
		f.known = reports.NoBaseline(path)
		return nil
	}
	if err != nil {
		return usage("%s %s: %w; squall chaos --write-baseline FILE writes one", flag, path, cause(err))
	}
	f.known, err = reports.ParseBaseline(path, text)
	if err != nil {
		return usage("%w", err)
	}
	return nil
}

// rewriteBaseline makes what failed known. A suite that was interrupted, or that broke, leaves the file as it is.
func (f *chaosFlags) rewriteBaseline(c *console, r tried) error {
	if err := r.ending(); err != nil && statusOf(err) != exitInvalid {
		c.note("squall: %s is left as it was: the suite was not run to its end", f.writeBaseline)
		return err
	}
	next, err := f.known.After(r.results.document("").summaries)
	if err != nil {
		c.note("squall: %s is left as it was: %s", f.writeBaseline, err)
		return r.ending()
	}
	if err := writeFile(f.writeBaseline, func(w *os.File) error { return next.Write(w) }); err != nil {
		return broken(err)
	}
	c.note("squall: %s knows %s", f.writeBaseline, count(len(next.Failures), "failure", "failures"))
	return nil
}
