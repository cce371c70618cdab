package reports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/squall-chaos/squall/scenarios/causes"
)

// Amend adds what was found out about a run to its finished bundle, which lies where the run says: what matters, the minimal case, and the page
// with both. What was there before, the record above all, is left alone.
func (r *Run) Amend() error {
	m, err := readManifest(r.Bundle)
	if err != nil {
		return err
	}
	if r.Matters != nil {
		if err := m.put(r.Bundle, MattersFile, asJSON(r.Matters)); err != nil {
			return err
		}
	}
	if r.Minimal != nil {
		if err := m.put(r.Bundle, MinimalFile, asJSON(r.Minimal)); err != nil {
			return err
		}
	}
	if err := m.put(r.Bundle, ReportFile, r.WriteHTML); err != nil {
		return err
	}
	return m.put(r.Bundle, ManifestFile, asJSON(&m))
}

// jsonMatters is what matters about a failing run, for programs: which run, and then what matters.json has.
type jsonMatters struct {
	Bundle   string  `json:"bundle,omitempty"`
	Scenario string  `json:"scenario"`
	World    string  `json:"world"`
	Seed     uint64  `json:"seed"`
	Verdict  Verdict `json:"verdict"`
	*causes.Explanation
}

// WriteMatters writes what matters about the run for programs; it must have been searched for.
func (r *Run) WriteMatters(w io.Writer) error {
	m := r.record().Meta
	return asJSON(jsonMatters{r.Bundle, m.Scenario, m.World, m.Seed, r.Verdict(), r.Matters})(w)
}

func asJSON(v any) func(io.Writer) error {
	return func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(v)
	}
}

// put replaces one file in one step.
func (m *manifest) put(path, name string, content func(io.Writer) error) error {
	var b bytes.Buffer
	if err := content(&b); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if name != ManifestFile {
		seal := newSeal()
		_, _ = seal.Write(b.Bytes()) // a hash takes everything
		m.Files[name] = seal.sealed()
	}
	fresh := filepath.Join(path, ".fresh-"+name)
	if err := os.WriteFile(fresh, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := os.Rename(fresh, filepath.Join(path, name)); err != nil {
		_ = os.Remove(fresh)
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
