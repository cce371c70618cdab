package faults

import (
	"reflect"
	"testing"
	"time"

	"github.com/squall-chaos/squall/clusters"
)

func options(t *testing.T) SwarmOptions {
	in := setting()
	return SwarmOptions{Nodes: in.Nodes, Tasks: in.Tasks, Dispatchers: in.Dispatchers, Reconcilers: in.Reconcilers,
		Settings: settings(t), Horizon: 30 * time.Minute}
}

func TestSwarmPlansAreValidAndHealBeforeTheHorizon(t *testing.T) {
	o := options(t)
	in := setting()
	in.Horizon = o.Horizon
	seen := map[Kind]int{}
	for seed := range uint64(2000) {
		d, err := Swarm("standard", seed, o)
		if err != nil {
			t.Fatal(err)
		}
		if found := d.Plan.Validate(in); found != nil {
			t.Fatalf("seed %d: %v", seed, found)
		}
		for _, f := range d.Plan {
			seen[f.Kind]++
			if f.Kind == ClockSkew && max(f.By, -f.By) > o.Settings.MaxClockSkew {
				t.Fatalf("seed %d: %s is more than any two clocks may differ", seed, f)
			}
			if !f.Kind.Instant() && f.Kind != SpotReclaim && f.For == 0 && f.Kind != RunTime {
				t.Fatalf("seed %d: %s does not heal by itself", seed, f)
			}
		}
	}
	for _, r := range standard {
		if seen[r.kind] == 0 {
			t.Errorf("2000 seeds never drew %s", r.kind)
		}
	}
	if seen[StoreFailover]+seen[PodRemove] > 0 {
		t.Error("the standard mix has faults that no dispatcher can survive")
	}
}

func TestSwarmSwitchesWholeKindsOff(t *testing.T) {
	o := options(t)
	off := map[Kind]int{}
	const seeds = 1000
	for seed := range uint64(seeds) {
		d, _ := Swarm("standard", seed, o)
		if len(d.On)+len(d.Off) != len(standard) {
			t.Fatalf("seed %d: %d on, %d off, of %d", seed, len(d.On), len(d.Off), len(standard))
		}
		for _, k := range d.Off {
			off[k]++
		}
		for _, f := range d.Plan {
			for _, k := range d.Off {
				if f.Kind == k {
					t.Fatalf("seed %d: %s strikes although its kind is off", seed, f)
				}
			}
		}
	}
	for _, r := range standard {
		if n := off[r.kind]; n < seeds*4/10 || n > seeds*6/10 {
			t.Errorf("%s was off under %d of %d seeds, expected about half", r.kind, n, seeds)
		}
	}
}

func TestSwarmIsDecidedByItsSeed(t *testing.T) {
	a, _ := Swarm("standard", 7, options(t))
	b, _ := Swarm("standard", 7, options(t))
	c, _ := Swarm("standard", 8, options(t))
	if !reflect.DeepEqual(a, b) || reflect.DeepEqual(a, c) {
		t.Error("the same seed must draw the same plan, another seed another one")
	}
}

func TestSwarmLeavesOutWhatHasNoVictim(t *testing.T) {
	o := options(t)
	o.Nodes = []clusters.NodeGroup{{Name: "od", CapacityType: clusters.OnDemand, Count: 2, Pods: 5}}
	for seed := range uint64(200) {
		d, _ := Swarm("standard", seed, o)
		for _, f := range d.Plan {
			if f.Kind == SpotReclaim || f.Kind == NodeRemove {
				t.Fatalf("seed %d: %s, but there is no spot node", seed, f)
			}
		}
	}
	if _, err := Swarm("hostile", 1, o); err == nil {
		t.Error("an unknown swarm was accepted")
	}
}
