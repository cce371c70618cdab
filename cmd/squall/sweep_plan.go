package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"

	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/scenarios"
	"github.com/squall-chaos/squall/scenarios/experiment"
)

// sweepPlan is a comparison in one file, which is all that a shard needs: nothing else of the machine that made it.
type sweepPlan struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Command    string            `json:"command"` // the comparison that it is
	Shards     int               `json:"shards"`
	Dispatcher string            `json:"dispatcher"`
	FirstSeed  uint64            `json:"first_seed"`
	Seeds      int               `json:"seeds"`
	Baseline   int               `json:"baseline"`
	Sweep      []string          `json:"sweep,omitempty"`
	Points     int               `json:"points"`
	Refine     int               `json:"refine"`
	Prices     experiment.Prices `json:"prices"`
	Cases      int               `json:"cases"`
	Settings   []plannedCell     `json:"settings"`
	Scenarios  []plannedScenario `json:"scenarios"`
}

type plannedCell struct {
	Name      string   `json:"name"`
	Summary   string   `json:"summary,omitempty"`
	Source    string   `json:"source,omitempty"`
	Profile   string   `json:"profile,omitempty"`
	Settings  []string `json:"settings,omitempty"` // name=value
	SpotShare float64  `json:"spot_share"`
}

// plannedScenario is a scenario with the trace of its first run under the first settings: a program that makes another trace of it is
// another one, and its results would not belong with those of the others.
type plannedScenario struct {
	Name  string `json:"name"`
	Trace string `json:"trace"`
	Text  string `json:"text"`
}

const planKind = "Sweep"

// plan writes the study down.
func (s *study) plan(ctx context.Context, f *compareFlags, shards int) (*sweepPlan, error) {
	e := s.experiment
	p := &sweepPlan{APIVersion: scenarios.APIVersion, Kind: planKind, Command: s.command, Shards: shards, Dispatcher: e.System.Name, FirstSeed: e.From, Seeds: e.Count,
		Baseline: s.baseline, Sweep: f.sweeps, Points: f.points, Refine: f.refine, Prices: s.prices, Cases: s.cases}
	for _, c := range s.cells {
		one := plannedCell{Name: c.Name, Summary: c.Summary, Source: c.Source, Profile: c.Profile, SpotShare: c.SpotShare}
		for _, o := range c.Settings {
			one.Settings = append(one.Settings, o.String())
		}
		p.Settings = append(p.Settings, one)
	}
	for i, w := range e.Workloads {
		trace, err := s.probe(ctx, i)
		if err != nil {
			return nil, err
		}
		p.Scenarios = append(p.Scenarios, plannedScenario{w.Scenario.Name, trace, string(w.Text)})
	}
	return p, nil
}

// probe is the trace of a scenario's first run under the first settings.
func (s *study) probe(ctx context.Context, workload int) (string, error) {
	one := *s.experiment
	one.Workloads, one.Count, one.Store, one.Step = one.Workloads[workload:workload+1], 1, nil, nil
	seen, err := one.Run(ctx, s.cells[:1])
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%016x", seen[0][0].Trace), nil
}

func (p *sweepPlan) text() ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetIndent("", " ")
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(p)
	return b.Bytes(), err
}

// maxPlan keeps a wrong file, or a device, from being read into memory.
const maxPlan = 16 << 20

// readPlan reads a plan and makes the study of it again.
func readPlan(path string, workers int) (*sweepPlan, *study, error) {
	bad := func(format string, args ...any) error {
		return usage("%s: %s", path, fmt.Sprintf(format, args...))
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, usage("%s: there is no such file; `squall sweep plan` writes one", path)
	case err != nil:
		return nil, nil, bad("cannot be read: %v", cause(err))
	case !info.Mode().IsRegular() || info.Size() > maxPlan:
		return nil, nil, bad("is no plan of a sweep")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, bad("cannot be read: %v", cause(err))
	}
	p := &sweepPlan{}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(p); err != nil {
		return nil, nil, bad("%s is no plan of a sweep: %v", placeIn(text, decoder.InputOffset()), err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, nil, bad("%s there is something behind the plan", placeIn(text, decoder.InputOffset()))
	}
	if p.APIVersion != scenarios.APIVersion || p.Kind != planKind {
		return nil, nil, bad("expected apiVersion %s and kind %s, found %q and %q", scenarios.APIVersion, planKind, p.APIVersion, p.Kind)
	}
	s, err := p.study(workers)
	if err != nil {
		return nil, nil, bad("%v", err)
	}
	sum := sha256.Sum256(text)
	s.experiment.Build = "plan " + hex.EncodeToString(sum[:])
	return p, s, nil
}

// placeIn is a position in a text, as line:col.
func placeIn(text []byte, offset int64) string {
	before := text[:min(int(offset), len(text))]
	return fmt.Sprintf("%d:%d:", bytes.Count(before, []byte("\n"))+1, len(before)-bytes.LastIndexByte(before, '\n'))
}

func (p *sweepPlan) study(workers int) (*study, error) {
	system, ok := planted.Lookup(p.Dispatcher)
	switch {
	case !ok:
		return nil, fmt.Errorf("this build has no dispatcher %q", p.Dispatcher)
	case len(p.Settings) == 0 || len(p.Scenarios) == 0 || p.Baseline < 0 || p.Baseline >= len(p.Settings) || p.Shards < 1 || p.Seeds < 1 || p.Points < 2:
		return nil, errors.New("the plan is incomplete")
	}
	s := &study{baseline: p.Baseline, prices: p.Prices, cases: p.Cases, command: p.Command,
		experiment: &experiment.Experiment{System: system, World: simulation().open, From: p.FirstSeed, Count: p.Seeds, Workers: workers}}
	if workers < 1 {
		s.experiment.Workers = runtime.GOMAXPROCS(0)
	}
	for _, w := range p.Scenarios {
		scenario, err := scenarios.Parse(w.Name+".yaml", []byte(w.Text))
		if err != nil {
			return nil, err
		}
		s.experiment.Workloads = append(s.experiment.Workloads, experiment.Workload{Scenario: scenario, Text: []byte(w.Text)})
	}
	for _, c := range p.Settings {
		cell := experiment.Cell{Name: c.Name, Summary: c.Summary, Source: c.Source, Profile: c.Profile, SpotShare: c.SpotShare}
		for _, text := range c.Settings {
			o, err := scenarios.ParseOverride(text)
			if err != nil {
				return nil, fmt.Errorf("settings %s: %w", c.Name, err)
			}
			cell.Settings = append(cell.Settings, o)
		}
		s.cells = append(s.cells, cell)
	}
	if err := s.openSweep(&compareFlags{sweeps: p.Sweep, points: p.Points, refine: p.Refine}); err != nil {
		return nil, err
	}
	return s, s.sound()
}

// sameProgram refuses to add to a plan's results what another program would make.
func (p *sweepPlan) sameProgram(ctx context.Context, s *study) error {
	for i, w := range p.Scenarios {
		trace, err := s.probe(ctx, i)
		switch {
		case ctx.Err() != nil:
			return ended(exitInterrupted)
		case err != nil:
			return broken(err)
		case trace != w.Trace:
			return usage("this squall (%s) does something else under the same seed than the one that made the plan: scenario %s has trace %s, and had %s; "+
				"run all shards, and merge them, with the program that made the plan", thisBuild().recorded(), w.Name, trace, w.Trace)
		}
	}
	return nil
}

// allCells are the settings that the plan's shards run. Those that are added where the verdict flips are run by whoever merges.
func (s *study) allCells() []experiment.Cell {
	if s.sweep == nil {
		return s.cells
	}
	return s.sweep.Cells(s.cells, s.experiment)
}
