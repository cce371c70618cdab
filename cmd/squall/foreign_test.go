package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/squall-chaos/squall/reports"
)

// TestABundleFromElsewhere: one of another version or machine replays, or it is said precisely why it cannot.
func TestABundleFromElsewhere(t *testing.T) {
	t.Chdir(t.TempDir())
	j := jobFor(t, "demo", "reference", 1)
	j.world = must(findWorld("sim"))
	var said bytes.Buffer
	c := &console{out: &said, err: &said, dir: ".squall"}
	for name, edit := range map[string]struct {
		manifest map[string]any
		file     string
		from, to string
		status   int
		says     []string
	}{
		"another version, the same program": {map[string]any{"squall": "v0.0.1"}, "", "", "", exitValid, []string{"was recorded by squall v0.0.1, and this is squall ", "the same as before"}},
		"another machine":                   {map[string]any{"machine": "plan9/mips, go1.99"}, "", "", "", exitValid, []string{"was recorded on plan9/mips, go1.99, and this is " + reports.ThisMachine(), "the same as before"}},
		"a trace that differs, of another version": {map[string]any{"squall": "v0.0.1"}, reports.HistoryFile, `"trace_hash":"\d+"`, `"trace_hash":"7"`, exitUsage,
			[]string{"which does something else under the same seed", "judge its record again: squall check"}},
		"a trace that differs, of another machine": {map[string]any{"machine": "linux/arm64, go1.26.8"}, reports.HistoryFile, `"trace_hash":"\d+"`, `"trace_hash":"7"`, exitHarness,
			[]string{"determinism is lost", "the bundle was recorded on linux/arm64, go1.26.8, and this is"}},
		"a scenario of a later version": {map[string]any{"squall": "v9.0.0"}, reports.ScenarioFile, "(?m)^horizon:", "weather: fine\nhorizon:", exitUsage,
			[]string{`unknown field "weather"`, "was recorded by squall v9.0.0, and this is squall"}},
		"a setting of a later version": {map[string]any{"squall": "v9.0.0"}, reports.SettingsFile, "(?m)^tick:", "tock: 1s\ntick:", exitUsage,
			[]string{"tock", "the bundle was written by squall v9.0.0 on " + reports.ThisMachine()}},
		"a dispatcher that is gone": {map[string]any{"squall": "v0.0.1"}, reports.HistoryFile, `"dispatcher":"reference"`, `"dispatcher":"of-yore"`, exitUsage,
			[]string{`this build has no dispatcher "of-yore"`, "was recorded by squall v0.0.1"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := performance{console: &console{quiet: true, out: &said, err: &said, dir: c.dir}, progress: (&console{quiet: true}).begin("seeds", 1), workers: 1, keepAll: true}.perform(t.Context(), j)
			foreign(t, o.bundle, edit.manifest, edit.file, edit.from, edit.to)
			said.Reset()
			cmd := newReplayCommand(c)
			cmd.SetArgs([]string{o.bundle})
			cmd.SilenceErrors, cmd.SilenceUsage = true, true
			err := cmd.ExecuteContext(t.Context())
			text := said.String()
			if err != nil {
				text += err.Error()
			}
			if status := statusOf(err); status != edit.status {
				t.Errorf("status %d, expected %d", status, edit.status)
			}
			for _, want := range edit.says {
				if !strings.Contains(text, want) {
					t.Errorf("%q is not said in\n%s", want, text)
				}
			}
		})
	}
}

// TestAFailureFromElsewhere: what this build cannot run again is neither shrunk nor explained, and it is said who can.
func TestAFailureFromElsewhere(t *testing.T) {
	t.Chdir(t.TempDir())
	says(t, exitInvalid, "run demo --dispatcher random-names")
	foreign(t, must(filepath.EvalSymlinks(".squall/latest")), map[string]any{"squall": "v9.0.0"}, reports.HistoryFile, `"dispatcher":"random-names"`, `"dispatcher":"of-tomorrow"`)
	for _, command := range []string{"shrink latest", "explain latest"} {
		says(t, exitUsage, command, `this build has no dispatcher "of-tomorrow"`, "was recorded by squall v9.0.0, and this is squall", "judge its record again: squall check .squall/runs/")
	}
}

// foreign makes a bundle one that somebody else wrote: with another text in one of its files, and a manifest that fits.
func foreign(t *testing.T, bundle string, fields map[string]any, file, from, to string) {
	t.Helper()
	path := filepath.Join(bundle, reports.ManifestFile)
	var m map[string]any
	if err := json.Unmarshal(must(os.ReadFile(path)), &m); err != nil {
		t.Fatal(err)
	}
	for name, v := range fields {
		m[name] = v
	}
	if file != "" {
		text := must(os.ReadFile(filepath.Join(bundle, file)))
		pattern := regexp.MustCompile(from)
		if !pattern.Match(text) {
			t.Fatalf("%s has no %s:\n%.400s", file, from, text)
		}
		text = pattern.ReplaceAll(text, []byte(to))
		if err := os.WriteFile(filepath.Join(bundle, file), text, 0o644); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(text)
		m["files"].(map[string]any)[file] = map[string]any{"bytes": len(text), "sha256": hex.EncodeToString(sum[:])}
	}
	if err := os.WriteFile(path, must(json.Marshal(m)), 0o644); err != nil {
		t.Fatal(err)
	}
}
