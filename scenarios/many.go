package scenarios

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/squall-chaos/squall/checker"
)

// Many is a range of seeds to run one scenario under.
type Many struct {
	Options        // of each run; Seed is ignored
	From    uint64 // first seed
	Count   int
	Workers int // seeds run side by side; below 1 counts as 1
	// Until, when set, is the moment after which no seed is begun.
	Until time.Time
	// UntilInvalid stops at the first invalid seed, counted in order of seeds.
	UntilInvalid bool
	// After is what the seeds before From came to: the tally goes on from there, as if it had never stopped. Nil: there are none.
	After *Tally
	// Checkpoint is called with the tally of what is over so far, in order of seeds, from one goroutine; it is only lent. May be nil.
	Checkpoint func(Tally)
	// Each is called for every result, in order of seeds, from one goroutine. May be nil.
	Each func(Result)
	// Forget tells that nobody looks at a history once Each has returned, but for that of Tally.FirstInvalid
	// and of an interrupted run: its memory is used again, which saves a good part of a short run.
	Forget bool
	// Cover has the tally say what the runs met: see Coverage.
	Cover bool
}

// Tally sums up the results of many seeds. It does not keep histories.
type Tally struct {
	Scenario     string
	Dispatcher   string
	Seeds        int
	Valid        int
	Invalid      []uint64 // seeds, in order
	Unknown      []uint64
	Failed       []error        // harness failures and crashes
	Violations   map[string]int // seeds under which each invariant was violated
	Exercised    map[string]int // summed over seeds
	Tolerated    []string       // invariants whose violation does not count in this scenario
	FirstInvalid *Result        // the first invalid seed's, with its history
	Choices      int            // the most that a strategy had in a run, and among how many Owners
	Owners       int            // see clusters.Orderly
	Coverage     *Coverage      // nil unless it was asked for
	TraceHash    uint64         // of the first seed alone, or all hashes folded in order
	Virtual      time.Duration
	Wall         time.Duration
	Interrupted  bool
	Verdict      checker.Verdict
	// Unmet lists what differs from the scenario's expectation of this dispatcher; empty: all is as expected.
	Unmet []string
}

// Seeds runs a scenario under many seeds and sums up. Results come in order of seeds whatever the number of
// workers, so the tally is the same on any machine.
func Seeds(ctx context.Context, s *Scenario, m Many) Tally {
	t, expected := newTally(s, m), s.Expect.Of(m.System.Name)
	began := time.Now().Add(-t.Wall) // what an earlier process took counts, too
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for result := range inOrder(ctx, s, m) {
		t.add(result)
		t.differ(result.Seed, expected.unmet(result))
		if m.Each != nil {
			m.Each(result)
		}
		if m.Checkpoint != nil && !result.Interrupted {
			t.Wall = time.Since(began)
			m.Checkpoint(t)
		}
		if m.Forget && !result.Interrupted && (t.FirstInvalid == nil || t.FirstInvalid.Seed != result.Seed) {
			result.Forget()
		}
		if result.Interrupted || (m.UntilInvalid && len(t.Invalid) > 0) {
			break
		}
	}
	t.Interrupted = ctx.Err() != nil
	t.Wall = time.Since(began)
	t.Verdict = t.verdict()
	t.Unmet = append(t.unmet(expected), t.Unmet...)
	return t
}

// unmetMax is how many differences of single runs a tally keeps.
const unmetMax = 10

func (t *Tally) differ(seed uint64, problems []string) {
	for _, p := range problems {
		if len(t.Unmet) < unmetMax {
			t.Unmet = append(t.Unmet, fmt.Sprintf("seed %d: %s", seed, p))
		}
	}
}

func newTally(s *Scenario, m Many) Tally {
	if m.After != nil {
		t := *m.After
		t.Violations, t.Exercised, t.Tolerated = maps.Clone(t.Violations), maps.Clone(t.Exercised), s.Expect.Tolerate
		return t
	}
	t := Tally{Scenario: s.Name, Dispatcher: m.System.Name, Tolerated: s.Expect.Tolerate,
		Violations: map[string]int{}, Exercised: map[string]int{}}
	if m.Cover {
		t.Coverage = NewCoverage()
	}
	return t
}

func (t *Tally) add(r Result) {
	t.Seeds++
	t.Virtual += r.Virtual
	if world := r.Orderly(); world != nil {
		choices, owners := world.Choices()
		t.Choices, t.Owners = max(t.Choices, choices), max(t.Owners, owners)
	}
	if r.History != nil {
		t.TraceHash = t.TraceHash*0x9E3779B97F4A7C15 + r.History.Meta.TraceHash
	}
	if t.Coverage != nil && r.History != nil {
		t.Coverage.Add(r.History, r.Plan)
	}
	for _, inv := range r.Report.Invariants {
		t.Exercised[inv.Name] += inv.Exercised
		if inv.Verdict == checker.Invalid {
			t.Violations[inv.Name]++
		}
	}
	switch {
	case r.Err != nil:
		t.Failed = append(t.Failed, r.Err)
	case r.Verdict == checker.Valid:
		t.Valid++
	case r.Verdict == checker.Invalid:
		t.Invalid = append(t.Invalid, r.Seed)
		if len(t.Invalid) == 1 { // else it was among those before
			t.FirstInvalid = &r
		}
	default:
		t.Unknown = append(t.Unknown, r.Seed)
	}
}

func (t *Tally) verdict() checker.Verdict {
	switch {
	case len(t.Invalid) > 0:
		return checker.Invalid
	case len(t.Unknown) > 0 || len(t.Failed) > 0 || t.Valid == 0:
		return checker.Unknown
	}
	return checker.Valid
}

func (m Many) inTime() bool { return m.Until.IsZero() || time.Now().Before(m.Until) }

// inOrder runs seeds on several workers and yields their results in order of seeds.
func inOrder(ctx context.Context, s *Scenario, m Many) func(yield func(Result) bool) {
	return func(yield func(Result) bool) {
		workers := min(max(m.Workers, 1), max(m.Count, 1))
		slots := make([]chan Result, workers) // slot i carries seeds i, i+workers, ...
		var running sync.WaitGroup
		// An interrupted run is still judged and handed over: only when nobody takes results any more are they dropped.
		gone := make(chan struct{})
		ctx, stop := context.WithCancel(ctx)
		defer running.Wait()
		defer stop()
		defer close(gone)
		for w := range slots {
			slots[w] = make(chan Result, 1)
			running.Add(1)
			go func() {
				defer running.Done()
				defer close(slots[w])
				for i := w; i < m.Count && ctx.Err() == nil && m.inTime(); i += workers {
					o := m.Options
					o.Seed = m.From + uint64(i)
					select {
					case slots[w] <- Run(ctx, s, o):
					case <-gone:
						return
					}
				}
			}()
		}
		for i := range m.Count {
			result, ok := <-slots[i%workers]
			if !ok || !yield(result) {
				return
			}
		}
	}
}
