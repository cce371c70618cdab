// Package reports turns judged runs into what people and machines read: the bundle on disk, text,
// JSON, JUnit XML, Markdown, and HTML that needs neither network nor script.
package reports

import (
	"bytes"
	"slices"
	"time"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/scenarios"
	"github.com/squall-chaos/squall/scenarios/causes"
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
	// Expected is the verdict that the scenario expects; empty: it expects none of this dispatcher, or only of more seeds.
	Expected Verdict
	// Unmet lists what else of the expectation did not come out, in the runs that this one was kept from.
	Unmet []string
	// Interrupted: somebody stopped the run at Virtual. What was recorded until then was judged.
	Interrupted bool
	RecordedBy  string // the version of Squall that wrote the bundle; empty: the run is not from one
	RecordedOn  string // the machine that wrote the bundle: see ThisMachine; empty: not known
	Bundle      string // where the bundle lies; empty: none was written
	// Live: in its world time is real, and no seed makes the run again.
	Live bool
	Made Made
	// Fitted lists what of the scenario was changed to fit the world.
	Fitted []string
	// Matters is what squall explain found out about the failure, and Minimal what squall shrink made of it. Both may be nil.
	Matters *causes.Explanation
	Minimal *Minimal
	Control *Run // the same scenario and seed under a dispatcher that passes; may be nil
}

// Made is what a run was made from besides its scenario, settings and seed.
type Made struct {
	Scale scenarios.Scale `json:"scale"`
	// Plan, when set, took the place of the faults that the seed would have drawn.
	Plan faults.Plan `json:"plan,omitempty"`
	// Order is how events were ordered that fell close together, unless the seed did.
	Order clusters.Order `json:"order,omitzero"`
	// Witness says what is weaker about the witnesses of executions than in other worlds; empty: nothing.
	Witness string `json:"witness,omitempty"`
}

func (m Made) ordinary() bool {
	return !m.Scale.Changes() && m.Plan == nil && m.Order.Strategy == clusters.Random
}

// Verdict is the run's verdict, a failure of the harness included. A run that was interrupted is not valid: whether what it
// left would have come to an end was not seen.
func (r *Run) Verdict() Verdict {
	if r.Err != nil {
		return Broken
	}
	switch r.Judged {
	case checker.Valid:
		if r.Interrupted {
			return Unknown
		}
		return Valid
	case checker.Invalid:
		return Invalid
	}
	return Unknown
}

// AsExpected tells whether everything came out as the scenario says; where it says nothing, valid is wanted.
func (r *Run) AsExpected() bool { return asExpected(r.Verdict(), r.Expected, r.Unmet) }

// asExpected is the rule for one run and for many.
func asExpected(got, wanted Verdict, unmet []string) bool {
	if wanted == "" {
		wanted = Valid
	}
	return got != Broken && len(unmet) == 0 && got == wanted
}

// exitInterrupted is 128 + SIGINT, as shells have it.
const exitInterrupted = 130

// ExitCode is what a command that made the run exits with: an unmet expectation is a finding, whatever the verdict.
func (r *Run) ExitCode() int {
	switch v := r.Verdict(); {
	case r.Interrupted:
		return exitInterrupted
	case v == Valid && len(r.Unmet) > 0:
		return Invalid.ExitCode()
	default:
		return v.ExitCode()
	}
}

// Headline is the verdict in words, with what was expected where only that makes the run a finding.
func Headline(got, wanted Verdict, unmet []string) string {
	if got != Valid || len(unmet) == 0 {
		return string(got)
	}
	text := "not as expected: " + string(got)
	if wanted != "" && wanted != got {
		text += ", expected " + string(wanted)
	}
	return text
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

// Replay is the command that makes the run again; for a live one, the command that judges it again, if there is a bundle.
func (r *Run) Replay() string {
	switch {
	case r.Live && r.Bundle != "":
		return "squall check " + shellWord(r.Bundle)
	case r.Live:
		return ""
	}
	if r.Bundle != "" {
		return "squall replay " + shellWord(r.Bundle)
	}
	return r.command()
}

// Rerun is the command that makes the run again without its bundle; empty when that takes more than names: a scenario or
// settings that are not the library's.
func (r *Run) Rerun() string {
	m := r.record().Meta
	if r.Live && r.Bundle != "" {
		return "squall run --world sim --faults-from " + shellWord(r.Bundle)
	}
	if !r.Made.ordinary() {
		return ""
	}
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
