package main

import (
	"os"
	"path/filepath"
	"testing"
)

// recordedInKind is a bundle that a real cluster left: scenario demo against random-names, divided by 6. Of its history the calls that only
// keep the leases were taken out, half of it.
const recordedInKind = "testdata/kind-demo"

// recordedBundle goes to a directory of the test's own, with a copy of that bundle, whose name it returns.
func recordedBundle(t *testing.T) string {
	t.Helper()
	from := must(filepath.Abs(recordedInKind))
	t.Chdir(t.TempDir())
	if err := os.CopyFS("recorded", os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return "./recorded"
}

// TestTheSimulationAgainstARealCluster: the first event at which their abstract traces part is named, in either record; where the same faults
// lead to the same there is none.
func TestTheSimulationAgainstARealCluster(t *testing.T) {
	real := recordedBundle(t)
	says(t, exitValid, "run demo --dispatcher reference --scale 6")
	says(t, exitValid, "diff latest "+real, "run 1   valid: demo, dispatcher reference, world sim", "run 2   invalid: demo, dispatcher random-names, world kind",
		"records  not compared: another seed or a real cluster", "the first is task-1\n  before  execution 1 begins\n  run 1   a result counts\n",
		"  run 2   execution 2 begins beside another\n          [282] 4.548s work-started task-1 worker-task-1 od-2 token 1")
	says(t, exitInvalid, "run --world sim --faults-from "+real)
	says(t, exitValid, "diff latest "+real, "rows and executions of every task go through the same")
}

// TestARecordOfARealClusterIsShrunkAndExplained in the simulation, with the faults as they struck.
func TestARecordOfARealClusterIsShrunkAndExplained(t *testing.T) {
	real := recordedBundle(t)
	says(t, exitValid, "shrink "+real, "still violates I1-overlap", "now      faults 1, tasks 1", "in kind: squall run .squall/minimal/minimal.yaml --world kind")
	says(t, exitUsage, "replay "+real, "no seed makes the same run again")
}
