//go:build unix

package chain

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// thousand is a directory of a thousand manifests of all shapes, and a chain with a link into each of a hundred of them and two over
// all of them.
func thousand(b *testing.B, count int) string {
	b.Helper()
	dir := b.TempDir()
	shapes, err := filepath.Glob("testdata/manifests/*.yaml")
	if err != nil || len(shapes) < 10 {
		b.Fatalf("%d manifests: %v", len(shapes), err)
	}
	var text strings.Builder
	text.WriteString(head + "links:\n")
	for i := range count {
		data, err := os.ReadFile(shapes[i%len(shapes)])
		if err != nil {
			b.Fatal(err)
		}
		folder := filepath.Join(dir, fmt.Sprintf("team-%02d", i%20))
		data = append(data, fmt.Sprintf("---\nkind: CronJob\nmetadata: {name: job-%d}\nspec:\n  jobTemplate:\n    spec:\n      activeDeadlineSeconds: %d\n", i, 100+i%100)...)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d.yaml", i)), data, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	for i := 0; i < count; i += 10 {
		fmt.Fprintf(&text, "  - {name: job_%d, owner: team, file: \"**/*.yaml\", below: grace, because: so, extract: {field: activeDeadlineSeconds, object: {kind: CronJob, name: job-%d}}}\n", i, i)
	}
	text.WriteString("  - {name: all, owner: team, each: true, file: ., below: grace, because: so, extract: {field: activeDeadlineSeconds, object: {kind: CronJob}}}\n")
	text.WriteString("  - {name: lines, owner: team, each: true, unit: s, file: ., below: grace, because: so, extract: {regex: 'terminationGracePeriodSeconds: (?P<value>[0-9]+)'}}\n")
	text.WriteString("  - {name: grace, owner: team, value: 3h}\n")
	if err := os.WriteFile(filepath.Join(dir, "squall.yaml"), []byte(text.String()), 0o644); err != nil {
		b.Fatal(err)
	}
	return dir
}

// processor is the processor time of this process so far.
func processor(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkThousandFiles: the budget is a second. On a machine that is busy with other things its processor time is the figure.
func BenchmarkThousandFiles(b *testing.B) {
	dir := thousand(b, 1000)
	before := processor(b)
	for b.Loop() {
		c, err := Open(b.Context(), filepath.Join(dir, "squall.yaml"), Options{})
		if err != nil {
			b.Fatal(err)
		}
		r, err := Check(c, today)
		if err != nil || r.Files != 1001 || len(r.Findings) != 0 || r.Values < 1100 {
			b.Fatalf("%d files, %d values, %d findings, %v", r.Files, r.Values, len(r.Findings), err)
		}
	}
	b.ReportMetric(float64((processor(b)-before).Milliseconds())/float64(b.N), "cpu-ms/check")
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/check")
}
