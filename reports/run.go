// Package reports turns judged runs into what people and machines read: the bundle on disk, text,
// JSON, JUnit XML, Markdown, and HTML that needs neither network nor script.
package reports

import (
	"bytes"
	"slices"
	"time"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/scenarios"
)

// Verdict is the outcome of a run, or of many.
type Verdict string

// The verdicts. Broken is a failure of the harness itself, which says nothing about the dispatcher.
const (
	Valid   Verdict = "valid"
	Invalid Verdict = "invalid"
	Unknown Verdict = "unknown"
	Broken  Verdict = "broken"
)

// ExitCode is what a command that produced the verdict exits with.
func (v Verdict) ExitCode() int {
	switch v {
	case Valid:
		return 0
	case Invalid:
		return 1
	case Unknown:
		return 3
	}
	return 4
}

// weight orders verdicts by how much they matter when several are merged: one invalid run settles it,
// whatever else could not be decided; a harness that broke casts doubt on all the rest.
func (v Verdict) weight() int {
	switch v {
	case Valid:
		return 1
	case Unknown:
		return 2
	case Broken:
		return 3
	case Invalid:
		return 4
	}
	return 0
}

// Worse returns the weightier of two verdicts; the empty one weighs nothing.
func (v Verdict) Worse(other Verdict) Verdict {
	if other.weight() > v.weight() {
		return other
	}
	return v
}

// Run is one judged run, as far as a report needs it. It is made from what package scenarios
// returns, so that reports can also be made of bundles that an older run left behind.
type Run struct {
	History *history.History
	Report  checker.Report
	// Judged is the verdict, less the violations of the invariants that the scenario tolerates.
	Judged    checker.Verdict
	Tolerated []string
	Settings  dispatcher.Settings
	Virtual   time.Duration
	Wall      time.Duration
	Err       error  // the harness failed
	Scenario  []byte // the scenario file
	About     string // the scenario's own sentence about itself
	Expected  Verdict
	Bundle    string // where the bundle lies; empty: none was written
	Control   *Run   // the same scenario and seed under a dispatcher that passes; may be nil
}

// Verdict is the run's verdict, a failure of the harness included.
func (r *Run) Verdict() Verdict {
	if r.Err != nil {
		return Broken
	}
	switch r.Judged {
	case checker.Valid:
		return Valid
	case checker.Invalid:
		return Invalid
	}
	return Unknown
}

// record is the history; an empty one when the harness failed before there was any.
func (r *Run) record() *history.History {
	if r.History == nil {
		return &history.History{}
	}
	return r.History
}

// First is the violation that the report is about: the earliest fatal one, else the earliest that is
// tolerated, else nil.
func (r *Run) First() *checker.Violation {
	for i := range r.Report.Violations {
		if v := &r.Report.Violations[i]; !r.tolerates(v.Invariant) {
			return v
		}
	}
	return r.Report.First()
}

func (r *Run) tolerates(invariant string) bool { return slices.Contains(r.Tolerated, invariant) }

// Replay is the command that makes the run again.
func (r *Run) Replay() string {
	if r.Bundle != "" {
		return "squall replay " + shellWord(r.Bundle)
	}
	return r.command()
}

// Rerun is the command that makes the run again without its bundle; empty when that takes more than names: a scenario or
// settings that are not the library's.
func (r *Run) Rerun() string {
	m := r.record().Meta
	text, ok := scenarios.LibraryFile(m.Scenario)
	if !ok || (len(r.Scenario) > 0 && !bytes.Equal(text, r.Scenario)) || !r.ordinarySettings() {
		return ""
	}
	return r.command()
}

// ordinarySettings tells whether the run had the settings that its scenario and dispatcher have by themselves.
func (r *Run) ordinarySettings() bool {
	m := r.record().Meta
	s, err := scenarios.Find(m.Scenario)
	if err != nil {
		return false
	}
	settings, err := s.DispatcherSettings()
	if system, ok := planted.Lookup(m.Dispatcher); ok && system.Settings != nil {
		settings = system.Settings(settings)
	}
	return err == nil && settings == r.Settings
}

func (r *Run) command() string {
	m := r.record().Meta
	if m.Scenario == "" {
		return ""
	}
	return "squall run " + shellWord(m.Scenario) + " --dispatcher " + shellWord(m.Dispatcher) +
		" --world " + shellWord(m.World) + " --seed " + seed(m.Seed)
}
