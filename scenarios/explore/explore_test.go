package explore_test

import (
	"cmp"
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

var (
	update = flag.Bool("update", false, "write the golden files anew")
	all    = flag.Bool("all", false, "repeat every search for a planted defect, which takes minutes")
)

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

// reachable lists the planted defects: where a search with one fault finds each, in which run, and what is violated; or why it does not.
const reachable = "testdata/reachable.txt"

// cheap is how many of the searches that need a fault every test repeats. Those that see a defect in the first run are repeated always, and all of them with -all.
const cheap = 3

// TestPlantedDefectsAreFoundWithoutChance: every planted defect that one fault in one of the small worlds can show is found, and of the others it
// is known why not.
func TestPlantedDefectsAreFoundWithoutChance(t *testing.T) {
	if *update {
		writeReachable(t)
	}
	text, err := os.ReadFile(reachable)
	if err != nil {
		t.Fatal(err)
	}
	known, repeated, searched := map[string]bool{}, 0, 0
	why := map[string]string{}
	for _, d := range planted.Defects() {
		why[d.System.Name] = unseen(d)
	}
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		known[name] = true
		where, what, _ := strings.Cut(strings.TrimSpace(rest), ": ")
		if where == "not classified" {
			t.Logf("%s: nobody has looked yet", name)
			continue
		}
		if where == "not found" {
			if what != why[name] {
				t.Errorf("%s is not found because %q, want %q", name, what, why[name])
			}
			continue
		}
		var run int
		scenario, which, _ := strings.Cut(where, ", ")
		if _, err := fmt.Sscanf(which, "run %d", &run); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if run > 1 {
			if searched == cheap && !*all {
				continue
			}
			searched++
		}
		repeated++
		if got, n := find(t, scenario, name, run); got != what || n != run {
			t.Errorf("%s in %s: run %d violates %q, want run %d and %q", name, scenario, n, got, run, what)
		}
	}
	t.Logf("%d of %d repeated", repeated, len(known))
	for _, d := range planted.Defects() {
		if !known[d.System.Name] {
			t.Errorf("it is not known whether %s is found: go test ./scenarios/explore -run Planted -update", d.System.Name)
		}
	}
}

// find tells what the first failing run violates, and which run that is. most is how many runs there are at most, all if zero.
func find(t *testing.T, scenario, dispatcher string, most int) (string, int) {
	t.Helper()
	s := searchOf(t, scenario, dispatcher, explore.Bounds{Faults: 1, Kinds: explore.Kinds()})
	s.Most = most
	o := explore.Run(t.Context(), s)
	if o.Failed != nil {
		t.Fatalf("%s: %v", dispatcher, o.Failed)
	}
	if o.First == nil {
		return "", o.Runs
	}
	return strings.Join(o.First.Violated(), ", "), o.First.Number
}

// writeReachable looks for every defect of which the file says nothing, and keeps what it has found after each: it may be interrupted, and goes on.
func writeReachable(t *testing.T) {
	text, _ := os.ReadFile(reachable)
	known := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.HasPrefix(strings.TrimSpace(rest), "not classified") {
			known[name] = line
		}
	}
	for _, d := range planted.Defects() {
		if known[d.System.Name] != "" {
			continue
		}
		known[d.System.Name] = classify(t, d)
		var list strings.Builder
		for _, d := range planted.Defects() {
			list.WriteString(cmp.Or(known[d.System.Name], fmt.Sprintf("%-26s not classified: -\n", d.System.Name)))
		}
		if err := os.WriteFile(reachable, []byte(list.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// classify looks a little way into every small world, and then further: most defects show early in some world.
func classify(t *testing.T, d planted.Defect) string {
	name, budgets := d.System.Name, []int{1, 300, 1500, 0}
	if unreachable[name] != "" {
		budgets = budgets[:2] // it is known why more would be of no use
	}
	for _, most := range budgets {
		for _, world := range explore.SmallWorlds() {
			if violated, run := find(t, world, name, most); violated != "" {
				return fmt.Sprintf("%-26s %s, run %d: %s\n", name, world, run, violated)
			}
		}
	}
	return fmt.Sprintf("%-26s not found: %s\n", name, unseen(d))
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
