package scenarios_test

import (
	"context"
	"runtime"
	"strings"
	"testing"

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

// TestPlantedDefectsAreFound shows that the checkers can see: each defect, alone, within its number of seeds.
func TestPlantedDefectsAreFound(t *testing.T) {
	for _, d := range planted.Defects() {
		t.Run(d.System.Name, func(t *testing.T) {
			s := named(t, d.Scenario)
			for seed := range uint64(d.Seeds) {
				r := scenarios.Run(context.Background(), s, scenarios.Options{System: d.System, Seed: seed + 1, World: simulated})
				if r.Err != nil {
					t.Fatal(r.Err)
				}
				for _, v := range r.Fatal() {
					for _, want := range d.Breaks {
						if v.Invariant == want {
							t.Logf("%s found under seed %d: %s", d.System.Name, seed+1, v.Message)
							return
						}
					}
				}
			}
			t.Errorf("none of %v was found in %s within %d seeds", d.Breaks, d.Scenario, d.Seeds)
		})
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
	} {
		r := scenarios.Run(context.Background(), named(t, c.scenario), scenarios.Options{System: planted.Reference(), Seed: c.seed, World: simulated})
		if r.Err != nil || r.Verdict != checker.Valid {
			t.Errorf("%s, seed %d: %s again (%s) %v", c.scenario, c.seed, r.Verdict, c.found, r.Err)
		}
	}
}
