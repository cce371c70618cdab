// Package deployed is one run of a dispatcher in one namespace of a real cluster, whoever's cluster that is: it deploys what the
// manifests say, with a database and a fault proxy in front of it and of the API server, aims faults of calls, pods and processes,
// watches, and makes one history of what everybody wrote down.
//
// What depends on the cluster, and on how far into it the harness may reach, is behind the interface Ground: package kind has nodes
// that it may kill, package shared has a namespace and no more.
//
// Everything that a World does happens in its loop, which Run executes: timers, faults, and what watchers saw. The rest only
// posts to it.
package deployed
