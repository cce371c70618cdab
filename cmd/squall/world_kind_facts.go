package main

import (
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/scenarios"
)

// What kind is like stands here, and is in every build: scenarios can then be checked against it, listed for it, and run in
// the simulation as they would be run in it. How it is done stands in world_kind.go, behind the build tag kind.
func init() {
	registerWorld(worldEntry{
		name:    "kind",
		summary: "everything real: Kubernetes nodes in containers, spot and on-demand, Postgres, and the programs as images",
		ability: scenarios.Ability{
			Faults: faults.Capabilities{faults.Nodes, faults.Pods, faults.Processes, faults.Calls, faults.Platform, faults.Servers},
			Cannot: kindCannot, Machines: kindLimits.Machines, Start: 15 * time.Second,
		},
		scale: scenarios.Scale{Factor: kindFactor, Limits: kindLimits}, factors: kindFactors,
		live:  true,
		alone: []faults.Kind{faults.NodeKill, faults.NodeRemove, faults.NodePartition, faults.SpotReclaim, faults.SchedulingHold, faults.APIPause},
		get:   "make build WITH=kind",
	})
}

// kindFactor turns a chain of minutes into one of seconds that kubelets can still keep.
const kindFactor = 12

// kindFactors: b0 ticks, and expects heartbeats, so often that what it is divided by must be small.
var kindFactors = map[string]float64{"b0": 6}

// kindCannot is what cannot be done honestly in containers on one machine.
var kindCannot = faults.Refusals{
	{Kind: faults.ClockSkew, Why: "the clock is the kernel's, and no namespace of it can be set apart"},
	{Kind: faults.StoreFailover, Why: "there is one Postgres server, and no standby to fail over to"},
	{Kind: faults.StaleReplica, Why: "there is one Postgres server, and no replica that could lag behind"},
	{Kind: faults.Call, Verb: "watch", Why: "replicas there have no port for watches"},
	{Kind: faults.PodRelabel, Why: "Squall itself finds pods there by the labels that it would edit"},
	{Kind: faults.StaleCache, Why: "how far the API server's watch cache lags behind cannot be set"},
}

// kindLimits are what a kind cluster with its failure detection set to seconds can keep, see clusters/kind/testbed.
var kindLimits = scenarios.Limits{
	World: "kind",
	// activeDeadlineSeconds, terminationGracePeriodSeconds, tolerationSeconds and leaseDurationSeconds are integers.
	Whole: []string{"workflow_deadline", "pod_grace", "lease_ttl"},
	Least: map[string]time.Duration{
		"create_timeout":      3 * time.Second,
		"store_timeout":       1500 * time.Millisecond,
		"lease_ttl":           4 * time.Second,
		"renew_deadline":      2500 * time.Millisecond,
		"retry_period":        500 * time.Millisecond,
		"pod_grace":           2 * time.Second,
		"termination_timeout": 5 * time.Second,
		"start_timeout":       15 * time.Second,
		"recover_interval":    time.Second,
	},
	Fixed: map[string]time.Duration{
		"node_grace":             8 * time.Second,
		"unreachable_toleration": 10 * time.Second,
		"max_clock_skew":         100 * time.Millisecond, // all nodes have one kernel's clock
	},
	Platform: clusters.Platform{
		Scheduling: clusters.Uniform(10*time.Millisecond, 200*time.Millisecond),
		ImagePull:  clusters.Fixed(0),
		Startup:    clusters.Uniform(500*time.Millisecond, 2*time.Second),
		Shutdown:   clusters.Uniform(100*time.Millisecond, time.Second),
		CacheLag:   clusters.Fixed(100 * time.Millisecond),
		ReplicaLag: clusters.Fixed(0),
	},
	Unset:    []string{"api_latency", "store_latency", "shutdown", "cache_lag", "replica_lag", "on_demand", "spot"},
	Notice:   5 * time.Second,
	Late:     30 * time.Second,
	Horizon:  10 * time.Second,
	Tasks:    6,
	Machines: map[clusters.CapacityType]int{clusters.OnDemand: 2, clusters.Spot: 2},
}
