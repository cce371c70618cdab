// Package dumps reads what `kubectl get events,pods,nodes,leases -o json` prints, and makes samples of it. A dump is a list or a
// single object, several of them in a row, or what kubectl's watch (-w, --output-watch-events) prints: an object that is seen
// several times is one, with all that was ever seen of it.
//
// What says what:
//
//   - The scheduler's event is stamped in microseconds, a pod's conditions in whole seconds. A pod that did not fit at first
//     (FailedScheduling) says nothing of scheduling, and the first of those that a new node took says how long that took to come.
//   - The kubelet's event Pulled has the time that the pull took, waiting for other pulls included, in words.
//   - A pod's deletion was asked for its grace before its deletionTimestamp; the event Killing tells more directly.
//   - Only the lease of a node tells when its kubelet was last heard: heartbeats in the node's status come every five minutes.
//
// Events live for an hour by default: a dump is of that hour, and a watch is better.
package dumps
