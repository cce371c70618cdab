// Package record opens the journal that a program keeps of itself when it is asked to: in a file, or where nobody can read a machine's
// files, in a table of Postgres.
package record

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/squall-chaos/squall/clusters/journal"
	"github.com/squall-chaos/squall/clusters/journal/deposit"
	"github.com/squall-chaos/squall/dispatcher/kube/environment"
)

// Place is where a journal is kept. The zero Place is nowhere.
type Place struct {
	Directory string
	URL       string // of a Postgres; it may hold a password
}

// Read takes the place from the environment.
func Read(r *environment.Reader) Place {
	p := Place{Directory: r.Optional(environment.Record, "")}
	if r.Optional(environment.RecordURL, "") != "" {
		p.URL = r.Secret(environment.RecordURL, "a Postgres URL", func(url string) error {
			_, err := deposit.NewWriter(url, "")
			return err
		})
	}
	return p
}

// Nowhere tells that no journal is asked for.
func (p Place) Nowhere() bool { return p == Place{} }

// Open makes the journal of one life of a process; life tells it from others of that name. A program that
// cannot write its first line is not to start. The first line that fails later is told to failed; the program goes on, for a full
// disk must not change what it does, and whoever reads the record sees that it has no end.
func (p Place) Open(process, life string, failed func(error)) (*journal.Recorder, error) {
	to, err := p.open(process, life)
	if err != nil {
		return nil, err
	}
	r := journal.NewRecorder(&watched{to: to, failed: failed}, process)
	if err := r.Err(); err != nil {
		return nil, err
	}
	return r, nil
}

func (p Place) open(process, life string) (io.Writer, error) {
	if p.URL != "" {
		return deposit.NewWriter(p.URL, process+"/"+life)
	}
	name := strings.ReplaceAll(process+"-"+life, "/", "-") + ".jsonl"
	file, err := os.OpenFile(filepath.Join(p.Directory, name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("keep a record: %w; is the directory there, and may user %d write in it?", err, os.Geteuid())
	}
	return file, nil
}

// watched is a place whose first failure is told.
type watched struct {
	to     io.Writer
	once   sync.Once
	failed func(error)
}

func (w *watched) Write(line []byte) (int, error) {
	n, err := w.to.Write(line)
	if err != nil {
		w.once.Do(func() { w.failed(fmt.Errorf("keep a record: %w", err)) })
	}
	return n, err
}
