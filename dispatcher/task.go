package dispatcher

import "time"

// TaskID is chosen by the client that submits a task: it is the idempotency key.
type TaskID string

// Token is a fencing token. The store hands out a larger one with every claim, across all
// tasks, and refuses what arrives under an older one.
type Token uint64

// Epoch numbers the terms of one role's leadership. The store hands out a larger one with
// every Lead and refuses leader writes that carry an older one.
type Epoch uint64

// UID is the identity that the API server gave to one object; a new object under an old
// name has a new one.
type UID string

// InstanceID names one replica of the dispatcher or the reconciler, one process life long.
type InstanceID string

// Role is what a replica leads: each role has a Lease and an epoch of its own.
type Role string

// The two roles.
const (
	RoleDispatcher Role = "dispatcher"
	RoleReconciler Role = "reconciler"
)

// Spec is what a client asked for; it never changes after Submit.
type Spec struct {
	ID TaskID
	// StartDeadline, when positive, is how long after submission the work must have begun.
	// Such work is placed on on-demand nodes; all other work may use spot.
	StartDeadline time.Duration
	// Deadline, when positive, replaces Settings.WorkflowDeadline for this task.
	Deadline time.Duration
	// MaxFailures and MaxDisruptions, when positive, replace the budgets of Settings.
	MaxFailures    int
	MaxDisruptions int
	Work           Work
}

// OnDemand tells whether the task must stay off spot nodes.
func (s Spec) OnDemand() bool { return s.StartDeadline > 0 }

// Work is what the container does. The dispatcher passes it on, and looks at nothing of it but Launcher.
type Work struct {
	// Run is the true length of the work, up to its effect.
	Run time.Duration
	// IgnoreTerm keeps the container running through SIGTERM, until SIGKILL.
	IgnoreTerm bool
	// IgnoreTimeouts is work that honours neither the HTTP nor the step timeout, so that
	// only the kubelet's deadline ends it.
	IgnoreTimeouts bool
	// IgnoreFence is work that cannot stop itself when its heartbeats are refused or lost.
	IgnoreFence bool
	// Hang is work that never ends by itself.
	Hang bool
	// FailUntil makes every attempt with a lower or equal number report a failure at the end of Run.
	FailUntil int
	// CrashAt, when positive, kills the container (exit 137, as an OOM kill) this far into each run.
	CrashAt time.Duration
	// NoResult ends the container with exit 0 and without an effect.
	NoResult bool
	// Launcher is work that is done in another pod, which the container makes and waits for. That one goes on when the container dies.
	Launcher bool
	// Pods is how many pods a launcher makes, one when zero: a group, in which the first does the work, and the others live for as long beside it.
	Pods int
	// Stragglers is how many pods of the group, the last ones, run on through SIGTERM as IgnoreTerm does.
	Stragglers int
}

// Desired is the goal of a task: the client's side of the row.
type Desired string

// What a client can want.
const (
	DesiredRun    Desired = "run"
	DesiredCancel Desired = "cancel"
)

// Phase is where a task is in its life. doc.go has the state diagram.
type Phase string

// The phases. Succeeded, Failed and Cancelled are terminal and never change again;
// NeedsAttention is a stop that only a person's Resume leaves.
const (
	Pending        Phase = "pending"
	Running        Phase = "running"
	Succeeded      Phase = "succeeded"
	Failed         Phase = "failed"
	Cancelled      Phase = "cancelled"
	NeedsAttention Phase = "needs-attention"
)

// Terminal tells whether the phase is final.
func (p Phase) Terminal() bool { return p == Succeeded || p == Failed || p == Cancelled }

// Stopped tells whether the system will do nothing more about the task by itself.
func (p Phase) Stopped() bool { return p.Terminal() || p == NeedsAttention }

// Activity is what is going on with a running task right now.
type Activity string

// The activities of a running task, in the order in which they follow each other.
const (
	Idle      Activity = "idle"      // nothing: not running
	Launching Activity = "launching" // claimed; the workload may or may not exist
	Launched  Activity = "launched"  // the workload exists, its worker has not started
	Executing Activity = "executing" // the worker asked to start and was let in
)

// Reason says why a task was requeued or stopped.
type Reason string

// The reasons. doc.go says what each is charged to.
const (
	ReasonNone             Reason = ""
	ReasonWorkFailed       Reason = "work failed"             // the worker said so, or its container died by itself
	ReasonNoResult         Reason = "exited without result"   // exit 0 and nothing recorded
	ReasonLost             Reason = "workload lost"           // gone, or on a node that is gone or cut off
	ReasonDisrupted        Reason = "disrupted"               // evicted, preempted, deleted, node shut down
	ReasonStartTimeout     Reason = "start timeout"           // never began
	ReasonDeadline         Reason = "deadline"                // the workflow deadline ended it
	ReasonStartDeadline    Reason = "start deadline missed"   // the client's StartDeadline passed
	ReasonRejected         Reason = "rejected"                // the API server refused the object for good
	ReasonCancelled        Reason = "cancelled"               // the client asked
	ReasonFailuresSpent    Reason = "failure budget spent"    // needs attention
	ReasonDisruptionsSpent Reason = "disruption budget spent" // needs attention
)

// Attempt is one try at a task. At most one is current; its token tells which.
type Attempt struct {
	Number   int   // 1 for the first
	Token    Token // 0: no attempt yet
	Epoch    Epoch // the dispatcher's term that launched it
	Workload UID   // the one object that executes it; empty until known
	// All three are stamps of the database clock; zero means not yet.
	ClaimedAt   time.Time
	StartedAt   time.Time
	HeartbeatAt time.Time
}

// SignOfLife is the last moment, by the database clock, at which the attempt was known to be wanted or alive.
func (a Attempt) SignOfLife() time.Time {
	switch {
	case !a.HeartbeatAt.IsZero():
		return a.HeartbeatAt
	case !a.StartedAt.IsZero():
		return a.StartedAt
	}
	return a.ClaimedAt
}

// Observation is what the reconciler last saw of the workload.
type Observation struct {
	State   Sighting
	Version uint64 // resourceVersion of the object that was seen
}

// Task is one row. Goal (Desired), life (Phase), doing (Activity) and last sight (Observed)
// are four fields because they have four writers: see "who may write what" in doc.go.
type Task struct {
	Spec     Spec
	Version  uint64 // grows with every write to the row
	Desired  Desired
	Phase    Phase
	Activity Activity
	Observed Observation
	Attempt  Attempt

	Failures    int // charged executions that failed
	Disruptions int // attempts lost through no fault of the work

	Reason Reason // why it was last requeued or stopped
	Remedy string // the command that a person runs; set while NeedsAttention

	SubmittedAt       time.Time
	CancelRequestedAt time.Time // zero: not requested
	EndedAt           time.Time // zero: not stopped
	NotBefore         time.Time // a pending task is claimable from here on
	// CleanupAt is when the workload of the last attempt is to be removed; zero: nothing is
	// owed. A task is not claimed again before its cleanup is done.
	CleanupAt time.Time
}

// Ref points at a task as its writer read it; the store refuses the write when the row moved on.
type Ref struct {
	ID      TaskID
	Token   Token
	Version uint64
}

// Ref returns the reference for a conditional write.
func (t Task) Ref() Ref { return Ref{ID: t.Spec.ID, Token: t.Attempt.Token, Version: t.Version} }

// Term is one term of leadership, as the store granted it.
type Term struct {
	Role     Role
	Epoch    Epoch
	Instance InstanceID
}

// Ticket is what a worker shows to the store.
type Ticket struct {
	ID       TaskID
	Token    Token
	Workload UID
}

// Result is how an execution ended, as its worker reports it.
type Result string

// The results.
const (
	ResultSucceeded Result = "succeeded" // commits the effect
	ResultFailed    Result = "failed"
)
