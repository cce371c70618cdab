// Package record opens the journal that a program keeps of itself when it is asked to.
package record

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/squall-chaos/squall/clusters/journal"
)

// Open makes the journal of one life of a process in the directory; life tells it from others of that name. A program that
// cannot write its first line is not to start. The first line that fails later is told to failed; the program goes on, for a full
// disk must not change what it does, and whoever reads the record sees that it has no end.
func Open(directory, process, life string, failed func(error)) (*journal.Recorder, error) {
	name := strings.ReplaceAll(process+"-"+life, "/", "-") + ".jsonl"
	file, err := os.OpenFile(filepath.Join(directory, name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("keep a record: %w; is the directory there, and may user %d write in it?", err, os.Geteuid())
	}
	r := journal.NewRecorder(&watched{to: file, failed: failed}, process)
	if err := r.Err(); err != nil {
		return nil, err
	}
	return r, nil
}

// watched is a file whose first failure is told.
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
