// Package testbed is a kind cluster with spot and on-demand nodes, and what can be done to its nodes and containers from
// outside: kill, pause, cut off, read files of a dead node, freeze one container. It knows no run and no scenario.
//
// kind creates and deletes the cluster; it cannot stop, pause or restart a node, so that part goes through the docker
// command line, which kind itself uses too (every provider of kind v0.33 runs one).
//
// A cluster is marked as ours in three places: a state directory of this user, a label on its Docker network, and a
// ConfigMap inside. A cluster of the same name that lacks the marks belongs to somebody else and is left alone.
package testbed
