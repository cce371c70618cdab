package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/reports"
	"github.com/squall-chaos/squall/scenarios"
)

// latestName stands for the newest bundle.
const latestName = "latest"

// bundle is the evidence of one run while it is being written.
type bundle struct {
	dir string
	job job
}

func newBundle(dir string, j job, seed uint64) (*bundle, error) {
	d := filepath.Join(dir, "runs", fmt.Sprintf("%s-%s-%d", j.scenario.Name, j.system.Name, seed))
	return &bundle{d, j}, os.MkdirAll(d, 0o755)
}

func (b *bundle) record(h *history.History) error {
	return writeFile(filepath.Join(b.dir, "history.jsonl"), func(f *os.File) error { return history.Encode(f, h) })
}

func (b *bundle) discard() { _ = os.RemoveAll(b.dir) }

func (b *bundle) finish(r scenarios.Result, control *scenarios.Result) (string, error) {
	run := runOf(b.job, r, control)
	run.Bundle = b.dir
	return b.dir, writeFile(filepath.Join(b.dir, "report.html"), func(f *os.File) error { return run.WriteHTML(f) })
}

// kept is a bundle that was read back.
type kept struct {
	dir string
	run *reports.Run
}

func (c *console) openBundle(path string) (*kept, error) {
	return nil, usage("to do: %s", path)
}

func (k *kept) job() (job, error) { return job{}, nil }

func runOf(j job, r scenarios.Result, control *scenarios.Result) *reports.Run {
	run := &reports.Run{History: r.History, Report: r.Report, Judged: r.Verdict, Tolerated: r.Scenario.Expect.Tolerate,
		Settings: r.Settings, Virtual: r.Virtual, Wall: r.Wall, Err: r.Err, Scenario: j.text, About: r.Scenario.Summary,
		Expected: reports.Verdict(verdictWanted(r.Scenario.Expect.Of(r.Dispatcher)))}
	if control != nil {
		run.Control = runOf(j, *control, nil)
	}
	return run
}

func reportIn(dir string) string { return filepath.Join(dir, "report.html") }

// controlOf runs what should pass where the job failed: the same scenario and seed under the reference, or, when it was the
// reference that failed, the scenario's control.
func controlOf(j job, seed uint64) *scenarios.Result {
	s := j.scenario
	options := j.options()
	options.Seed = seed
	if options.System.Name == planted.Reference().Name {
		control, err := s.LoadControl()
		if err != nil || control == nil {
			return nil
		}
		s = control
	}
	options.System = planted.Reference()
	r := scenarios.Run(context.Background(), s, options)
	if r.Err != nil || r.History == nil {
		return nil // a report without a control is better than none
	}
	return &r
}

// shellWord quotes a word for a shell when it needs it.
func shellWord(s string) string {
	if strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@%+=,", r))
	}) < 0 && s != "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
