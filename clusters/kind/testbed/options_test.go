package testbed

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/squall-chaos/squall/clusters"
)

func TestNames(t *testing.T) {
	for given, want := range map[string]string{"": "dev", "dev": "dev", "squall-dev": "dev", "run-20261129-1": "run-20261129-1"} {
		if got, err := short(given); err != nil || got != want {
			t.Errorf("%q: %q, %v", given, got, err)
		}
	}
	for _, bad := range []string{"Dev", "a_b", "-a", "a-", "a.b", "../x", strings.Repeat("a", 33)} {
		if got, err := short(bad); err == nil {
			t.Errorf("%q: %q", bad, got)
		}
	}
}

func TestAFreshClusterHasSpotAndOnDemandNodes(t *testing.T) {
	o, err := Options{Name: "a", Image: "image"}.complete()
	if err != nil {
		t.Fatal(err)
	}
	config := configuration(o)
	want := []nodeRecord{
		{"squall-a-control-plane", ""},
		{"squall-a-worker", clusters.OnDemand}, {"squall-a-worker2", clusters.OnDemand},
		{"squall-a-worker3", clusters.Spot}, {"squall-a-worker4", clusters.Spot},
	}
	for i, got := range nodeRecords(config) {
		if got != want[i] {
			t.Errorf("node %d: %+v, want %+v", i, got, want[i])
		}
		tainted := strings.Contains(strings.Join(config.Nodes[i].KubeadmConfigPatches, ""), "taints")
		if tainted != (want[i].Capacity == clusters.Spot) {
			t.Errorf("%s: tainted is %t", got.Name, tainted)
		}
		if config.Nodes[i].Image != "image" {
			t.Errorf("%s: image %q", got.Name, config.Nodes[i].Image)
		}
	}
}

// A live node must be able to miss several renewals of its lease before it is taken for dead.
func TestALiveNodeIsNotTakenForDead(t *testing.T) {
	var kubelet struct {
		FailCgroupV1             *bool
		NodeLeaseDurationSeconds int
	}
	if err := yaml.Unmarshal([]byte(patch(kubeletPatch())), &kubelet); err != nil {
		t.Fatal(err)
	}
	if renewal := float64(kubelet.NodeLeaseDurationSeconds) / 4; NodeGrace.Seconds() < 4*renewal {
		t.Errorf("grace %s, renewal every %g s", NodeGrace, renewal)
	}
	if kubelet.FailCgroupV1 == nil || *kubelet.FailCgroupV1 {
		t.Error("kubelet refuses cgroup v1")
	}
}
