package main

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/calibration"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/reports"
	"github.com/squall-chaos/squall/scenarios"
)

// paced is a scenario in which nothing goes wrong, without its platform.
const paced = `apiVersion: squall/v1alpha1
kind: Scenario
name: paced
summary: Many tasks at the pace of a known platform, and nothing goes wrong.
nodes:
  - {name: od, capacity_type: on-demand, count: 1, max: 120, pods: 1}
  - {name: cheap, capacity_type: spot, count: 1, max: 120, pods: 1}
tasks:
  - {name: soon, count: 80, arrive: {at: 9m}, run: measured, start_deadline: 30m}
  - {name: any, count: 70, run: measured}
  - {name: later, count: 60, arrive: {at: 20m, every: {exponential: 6s}}, run: measured, start_deadline: 30m}
horizon: 60m
settings: {start_timeout: 20m, recovery_grace: 25m, claim_batch: 150, recover_batch: 150}
`

const known = `apiVersion: squall/v1alpha1
kind: Calibration
platform:
  api_latency: {uniform: [20ms, 30ms]}
  scheduling: 10ms
  startup: {uniform: [1s, 3s]}
  image_pull: {uniform: [3s, 4s]}
  provisioning: {uniform: [40s, 60s]}
  spot: {provisioning: {lognormal: {median: 70s, p99: 110s}}}
run: {weibull: {median: 150s, p99: 200s}}
`

// simulated runs the scenario with a calibration in the simulation, and measures it.
func simulated(t *testing.T, file string) *calibration.Samples {
	t.Helper()
	s, text, err := scenarios.Calibrated("paced.yaml", []byte(paced), file, false)
	if err != nil {
		t.Fatal(err)
	}
	j := job{scenario: s, text: text, system: planted.Reference(), world: simulation(), from: 1, count: 1}
	options := j.options()
	options.Seed = 1
	r := scenarios.Run(context.Background(), s, options)
	if r.Err != nil || r.History == nil {
		t.Fatalf("the run: %v", r.Err)
	}
	samples := calibration.NewSamples()
	calibration.FromHistory(r.History, machinesOf(&reports.Run{Scenario: text}), samples)
	return samples
}

// TestASimulatedRunGivesItsScenarioBack: what is measured of a run is what its scenario says, and so is what is measured of a run
// with that.
func TestASimulatedRunGivesItsScenarioBack(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "known.yaml")
	if err := os.WriteFile(file, []byte(known), 0o644); err != nil {
		t.Fatal(err)
	}
	for generation := 1; generation <= 2; generation++ {
		samples := simulated(t, file)
		for _, c := range []struct {
			measure     calibration.Measure
			kind        clusters.CapacityType
			median, p90 time.Duration
		}{
			{calibration.APILatency, "", 25 * time.Millisecond, 28 * time.Millisecond},
			{calibration.Startup, clusters.OnDemand, 2 * time.Second, 2800 * time.Millisecond},
			{calibration.Run, clusters.OnDemand, 150 * time.Second, 179 * time.Second},
			{calibration.Run, clusters.Spot, 150 * time.Second, 179 * time.Second},
			{calibration.Provisioning, clusters.OnDemand, 50 * time.Second, 58 * time.Second},
			{calibration.Provisioning, clusters.Spot, 70 * time.Second, 90 * time.Second},
		} {
			r := calibration.Judge(c.measure, c.kind, samples.Of(c.measure, c.kind))
			if !r.Usable() {
				t.Errorf("generation %d: %s on %s: %s: %s", generation, c.measure, c.kind, r.Status, r.Why)
				continue
			}
			for p, want := range map[float64]time.Duration{0.5: c.median, 0.9: c.p90} {
				if got := r.TakenQuantile(p); math.Abs(float64(got-want)) > 0.15*float64(want) {
					t.Errorf("generation %d: %s on %q: percentile %.0f is %s, in the scenario %s (%s of %d)", generation, c.measure, c.kind, 100*p, got, want, r.Family, r.Ended)
				}
			}
		}
		if generation == 2 {
			break // nobody reads a third
		}
		file = filepath.Join(dir, "measured.yaml")
		report := reports.Calibration{Version: "test", Sources: []string{"paced"}, Read: "1 run", Findings: calibration.Survey(samples), Runs: []reports.MeasuredRun{{World: "sim", Divided: 1, StartsFromCreation: true}}}
		var profile bytes.Buffer
		if err := report.WriteProfile(&profile); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, profile.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
