// Package kind is the world in which everything is real: replicas and workers are images in a kind cluster, on real nodes that are
// labelled spot and on-demand, with a real Postgres.
//
// A World is one run in a namespace of its own; package testbed has the cluster. Replicas and workers reach the API server and
// Postgres through a fault proxy, the kubelets do not. What happened is told by those to whom it happened: every process writes a
// journal to its node, the database logs its rows, containerd its containers. After the run package journal makes one history of
// it. During the run the world follows containers, leases and nodes, only so that faults can be aimed.
//
// Everything that a World does happens in its loop, which Run executes: timers, faults, and what watchers saw. The rest only
// posts to it.
package kind
