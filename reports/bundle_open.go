package reports

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/checker/history"
)

// needed are the files without which a bundle cannot be used; the report can be made anew.
var needed = []string{HistoryFile, ScenarioFile, SettingsFile, VerdictFile}

// Open reads a finished bundle. What is wrong with one is a *Problem, with what to do about it.
func Open(path string) (*Run, error) {
	m, err := readManifest(path)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, name := range sortedFiles(m) {
		if files[name], err = readSealed(path, name, m.Files[name]); err != nil {
			return nil, err
		}
	}
	for _, name := range needed {
		if _, ok := files[name]; !ok {
			return nil, &Problem{Code: CodeBundle, Path: path, Message: "the bundle has no " + name, Remedy: rerunRemedy}
		}
	}
	r, err := assemble(path, files)
	var p *Problem
	if errors.As(err, &p) { // what this version cannot read may be sound for the one that wrote it
		p.WrittenBy = m.writer()
	}
	if err == nil {
		r.RecordedBy, r.RecordedOn = m.Version, m.Machine
	}
	return r, err
}

const rerunRemedy = "run the scenario again, or take the bundle from where it was made"

// IsBundle tells whether the directory claims to be a bundle, sound or not.
func IsBundle(path string) bool {
	_, err := os.Stat(filepath.Join(path, ManifestFile))
	return err == nil
}

func readManifest(path string) (manifest, error) {
	var m manifest
	text, err := os.ReadFile(filepath.Join(path, ManifestFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return m, &Problem{Code: CodeBundle, Path: path, Message: "not a finished run bundle: it has no " + ManifestFile,
			Remedy: "name a folder in .squall/runs, or .squall/latest"}
	case err != nil:
		return m, &Problem{Code: CodeBundle, Path: path, Message: "cannot be read", Err: err, Remedy: "name a folder in .squall/runs, or .squall/latest"}
	}
	if err := json.Unmarshal(text, &m); err != nil || m.Format == 0 {
		return m, &Problem{Code: CodeBundle, Path: path, Message: "its " + ManifestFile + " is not that of a run bundle", Err: err,
			Remedy: "name a folder in .squall/runs, or .squall/latest"}
	}
	if m.Format != bundleFormat {
		return m, &Problem{Code: CodeVersion, Path: path,
			Message: fmt.Sprintf("written in format %d by %s; this one reads format %d", m.Format, m.writer(), bundleFormat),
			Remedy:  "use squall " + m.Version}
	}
	return m, nil
}

// writer is who wrote the bundle.
func (m manifest) writer() string {
	if m.Machine == "" {
		return "squall " + m.Version
	}
	return "squall " + m.Version + " on " + m.Machine
}

func sortedFiles(m manifest) []string {
	names := make([]string, 0, len(m.Files))
	for name := range m.Files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// readSealed reads a file and compares it with what was written.
func readSealed(path, name string, want sealed) ([]byte, error) {
	if filepath.Base(name) != name {
		return nil, &Problem{Code: CodeBundle, Path: path, Message: fmt.Sprintf("its manifest names a file outside of it, %q", name), Remedy: rerunRemedy}
	}
	text, err := os.ReadFile(filepath.Join(path, name))
	switch {
	case errors.Is(err, fs.ErrNotExist) && !slices.Contains(needed, name):
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, &Problem{Code: CodeBundle, Path: path, Message: name + " is missing", Remedy: rerunRemedy}
	case err != nil:
		return nil, &Problem{Code: CodeBundle, Path: path, Message: name + " cannot be read", Err: err, Remedy: rerunRemedy}
	}
	if int64(len(text)) < want.Bytes && name != SummaryFile {
		return nil, &Problem{Code: CodeDamaged, Path: filepath.Join(path, name),
			Message: fmt.Sprintf("truncated: %d of %d bytes", len(text), want.Bytes), Remedy: rerunRemedy}
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != want.SHA256 && name != ReportFile && name != SummaryFile {
		return nil, &Problem{Code: CodeDamaged, Path: filepath.Join(path, name), Message: "changed since it was written", Remedy: rerunRemedy}
	}
	return text, nil
}

// assemble makes the run out of its files.
func assemble(path string, files map[string][]byte) (*Run, error) {
	r := &Run{Scenario: files[ScenarioFile], Bundle: path}
	var err error
	if r.History, err = history.Decode(bytes.NewReader(files[HistoryFile]), filepath.Join(path, HistoryFile)); err != nil {
		return nil, &Problem{Code: CodeHistory, Path: path, Message: "the history cannot be read", Err: err, Remedy: rerunRemedy}
	}
	if err := yaml.UnmarshalWithOptions(files[SettingsFile], &r.Settings, yaml.Strict()); err != nil {
		return nil, &Problem{Code: CodeDamaged, Path: filepath.Join(path, SettingsFile), Message: "not settings", Err: err, Remedy: rerunRemedy}
	}
	var v verdictFile
	if err := json.Unmarshal(files[VerdictFile], &v); err != nil {
		return nil, &Problem{Code: CodeDamaged, Path: filepath.Join(path, VerdictFile), Message: "not a verdict", Err: err, Remedy: rerunRemedy}
	}
	v.restore(r)
	if text := files[MadeFile]; text != nil {
		if err := json.Unmarshal(text, &r.Made); err != nil {
			return nil, &Problem{Code: CodeDamaged, Path: filepath.Join(path, MadeFile), Message: "not what a run was made from", Err: err, Remedy: rerunRemedy}
		}
	}
	return r, r.assembleFound(files)
}

// assembleFound reads what commands about the failure added.
func (r *Run) assembleFound(files map[string][]byte) error {
	for name, to := range map[string]any{MattersFile: &r.Matters, MinimalFile: &r.Minimal} {
		if text := files[name]; text != nil {
			if err := json.Unmarshal(text, to); err != nil {
				return &Problem{Code: CodeDamaged, Path: filepath.Join(r.Bundle, name), Message: "not what squall writes there", Err: err, Remedy: "remove it"}
			}
		}
	}
	return nil
}

// restore gives a run back what its verdict file says.
func (v verdictFile) restore(r *Run) {
	r.Tolerated, r.About, r.Expected = v.Tolerated, v.About, v.Expected
	r.Unmet, r.Interrupted, r.Live, r.Fitted = v.Unmet, v.Interrupted, v.Live, v.Fitted
	r.Virtual, r.Wall = time.Duration(v.Virtual*float64(time.Second)), time.Duration(v.Wall*float64(time.Second))
	r.Report = checker.Report{Violations: v.Violations, Invariants: v.Invariants, Verdict: v.Judged}
	switch v.Verdict {
	case Valid:
		r.Judged = checker.Valid
	case Invalid:
		r.Judged = checker.Invalid
	case Broken:
		r.Err = errors.New(either(v.Error, "the harness failed"))
	}
}
