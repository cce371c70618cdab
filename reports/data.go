package reports

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/checker/history"
)

// Sizes of what a page carries along. Base64 adds a third.
const (
	plainMost  = 384 << 10 // a history up to this size is embedded as it is
	packedMost = 900 << 10 // a larger one compressed, up to this size; beyond it only the slice of the scene's task
)

// dataSection is what can be taken out of the page.
type dataSection struct {
	Downloads []download
	JSON      string // the verdict, for programs that read the page
	Scenario  string
	Sliced    bool
}

// download is a file inside the page.
type download struct {
	Name, About string
	Size        int
	Link        template.URL
}

// verdictFile is verdict.json: the truth for machines, whatever exit code a wrapper hides.
//
// verdict is the run's own: valid, invalid, unknown or broken. exit_code is what the process that made the run exits with:
// the verdict's, but 1 when the verdict is valid and an expectation is unmet, and 130 when the run was interrupted.
// as_expected tells whether everything came out as the scenario says (where it says nothing, valid is wanted), and unmet
// lists what did not. interrupted: the run was stopped at virtual_seconds, and judged as far as it came; it is never valid.
type verdictFile struct {
	Verdict     Verdict                   `json:"verdict"`
	ExitCode    int                       `json:"exit_code"`
	AsExpected  bool                      `json:"as_expected"`
	Unmet       []string                  `json:"unmet"`
	Interrupted bool                      `json:"interrupted"`
	Scenario    string                    `json:"scenario"`
	Dispatcher  string                    `json:"dispatcher"`
	World       string                    `json:"world"`
	Seed        uint64                    `json:"seed"`
	Version     string                    `json:"version"`
	TraceHash   string                    `json:"trace_hash"`
	Virtual     float64                   `json:"virtual_seconds"`
	Wall        float64                   `json:"wall_seconds"`
	Live        bool                      `json:"live,omitempty"`           // time was real: virtual_seconds is how long the run took
	Scale       float64                   `json:"scale,omitempty"`          // every time of the scenario was divided by it
	Fitted      []string                  `json:"fitted,omitempty"`         // what else was changed to fit the world
	Witness     string                    `json:"second_witness,omitempty"` // what is weaker about it than in other worlds
	About       string                    `json:"about,omitempty"`
	Expected    Verdict                   `json:"expected,omitempty"`
	Judged      checker.Verdict           `json:"report_verdict"` // by the checker, whatever the scenario tolerates
	Story       string                    `json:"story"`
	Replay      string                    `json:"replay"`
	Tolerated   []string                  `json:"tolerated"`
	Violations  []checker.Violation       `json:"violations"`
	Invariants  []checker.InvariantResult `json:"invariants"`
	Error       string                    `json:"error,omitempty"`
}

// VerdictJSON is the content of verdict.json.
func (r *Run) VerdictJSON() ([]byte, error) {
	m := r.record().Meta
	file := verdictFile{Verdict: r.Verdict(), ExitCode: r.ExitCode(), AsExpected: r.AsExpected(), Unmet: notNil(r.Unmet),
		Interrupted: r.Interrupted, Scenario: m.Scenario, Dispatcher: m.Dispatcher,
		World: m.World, Seed: m.Seed, Version: m.Version, TraceHash: hash(m.TraceHash), Virtual: r.Virtual.Seconds(),
		Wall: r.Wall.Seconds(), About: r.About, Expected: r.Expected, Judged: r.Report.Verdict,
		Story: r.Story(), Replay: r.Replay(), Tolerated: notNil(r.Tolerated),
		Violations: notNil(r.Report.Violations), Invariants: notNil(r.Report.Invariants)}
	file.Live, file.Fitted, file.Witness = r.Live, r.Fitted, r.Made.Witness
	if r.Made.Scale.Changes() {
		file.Scale = r.Made.Scale.Factor
	}
	if r.Err != nil {
		file.Error = r.Err.Error()
	}
	text, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the verdict: %w", err)
	}
	return append(text, '\n'), nil
}

// notNil makes an empty list print as [] rather than null.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func (s *scene) data() (dataSection, error) {
	verdict, err := s.run.VerdictJSON()
	if err != nil {
		return dataSection{}, err
	}
	section := dataSection{JSON: string(verdict), Scenario: string(s.run.Scenario)}
	section.Downloads = append(section.Downloads, newDownload("verdict.json", "verdict, violations and invariants", "application/json", verdict))
	record, sliced, err := s.embeddedHistory()
	if err != nil {
		return section, err
	}
	section.Sliced = sliced
	section.Downloads = append(section.Downloads, record)
	if len(s.run.Scenario) > 0 {
		section.Downloads = append(section.Downloads, newDownload("scenario.yaml", "the scenario as it was run", "application/yaml", s.run.Scenario))
	}
	return section, nil
}

// embeddedHistory is the whole record if it is small enough, else the part about the scene's task.
func (s *scene) embeddedHistory() (download, bool, error) {
	var text bytes.Buffer
	if err := history.Encode(&text, s.h); err != nil {
		return download{}, false, fmt.Errorf("encode the history: %w", err)
	}
	if text.Len() <= plainMost {
		return newDownload("history.jsonl", "every call and event", "application/jsonl", text.Bytes()), false, nil
	}
	packed, err := pack(text.Bytes())
	if err != nil {
		return download{}, false, err
	}
	if len(packed) <= packedMost {
		return newDownload("history.jsonl.gz", "every call and event, compressed", "application/gzip", packed), false, nil
	}
	text.Reset()
	if err := history.Encode(&text, s.slice()); err != nil {
		return download{}, false, fmt.Errorf("encode the history of %s: %w", s.taskName(), err)
	}
	if packed, err = pack(text.Bytes()); err != nil {
		return download{}, false, err
	}
	return newDownload("history-"+fileWord(s.taskName())+".jsonl.gz", "calls and events of "+s.taskName()+" only, compressed", "application/gzip", packed), true, nil
}

// slice is the part of the history that concerns the scene's task or no task at all.
func (s *scene) slice() *history.History {
	part := *s.h
	part.Operations, part.Events = nil, nil
	for _, o := range s.h.Operations {
		if s.taskOf(&o) == s.task || o.Task == 0 && !routine(o) {
			part.Operations = append(part.Operations, o)
		}
	}
	for _, e := range s.h.Events {
		if e.Task == s.task || e.Task == 0 {
			part.Events = append(part.Events, e)
		}
	}
	return &part
}

func pack(text []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.DefaultCompression)
	if err != nil {
		return nil, fmt.Errorf("compress the history: %w", err)
	}
	if _, err := w.Write(text); err != nil {
		return nil, fmt.Errorf("compress the history: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("compress the history: %w", err)
	}
	return out.Bytes(), nil
}

// newDownload makes a link that needs no server. The content is ours and base64, so the URL is safe.
func newDownload(name, about, mediaType string, content []byte) download {
	return download{Name: name, About: about, Size: len(content),
		Link: template.URL("data:" + mediaType + ";base64," + base64.StdEncoding.EncodeToString(content))}
}

// SizeWord writes the size as people say it.
func (d download) SizeWord() string {
	if d.Size < 1024 {
		return count(d.Size, "byte", "bytes")
	}
	return fmt.Sprintf("%.0f KB", float64(d.Size)/1024)
}
