package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/squall-chaos/squall/scenarios"
)

// journal is the state of runs over many seeds: what all seeds that are over came to, and nothing of any of them but its verdict, so
// that a million takes no more room than a thousand. A nil journal keeps nothing.
type journal struct {
	path    string
	file    journalFile
	saved   time.Time
	current *journalRun
	seeds   *watch
}

// journalFormat is the version of the file; a reader takes no other.
const journalFormat = 1

// saveEvery is how much work at most is lost when the process is killed.
const saveEvery = 2 * time.Second

type journalFile struct {
	Format int           `json:"squall_journal"`
	Runs   []*journalRun `json:"runs"`
}

// journalRun is one scenario against one dispatcher.
type journalRun struct {
	Scenario   string `json:"scenario"`
	Dispatcher string `json:"dispatcher"`
	World      string `json:"world"`
	// Made is a hash over the scenario's file, the settings and the scale.
	Made string `json:"made"`
	From uint64 `json:"from"`

	First    trace   `json:"first"`
	Doubtful trace   `json:"doubtful"`
	Failing  []trace `json:"failing"`
	Tally    tallied `json:"tally"`
}

// tallied is a tally as it is written.
type tallied struct {
	Seeds      int            `json:"seeds"`
	Valid      int            `json:"valid"`
	Invalid    []uint64       `json:"invalid"`
	Unknown    []uint64       `json:"unknown"`
	Failed     []string       `json:"failed"`
	Violations map[string]int `json:"violations"`
	Exercised  map[string]int `json:"exercised"`
	Unmet      []string       `json:"unmet"`
	TraceHash  uint64         `json:"trace_hash,string"`
	Virtual    time.Duration  `json:"virtual_ns"`
	Wall       time.Duration  `json:"wall_ns"`
}

// openJournal reads the file, if it is there, and makes sure that it is of the same runs. No path is no journal.
func openJournal(path string, jobs []job) (*journal, error) {
	if path == "" {
		return nil, nil
	}
	for _, j := range jobs {
		if j.world.live {
			return nil, usage("--resume: no seed makes a run in world %s again, so there is nothing to go on from", j.world.name)
		}
	}
	w := &journal{path: path, file: journalFile{Format: journalFormat}}
	if there, err := readState(path, "a run", &w.file); err != nil || !there {
		return w, err
	}
	if w.file.Format != journalFormat {
		return nil, usage("--resume %s: written in format %d, this squall reads format %d; name another file, and one is begun", path, w.file.Format, journalFormat)
	}
	for _, j := range jobs {
		r, err := w.runOf(j)
		if err == nil && r != nil {
			err = w.sameProgram(r, j)
		}
		if err != nil {
			return nil, err
		}
	}
	return w, nil
}

// readState reads what --resume is to go on from, and tells whether it is there. If it is not, it can be written.
func readState(path, of string, state any) (bool, error) {
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := writable(filepath.Dir(path)); err != nil {
			return false, usage("--resume: %w", err)
		}
		return false, nil
	case err != nil:
		return false, usage("--resume %s: %w", path, cause(err))
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(state); err != nil {
		return false, usage("--resume %s: not the state of %s: %w; name another file, and one is begun", path, of, err)
	}
	return true, nil
}

// runOf is the job's state; nil: there is none yet. The error says in what a run of the same name differs.
func (w *journal) runOf(j job) (*journalRun, error) {
	for _, r := range w.file.Runs {
		if r.Scenario != j.scenario.Name || r.Dispatcher != j.system.Name || r.World != j.world.name {
			continue
		}
		made, err := j.fingerprint()
		if err != nil {
			return nil, err
		}
		switch {
		case r.Made != made:
			return nil, usage("--resume %s: scenario %s has another text, other settings or another scale now: seeds of two different runs do not add up; name another file, and one is begun", w.path, r.Scenario)
		case r.From != j.from:
			return nil, usage("--resume %s: it begins with seed %d of %s: give --from %d, or name another file", w.path, r.From, r.Scenario, r.From)
		}
		if r.Tally.Seeds > j.count {
			return nil, usage("--resume %s: %d seeds of %s are over already: ask for as many or more with --seeds", w.path, r.Tally.Seeds, r.Scenario)
		}
		return r, nil
	}
	return nil, nil
}

// fingerprint tells whether two jobs are made from the same.
func (j job) fingerprint() (string, error) {
	settings, err := j.scenario.DispatcherSettings()
	if err != nil {
		return "", err
	}
	made, err := json.Marshal(j.made())
	if err != nil {
		return "", broken(err)
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%d\n%s\n%+v\n%s", len(j.text), j.text, settings, made)
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// resume lets the seeds go on from where the journal is, and keeps their state from now on.
func (w *journal) resume(m *scenarios.Many, j job, seeds *watch, p *progress) error {
	if w == nil {
		return nil
	}
	r, err := w.runOf(j)
	if err != nil {
		return err
	}
	if r == nil {
		made, err := j.fingerprint()
		if err != nil {
			return err
		}
		r = &journalRun{Scenario: j.scenario.Name, Dispatcher: j.system.Name, World: j.world.name, Made: made, From: j.from}
		w.file.Runs = append(w.file.Runs, r)
	}
	if done := r.Tally.Seeds; done > 0 {
		after := r.Tally.restored(j)
		m.After, m.From, m.Count = &after, m.From+uint64(done), m.Count-done
		seeds.first, seeds.doubtful, seeds.failing = r.First, r.Doubtful, r.Failing
		p.skip(done)
	}
	w.current, w.seeds = r, seeds
	m.Checkpoint = w.checkpoint
	return nil
}

// sameProgram runs the first seed once more: its trace tells whether this program does the same as the one before, which no version does.
func (w *journal) sameProgram(r *journalRun, j job) error {
	if !r.First.Seen {
		return nil
	}
	o := j.options()
	o.Seed = r.First.Seed
	again := scenarios.Run(context.Background(), j.scenario, o)
	if again.Err != nil || again.History == nil {
		return fmt.Errorf("--resume %s: seed %d cannot be run again: %w", w.path, r.First.Seed, again.Err)
	}
	if again.History.Meta.TraceHash != r.First.Hash {
		return usage("--resume %s: seed %d of %s had the trace %016x, and this squall makes %016x of it: it is another program, and seeds of two programs do not add up; name another file, and one is begun",
			w.path, r.First.Seed, r.Scenario, r.First.Hash, again.History.Meta.TraceHash)
	}
	return nil
}

// checkpoint takes over what is over so far, and now and then writes it.
func (w *journal) checkpoint(t scenarios.Tally) {
	w.current.Tally = written(t)
	w.current.First, w.current.Doubtful, w.current.Failing = w.seeds.first, w.seeds.doubtful, w.seeds.failing
	if time.Since(w.saved) >= saveEvery {
		_ = w.save() // the last one tells
	}
}

// save writes the file, whole or not at all.
func (w *journal) save() error {
	if w == nil {
		return nil
	}
	w.saved = time.Now()
	return writeFile(w.path, func(f *os.File) error { return json.NewEncoder(f).Encode(w.file) })
}

func written(t scenarios.Tally) tallied {
	s := tallied{Seeds: t.Seeds, Valid: t.Valid, Invalid: t.Invalid, Unknown: t.Unknown, Violations: t.Violations, Exercised: t.Exercised,
		Unmet: t.Unmet, TraceHash: t.TraceHash, Virtual: t.Virtual, Wall: t.Wall}
	for _, err := range t.Failed {
		s.Failed = append(s.Failed, err.Error())
	}
	return s
}

func (s tallied) restored(j job) scenarios.Tally {
	t := scenarios.Tally{Scenario: j.scenario.Name, Dispatcher: j.system.Name, Seeds: s.Seeds, Valid: s.Valid, Invalid: s.Invalid, Unknown: s.Unknown,
		Violations: s.Violations, Exercised: s.Exercised, Unmet: s.Unmet, TraceHash: s.TraceHash, Virtual: s.Virtual, Wall: s.Wall}
	for _, text := range s.Failed {
		t.Failed = append(t.Failed, errors.New(text))
	}
	return t
}
