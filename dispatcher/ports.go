package dispatcher

import (
	"context"
	"time"
)

// Clock is a process's own clock.
type Clock interface {
	// Now is the wall clock. It may be wrong and may jump: it is never compared with a stamp from elsewhere.
	Now() time.Time
	// Elapsed is the monotonic clock, from an arbitrary origin: the only one that durations are measured on.
	Elapsed() time.Duration
	// Sleep returns ctx's error when it is cancelled first.
	Sleep(ctx context.Context, d time.Duration) error
	// WithTimeout bounds the calls made under the returned context.
	WithTimeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc)
}

// Store is the database. Every method is exactly one transaction; stamps and comparisons
// of time use the database clock. Errors are judged with the predicates of errors.go.
type Store interface {
	Clients
	Terms
	Claims
	Recovery
	Workers
}

// Clients is what those who submit work may call.
type Clients interface {
	// Submit is idempotent: the same spec again changes nothing; another spec under the same ID is a Conflict.
	Submit(ctx context.Context, s Spec) (Task, error)
	// Cancel asks for the task to stop. A pending task without owed cleanup is Cancelled at once; a
	// stopped task stays as it is.
	Cancel(ctx context.Context, id TaskID) (Task, error)
	// Resume takes a NeedsAttention task on again with fresh budgets; Conflict for any other.
	Resume(ctx context.Context, id TaskID) (Task, error)
	// Read returns the row from the primary.
	Read(ctx context.Context, id TaskID) (Task, error)
}

// Terms is leadership as the store knows it. The Lease decides who tries; the epoch decides
// whose writes count.
type Terms interface {
	// Now is the database clock.
	Now(ctx context.Context) (time.Time, error)
	// Lead opens a new term: every earlier term of the role is Fenced from here on.
	Lead(ctx context.Context, r Role, i InstanceID) (Term, error)
	// Confirm returns the database clock if the term is still the role's current one, else Fenced.
	Confirm(ctx context.Context, t Term) (time.Time, error)
}

// Claims is what the leading dispatcher writes. All of it is refused as Fenced under an old
// epoch, and as a Conflict when the row is not as the Ref says.
type Claims interface {
	// Claim returns up to limit tasks to launch: first those that an earlier claim left in
	// Launching (the reply or the process was lost), taken over with their token unchanged, then
	// pending ones that are due, each with a new attempt and token. Rows locked by a concurrent
	// claim are skipped. Tasks wanted cancelled are left alone, and no more than
	// Settings.MaxInFlight run at once.
	Claim(ctx context.Context, t Term, limit int) ([]Task, error)
	// Launched records the one object that executes the attempt.
	Launched(ctx context.Context, t Term, r Ref, workload UID) (Task, error)
	// Unclaim gives a Launching task back uncharged, claimable again after wait. Only
	// for a launch that is known not to have happened.
	Unclaim(ctx context.Context, t Term, r Ref, wait time.Duration) (Task, error)
	// Reject stops a Launching task as Failed because the API server refuses its object for good.
	Reject(ctx context.Context, t Term, r Ref) (Task, error)
}

// Scan selects the rows that a reconciler looks at, in order of task ID.
type Scan struct {
	After TaskID // exclusive; empty: from the start
	Limit int
	// CancelsOnly leaves out everything but requested cancels that are not done.
	CancelsOnly bool
	// Stale allows a replica to answer: the rows may be old.
	Stale bool
}

// Page is one page of a scan, with the database clock at which it was read.
type Page struct {
	Tasks []Task
	Now   time.Time
	More  bool
}

// Recovery is what the leading reconciler reads and writes; the conditions are those of Claims.
type Recovery interface {
	// Scan returns the rows that need a look: running, or with cleanup due.
	Scan(ctx context.Context, s Scan) (Page, error)
	// Observe records what was seen of the workload.
	Observe(ctx context.Context, t Term, r Ref, o Observation) (Task, error)
	// Requeue ends the attempt and makes the task pending again, or NeedsAttention when the budget
	// that why is charged to is spent. Cleanup is owed from then on.
	Requeue(ctx context.Context, t Term, r Ref, why Reason) (Task, error)
	// Conclude ends a running task for good: Failed for a deadline, Cancelled for a cancel.
	Conclude(ctx context.Context, t Term, r Ref, why Reason) (Task, error)
	// Cleaned records that nothing of the last attempt is left.
	Cleaned(ctx context.Context, t Term, r Ref) (Task, error)
	// Postpone moves the owed cleanup to later: a finished workload is kept for a while.
	Postpone(ctx context.Context, t Term, r Ref, wait time.Duration) (Task, error)
	// Health sums the rows up.
	Health(ctx context.Context) (Health, error)
}

// Workers is what the process inside the workload calls. A ticket that was superseded, cancelled or
// already used by another object is Refused.
type Workers interface {
	// Start asks whether the work may begin and binds the attempt to the ticket's workload. It is
	// idempotent for the same ticket.
	Start(ctx context.Context, k Ticket) (Task, error)
	// Heartbeat is a sign of life; a Refused one tells the worker to stop.
	Heartbeat(ctx context.Context, k Ticket) error
	// Finish commits the result: the effect of a success counts exactly when the store accepts it. It
	// is idempotent for the same ticket and result.
	Finish(ctx context.Context, k Ticket, r Result) (Task, error)
}

// WorkloadState is the life of a workload as the API server tells it.
type WorkloadState string

// The states of a workload.
const (
	WorkloadPending   WorkloadState = "pending"
	WorkloadRunning   WorkloadState = "running"
	WorkloadSucceeded WorkloadState = "succeeded"
	WorkloadFailed    WorkloadState = "failed"
)

// Ended tells whether the containers are known to have stopped.
func (s WorkloadState) Ended() bool { return s == WorkloadSucceeded || s == WorkloadFailed }

// Failure is why a workload failed, as its status says.
type Failure string

// The failures that the protocol tells apart.
const (
	FailureNone     Failure = ""
	FailureError    Failure = "Error"                  // the container exited non-zero by itself, OOM included
	FailureDeadline Failure = "DeadlineExceeded"       // activeDeadlineSeconds
	FailureEvicted  Failure = "Evicted"                // eviction, preemption, deletion, node shutdown
	FailureUnknown  Failure = "ContainerStatusUnknown" // the machine was restarted under it
)

// ExitFenced is how a worker ends that lost touch with the store, or was refused: the attempt is lost, the work
// did not fail (EX_TEMPFAIL of sysexits.h).
const ExitFenced = 75

// Workload is the Kubernetes object that executes one attempt: a Pod today.
type Workload struct {
	Name     string // WorkloadName of the task
	UID      UID
	Version  uint64 // resourceVersion
	Task     TaskID // these three: part of the spec, and for selectors a label
	Attempt  int
	Token    Token
	OnDemand bool          // nodeSelector and toleration
	Deadline time.Duration // activeDeadlineSeconds, counted by the kubelet from the pod's start
	Grace    time.Duration // terminationGracePeriodSeconds
	// Restarts is how often the kubelet starts the container again in place after it failed (restartPolicy OnFailure).
	Restarts int
	Work     Work

	// Owns: the pods that its container makes are owned by it and go before it does (finalizer foregroundDeletion). It holds until the
	// workload is being deleted and none of them is left.
	Owns bool

	Held      bool      // carries our finalizer: cleanup is owed
	Deleting  bool      // deletionTimestamp is set
	DeletedAt time.Time // deletionTimestamp less the grace period, by the API server's clock
	Node      string    // empty: not scheduled
	State     WorkloadState
	Failure   Failure
	ExitCode  int // of the container, once it ended
}

// outlived tells whether what the container made may go on without it: a launcher that ends by itself has waited for that, one that was
// killed has not.
func (w Workload) outlived() bool {
	byItself := w.State == WorkloadSucceeded || w.Failure == FailureError && w.ExitCode != exitKilled
	return w.Owns && !byItself
}

// exitKilled is the exit code of a container that SIGKILL ended: 128 + 9.
const exitKilled = 137

// WorkloadName is the one name under which a task's workload may exist: the API server
// refuses a second one.
func WorkloadName(id TaskID) string { return "task-" + string(id) }

// Watch is a stream of changes of workloads, one request at a time. The reference does without, because a stream can break
// unseen: what it decides on it reads. It is here for dispatchers that keep a cache.
type Watch interface {
	// Watch returns what changed after a resourceVersion, as far as it shows by now; 0 is from now on. Expired (410 Gone) means
	// that the version is too old: only a list tells what there is.
	Watch(ctx context.Context, after uint64) (Changes, error)
}

// Changes are the answer to one request of a watch.
type Changes struct {
	Items   []Change // in order
	Version uint64   // the resourceVersion to go on from
}

// Change is a new version of an object, or its last one when it is gone.
type Change struct {
	Workload Workload
	Gone     bool
}

// WorkloadPage is one page of a list.
type WorkloadPage struct {
	Items    []Workload // only to be read: a cache may show others the same
	Continue string     // empty: this was the last page
}

// List selects workloads.
type List struct {
	Continue string
	Limit    int
	Stale    bool // a cache may answer (resourceVersion=0)
}

// Workloads is the Kubernetes API as far as dispatchers need it. Every method is one request.
type Workloads interface {
	// Create answers Exists when the name is taken, Throttled on 429 and on a spent quota, Rejected
	// when the object is refused for good.
	Create(ctx context.Context, w Workload) (Workload, error)
	// Get is a live read; NotFound is proof that no object has the name.
	Get(ctx context.Context, name string) (Workload, error)
	List(ctx context.Context, l List) (WorkloadPage, error)
	// Delete asks for deletion, with the UID as precondition (Conflict when it is another object): a graceful
	// one, or, by force, one that does not wait for the kubelet's word (grace period 0): the object goes as soon
	// as no finalizer holds it, and a container on a machine that is cut off may live on.
	Delete(ctx context.Context, name string, uid UID, force bool) error
	// Release removes our finalizer, with the UID as precondition.
	Release(ctx context.Context, name string, uid UID) error
	// NodeExists is a live read of the Node object; false is proof that the machine was removed.
	NodeExists(ctx context.Context, node string) (bool, error)
}

// Lease is a coordination.k8s.io Lease.
type Lease struct {
	Name      string
	Holder    InstanceID // empty: free
	TTL       time.Duration
	RenewedAt time.Time // database clock
	Version   uint64    // resourceVersion; 0 creates
}

// Leases is the lease API. Every method is one request.
type Leases interface {
	GetLease(ctx context.Context, name string) (Lease, error)
	// PutLease creates the lease when Version is 0 (Exists when it is there) and else updates it on
	// condition of its Version (Conflict).
	PutLease(ctx context.Context, l Lease) (Lease, error)
}

// Ports is everything that one replica touches.
type Ports struct {
	Clock     Clock
	Store     Store
	Workloads Workloads
	Leases    Leases
	Meter     Meter // may be nil
	Watch     Watch // nil where the world has none
}
