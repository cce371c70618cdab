package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheWorkedExample runs a few seeds of the worked example and expects what its page tells.
func TestTheWorkedExample(t *testing.T) {
	dir := must(filepath.Abs("../../scenarios/experiment/example"))
	t.Chdir(t.TempDir())
	args := []string{"compare"}
	for _, name := range []string{"tick-300s", "grace-240s", "grace-300s", "grace-600s", "batches-turned-around", "on-demand"} {
		args = append(args, filepath.Join(dir, name+".yaml"))
	}
	for _, name := range []string{"unseen-overruns", "spot-taken-back"} {
		args = append(args, "--scenario", filepath.Join(dir, name+".yaml"))
	}
	var out, err bytes.Buffer
	if code := execute(append(args, "--seeds", "12", "--price-on-demand", "1", "--price-spot", "0.35", "--cases", "0"), &out, &err); code != exitValid {
		t.Fatalf("status %d\n%s%s", code, out.String(), err.String())
	}
	for _, want := range []string{"✓  tick-300s (baseline, recommended)  0 of 24", "✗  grace-240s                         12 of 24", "12 runs worse, 0 better",
		"Take tick-300s", "grace-300s was safe in all runs as well, but breaks a rule", "✓  batches-turned-around", "✓  grace-600s"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing from\n%s", want, out.String())
		}
	}
}
