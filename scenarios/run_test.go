package scenarios_test

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/sim"
	"github.com/squall-chaos/squall/clusters/sim/kernel"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/scenarios"
)

func simulated(_ context.Context, c clusters.Config) (clusters.Cluster, error) { return sim.New(c) }

func named(t testing.TB, name string) *scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func many(system dispatcher.System, seeds int) scenarios.Many {
	return scenarios.Many{Options: scenarios.Options{System: system, World: simulated}, From: 1, Count: seeds, Workers: runtime.GOMAXPROCS(0)}
}

// TestLibrary runs every scenario against the dispatchers that it says something about.
func TestLibrary(t *testing.T) {
	for _, s := range scenarios.Library() {
		for _, name := range planted.Names() {
			if name != "reference" && s.Expect.Of(name) == nil {
				continue
			}
			t.Run(s.Name+"/"+name, func(t *testing.T) {
				system, _ := planted.Lookup(name)
				seeds := max(s.Seeds, 5)
				if testing.Short() {
					seeds = 1
				}
				tally := scenarios.Seeds(context.Background(), s, many(system, seeds))
				for _, err := range tally.Failed {
					t.Error(err)
				}
				for _, problem := range tally.Unmet {
					t.Error(problem)
				}
				if t.Failed() && tally.FirstInvalid != nil {
					for _, v := range tally.FirstInvalid.Fatal()[:1] {
						t.Logf("seed %d: %s: %s", tally.FirstInvalid.Seed, v.Invariant, v.Message)
					}
				}
			})
		}
	}
}

// TestLibraryUnderTheSeedsOfChaos runs what `squall chaos` runs: as many seeds as the scenario asks for, from the first. More
// seeds, as above, would hide a scenario that naive fails only now and then.
func TestLibraryUnderTheSeedsOfChaos(t *testing.T) {
	for _, s := range scenarios.Library() {
		if s.Swarm != "" && testing.Short() {
			continue // twenty seeds of a swarm take long under the race detector
		}
		for _, system := range []string{"reference", "naive"} {
			if s.Expect.Of(system) == nil || s.Swarm != "" && system == "reference" { // how long the swarm runs is the caller's
				continue
			}
			t.Run(s.Name+"/"+system, func(t *testing.T) {
				under, _ := planted.Lookup(system)
				tally := scenarios.Seeds(context.Background(), s, many(under, max(s.Seeds, 1)))
				for _, err := range tally.Failed {
					t.Error(err)
				}
				for _, problem := range tally.Unmet {
					t.Error(problem)
				}
			})
		}
	}
}

// TestCallsAfterAMoment: five tasks arrive within 13 s, and all are launched soon after that.
func TestCallsAfterAMoment(t *testing.T) {
	text, _ := scenarios.LibraryFile("demo")
	for _, c := range []struct{ calls, unmet string }{
		{"{verb: create, min: 5}", ""},
		{"{verb: create, after: 1m, max: 0}", ""},
		{"{verb: create, after: 10s, max: 0}", "calls of create after 10s, expected at most 0"},
	} {
		s, err := scenarios.Parse("demo.yaml", []byte(strings.Replace(string(text), "{verb: create, task: task-1, max: 10}", c.calls, 1)))
		if err != nil {
			t.Fatal(err)
		}
		unmet := strings.Join(scenarios.Seeds(context.Background(), s, many(planted.Reference(), 1)).Unmet, "; ")
		if (c.unmet == "") != (unmet == "") || !strings.Contains(unmet, c.unmet) {
			t.Errorf("%s: got %q, expected %q", c.calls, unmet, c.unmet)
		}
	}
}

// TestPlantedDefectsAreFound shows that the checkers can see: each defect, alone, within its number of seeds; by a second
// witness; and not in its control, which has all of it but the defect.
func TestPlantedDefectsAreFound(t *testing.T) {
	for _, d := range planted.Defects() {
		t.Run(d.System.Name, func(t *testing.T) {
			seed := foundUnder(t, d, planted.Sight{Scenario: d.Scenario, Breaks: d.Breaks, Seeds: d.Seeds})
			if d.Witness != nil {
				foundUnder(t, d, *d.Witness)
			}
			if d.Bare == nil {
				return
			}
			r := scenarios.Run(context.Background(), named(t, d.Scenario), scenarios.Options{System: *d.Bare, Seed: seed, World: simulated})
			if r.Err != nil || r.Verdict != checker.Valid {
				t.Errorf("its control is %s under seed %d: %v %v", r.Verdict, seed, r.Err, r.Fatal())
			}
		})
	}
}

// foundUnder is the seed under which the defect shows there.
func foundUnder(t *testing.T, d planted.Defect, at planted.Sight) uint64 {
	t.Helper()
	s := named(t, at.Scenario)
	for seed := uint64(1); seed <= uint64(at.Seeds); seed++ {
		r := scenarios.Run(context.Background(), s, scenarios.Options{System: d.System, Seed: seed, World: simulated})
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		for _, v := range r.Fatal() {
			if slices.Contains(at.Breaks, v.Invariant) {
				t.Logf("%s found in %s under seed %d: %s", d.System.Name, s.Name, seed, v.Message)
				return seed
			}
		}
	}
	t.Errorf("none of %v was found in %s within %d seeds", at.Breaks, at.Scenario, at.Seeds)
	return 0
}

// TestPlantedDefectsAreDocumented: at least 35, each from an incident of the catalogue and with a second witness, each to be found
// within 200 seeds; naive, which has most of them, is none of its own.
func TestPlantedDefectsAreDocumented(t *testing.T) {
	defects := planted.Defects()[1:]
	if len(defects) < 35 {
		t.Errorf("%d defects", len(defects))
	}
	for _, d := range defects {
		if found, err := scenarios.FindIncidents(d.Incident); err != nil || len(found) != 1 {
			t.Errorf("%s comes from incident %q, which is not in the catalogue: %v", d.System.Name, d.Incident, err)
		}
		if d.Seeds > 200 || len(d.Breaks) == 0 {
			t.Errorf("%s must break %v within %d seeds", d.System.Name, d.Breaks, d.Seeds)
		}
		w := d.Witness
		if w == nil || w.Seeds > 200 || w.Scenario == d.Scenario && slices.Equal(d.Breaks, w.Breaks) {
			t.Errorf("%s has no second witness: %+v", d.System.Name, w)
		}
	}
}

// TestSameSeedSameTrace runs every scenario twice, on one and on two cores, and prints the first event that differs.
func TestSameSeedSameTrace(t *testing.T) {
	const seed = 3
	for _, s := range scenarios.Library() {
		t.Run(s.Name, func(t *testing.T) {
			first := traced(t, s, seed, 1)
			second := traced(t, s, seed, 2)
			if first.hash == second.hash {
				return
			}
			t.Errorf("two runs of seed %d differ: %s", seed, kernel.FirstDifference(first.kernel.Records(), second.kernel.Records(), first.kernel.LabelName))
		})
	}
}

type trace struct {
	hash   uint64
	kernel *kernel.Kernel
}

func traced(t *testing.T, s *scenarios.Scenario, seed uint64, cores int) trace {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
	var k *kernel.Kernel
	r := scenarios.Run(context.Background(), s, scenarios.Options{System: planted.Reference(), Seed: seed,
		World: func(_ context.Context, c clusters.Config) (clusters.Cluster, error) {
			w, err := sim.New(c)
			if err != nil {
				return nil, err
			}
			k = w.Kernel()
			k.Record(true)
			return w, nil
		}})
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	if r.Verdict == checker.Unknown {
		t.Errorf("verdict unknown")
	}
	return trace{hash: r.History.Meta.TraceHash, kernel: k}
}

// TestSeedsThatOnceFailed runs the reference under seeds that found something wrong with it, or with a checker.
func TestSeedsThatOnceFailed(t *testing.T) {
	for _, c := range []struct {
		scenario string
		seed     uint64
		found    string
	}{
		{"swarm-b0", 119, "a container that died before it learned that it was let in was charged without an execution"},
		{"swarm-b0", 16108, "open launches were tried again every retry period for as long as an old object stood in the way"},
		{"swarm-standard", 31719, "what a machine that was cut off told between the look and the requeue was held against the requeue"},
	} {
		r := scenarios.Run(context.Background(), named(t, c.scenario), scenarios.Options{System: planted.Reference(), Seed: c.seed, World: simulated})
		if r.Err != nil || r.Verdict != checker.Valid {
			t.Errorf("%s, seed %d: %s again (%s) %v", c.scenario, c.seed, r.Verdict, c.found, r.Err)
		}
	}
}

// TestTheTimeOfAnInterruptedRunCounts: what is taken up again has taken what it took before, too; seeds a second would be wrong otherwise.
func TestTheTimeOfAnInterruptedRunCounts(t *testing.T) {
	s, err := scenarios.Find("demo")
	if err != nil {
		t.Fatal(err)
	}
	var half scenarios.Tally
	first := many(planted.Reference(), 2)
	first.Checkpoint = func(so scenarios.Tally) { half = so }
	scenarios.Seeds(t.Context(), s, first)
	if half.Wall <= 0 {
		t.Errorf("after %d seeds %s had passed", half.Seeds, half.Wall)
	}
	half.Wall = time.Hour
	rest := many(planted.Reference(), 2)
	rest.From, rest.After = 3, &half
	if whole := scenarios.Seeds(t.Context(), s, rest); whole.Seeds != 4 || whole.Wall <= time.Hour {
		t.Errorf("%d seeds took %s, of which the first half an hour", whole.Seeds, whole.Wall)
	}
}
