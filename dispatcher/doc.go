// Package dispatcher is the reference protocol: it starts one workload per task on Kubernetes, recovers what is
// lost, and never counts a result twice. It consists of two loops, written as plain sequential code over the ports
// of ports.go, so that the same code runs in the simulation, against a local control plane and in a cluster.
//
// # Life of a task
//
//	          Submit
//	            |
//	            v       Claim (new attempt, new token)
//	+------> pending ------------------------------> running ------------------+
//	|           |                                    |  launching              |
//	|           | Cancel, nothing owed               |  launched   (Launched)  | Finish(succeeded)
//	|           v                                    |  executing  (Start)     v
//	|       cancelled <------------------------------+                     succeeded
//	|                   Conclude(cancelled)          |
//	| Requeue, Finish(failed), Unclaim               | Conclude(deadline, start deadline), Reject
//	+------------------------------------------------+-----------------------> failed
//	|                                                |
//	| Resume (a person)       budget spent           |
//	+---------------- needs-attention <--------------+
//
// Succeeded, failed and cancelled are terminal. Needs-attention is a stop with a reason and a remedy. Whatever ends an
// attempt leaves cleanup owed (CleanupAt): the task is not claimed again before the reconciler has proved that
// nothing is left of it and recorded so (Cleaned).
//
// # Who may write what
//
//	field                          written by                         under the condition of
//	Desired                        clients (Cancel)                   the row existing
//	Phase, Activity, Attempt       dispatcher (Claim, Launched, ...)  its epoch, the row's version and token
//	                               workers (Start, Finish)            the token, and the one object bound to it
//	Attempt.HeartbeatAt            workers                            the token, and the one object bound to it
//	Observed, Phase, CleanupAt     reconciler                         its epoch, the row's version and token
//	Failures, Disruptions          the store, inside those writes
//
// The conditions are in the store's statements. A writer that believes wrongly that it leads, or that its attempt is
// current, is refused there.
//
// # The twelve rules, and where they live
//
//  1. Placement: Spec.OnDemand, carried into Workload.OnDemand.
//  2. Bounded claims: the limit of Store.Claim; dispatcher.tick; Settings.checkBatches.
//  3. Nested timeouts: Settings.checkChain and checkSilence.
//  4. Recovery outside: RunReconciler shares no process, pod or lease with what it recovers.
//  5. Identity: WorkloadName; dispatcher.adopt; the UID preconditions of Delete and Release; Start binds the UID.
//     What a workload launches is owned by it and goes before it does: Workload.Owns; outlived.
//  6. Spec and status: the four fields of Task; Ref.
//  7. Fencing: Term and Ticket, compared by the store.
//  8. Unknown is not gone: Unknown in errors.go; SightUnknown; reconciler.list.
//  9. Cancel and cleanup are states: Desired apart from Phase; Workload.Held; decideCleanup.
//  10. Budgets: Failures and Disruptions, charged in the store; NeedsAttention with Reason and Remedy.
//  11. Clock: every stamp and comparison is the store's; a replica measures only durations, on its monotonic clock.
//  12. Observability: Meter and Health: oldest running task, reconcile lag, repeated failures, tasks that need a person, and
//     counts of claims, launches, adoptions, requeues and refused writes.
//
// # What proves a silent attempt dead
//
// One of two disciplines (Settings.Heartbeats). With heartbeats, a worker whose last accepted heartbeat was sent more than
// WorkerLease ago has killed itself, and WorkerLease lies below RecoveryGrace. Without, the kubelet ends the container at the
// workflow deadline, even when it is cut off, and the deadline plus the pod's grace lies below RecoveryGrace. In both, past
// the grace the reconciler asks for deletion, waits for the deletion to get stuck, and only then replaces the attempt. Should a
// container live on all the same, its token is superseded: it can neither start nor finish.
//
// # What each failure leads to
//
//	step                     the reply is lost                  the process dies after it           it is applied late
//	Claim                    the next Claim takes over rows     the next leader's first Claim       refused: the epoch is old, or
//	                         still launching, same token        does the same                       taken over as on the left
//	Create                   read by name: same token is        Claim takes over, Create answers    Start is refused once superseded;
//	                         adopted, absent is created again   Exists, the object is adopted       the object is cleared as an orphan
//	Launched                 the row stays launching, or the    as on the left                      refused unless the attempt is current
//	                         worker's Start has passed it
//	Start (worker)           asked again, idempotent            the container ended: requeued       accepted only while current
//	Heartbeat                sent again                         silence, see above                  refused once superseded
//	Finish                   asked again, idempotent            exit without a result, or done      accepted only while current, counted once
//	Requeue, Conclude        the next sweep reads the row       the next leader's sweep             refused: version or epoch moved on
//	Delete, Release          the next sweep looks again         the next leader's sweep             UID precondition
//	Cleaned                  the next sweep finds it absent     as on the left                      refused: version moved on
//	lease renewal            read back: its own name is taken   the lease lapses, another replica   refused: the resourceVersion moved on
//	                         for its own renewal                opens a new term
//
// # Charges
//
//	reason                                          charged to    claimable again after
//	work failed, exited without result              failures      backoff, doubling
//	workload lost, disrupted                        disruptions   its cleanup
//	start timeout                                   disruptions   backoff
//	deadline, start deadline missed, rejected       (terminal)
//
// An attempt whose worker never began is never a failure of the work.
package dispatcher
