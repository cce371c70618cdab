package main

import (
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/scenarios"
)

// What a cluster is like that Squall did not make: of it there is one namespace, and no node. How it is done stands in world_cluster.go.
func init() {
	limits := kindLimits
	limits.World, limits.Machines, limits.Notice = sharedWorld, nil, 0
	registerWorld(worldEntry{
		name:    sharedWorld,
		summary: "one namespace of a cluster that Squall did not make; no node is touched, and the witnesses are weaker than in kind",
		ability: scenarios.Ability{
			Faults: faults.Capabilities{faults.Pods, faults.Processes, faults.Calls, faults.Platform},
			Cannot: sharedCannot,
		},
		scale: scenarios.Scale{Factor: kindFactor, Limits: limits}, factors: kindFactors,
		witness: "container statuses, as kubelets report them: weaker than the container runtimes' own events, which world kind listens to",
		live:    true, named: true,
		get: "make build WITH=kind",
	})
}

const (
	needsMachine = "it takes the machine of a node; world kind has machines of Squall's own"
	needsNode    = "it takes access to the server's node, which world kind has; store-outage, store-slow and api-outage need none"
)

// sharedCannot is what cannot be done honestly with a namespace and no node, each with what would be needed.
var sharedCannot = faults.Refusals{
	{Kind: faults.NodeKill, Why: needsMachine},
	{Kind: faults.NodeRemove, Why: needsMachine},
	{Kind: faults.NodePartition, Why: needsMachine},
	{Kind: faults.SpotReclaim, Why: needsMachine},
	{Kind: faults.StoreCrash, Why: needsNode},
	{Kind: faults.StorePause, Why: needsNode},
	{Kind: faults.APIPause, Why: "the API server is everybody's; world kind has one of its own"},
	{Kind: faults.ContainerKill, Why: "it takes access to the node, which world kind has, or Chaos Mesh in the cluster; pod-evict takes neither"},
	{Kind: faults.Call, Action: clusters.CrashCaller, Process: "worker*", Why: "a container that dies in its pod takes access to the node, which world kind has"},
	{Kind: faults.PodRemove, Why: "whether the container of an object that was removed by force lives on only its node can tell, which world kind asks"},
	{Kind: faults.PodRelabel, Why: "Squall itself finds pods there by the labels that it would edit"},
	{Kind: faults.ClockSkew, Why: "the clock is the node's, and only Chaos Mesh in the cluster could set one process's apart"},
	{Kind: faults.StoreFailover, Why: "there is one Postgres server, and no standby to fail over to"},
	{Kind: faults.StaleReplica, Why: "there is one Postgres server, and no replica that could lag behind"},
	{Kind: faults.Call, Verb: "watch", Why: "replicas there have no port for watches"},
	{Kind: faults.StaleCache, Why: "how far the API server's watch cache lags behind cannot be set"},
}

// meshKinds are refused above unless the cluster has a Chaos Mesh, which strikes them as a scenario means them.
//
//lint:ignore U1000 a build without kind has nobody to ask
var meshKinds = []faults.Kind{faults.ContainerKill, faults.ClockSkew}
