// Package history is the record that verdicts are made from: what processes called and
// what came back, what the database committed, and what containers truly did.
//
// Everything carries a Seq: one strictly increasing index over calls, effects, returns and
// events. Checkers order by Seq and never by time, because equal times would count as concurrent.
package history

import "time"

// Seq is a position in the one total order of a history; 0 is "none". It has 32 bits, since four of them are in every operation, and a
// history of four thousand million records does not fit in memory anyway.
type Seq uint32

// ID is a 1-based index into a table of names of a History; 0 is "none".
type ID int32

// Outcome is what the caller of an operation knows.
type Outcome uint8

// The outcomes. Fail means that nothing happened; Unknown is neither.
const (
	OK Outcome = iota + 1
	Fail
	Unknown
)

// Verb names a port method.
type Verb uint8

// The verbs, one per port method of package dispatcher.
const (
	Submit Verb = iota + 1
	Cancel
	Resume
	Read
	Now
	Lead
	Confirm
	Claim
	Launched
	Unclaim
	Reject
	Scan
	Observe
	Requeue
	Conclude
	Cleaned
	Postpone
	Health
	Start
	Heartbeat
	Finish
	Create
	Get
	List
	Delete
	Release
	NodeExists
	GetLease
	PutLease
	Watch
)

// Code says why an operation failed or is unknown; the words are those of dispatcher's errors.
type Code uint8

// The codes.
const (
	NoCode Code = iota
	Timeout
	Unavailable
	NotFound
	Exists
	Conflict
	Fenced
	Refused
	Throttled
	Rejected
	Expired
	Internal // an error that fits no other code
	Reset    // the connection broke before a reply
)

// Phase is a task's phase, in the order of its life.
type Phase uint8

// The phases of package dispatcher.
const (
	NoPhase Phase = iota
	Pending
	Running
	Succeeded
	Failed
	Cancelled
	NeedsAttention
)

// Operation is one call of one process. A call that concerns several tasks (Claim) is one
// Operation per task, with the same Call and Return; with none, Task is 0.
type Operation struct {
	Call, Return Seq // Return is 0 when the caller never learned the outcome
	// Effect is where the server applied the call, known from the server's own log; 0 when it
	// did not, or when the log cannot tell (see Applied).
	Effect Seq
	// Visible is by when everybody could see the effect, where the log is stamped by COMMIT before
	// others see what it commits; 0 when that is at once. Known only of calls whose outcome is Unknown.
	Visible Seq
	// CalledAt and ReturnedAt are offsets from the start of the run.
	CalledAt, ReturnedAt time.Duration

	Process ID
	Task    ID
	Verb    Verb
	Outcome Outcome
	Code    Code
	// Applied tells what the server's log says about the effect: OK applied, Fail not applied
	// (and never will be), Unknown when there is no such log.
	Applied Outcome
	// Phase is the row's phase right after the effect; for Read, what was read.
	Phase      Phase
	Cancelling bool // the row's goal is to cancel, right after the effect

	Token uint64 // of the attempt concerned; for Claim the one granted; for Read what was read
	Epoch uint64 // of the term used; for Lead the one granted
	// Detail holds what else the verb needs: the result of Finish, the reason of Requeue and
	// Conclude, the UID of Start, Launched, Create and Delete, the role of Lead and Confirm.
	Detail string
}

// Kind is the kind of an Event.
type Kind uint8

// The kinds. Those of containers, work and effects are ground truth: recorded where it happens, whatever
// any row or object says.
const (
	// Row is a commit to a task's row: Phase, Token, Epoch, Cancelling, Failures, Disruptions, Due, Cleanup, Detail (reason) are its new values.
	Row Kind = iota + 1
	// ContainerStarted and ContainerEnded: Task, Token, Object (UID), Node; Detail of the end: "exit 0", "killed", ...
	ContainerStarted
	ContainerEnded
	// WorkStarted and WorkEnded bracket an execution: from the accepted Start to the end of the container.
	WorkStarted
	WorkEnded
	// EffectCounted and EffectRefused: a result that the store accepted, or not. EffectLost takes back a
	// counted one (a failover lost the commit).
	EffectCounted
	EffectRefused
	EffectLost
	// ObjectCreated, ObjectDeleting (deletionTimestamp set) and ObjectGone: the API object; Detail is its name.
	ObjectCreated
	ObjectDeleting
	ObjectGone
	// ObjectPhase: Detail is the new state, with the failure after a space.
	ObjectPhase
	// ObjectBound: a real scheduler has given the object a node; Detail is Gated where the world itself held it back. No oracle needs
	// it, and the model of Kubernetes does not tell.
	ObjectBound
	// NodeAdded, NodeReady, NodeNotReady, NodeGone: what the API server says of Node. Detail is the name, or in a real cluster,
	// of NodeAdded, the capacity type; there Due of NodeNotReady is how long before the node had renewed its lease for the last time.
	NodeAdded
	NodeReady
	NodeNotReady
	NodeGone
	// ProcessStarted, ProcessCrashed, ProcessPaused, ProcessResumed.
	ProcessStarted
	ProcessCrashed
	ProcessPaused
	ProcessResumed
	// LeaseHeld: Process is the new holder (0: nobody) of the lease named in Detail.
	LeaseHeld
	// FaultPlanned, FaultStruck, FaultObserved, FaultHealed: Fault is its index in the plan (1-based), Detail
	// its description. Observed: a call or component was really affected. Until on FaultStruck and FaultHealed:
	// how long after healing the fault may still delay the system (the "detect" of the bound B).
	FaultPlanned
	FaultStruck
	FaultObserved
	FaultHealed
	// Healed ends the safety phase: all faults are over. Ended is the end of the run; Detail says why.
	Healed
	Ended
	// FaultMissed: the fault could not strike by the end of the safety phase; Detail is its description and why.
	FaultMissed
)

// Gated is the Detail of an ObjectBound that the world held back.
const Gated = "gated"

// Event is one thing that happened.
type Event struct {
	At   time.Duration // offset from the start of the run
	Seq  Seq
	Kind Kind

	Phase       Phase
	Cancelling  bool // Row: the goal is to cancel
	Cleanup     bool // Row: cleanup is owed
	Task        ID
	Process     ID
	Node        ID
	Fault       int32
	Failures    int32
	Disruptions int32
	Token       uint64
	Epoch       uint64
	// Due is, for Row, when a pending task becomes claimable or the owed cleanup of a stopped one is due (a kept workload's
	// lies in the future); for faults see FaultStruck, for nodes NodeNotReady.
	Due    time.Duration
	Object string // UID
	Detail string
}

// History is the record of one run.
type History struct {
	Meta       Meta
	Processes  []string // names by ID-1
	Tasks      []string
	Nodes      []string
	Specs      []Spec      // by task ID-1
	Operations []Operation // in order of Call
	Events     []Event     // in order of Seq
}

// Meta is what a checker needs to know about the run.
type Meta struct {
	Scenario   string
	Dispatcher string
	World      string // sim, kind, local
	Seed       uint64
	Version    string // of Squall
	TraceHash  uint64 // sim only
	Limits     Limits
}

// Limits are the settings that invariants are judged by, copied so that a history can be judged alone.
type Limits struct {
	ClaimBatch, MaxInFlight, RecoverBatch int
	MaxFailures, MaxDisruptions           int
	Tick, RecoveryGrace, RecoverInterval  time.Duration
	CreateTimeout, PodGrace               time.Duration
	Handover                              time.Duration // lease_ttl + 2 * retry_period
	CallsPerMinute                        int           // per process and verb: more is a loop without backoff; 0: not judged
	CallMax                               time.Duration // CreateTimeout + the longest late application
	// StartTimeout and Deadline are how long after its claim an attempt may be waiting to begin: the earlier of the two; 0: for ever.
	StartTimeout, Deadline time.Duration
}

// Spec is what a checker needs to know about a task.
type Spec struct {
	MaxFailures, MaxDisruptions int // 0: those of Limits
	StartDeadline               time.Duration
	Deadline                    time.Duration // 0: that of Limits
}
