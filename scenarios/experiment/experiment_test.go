package experiment

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/sim"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/scenarios"
)

func simulated(_ context.Context, c clusters.Config) (clusters.Cluster, error) { return sim.New(c) }

func with(t *testing.T, name string, settings ...string) Cell {
	t.Helper()
	c := Cell{Name: name, SpotShare: 1}
	for _, text := range settings {
		o, err := scenarios.ParseOverride(text)
		if err != nil {
			t.Fatal(err)
		}
		c.Settings = append(c.Settings, o)
	}
	return c
}

func of(t *testing.T, workload string, seeds int) *Experiment {
	t.Helper()
	s, err := scenarios.Find(workload)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := scenarios.LibraryFile(workload)
	return &Experiment{Workloads: []Workload{{s, text}}, System: planted.Reference(), World: simulated, From: 1, Count: seeds, Build: "test", Workers: 1}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestSameResultHoweverItIsMade: one worker, several, shards that are merged, and a run that was interrupted and taken up again.
func TestSameResultHoweverItIsMade(t *testing.T) {
	e := of(t, "swarm-standard", 55)
	cells := []Cell{Own(), with(t, "short", "recovery_grace=240s")}
	cells[1].SpotShare = 0.5
	want, err := e.Run(t.Context(), cells)
	if err != nil {
		t.Fatal(err)
	}
	check := func(how string, e *Experiment) {
		t.Helper()
		got, err := e.Run(t.Context(), cells)
		if err != nil || asJSON(t, got) != asJSON(t, want) {
			t.Errorf("%s: another result (%v)", how, err)
		}
	}
	several := *e
	several.Workers = 3
	check("three workers", &several)
	if testing.Short() {
		return // the race detector has seen what goes on side by side
	}

	merged := *e
	merged.Store = &Store{Dir: t.TempDir()}
	runs := 0
	for shard := range 3 {
		one := *e
		one.Store = &Store{Dir: t.TempDir()}
		one.Step = func(n, _ int, _ bool) { runs += n }
		if err := one.RunShard(t.Context(), cells, shard, 3); err != nil {
			t.Fatal(err)
		}
		if owed, of, err := one.Owed(cells, shard, 3); err != nil || owed != 0 || of == 0 {
			t.Errorf("shard %d still owes %d of %d: %v", shard, owed, of, err)
		}
		merged.Store.Also = append(merged.Store.Also, one.Store.Dir)
	}
	if runs != 110 {
		t.Errorf("the shards made %d runs", runs)
	}
	merged.World = nothing
	check("merged shards", &merged)

	resumed := *e
	resumed.Store = &Store{Dir: t.TempDir()}
	ctx, stop := context.WithCancel(t.Context())
	resumed.Step = func(_, _ int, _ bool) {
		if runs++; runs == 110+70 {
			stop()
		}
	}
	if _, err := resumed.Run(ctx, cells); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	kept := 0
	resumed.Step = func(n, _ int, known bool) {
		if known {
			kept += n
		}
	}
	check("resumed", &resumed)
	if kept < 50 {
		t.Errorf("%d runs were kept over the interruption", kept)
	}
}

// nothing is a world for those who must not need one.
func nothing(context.Context, clusters.Config) (clusters.Cluster, error) {
	return nil, errors.New("a run that should have been in the store")
}

func TestADamagedResultIsRunAgain(t *testing.T) {
	e := of(t, "demo", 2)
	e.Store = &Store{Dir: t.TempDir()}
	want, err := e.Run(t.Context(), []Cell{Own()})
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(e.Store.Dir, "*", "*.jsonl"))
	if len(files) != 1 {
		t.Fatalf("%v", files)
	}
	text, _ := os.ReadFile(files[0])
	if err := os.WriteFile(files[0], []byte(strings.Replace(string(text), `"succeeded":`, `"succeeded":1`, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := e.Run(t.Context(), []Cell{Own()}); err != nil || asJSON(t, got) != asJSON(t, want) {
		t.Errorf("%v", err)
	}
	other := *e
	other.Build, other.World = "another", nothing
	if _, err := other.Run(t.Context(), []Cell{Own()}); err == nil {
		t.Error("results of another program were taken")
	}
}

// TestCellsMeetTheSame: with other settings, and with another share of spot, the faults are the same but for reclaims.
func TestCellsMeetTheSame(t *testing.T) {
	e := of(t, "swarm-standard", 1)
	strange := with(t, "strange", "lease_ttl=90s", "start_timeout=900s")
	half := Own()
	half.SpotShare = 0.5
	none := Own()
	none.SpotShare = 0
	for seed := range uint64(30) {
		base, err := e.Plan(Own(), 0, seed)
		if err != nil {
			t.Fatal(err)
		}
		same, _ := e.Plan(strange, 0, seed)
		if asJSON(t, same) != asJSON(t, base) {
			t.Errorf("seed %d: other settings, other faults", seed)
		}
		halved, _ := e.Plan(half, 0, seed)
		without, _ := e.Plan(none, 0, seed)
		if len(halved) > len(base) || len(without) > len(halved) {
			t.Errorf("seed %d: %d faults, %d, %d", seed, len(base), len(halved), len(without))
		}
		for _, f := range without {
			if f.Kind == faults.SpotReclaim || strings.HasPrefix(f.Target.Node, "any:spot") {
				t.Errorf("seed %d: %v on a cluster without spot", seed, f)
			}
		}
		if n := len(without); n == 0 && len(base) > 8 {
			t.Errorf("seed %d: nothing is left of %d faults", seed, len(base))
		}
	}
	nodes := half.Scenario(e.Workloads[0].Scenario).Nodes
	if len(nodes) != 3 || nodes[1].Count != 2 || nodes[1].Max != 4 || nodes[2].Name != "spot-as-on-demand" || nodes[2].Count != 2 || nodes[2].CapacityType != clusters.OnDemand {
		t.Errorf("half of the spot machines: %+v", nodes)
	}
}

// TestTheCliffIsFound: with a grace at the deadline work is replaced while it is being ended; from the rules a grace of 305 s is enough.
func TestTheCliffIsFound(t *testing.T) {
	e := of(t, "grace-at-the-deadline", 20)
	a, err := ParseAxis("recovery_grace=240s..360s:30s")
	if err != nil {
		t.Fatal(err)
	}
	runs := 0
	r, err := Compare(t.Context(), e, []Cell{Own()}, 0, Prices{OnDemand: 1, Spot: 1}, &Sweep{Axes: []Axis{a}, Base: Own(), Points: 40}, func(n int) { runs += n })
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Lines) != 1 || len(r.Lines[0].Cliffs) != 1 {
		t.Fatalf("%+v", r.Lines)
	}
	c := r.Lines[0].Cliffs[0]
	unsafe, safe := r.Cells[c.Unsafe].Point[0], r.Cells[c.Safe].Point[0]
	if safe-unsafe != int64(time.Second) || safe <= int64(240*time.Second) || safe > int64(305*time.Second) {
		t.Errorf("the cliff is between %s and %s", a.Text(unsafe), a.Text(safe))
	}
	if len(c.Rules) != 2 || !c.Enough || c.Rules[0].Holds != int64(305*time.Second) || c.Rules[1].Holds != int64(315*time.Second) {
		t.Errorf("the rules: %+v", c.Rules)
	}
	if c.B == 0 || c.Worst == 0 || c.Worst > c.B+10*time.Minute {
		t.Errorf("B %s, worst %s", c.B, c.Worst)
	}
	if r.Cells[0].Point == nil || runs != 20*len(r.Cells) {
		t.Errorf("the base is a point of the sweep, and run once: %d runs of %d cells", runs, len(r.Cells))
	}
	if r.Winner < 0 || r.Cells[r.Winner].Chain.RecoveryGrace < 305*time.Second {
		t.Errorf("what breaks a rule is recommended: %+v", r.Recommendation)
	}
	if w := r.Cells[c.Unsafe]; w.Smallest < 0 || len(w.Violations) == 0 || w.Unsafe.Count == 0 || len(w.Gained) != w.Unsafe.Count {
		t.Errorf("the unsafe side: %+v", w.Unsafe)
	}
}

// TestObservations are of a literal history: a loss, a duplicate, a kill by the deadline.
func TestObservations(t *testing.T) {
	s := func(n int) time.Duration { return time.Duration(n) * time.Second }
	row := func(at int, p history.Phase, token uint64) history.Event {
		return history.Event{At: s(at), Kind: history.Row, Task: 1, Phase: p, Token: token}
	}
	event := func(at int, k history.Kind, token uint64, object, detail string, node history.ID) history.Event {
		return history.Event{At: s(at), Kind: k, Task: 1, Token: token, Object: object, Detail: detail, Node: node}
	}
	h := &history.History{Tasks: []string{"task-1"}, Nodes: []string{"od-1", "spot-1"}, Operations: []history.Operation{{Verb: history.Create}, {Verb: history.Claim}}, Events: []history.Event{
		row(10, history.Pending, 0), row(20, history.Running, 1), event(21, history.ObjectCreated, 1, "a", "", 0),
		event(30, history.ContainerStarted, 1, "a", "", 2), event(31, history.WorkStarted, 1, "a", "", 2),
		event(100, history.ContainerEnded, 1, "a", "killed", 2), event(101, history.ObjectPhase, 1, "a", "failed DeadlineExceeded", 0),
		row(130, history.Pending, 1), row(200, history.Running, 2), event(201, history.ObjectCreated, 2, "b", "", 0),
		event(210, history.ContainerStarted, 2, "b", "", 1), event(211, history.WorkStarted, 2, "b", "", 1),
		event(250, history.EffectCounted, 2, "b", "", 0), row(250, history.Succeeded, 2), event(251, history.ContainerEnded, 2, "b", "exit 0", 1),
	}}
	scenario := &scenarios.Scenario{Horizon: s(600), Nodes: []scenarios.NodeGroup{{Name: "od", CapacityType: clusters.OnDemand}, {Name: "spot", CapacityType: clusters.Spot}}}
	r := scenarios.Result{Scenario: scenario, Seed: 3, History: h, Verdict: checker.Invalid, Virtual: s(600),
		Report: checker.Report{Invariants: []checker.InvariantResult{{Name: "I1-overlap", Violated: 2}}, Violations: []checker.Violation{{Invariant: "I1-overlap"}, {Invariant: "I1-overlap"}}}}
	r.Settings.CreateTimeout = s(10)
	got := observe(r, overruns(scenario, scenario.Demand(3)))
	want := Observation{Seed: 3, Verdict: checker.Invalid, Violated: []string{"I1-overlap"}, Events: 15, Overlaps: 2, StrandedFor: s(30), Recoveries: []time.Duration{s(30)},
		Kills: 1, Succeeded: 1, InTime: 1, Calls: 1, Virtual: s(600), OnDemand: Use{Ran: s(41)}, Spot: Use{Ran: s(70), Wasted: s(70), Starts: 1, Delay: s(21), Worst: s(21)}}
	if asJSON(t, got) != asJSON(t, want) {
		t.Errorf("got  %s\nwant %s", asJSON(t, got), asJSON(t, want))
	}
}
