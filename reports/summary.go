package reports

import (
	"maps"
	"slices"
	"time"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/scenarios"
)

// Summary is what became of one scenario against one dispatcher, under any number of seeds.
type Summary struct {
	Scenario, Dispatcher, World string

	Seeds, Valid, Invalid, Unknown, Broken int

	// FirstInvalid is the lowest invalid seed; nil: there is none.
	FirstInvalid *uint64
	Violations   map[string]int // by invariant: under how many seeds it was violated
	Exercised    map[string]int // by invariant: how often it was put to the test, over all seeds
	Tolerated    []string       // invariants whose violation the scenario tolerates
	// TraceHash is that of the only seed, or all of them folded.
	TraceHash uint64
	Virtual   time.Duration
	Wall      time.Duration
	Failures  []string // of the harness

	// Expected is the verdict that should come out; empty: any. Unmet says what else of the
	// scenario's expectations did not.
	Expected Verdict
	Unmet    []string
	// Group is a heading to be listed under, as "reference" or "defect"; may be empty.
	Group string
	// Kill is what became of a planted defect, when the result is of a hunt for one.
	Kill *Kill
	// Suite: the result is part of a suite, where an expected failure is a pass; by itself it is a failure.
	Suite bool
	// Moods are the runs in a real cluster that were valid and not as expected, of several: the result is flaky, which is told wherever it stands.
	Moods []Mood
	// Known: a baseline has the failure, so that it does not count.
	Known bool
	// Interrupted: not everything was run, or not to its end.
	Interrupted bool

	// What the run worth reading says: see Show.
	Seed           uint64
	Story          string
	Case           string // its minimal timeline in Mermaid
	Minimal        string // the command that runs the minimal scenario, whose timeline Case is then; empty: nobody has shrunk it
	Bundle, Report string // paths; empty: none
	Replay         string
	// Live: Replay judges the record again, since no seed makes the run again.
	Live bool
}

// Summarize takes over what package scenarios counted.
func Summarize(t scenarios.Tally, world string) Summary {
	s := Summary{Scenario: t.Scenario, Dispatcher: t.Dispatcher, World: world, Seeds: t.Seeds, Valid: t.Valid,
		Invalid: len(t.Invalid), Unknown: len(t.Unknown), Broken: len(t.Failed), Violations: maps.Clone(t.Violations),
		Exercised: maps.Clone(t.Exercised), Tolerated: t.Tolerated, TraceHash: t.TraceHash, Virtual: t.Virtual, Wall: t.Wall, Unmet: t.Unmet,
		Interrupted: t.Interrupted}
	if len(t.Invalid) > 0 {
		first := slices.Min(t.Invalid)
		s.FirstInvalid = &first
	}
	for _, err := range t.Failed {
		s.Failures = append(s.Failures, err.Error())
	}
	return s
}

// SummaryOf is the summary of a single run.
func SummaryOf(r *Run) Summary {
	m := r.record().Meta
	s := Summary{Scenario: m.Scenario, Dispatcher: m.Dispatcher, World: m.World, Seeds: 1, Violations: map[string]int{}, Exercised: map[string]int{},
		Tolerated: r.Tolerated, TraceHash: m.TraceHash, Virtual: r.Virtual, Wall: r.Wall, Expected: r.Expected,
		Unmet: r.Unmet, Interrupted: r.Interrupted}
	for _, i := range r.Report.Invariants {
		s.Exercised[i.Name] += i.Exercised
		if i.Verdict == checker.Invalid {
			s.Violations[i.Name]++
		}
	}
	switch r.Verdict() {
	case Valid:
		s.Valid = 1
	case Invalid:
		s.Invalid, s.FirstInvalid = 1, &m.Seed
	case Unknown:
		s.Unknown = 1
	default:
		s.Broken, s.Failures = 1, []string{r.Err.Error()}
	}
	s.Show(r)
	return s
}

// Show makes r the run that the summary tells of.
func (s *Summary) Show(r *Run) {
	scene := setScene(r)
	s.Seed, s.Story, s.Case = r.record().Meta.Seed, scene.story(), scene.mermaid()
	s.Bundle, s.Replay, s.Live = r.Bundle, r.Replay(), r.Live
}

// again is the command to look into the shown run once more, with what it does.
func (s Summary) again() string {
	if s.Live {
		return "judge again: " + s.Replay
	}
	return "replay: " + s.Replay
}

// Verdict is the merged verdict of all seeds: one invalid seed settles it; none at all is unknown, and so are seeds that
// were all valid until somebody interrupted them.
func (s Summary) Verdict() Verdict {
	switch {
	case s.Invalid > 0:
		return Invalid
	case s.Broken > 0:
		return Broken
	case s.Unknown > 0 || s.Valid == 0 || s.Interrupted:
		return Unknown
	}
	return Valid
}

// AsExpected tells whether everything came out as it should.
func (s Summary) AsExpected() bool {
	return s.Broken == 0 && asExpected(s.Verdict(), s.Expected, s.Unmet)
}

// Passed tells whether a test of it passes: as expected and, but in a suite, valid. An exit status of 0 says the same.
func (s Summary) Passed() bool { return s.AsExpected() && (s.Suite || s.Verdict() == Valid) }

// Merge joins two summaries of the same scenario and dispatcher over different seeds. The order does not matter.
func (s Summary) Merge(o Summary) Summary {
	if s.FirstInvalid == nil || o.FirstInvalid != nil && *o.FirstInvalid < *s.FirstInvalid {
		shown := o
		if o.FirstInvalid == nil && s.Story != "" {
			shown = s
		}
		s.FirstInvalid = o.FirstInvalid
		s.Seed, s.Story, s.Case, s.Bundle, s.Report, s.Replay = shown.Seed, shown.Story, shown.Case, shown.Bundle, shown.Report, shown.Replay
	}
	s.Seeds, s.Valid, s.Invalid, s.Unknown, s.Broken = s.Seeds+o.Seeds, s.Valid+o.Valid, s.Invalid+o.Invalid, s.Unknown+o.Unknown, s.Broken+o.Broken
	s.Violations, s.Exercised = added(s.Violations, o.Violations), added(s.Exercised, o.Exercised)
	s.TraceHash += o.TraceHash // addition commutes
	s.Virtual, s.Wall = s.Virtual+o.Virtual, s.Wall+o.Wall
	s.Failures = append(slices.Clone(s.Failures), o.Failures...)
	s.Unmet = append(slices.Clone(s.Unmet), o.Unmet...)
	s.Moods = append(slices.Clone(s.Moods), o.Moods...)
	s.Interrupted = s.Interrupted || o.Interrupted
	return s
}

func added(a, b map[string]int) map[string]int {
	sum := maps.Clone(a)
	if sum == nil {
		sum = map[string]int{}
	}
	for name, n := range b {
		sum[name] += n
	}
	return sum
}

// violated names what was violated, with under how many seeds, in the order of invariants.
func (s Summary) violated() []string {
	var names []string
	for _, name := range invariantOrder(s.Violations) {
		if s.Violations[name] > 0 {
			names = append(names, name)
		}
	}
	return names
}

// idle names what was never put to the test.
func (s Summary) idle() []string {
	var names []string
	for _, name := range invariantOrder(s.Exercised) {
		if s.Exercised[name] == 0 {
			names = append(names, name)
		}
	}
	return names
}

// invariantOrder lists the names in the order of the checker's invariants, those that it does not know last.
func invariantOrder(m map[string]int) []string {
	var order []string
	for _, name := range checker.Names() {
		if _, ok := m[name]; ok {
			order = append(order, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if !slices.Contains(order, name) {
			order = append(order, name)
		}
	}
	return order
}

// Totals counts summaries.
type Totals struct {
	Results, AsExpected, Seeds    int
	Valid, Invalid, Unknown, Fail int // results by verdict; Fail: the harness failed
	Virtual, Wall                 time.Duration
}

// TotalsOf counts them.
func TotalsOf(all []Summary) Totals {
	var t Totals
	for _, s := range all {
		t.Results++
		t.Seeds += s.Seeds
		t.Virtual += s.Virtual
		t.Wall += s.Wall
		if s.AsExpected() {
			t.AsExpected++
		}
		switch s.Verdict() {
		case Valid:
			t.Valid++
		case Invalid:
			t.Invalid++
		case Unknown:
			t.Unknown++
		default:
			t.Fail++
		}
	}
	return t
}
