package reports

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/dispatcher"
)

// The files of a bundle.
const (
	ScenarioFile = "scenario.yaml"
	SettingsFile = "settings.yaml"
	HistoryFile  = "history.jsonl"
	VerdictFile  = "verdict.json"
	ReportFile   = "report.html"
	SummaryFile  = "summary.md" // only of a run that did not pass
	ManifestFile = "manifest.json"
	MadeFile     = "made.json" // only where there is something to say
)

// bundleFormat is the version of the layout; a reader takes no other.
const bundleFormat = 1

// manifest is written last: a bundle that has one is complete.
type manifest struct {
	Format  int               `json:"squall_bundle"`
	Version string            `json:"squall"`            // that wrote it
	Machine string            `json:"machine,omitempty"` // that it was written on: system/processor, compiler
	ID      string            `json:"id"`
	Created time.Time         `json:"created"`
	Files   map[string]sealed `json:"files"`
}

// sealed is what a file was when the bundle was finished.
type sealed struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Bundle is the evidence of one run while it is written, under a name that nobody takes for a finished one.
type Bundle struct {
	root, id string
	partial  string
	manifest manifest
}

// Create begins a bundle for a run in root/runs. What is written to it is seen under its own name only after Finish.
func Create(root string, m history.Meta, at time.Time) (*Bundle, error) {
	runs := filepath.Join(root, "runs")
	if err := os.MkdirAll(runs, 0o755); err != nil {
		return nil, fmt.Errorf("create a bundle: %w", err)
	}
	base := at.UTC().Format("20060102-150405") + "-" + fileWord(m.Scenario) + "-" + fileWord(m.Dispatcher) + "-" + seed(m.Seed)
	for n := 1; ; n++ {
		b := &Bundle{root: root, id: numbered(base, n)}
		b.partial = filepath.Join(runs, ".partial-"+b.id)
		if _, err := os.Lstat(b.Path()); err == nil {
			continue
		}
		err := os.Mkdir(b.partial, 0o755)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("create a bundle: %w", err)
		}
		b.manifest = manifest{Format: bundleFormat, Version: m.Version, Machine: ThisMachine(), Created: at.UTC(), Files: map[string]sealed{}}
		return b, nil
	}
}

func numbered(base string, n int) string {
	if n == 1 {
		return base
	}
	return base + "-" + strconv.Itoa(n)
}

// ThisMachine is what can make the same program compute something else: the system, the processor and the compiler.
func ThisMachine() string { return runtime.GOOS + "/" + runtime.GOARCH + ", " + runtime.Version() }

// Path is where the bundle will be.
func (b *Bundle) Path() string { return filepath.Join(b.root, "runs", b.id) }

// WriteScenario keeps the scenario as it was run.
func (b *Bundle) WriteScenario(text []byte) error {
	return b.write(ScenarioFile, func(w io.Writer) error { _, err := w.Write(text); return err })
}

// WriteSettings keeps the settings, those that a command line changed included.
func (b *Bundle) WriteSettings(s dispatcher.Settings) error {
	return b.write(SettingsFile, func(w io.Writer) error { return yaml.NewEncoder(w).Encode(s) })
}

// WriteMade keeps what else the run is made from, if that is anything.
func (b *Bundle) WriteMade(m Made) error {
	if m.ordinary() {
		return nil
	}
	return b.write(MadeFile, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(m)
	})
}

// WriteHistory keeps the record. It is called before anything is judged: whatever becomes of the judgement,
// the evidence is there.
func (b *Bundle) WriteHistory(h *history.History) error {
	return b.write(HistoryFile, func(w io.Writer) error { return history.Encode(w, h) })
}

// WriteVerdict keeps what the checker said.
func (b *Bundle) WriteVerdict(r *Run) error {
	shown := *r
	shown.Bundle = b.Path()
	text, err := shown.VerdictJSON()
	if err != nil {
		return err
	}
	return b.write(VerdictFile, func(w io.Writer) error { _, err := w.Write(text); return err })
}

// WriteReport keeps the page.
func (b *Bundle) WriteReport(r *Run) error {
	shown := *r
	shown.Bundle = b.Path()
	return b.write(ReportFile, shown.WriteHTML)
}

// WriteSummary keeps the page's summary for a CI's step summary; none of a run that passed, which has nothing to tell there.
func (b *Bundle) WriteSummary(r *Run) error {
	shown := *r
	shown.Bundle = b.Path()
	s := SummaryOf(&shown)
	if s.Passed() {
		return nil
	}
	return b.write(SummaryFile, func(w io.Writer) error { return WriteMarkdown(w, []Summary{s}) })
}

// write makes one file and remembers what it was.
func (b *Bundle) write(name string, content func(io.Writer) error) (err error) {
	f, err := os.OpenFile(filepath.Join(b.partial, name), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer func() {
		if closed := f.Close(); err == nil && closed != nil {
			err = fmt.Errorf("write %s: %w", name, closed)
		}
	}()
	seal := newSeal()
	if err := content(io.MultiWriter(f, seal)); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := f.Chmod(0o644); err != nil { // whatever the umask: a CI reads it as another user
		return fmt.Errorf("write %s: %w", name, err)
	}
	b.manifest.Files[name] = seal.sealed()
	return nil
}

// seal measures what goes through it.
type seal struct {
	hash  interface{ Sum([]byte) []byte }
	to    io.Writer
	bytes int64
}

func newSeal() *seal {
	h := sha256.New()
	return &seal{hash: h, to: h}
}

func (s *seal) Write(p []byte) (int, error) {
	s.bytes += int64(len(p))
	return s.to.Write(p)
}

func (s *seal) sealed() sealed { return sealed{s.bytes, hex.EncodeToString(s.hash.Sum(nil))} }

// Finish gives the bundle its name, lets root/latest point at it, and returns its path.
func (b *Bundle) Finish() (string, error) {
	for base, n := b.id, 2; ; n++ {
		b.manifest.ID = b.id
		text, err := json.MarshalIndent(b.manifest, "", "  ")
		if err != nil {
			return "", fmt.Errorf("finish bundle %s: %w", b.id, err)
		}
		path := filepath.Join(b.partial, ManifestFile)
		if err := os.WriteFile(path, append(text, '\n'), 0o644); err != nil {
			return "", fmt.Errorf("finish bundle %s: %w", b.id, err)
		}
		err = os.Rename(b.partial, b.Path())
		if errors.Is(err, fs.ErrExist) { // somebody was faster
			b.id = numbered(base, n)
			continue
		}
		if err != nil {
			return "", fmt.Errorf("finish bundle %s: %w", b.id, err)
		}
		return b.Path(), b.pointLatest()
	}
}

// pointLatest replaces the link in one step: there is never none.
func (b *Bundle) pointLatest() error {
	fresh := filepath.Join(b.root, ".latest-"+b.id)
	if err := os.Symlink(filepath.Join("runs", b.id), fresh); err != nil {
		return fmt.Errorf("link the latest bundle: %w", err)
	}
	if err := os.Rename(fresh, filepath.Join(b.root, "latest")); err != nil {
		_ = os.Remove(fresh)
		return fmt.Errorf("link the latest bundle: %w", err)
	}
	return nil
}

// Discard removes an unfinished bundle.
func (b *Bundle) Discard() error {
	if err := os.RemoveAll(b.partial); err != nil {
		return fmt.Errorf("discard a bundle: %w", err)
	}
	return nil
}
