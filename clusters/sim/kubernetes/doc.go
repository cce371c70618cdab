// Package kubernetes is a model of Kubernetes, as far as a dispatcher of pods can trip over it. It is
// driven by the timer callbacks of a kernel and starts nothing of its own; the same seed makes the same run.
//
// The methods that answer calls (Create, Get, List, Delete, Release, NodeExists, GetLease, PutLease, Watch)
// act at the instant at which they are called. Latency, lost replies, outages and 429 of a single call are laid
// over them by the world that owns the Server, which is their Host.
//
// # What is modelled, and where the rule comes from
//
// Paths are those of github.com/kubernetes/kubernetes, pages those of kubernetes.io/docs.
//
//   - API server. One resourceVersion counter; names are unique, also while the old object is terminating; UID
//     preconditions; optimistic locking of leases (reference/using-api/api-concepts). An object leaves when its
//     deletion grace is zero and no finalizer is left (staging/src/k8s.io/apiserver/pkg/registry/rest/delete.go,
//     BeforeDelete, and registry/generic/registry/store.go, ShouldDeleteDuringUpdate). Deletion is immediate for a
//     pod that is not bound or has ended (pkg/registry/core/pod/strategy.go, CheckGracefulDelete). A quota
//     counts pods that have not ended, and is judged before the name is (concepts/policy/resource-quotas).
//
//   - Lists. Pages of one list show one moment; a continue token expires with the compaction of etcd (410). A list
//     from the cache (resourceVersion=0) is as old as the cache and ignores the limit.
//
//   - Watches. In order of resourceVersion, late by the lag of the cache, 410 for what was compacted. The API server
//     promises no gaps; DropWatchEvents stands for broken networks and clients.
//
//   - kube-scheduler. Capacity counts pods that have not ended; unready, cordoned and tainted nodes get nothing;
//     on-demand work stays off spot nodes, the rest prefers them; equal scores are drawn
//     (pkg/scheduler/schedule_one.go, selectHost). A pod that fits nowhere makes the autoscaler add a node.
//
//   - Kubelet. status.startTime is when it first saw the pod; activeDeadlineSeconds counts from it and is enforced without
//     the API server (pkg/kubelet/active_deadline.go). SIGTERM, the grace period (at least a second, see
//     pkg/kubelet/pod_workers.go, calculateEffectiveGracePeriod), SIGKILL. A terminal phase is reported only after the container stopped,
//     and only then is a deletion confirmed (pkg/kubelet/status/status_manager.go, mergePodStatus and canBeDeleted).
//     What it could not report it reports when it can. restartPolicy is Never, or
//     OnFailure with a number of restarts, which are put off by 10 s, doubling up to 5 minutes (concepts/workloads/pods/pod-lifecycle).
//
//   - Nodes. Heartbeats every 10 s, judged every 5 s; silence for NodeGrace makes a node NotReady, then a NoExecute
//     taint evicts after UnreachableToleration; one node per 10 s is tainted, none while all nodes, or at least 3 and 55 % of up
//     to 50, are NotReady (architecture/nodes, pkg/controller/nodelifecycle, pkg/controller/tainteviction).
//
//   - Pod garbage collection. Every 20 s; pods of a node whose object has been missing for 40 s are set Failed and deleted by
//     force, finalizers honoured; so are terminating pods that were never bound (pkg/controller/podgc).
//
//   - Graceful node shutdown. NotReady at once, SIGTERM with at most the notice as grace, pods end Failed, new ones are
//     turned away (concepts/cluster-administration/node-shutdown).
//
//   - Garbage collection. A launcher's container makes other pods, its parts, which carry none of the dispatcher's labels. Where the launcher
//     Owns it (ownerReference with blockOwnerDeletion), a launcher that is being deleted stands until its parts are gone (finalizer
//     foregroundDeletion), and parts whose owner went otherwise are deleted (concepts/architecture/garbage-collection).
//
// # What the phase of a deleted pod means
//
// In a real cluster a container that heeds SIGTERM without handling it ends with exit code 143 and the pod is
// Failed; the reason for it is the condition DisruptionTarget, which evictions, taints, podgc and node shutdown set and a plain
// deletion does not. A container that answers SIGTERM with exit 0 makes its pod Succeeded. The port knows one word for
// all of these, Failed(Evicted): the model shows it for every pod that was stopped by a
// deletion before its container had ended, whatever the exit code, as an adapter does that looks at deletionTimestamp first.
// The real adapter can do so only until the kubelet has confirmed the deletion: see ARCHITECTURE.md, "Where the model differs".
//
// # What is left out
//
// Several containers, volumes, probes, priorities and preemption, pod disruption budgets, resources other than pods per node, zones
// (the cluster is one), the authorizer, quotas that nobody has counted yet, the garbage collection of ended pods above a threshold (12,500 by default), OutOfpods (the kubelet's own
// admission when a force-deleted pod still runs), back-off of the scheduler's queue, scale-down, image pull
// failures, and latency inside the controllers beyond their periods.
package kubernetes
