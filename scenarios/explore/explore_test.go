package explore_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/sim"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/scenarios"
	"github.com/squall-chaos/squall/scenarios/explore"
)

var update = flag.Bool("update", false, "write the golden files anew")

func world(_ context.Context, c clusters.Config) (clusters.Cluster, error) { return sim.New(c) }

func searchOf(t *testing.T, scenario, dispatcher string, b explore.Bounds) explore.Search {
	t.Helper()
	s, err := scenarios.Find(scenario)
	if err != nil {
		t.Fatal(err)
	}
	system, ok := planted.Lookup(dispatcher)
	if !ok {
		t.Fatalf("no dispatcher %s", dispatcher)
	}
	b.Window = 250 * time.Millisecond
	return explore.Search{Scenario: s, Options: scenarios.Options{System: system, Seed: 1, World: world}, Bounds: b, Workers: 2}
}

// TestReferenceIsRightInASmallWorld is what the search is for: one lost reply, one crash or one lost lease, anywhere, and any one race the
// other way round.
func TestReferenceIsRightInASmallWorld(t *testing.T) {
	o := explore.Run(t.Context(), searchOf(t, "two-tasks-control", "reference", explore.Bounds{Faults: 1, Reversals: 1, Kinds: explore.UsualKinds()}))
	if !o.Exhausted || o.First != nil || o.Unknown != 0 || o.Failed != nil {
		t.Fatalf("exhausted %v, violations %v, %d unknown, failed %v", o.Exhausted, o.Violations, o.Unknown, o.Failed)
	}
	if o.Runs < 1000 || o.States < 10_000 || o.Cut == 0 || o.Races == 0 || o.Placements == 0 {
		t.Errorf("%d runs, %d states, %d cut, %d races, %d placements: that is no search", o.Runs, o.States, o.Cut, o.Races, o.Placements)
	}
	for _, name := range []string{"I1-overlap", "I3-loss", "I5-budget", "I6-fence", "I8-truth", "L1-ledger", "L2-leadership"} {
		if o.Exercised[name] == 0 {
			t.Errorf("%s was never put to the test", name)
		}
	}
}

// reachable lists the planted defects that a search finds with one fault in a small world: the world, and what is violated.
const reachable = "testdata/reachable.txt"

// TestPlantedDefectsAreFoundWithoutChance looks for those that are known to be reachable; -update looks for all, which takes minutes.
func TestPlantedDefectsAreFoundWithoutChance(t *testing.T) {
	if *update {
		writeReachable(t)
	}
	text, err := os.ReadFile(reachable)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		world, violated, _ := strings.Cut(strings.TrimSpace(rest), ": ")
		if got := find(t, world, name); got != violated {
			t.Errorf("%s in %s: violates %q, want %q", name, world, got, violated)
		}
	}
}

func find(t *testing.T, scenario, dispatcher string) string {
	t.Helper()
	o := explore.Run(t.Context(), searchOf(t, scenario, dispatcher, explore.Bounds{Faults: 1, Kinds: explore.Kinds()}))
	if o.Failed != nil {
		t.Fatalf("%s: %v", dispatcher, o.Failed)
	}
	if o.First == nil {
		return ""
	}
	return strings.Join(o.First.Violated(), ", ")
}

func writeReachable(t *testing.T) {
	var list strings.Builder
	for _, d := range planted.Defects() {
		for _, world := range []string{"two-tasks-control", "two-tasks-slow-control"} {
			if violated := find(t, world, d.System.Name); violated != "" {
				fmt.Fprintf(&list, "%-28s %s: %s\n", d.System.Name, world, violated)
				break
			}
		}
	}
	if err := os.WriteFile(reachable, []byte(list.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestResultDoesNotDependOnWorkers(t *testing.T) {
	var first explore.Outcome
	for _, workers := range []int{1, 2, 7} {
		s := searchOf(t, "two-tasks-control", "naive", explore.Bounds{Faults: 1, Kinds: []string{"lost-reply"}})
		s.Workers, s.All = workers, true
		o := explore.Run(t.Context(), s)
		if o.First == nil || o.Failed != nil {
			t.Fatalf("nothing found; failed: %v", o.Failed)
		}
		o.Wall, o.First.Result = 0, scenarios.Result{}
		if workers == 1 {
			first = o
		} else if !reflect.DeepEqual(first, o) {
			t.Errorf("%d workers: %+v, 1 worker: %+v", workers, o, first)
		}
	}
}

// TestFailingRunIsMadeAgain: what the search keeps is enough.
func TestFailingRunIsMadeAgain(t *testing.T) {
	s := searchOf(t, "two-tasks-control", "create-error-is-failure", explore.Bounds{Faults: 1, Reversals: 1, Kinds: explore.Kinds()})
	o := explore.Run(t.Context(), s)
	if o.First == nil {
		t.Fatal("nothing found")
	}
	again := s.Options
	again.Plan, again.Order = o.First.Plan, o.First.Order
	r := scenarios.Run(t.Context(), s.Scenario, again)
	if r.Verdict != o.First.Result.Verdict || r.History.Meta.TraceHash != o.First.TraceHash {
		t.Errorf("%v with trace %x, want %v with %x", r.Verdict, r.History.Meta.TraceHash, o.First.Result.Verdict, o.First.TraceHash)
	}
}

// TestReversalReverses: the run that reverses a race has its accesses in the other order.
func TestReversalReverses(t *testing.T) {
	s := searchOf(t, "two-tasks-control", "reference", explore.Bounds{})
	o := s.Options
	o.Order = clusters.Order{Strategy: clusters.Explore, Window: s.Bounds.Window}
	first := scenarios.Run(t.Context(), s.Scenario, o)
	accesses, _ := first.Orderly().Accesses()
	races := explore.Races(accesses, s.Bounds.Window)
	if len(races) < 10 {
		t.Fatalf("%d races", len(races))
	}
	for _, race := range races {
		a, b := accesses[race[0]].Step, accesses[race[1]].Step
		o.Order.Delays = []clusters.Delay{{Event: a, Past: b}}
		r := scenarios.Run(t.Context(), s.Scenario, o)
		now, _ := r.Orderly().Accesses()
		at := func(s clusters.Step) int {
			return slices.IndexFunc(now, func(x clusters.Access) bool { return x.Step == s })
		}
		if at(b) < 0 || at(a) < at(b) {
			t.Errorf("%v at %d, %v at %d: not reversed", a, at(a), b, at(b))
		}
	}
}

func TestBudgetAndInterruptionKeepWhatWasFound(t *testing.T) {
	s := searchOf(t, "two-tasks-control", "reference", explore.Bounds{Faults: 1, Reversals: 1, Kinds: explore.UsualKinds()})
	ctx, cancel := context.WithCancel(t.Context())
	s.Each = func(p explore.Progress) {
		if p.Runs > 1 {
			cancel()
		}
	}
	o := explore.Run(ctx, s)
	if !o.Interrupted || o.Exhausted || o.Runs < 2 || o.States == 0 || o.Waiting == 0 {
		t.Errorf("%+v", o)
	}
	s.Each, s.Until = nil, time.Now().Add(-time.Second)
	if o = explore.Run(t.Context(), s); o.Exhausted || o.Interrupted {
		t.Errorf("budget spent: %+v", o)
	}
}
