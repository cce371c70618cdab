package scenarios

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/faults"
)

func parsed(t *testing.T, text string) *Scenario {
	t.Helper()
	s, err := Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestArrivals(t *testing.T) {
	s := parsed(t, strings.Replace(calm, "  - {name: task, count: 3, run: 60s}", `  - {name: batch, count: 3, arrive: {at: 5s, every: 2s}, run: 60s}
  - {name: single, run: {uniform: [10s, 20s]}, start_deadline: 5m, deadline: 230s, max_failures: 2, work: {ignore_term: true, fail_until: 1}}`, 1))
	var got []string
	for _, a := range s.Arrivals(1) {
		got = append(got, fmt.Sprintf("%s %s", a.At, a.Spec.ID))
	}
	if want := "0s single, 5s batch-1, 7s batch-2, 9s batch-3"; strings.Join(got, ", ") != want {
		t.Errorf("got %s, want %s", got, want)
	}
	spec := s.Arrivals(1)[0].Spec
	run := spec.Work.Run
	want := dispatcher.Spec{ID: "single", StartDeadline: 5 * time.Minute, Deadline: 230 * time.Second, MaxFailures: 2,
		Work: dispatcher.Work{Run: run, IgnoreTerm: true, FailUntil: 1}}
	if !reflect.DeepEqual(spec, want) || run < 10*time.Second || run > 20*time.Second {
		t.Errorf("got %+v", spec)
	}
}

func TestArrivalsInBatches(t *testing.T) {
	s := parsed(t, strings.Replace(calm, "count: 3, run: 60s", "count: 5, arrive: {at: 5s, every: 2s, batch: 2}, run: 60s", 1))
	var got []string
	for _, a := range s.Arrivals(1) {
		got = append(got, fmt.Sprintf("%s %s", a.At, a.Spec.ID))
	}
	if want := "5s task-1, 5s task-2, 7s task-3, 7s task-4, 9s task-5"; strings.Join(got, ", ") != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestClientSteps(t *testing.T) {
	s := parsed(t, calm+`clients:
  - {at: 30s, cancel: "task-*"}
  - {at: 10s, every: 15s, times: 2, read: task-2}
`)
	var got []string
	for _, c := range s.ClientSteps(1) {
		got = append(got, fmt.Sprintf("%s %s %s", c.At, c.Verb, c.Task))
	}
	if want := "10s read task-2, 25s read task-2, 30s cancel task-1, 30s cancel task-2, 30s cancel task-3"; strings.Join(got, ", ") != want {
		t.Errorf("got %s\nwant %s", strings.Join(got, ", "), want)
	}
	if s.ClientSteps(1)[0].Verb != history.Read {
		t.Error("a read is a Read")
	}
}

const twoFaults = `faults:
  - {name: first, at: {uniform: [60s, 120s]}, kind: process-pause, target: {process: "leader:dispatcher"}, for: {uniform: [30s, 90s]}}
  - {name: second, at: {uniform: [10s, 50s]}, kind: node-kill, target: {node: "any:on-demand"}, for: 60s}
`

func TestPlanIsDrawnPerFaultAndSorted(t *testing.T) {
	s := parsed(t, calm+twoFaults)
	plan, err := s.Plan(7)
	if err != nil {
		t.Fatal(err)
	}
	if len(plan) != 2 || plan[0].Kind != faults.NodeKill || plan[1].Kind != faults.ProcessPause {
		t.Fatalf("got %v", plan)
	}
	if !reflect.DeepEqual(plan[0].Target.Groups, []string{"od"}) {
		t.Errorf("any:on-demand is drawn from %v", plan[0].Target.Groups)
	}
	// The stream of a fault is named after it: the other fault may come and go.
	alone, err := parsed(t, calm+"faults:\n"+strings.Split(twoFaults, "\n")[1]+"\n").Plan(7)
	if err != nil || !reflect.DeepEqual(alone[0], plan[1]) {
		t.Errorf("alone %v, beside another %v", alone, plan[1])
	}
	other, _ := s.Plan(8)
	if reflect.DeepEqual(plan, other) {
		t.Error("another seed, the same plan")
	}
}

func TestAFaultWithTimesIsASeries(t *testing.T) {
	plan, err := parsed(t, calm+"faults:\n  - {at: 10s, every: 20s, times: 3, kind: api-outage, for: 5s}\n").Plan(1)
	if err != nil || len(plan) != 3 || plan[2].At != 50*time.Second || plan[2].For != 5*time.Second {
		t.Errorf("got %v, %v", plan, err)
	}
}

func TestSwarmComesOnTopOfFaults(t *testing.T) {
	s := parsed(t, calm+"swarm: standard\nfaults:\n  - {at: 10s, kind: api-outage, for: 5s}\n")
	for seed := range uint64(20) {
		plan, err := s.Plan(seed)
		draw, _ := s.Draw(seed)
		if err != nil || len(plan) != len(draw.Plan)+1 {
			t.Fatalf("seed %d: %d faults, %d drawn, %v", seed, len(plan), len(draw.Plan), err)
		}
	}
}

func TestConfig(t *testing.T) {
	s := parsed(t, calm+"profile: b0\nsettings: {claim_batch: 3, tick: 7s}\nreplicas: {dispatchers: 3}\nplatform: {cache_lag: 20s}\n")
	c, err := s.Config(dispatcher.System{Name: "reference"}, 5)
	if err != nil {
		t.Fatal(err)
	}
	base, _ := dispatcher.Profile("b0")
	base.ClaimBatch, base.Tick = 3, 7*time.Second
	if c.Settings != base || c.Seed != 5 || c.Dispatchers != 3 || c.Reconcilers != 2 {
		t.Errorf("got %+v", c)
	}
	if c.Platform.CacheLag != clusters.Fixed(20*time.Second) || c.Platform.APILatency != ordinary.APILatency {
		t.Errorf("platform %+v", c.Platform)
	}
}

func TestParseOverride(t *testing.T) {
	o, err := ParseOverride("recovery_grace=400s")
	if err != nil || o.Duration != 400*time.Second {
		t.Errorf("got %+v, %v", o, err)
	}
	if o, err = ParseOverride("claim_batch=7"); err != nil || o.Number != 7 {
		t.Errorf("got %+v, %v", o, err)
	}
	for text, want := range map[string]string{
		"recovery_grace":      "is not NAME=VALUE",
		"recover_grace=6m":    `unknown setting "recover_grace": did you mean "recovery_grace"?`,
		"recovery_grace=long": "setting recovery_grace: expected a duration",
		"claim_batch=-1":      "setting claim_batch: expected a whole number",
	} {
		if _, err := ParseOverride(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

func TestCheckWorld(t *testing.T) {
	s := parsed(t, calm+"faults:\n  - {at: 10s, kind: api-outage, for: 5s}\n  - {at: 10s, kind: stale-cache, lag: 5s}\n")
	if err := s.CheckWorld(Ability{World: "sim", Faults: faults.Capabilities{faults.Calls, faults.Platform}}, 1); err != nil {
		t.Error(err)
	}
	err := s.CheckWorld(Ability{World: "kind", Faults: faults.Capabilities{faults.Calls}}, 1)
	if got := inBrief(err); len(got) != 1 || !strings.HasPrefix(got[0], "12:21 SQ305 world kind cannot do stale-cache") {
		t.Errorf("got %v", got)
	}
	if err := s.CheckWorld(Ability{World: "sim", Faults: faults.Capabilities{faults.Calls, faults.Platform}}, 1); err != nil {
		t.Errorf("problems of one world are those of another: %v", err)
	}
}
