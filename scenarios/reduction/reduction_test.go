package reduction

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/sim"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/scenarios"
)

func world(_ context.Context, c clusters.Config) (clusters.Cluster, error) { return sim.New(c) }

func options(t *testing.T, dispatcher string) Options {
	t.Helper()
	system, ok := planted.Lookup(dispatcher)
	if !ok {
		t.Fatalf("there is no dispatcher %s", dispatcher)
	}
	return Options{System: system, World: world, Workers: 2}
}

// broken are the invariants that a run violates.
func broken(s *scenarios.Scenario, seed uint64, o Options) []string {
	var names []string
	r := scenarios.Run(context.Background(), s, scenarios.Options{System: o.System, Seed: seed, World: world})
	for _, v := range r.Fatal() {
		names = append(names, v.Invariant)
	}
	return names
}

// TestSmallestStillFails: whatever a swarm's seed breaks, the smallest scenario breaks as its own file says it, is no larger, and cannot be
// shrunk any further, whatever the number of workers.
func TestSmallestStillFails(t *testing.T) {
	swarm, err := scenarios.Find("swarm-standard")
	if err != nil {
		t.Fatal(err)
	}
	const most = 2 // each takes seconds
	found := 0
	for _, dispatcher := range planted.Names() {
		if found == most {
			break
		}
		o := options(t, dispatcher)
		for seed := uint64(1); seed <= 4; seed++ {
			names := broken(swarm, seed, o)
			if len(names) == 0 {
				continue
			}
			found++
			o.Invariant = names[0]
			least, err := Shrink(context.Background(), swarm, seed, nil, o)
			if err != nil {
				t.Errorf("%s, seed %d: %v", dispatcher, seed, err)
				break
			}
			if least.From.less(least.To) {
				t.Errorf("%s, seed %d: grew from %s to %s", dispatcher, seed, least.From, least.To)
			}
			parsed, err := scenarios.Parse("minimal.yaml", least.Text)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(broken(parsed, least.Seed, o), o.Invariant) {
				t.Errorf("%s, seed %d: %s is not violated any more by\n%s", dispatcher, seed, o.Invariant, least.Text)
			}
			o.Workers = 1
			again, err := Shrink(context.Background(), parsed, least.Seed, nil, o)
			if err != nil || !bytes.Equal(again.Text, least.Text) {
				t.Errorf("%s, seed %d: shrunk again (%v):\n%s\nbefore:\n%s", dispatcher, seed, err, again.Text, least.Text)
			}
			break
		}
	}
	if found < most {
		t.Errorf("only %d dispatchers failed: the test has nothing to shrink", found)
	}
}

// TestAnyNumberOfWorkers: the result is the same for one and for seven.
func TestAnyNumberOfWorkers(t *testing.T) {
	swarm, err := scenarios.Find("swarm-standard")
	if err != nil {
		t.Fatal(err)
	}
	o := options(t, "naive")
	o.Invariant = "I5-false-death"
	var texts [][]byte
	for _, o.Workers = range []int{1, 7} {
		r, err := Shrink(context.Background(), swarm, 1, nil, o)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, r.Text)
	}
	if !bytes.Equal(texts[0], texts[1]) {
		t.Errorf("one worker:\n%s\nseven:\n%s", texts[0], texts[1])
	}
}

// TestInterruptedKeepsTheSmallest: what was found until the interruption still fails.
func TestInterruptedKeepsTheSmallest(t *testing.T) {
	swarm, err := scenarios.Find("swarm-standard")
	if err != nil {
		t.Fatal(err)
	}
	o := options(t, "naive")
	o.Invariant = "I5-false-death"
	ctx, stop := context.WithCancel(context.Background())
	o.Tried = func(int, Size) { stop() }
	r, err := Shrink(ctx, swarm, 1, nil, o)
	if err != nil || !r.Interrupted {
		t.Fatalf("interrupted %v, error %v", r.Interrupted, err)
	}
	if !slices.Contains(broken(r.Scenario, r.Seed, o), o.Invariant) {
		t.Error("what was kept does not fail")
	}
}

// TestValidIsNotShrunk: there is nothing to find where nothing is violated.
func TestValidIsNotShrunk(t *testing.T) {
	demo, err := scenarios.Find("demo-control")
	if err != nil {
		t.Fatal(err)
	}
	o := options(t, "reference")
	o.Invariant = checker.Names()[0]
	if r, err := Shrink(context.Background(), demo, 1, nil, o); err == nil {
		t.Errorf("shrunk to\n%s", r.Text)
	}
}

// TestExplicitIsTheSameRun: writing the draws out changes nothing, and the file says all of it.
func TestExplicitIsTheSameRun(t *testing.T) {
	o := options(t, "reference")
	for _, s := range scenarios.Library() {
		explicit, err := s.Explicit(3, nil)
		if err != nil {
			t.Fatal(err)
		}
		r := &reducer{options: o}
		c := r.prepare(*explicit)
		if c == nil {
			_, err := scenarios.Parse("x.yaml", explicit.Written())
			t.Errorf("%s: not a valid scenario: %v", s.Name, err)
			continue
		}
		var hashes []uint64
		for _, one := range []*scenarios.Scenario{s, c.scenario} {
			run := scenarios.Run(context.Background(), one, scenarios.Options{System: o.System, Seed: 3, World: world})
			if run.Err != nil {
				t.Fatal(run.Err)
			}
			hashes = append(hashes, run.History.Meta.TraceHash)
		}
		if hashes[0] != hashes[1] {
			t.Errorf("%s: trace %016x, written out %016x", s.Name, hashes[0], hashes[1])
		}
	}
}
