package reports

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/sim"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/scenarios"
)

// simulated runs a scenario of the library.
func simulated(t *testing.T, s *scenarios.Scenario, name string) *Run {
	t.Helper()
	system, ok := planted.Lookup(name)
	if !ok {
		t.Fatalf("no dispatcher %s", name)
	}
	r := scenarios.Run(context.Background(), s, scenarios.Options{System: system, Seed: 1, Version: "test",
		World: func(_ context.Context, c clusters.Config) (clusters.Cluster, error) { return sim.New(c) }})
	text, _ := scenarios.LibraryFile(s.Name)
	return &Run{History: r.History, Report: r.Report, Judged: r.Verdict, Tolerated: s.Expect.Tolerate, Settings: r.Settings,
		Virtual: r.Virtual, Err: r.Err, Scenario: text, About: s.Summary}
}

// TestEveryScenarioHasASoundReport makes a page of what really happens, which no made-up history foresees.
func TestEveryScenarioHasASoundReport(t *testing.T) {
	for _, s := range scenarios.Library() {
		if s.Expect.Naive == nil {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			r := simulated(t, s, "naive")
			path := keep(t, t.TempDir(), r)
			page, err := os.ReadFile(filepath.Join(path, ReportFile))
			if err != nil {
				t.Fatal(err)
			}
			text := string(page)
			if len(text) > 3<<20 {
				t.Errorf("%d bytes", len(text))
			}
			if r.Story() == "" || strings.Contains(text, "ZgotmplZ") {
				t.Errorf("story %q", r.Story())
			}
			if v := r.First(); v != nil && v.Task != "" && !strings.Contains(text, `id="timeline-figure-violation"`) {
				t.Errorf("%s is not in the timeline", v.Invariant)
			}
			for _, m := range setScene(r).moments() {
				if !strings.HasSuffix(m.Text, ".") || m.At < 0 {
					t.Errorf("step %d at %s: %q", m.Number, m.At, m.Text)
				}
			}
			if kept, err := Open(path); err != nil || kept.Story() != r.Story() {
				t.Errorf("out of its bundle: %v", err)
			}
		})
	}
}
