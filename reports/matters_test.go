package reports

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/squall-chaos/squall/scenarios/causes"
)

// explained is a failing run with all that squall explain and squall shrink find out about one.
func explained() *Run {
	r := failing()
	long := "40 % of the calls of dispatcher-1 to the API server take 4.899s to 19.596s longer for 53.025s, with the leader paused in between"
	r.Matters = &causes.Explanation{Invariant: "I1-overlap", Dispatcher: "planted/silence-is-death",
		Cause:  "planted/silence-is-death violates I1-overlap because dispatcher-1 is paused for 40s, with recovery_grace at 4m (from 5m5s on it holds).",
		Remedy: "recovery_grace from 4m to 5m5s; to 5m15s it keeps the rules of settings as well",
		Faults: []causes.Matter{{Name: "dispatcher-1 is paused for 40s", Value: "at 1m10s", Verdict: causes.Flips, Flips: []causes.Flip{{At: "left out", Then: "valid"},
			{What: "for", At: "12s", Then: "valid"}}}, {Name: long, Value: "at 2m5.25s", Verdict: causes.Chance}, {Name: "node spot-1 is killed", Value: "at 3m", Verdict: causes.Irrelevant}},
		Settings: []causes.Matter{{Name: "recovery_grace", Value: "4m", Verdict: causes.Flips, Flips: []causes.Flip{{At: "5m5s", Upward: true, Then: "valid", Rules: causes.Broken, Safe: "5m15s"}}},
			{Name: "tick", Value: "5m", Verdict: causes.Chance}, {Name: "claim_batch", Value: "10", Verdict: causes.Irrelevant}, {Name: "unreachable_toleration", Value: "5m", Verdict: causes.Irrelevant}},
		Others: causes.Share{Violated: 9, Of: 12}, Runs: 412,
		Point: &causes.Point{Last: 31, Seed: 3, Then: "valid", Tried: 24, Record: "[31] 1m6.02s dispatcher-1 claim 7 token 7 epoch 1: ok at 1m6.05s",
			Here: "7: execution 2 begins beside another (134.27 s)", There: "7: a result counts (190 s)"}}
	r.Minimal = &Minimal{Invariant: "I1-overlap", Scenario: "apiVersion: squall/v1alpha1\nkind: Scenario\nname: minimal\nfaults:\n  - {at: 0s, kind: call, target: {process: \"dispatcher*\", port: api, verb: create}, action: cut-reply}\nhorizon: 1s\n",
		Seed: 1, Before: "faults 14, tasks 100, client steps 78, replicas 4, nodes 10", Now: "faults 1, tasks 1, client steps 0, replicas 2, nodes 1", Tried: 344,
		Again: []string{"run it: squall run .squall/minimal/minimal.yaml", "in kind: squall run .squall/minimal/minimal.yaml --world kind --scale 6",
			"Go test: .squall/minimal/minimal_test.go, in a module that requires github.com/squall-chaos/squall"}, Run: failing()}
	return r
}

// TestWhatMattersForPrograms: the run that it is about, and what the bundle's file has.
func TestWhatMattersForPrograms(t *testing.T) {
	var b bytes.Buffer
	if err := explained().WriteMatters(&b); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Bundle, Scenario, World, Verdict, Invariant, Cause string
		Settings                                           []struct{ Name, Verdict string }
		Point                                              causes.Point `json:"point_of_no_return"`
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Bundle != ".squall/runs/stale-leader-42" || got.Verdict != "invalid" || got.World != "sim" || got.Invariant != "I1-overlap" || got.Point.Last != 31 ||
		len(got.Settings) != 4 || got.Settings[0].Verdict != "flips" || !strings.Contains(b.String(), `"other_interleavings": {`) {
		t.Errorf("%+v of\n%s", got, b.String())
	}
}

// TestThePageSaysWhatMatters, and how the minimal case is run.
func TestThePageSaysWhatMatters(t *testing.T) {
	var b bytes.Buffer
	if err := explained().WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`id="matters"`, "averted by", "after this record", "from 5m5s on it holds, from 5m15s on within the rules", "Only shift the timing", "only shifts the timing",
		`href="#minimal"`, "faults 14, tasks 100", "--world kind --scale 6"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}
