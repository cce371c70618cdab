package reports

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// keep writes a run's bundle into root.
func keep(t *testing.T, root string, r *Run) string {
	t.Helper()
	b, err := Create(root, r.History.Meta, noon)
	if err != nil {
		t.Fatal(err)
	}
	steps := []error{b.WriteScenario(r.Scenario), b.WriteSettings(r.Settings), b.WriteHistory(r.History), b.WriteVerdict(r), b.WriteReport(r), b.WriteSummary(r)}
	if err := errors.Join(steps...); err != nil {
		t.Fatal(err)
	}
	path, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestBundleGivesBackWhatWasKept(t *testing.T) {
	root := t.TempDir()
	want := failing()
	path := keep(t, root, want)
	got, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if got.Verdict() != Invalid || got.Story() != want.Story() || got.About != want.About || got.Expected != Invalid {
		t.Errorf("verdict %s, story %q, about %q, expected %q", got.Verdict(), got.Story(), got.About, got.Expected)
	}
	if got.Settings != want.Settings || !bytes.Equal(got.Scenario, want.Scenario) || got.Virtual != want.Virtual {
		t.Errorf("settings, scenario or times changed: %+v", got.Settings)
	}
	if !reflect.DeepEqual(got.History, want.History) {
		t.Error("the history changed")
	}
	if !strings.Contains(got.Replay(), path) {
		t.Errorf("replay is %q", got.Replay())
	}
	latest, err := Open(filepath.Join(root, "latest"))
	if err != nil || latest.Story() != want.Story() {
		t.Errorf("latest: %v", err)
	}
}

func TestASummaryLiesBesideTheReportOfAFailure(t *testing.T) {
	failed := keep(t, t.TempDir(), failing())
	text, err := os.ReadFile(filepath.Join(failed, SummaryFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"## ❌ Squall: ", "```mermaid\ngantt\n", "  two executions :crit, ", "squall replay " + failed} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %q:\n%s", SummaryFile, want, text)
		}
	}
	if err := os.WriteFile(filepath.Join(failed, SummaryFile), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(failed); err != nil {
		t.Errorf("a bundle whose summary was written anew cannot be used: %v", err)
	}
	if _, err := os.Stat(filepath.Join(keep(t, t.TempDir(), passing()), SummaryFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a run that passed has a summary: %v", err)
	}
}

func TestASummaryShowsTheMinimalCase(t *testing.T) {
	failed := opened(t, keep(t, t.TempDir(), failing()))
	minimal := failing()
	for i := range minimal.History.Tasks {
		if minimal.History.Tasks[i] == "7" {
			minimal.History.Tasks[i], minimal.Report.Violations[0].Task = "smallest", "smallest"
		}
	}
	if err := ShowMinimal(failed, minimal, ".squall/minimal/minimal.yaml"); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(failed.Bundle, SummaryFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"```sh\nsquall run .squall/minimal/minimal.yaml\n```", "  title smallest, from", "squall replay " + failed.Bundle} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %q:\n%s", SummaryFile, want, text)
		}
	}
	if _, err := Open(failed.Bundle); err != nil {
		t.Errorf("the bundle cannot be opened any more: %v", err)
	}
}

func TestBundleIsNeverSeenHalf(t *testing.T) {
	root := t.TempDir()
	r := failing()
	b, err := Create(root, r.History.Meta, noon)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.WriteHistory(r.History); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(b.Path()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an unfinished bundle has its name already: %v", err)
	}
	other := keep(t, root, passing()) // a second one of the same name and second
	again := keep(t, root, passing())
	if other == again {
		t.Errorf("two bundles at %s", other)
	}
	if err := b.Discard(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Join(root, "runs"))
	if err != nil || len(entries) != 2 {
		t.Errorf("%d entries left, %v", len(entries), err)
	}
}

func TestBundleCanBeReadByOthers(t *testing.T) {
	path := keep(t, t.TempDir(), passing())
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("folder: %v %v", info.Mode(), err)
	}
	for _, name := range []string{ScenarioFile, SettingsFile, HistoryFile, VerdictFile, ReportFile, ManifestFile} {
		if info, err := os.Stat(filepath.Join(path, name)); err != nil || info.Mode().Perm() != 0o644 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	rewrite := func(name string, change func([]byte) []byte) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			text, err := os.ReadFile(filepath.Join(path, name))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(path, name), change(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	remove := func(name string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			if err := os.Remove(filepath.Join(path, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		spoil func(*testing.T, string)
		code  string
		says  string
	}{
		"a foreign folder": {remove(ManifestFile), CodeBundle, "not a finished run bundle"},
		"another manifest": {rewrite(ManifestFile, func([]byte) []byte { return []byte(`{"name": "npm"}`) }), CodeBundle, "not that of a run bundle"},
		"another version": {rewrite(ManifestFile, func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"squall_bundle": 1`), []byte(`"squall_bundle": 9`), 1)
		}), CodeVersion, "format 9"},
		"a missing scenario": {remove(ScenarioFile), CodeBundle, "scenario.yaml is missing"},
		"an unlisted scenario": {func(t *testing.T, path string) {
			reseal(t, path, func(m *manifest) { delete(m.Files, ScenarioFile) })
		}, CodeBundle, "has no scenario.yaml"},
		"a mistyped setting": {func(t *testing.T, path string) {
			rewrite(SettingsFile, func(b []byte) []byte { return bytes.Replace(b, []byte("recovery_grace"), []byte("recovery_grac"), 1) })(t, path)
			reseal(t, path, func(*manifest) {})
		}, CodeDamaged, "recovery_grac"},
		"a missing history": {remove(HistoryFile), CodeBundle, "history.jsonl is missing"},
		"a cut history":     {rewrite(HistoryFile, func(b []byte) []byte { return b[:len(b)/2] }), CodeDamaged, "truncated"},
		"an edited verdict": {rewrite(VerdictFile, func(b []byte) []byte { return bytes.Replace(b, []byte("invalid"), []byte("valid\" "), 1) }), CodeDamaged, "changed"},
		"a way out": {rewrite(ManifestFile, func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"history.jsonl"`), []byte(`"../history.jsonl"`), 1)
		}), CodeBundle, "outside"},
	} {
		t.Run(name, func(t *testing.T) {
			path := keep(t, t.TempDir(), failing())
			c.spoil(t, path)
			_, err := Open(path)
			var p *Problem
			if !errors.As(err, &p) {
				t.Fatalf("got %v, not a problem", err)
			}
			if p.Code != c.code || !strings.Contains(p.Error(), c.says) || p.Remedy == "" {
				t.Errorf("got %s", err)
			}
		})
	}
	if _, err := Open(keepWithoutReport(t)); err != nil {
		t.Errorf("a bundle whose report was removed cannot be used: %v", err)
	}
}

// reseal gives a bundle a manifest that fits its files.
func reseal(t *testing.T, path string, change func(*manifest)) {
	t.Helper()
	m, err := readManifest(path)
	if err != nil {
		t.Fatal(err)
	}
	for name := range m.Files {
		text, err := os.ReadFile(filepath.Join(path, name))
		if err != nil {
			t.Fatal(err)
		}
		s := newSeal()
		if _, err := s.Write(text); err != nil {
			t.Fatal(err)
		}
		m.Files[name] = s.sealed()
	}
	change(&m)
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, ManifestFile), text, 0o644); err != nil {
		t.Fatal(err)
	}
}

func opened(t *testing.T, path string) *Run {
	t.Helper()
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func keepWithoutReport(t *testing.T) string {
	path := keep(t, t.TempDir(), passing())
	if err := os.Remove(filepath.Join(path, ReportFile)); err != nil {
		t.Fatal(err)
	}
	return path
}
