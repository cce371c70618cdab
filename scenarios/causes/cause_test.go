package causes

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/sim"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/scenarios"
)

func world(_ context.Context, c clusters.Config) (clusters.Cluster, error) { return sim.New(c) }

func options(t *testing.T, dispatcher, invariant string) Options {
	t.Helper()
	system, ok := planted.Lookup(dispatcher)
	if !ok {
		t.Fatalf("there is no dispatcher %s", dispatcher)
	}
	return Options{System: system, Reference: planted.Reference(), World: world, Invariant: invariant, Workers: 2}
}

func scenario(t *testing.T, name string, settings ...string) *scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	changed := *s
	changed.Settings = slices.Clone(s.Settings)
	for _, text := range settings {
		o, err := scenarios.ParseOverride(text)
		if err != nil {
			t.Fatal(err)
		}
		changed.Settings = append(changed.Settings, o)
	}
	return &changed
}

func explained(t *testing.T, s *scenarios.Scenario, o Options) Explanation {
	t.Helper()
	e, err := Explain(context.Background(), s, 1, o)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := json.MarshalIndent(e, "", " ")
	t.Log(string(text))
	return e
}

func named(t *testing.T, all []Matter, part string) Matter {
	t.Helper()
	i := slices.IndexFunc(all, func(m Matter) bool { return strings.Contains(m.Name, part) })
	if i < 0 {
		t.Fatalf("nothing is called %s", part)
	}
	return all[i]
}

// TestAGraceThatIsTooShort: work that its deadline kills looks lost for half a minute; what lies between grace and deadline decides, and nothing of
// the lease does. No interleaving helps.
func TestAGraceThatIsTooShort(t *testing.T) {
	e := explained(t, scenario(t, "grace-at-the-deadline", "recovery_grace=240s"), options(t, "reference", "I5-false-death"))
	grace := named(t, e.Settings, "recovery_grace")
	if grace.Verdict != Flips || len(grace.Flips) != 1 || !grace.Flips[0].Upward || grace.Flips[0].Safe != "5m15s" {
		t.Errorf("recovery_grace: %+v", grace)
	}
	if m := named(t, e.Settings, "claim_batch"); m.Verdict != Irrelevant {
		t.Errorf("claim_batch: %+v", m)
	}
	if e.Point.Last != 0 || e.Others.Violated != e.Others.Of {
		t.Errorf("it depends on the interleaving: %+v, %+v", e.Point, e.Others)
	}
	if !strings.Contains(e.Remedy, "recovery_grace from 4m to ") {
		t.Errorf("remedy %q", e.Remedy)
	}
}

// TestALostReply: the one fault is needed, no setting helps, the reference does.
func TestALostReply(t *testing.T) {
	e := explained(t, scenario(t, "demo"), options(t, "random-names", "I1-overlap"))
	if len(e.Faults) == 0 || e.Faults[0].Verdict != Flips || e.Faults[0].Flips[0].At != leftOut {
		t.Errorf("faults %+v", e.Faults)
	}
	if e.Runs > 450 { // what does not matter is to be found out in few
		t.Errorf("searched in %d runs", e.Runs)
	}
	if !e.ReferenceHolds || !strings.Contains(e.Cause, "random-names violates I1-overlap because ") {
		t.Errorf("cause %q, the reference holds: %v", e.Cause, e.ReferenceHolds)
	}
}

// TestAnyNumberOfWorkers finds the same.
func TestAnyNumberOfWorkers(t *testing.T) {
	var texts []string
	o := options(t, "random-names", "I1-overlap")
	s := scenario(t, "lost-create-reply")
	s.Tasks, s.Faults = s.Tasks[:1], s.Faults[:1] // small, as the race detector looks on, too
	for _, o.Workers = range []int{1, 5} {
		text, err := json.Marshal(explained(t, s, o))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	if texts[0] != texts[1] {
		t.Errorf("one worker:\n%s\nfive:\n%s", texts[0], texts[1])
	}
}

// TestNothingToExplain is an error.
func TestNothingToExplain(t *testing.T) {
	if e, err := Explain(context.Background(), scenario(t, "demo"), 1, options(t, "reference", "I1-overlap")); err == nil {
		t.Errorf("explained: %+v", e)
	}
}
