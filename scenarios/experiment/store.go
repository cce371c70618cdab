package experiment

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Store keeps observations by the content of what they are of: the program, the scenario's text, the dispatcher, the settings and the
// machines. Each batch is a file of its own, written whole or not at all, so that any number of processes may share a store, and
// stores of several machines are merged by copying their files into one.
type Store struct {
	Dir string
	// Also are directories that are read only: the stores of shards.
	Also []string
}

// formatOfStore is raised when observations change.
const formatOfStore = 1

// key names what a set of observations is of.
func (e *Experiment) key(c Cell, workload int) string {
	w := e.Workloads[workload]
	s := c.Scenario(w.Scenario)
	settings, err := s.DispatcherSettings()
	if err != nil {
		settings.HTTPTimeout = -1 // a run with it fails, and nothing is kept
	}
	text, err := json.Marshal(struct {
		Format                  int
		Build, System, Scenario string
		Settings                any
		Nodes                   any
	}{formatOfStore, e.Build, e.System.Name, string(w.Text), settings, s.Nodes})
	if err != nil {
		panic(err) // plain values
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// load reads all observations of a key. A file that is damaged is as good as missing: its seeds are run again.
func (s *Store) load(key string) (map[uint64]Observation, error) {
	known := map[uint64]Observation{}
	for _, dir := range append([]string{s.Dir}, s.Also...) {
		entries, err := os.ReadDir(filepath.Join(dir, key))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read kept results: %w", err)
		}
		for _, entry := range entries {
			if strings.HasPrefix(entry.Name(), ".") || !strings.HasSuffix(entry.Name(), ".jsonl") {
				continue
			}
			data, err := os.ReadFile(filepath.Join(dir, key, entry.Name()))
			if err != nil {
				return nil, fmt.Errorf("read kept results: %w", err)
			}
			some, ok := decode(data)
			if !ok {
				continue
			}
			for _, o := range some {
				known[o.Seed] = o
			}
		}
	}
	return known, nil
}

// decode reads one file: a line per observation, and last the hash of all that stands before it.
func decode(data []byte) ([]Observation, bool) {
	end := bytes.LastIndexByte(bytes.TrimRight(data, "\n"), '\n') + 1
	if strings.TrimSpace(string(data[end:])) != seal(data[:end]) {
		return nil, false
	}
	var all []Observation
	lines := bufio.NewScanner(bytes.NewReader(data[:end]))
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var o Observation
		if json.Unmarshal(lines.Bytes(), &o) != nil {
			return nil, false
		}
		all = append(all, o)
	}
	return all, lines.Err() == nil
}

func seal(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// save writes a batch.
func (s *Store) save(key string, some []Observation) error {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	for _, o := range some {
		if err := encoder.Encode(o); err != nil {
			return fmt.Errorf("keep results: %w", err)
		}
	}
	b.WriteString(seal(b.Bytes()) + "\n")
	dir := filepath.Join(s.Dir, key)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("keep results: %w", err)
	}
	f, err := os.CreateTemp(dir, ".batch-*")
	if err != nil {
		return fmt.Errorf("keep results: %w", err)
	}
	_, err = f.Write(b.Bytes())
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, fmt.Sprintf("%d-%d.jsonl", some[0].Seed, len(some))))
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("keep results: %w", err)
	}
	return nil
}
