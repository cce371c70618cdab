package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/squall-chaos/squall/reports"
)

// writeIndex writes the report over several results under dir/suites, and beside it the results as JSON and a summary for a CI. It
// returns the path of the report.
func (c *console) writeIndex(d document) (string, error) {
	dir, err := newFolder(filepath.Join(c.dir, "suites"), time.Now().UTC().Format("20060102-150405"))
	if err != nil {
		return "", err
	}
	for _, file := range []struct{ name, format string }{{"results.json", formatJSON}, {reports.SummaryFile, formatMarkdown}, {"report.html", formatHTML}} {
		path := filepath.Join(dir, file.name)
		if err := writeFile(path, func(f *os.File) error { return d.write(f, file.format, dir) }); err != nil {
			return "", err
		}
	}
	return filepath.Join(dir, "report.html"), nil
}

// newFolder makes a folder of that name, or with a number behind it when there is one already.
func newFolder(parent, name string) (string, error) {
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", fmt.Errorf("make %s: %w", parent, cause(err))
	}
	for n := 1; ; n++ {
		dir := filepath.Join(parent, name)
		if n > 1 {
			dir = fmt.Sprintf("%s-%d", dir, n)
		}
		err := os.Mkdir(dir, 0o755)
		if err == nil {
			return dir, nil
		}
		if !os.IsExist(err) {
			return "", fmt.Errorf("make %s: %w", dir, cause(err))
		}
	}
}
