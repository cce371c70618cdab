// Package journal is the record of a world in which many processes run for themselves: each writes its own journal, line by
// line, and afterwards one history is made of all of them.
//
// A line is written before its call leaves or after its reply came, so that a process that is killed loses nothing of what it
// did. Every line carries two stamps of the machine, in nanoseconds: of the real-time clock, which the database stamps with too, and
// of the monotonic clock, which nobody can set. They are one clock each as long as all processes run on one kernel and in one time
// namespace, as the nodes of a kind cluster do; a world that spans machines needs another order.
package journal

import (
	"time"

	"github.com/squall-chaos/squall/checker/history"
)

// Event is an event of a history before the names have IDs and the stamps an order.
type Event struct {
	At time.Time
	// Monotonic is the machine's monotonic clock at that moment; 0: not known.
	Monotonic   time.Duration
	Kind        history.Kind
	Process     string
	Task        string
	Node        string
	Object      string // UID
	Detail      string
	Phase       history.Phase
	Cancelling  bool
	Cleanup     bool
	Fault       int32
	Failures    int32
	Disruptions int32
	Token       uint64
	Epoch       uint64
	Due         time.Time     // Row: see history.Event
	Delay       time.Duration // FaultStruck, FaultHealed, NodeNotReady: history.Event.Due
	// Write is what the database's log tells besides, of a Row; nil when it is of no such log.
	Write *Write
}

// Write is one change that the database logged in the transaction that made it, so that it was committed.
type Write struct {
	Transaction uint64
	Backend     int32
	Application string // of the session: the process
	// Role is of a change of the terms: the event has no kind then, and its Epoch is the one granted.
	Role string

	// The rest of the row.
	Version         uint64
	Activity        string
	Workload        string
	Observed        string
	ObservedVersion uint64
	StartedAt       time.Time
	HeartbeatAt     time.Time
	EndedAt         time.Time
	CleanupAt       time.Time
	Finished        Finished
}

// Finished is the last accepted result of a row.
type Finished struct {
	Token    uint64
	Workload string
	Result   string
}

// Call is one call of one process: a history.Operation before the names have IDs and the stamps an order.
type Call struct {
	Process  string
	Verb     history.Verb
	Called   time.Time
	Returned time.Time // zero: the caller never learned the outcome
	// CalledMonotonic and ReturnedMonotonic are the machine's monotonic clock; 0: not known.
	CalledMonotonic   time.Duration
	ReturnedMonotonic time.Duration
	Outcome           history.Outcome
	Code              history.Code
	Epoch             uint64
	Detail            string
	// Object is the UID that a worker showed, and the holder that a PutLease names.
	Object string
	// Expected is the version on which a write is conditional; 0: on none.
	Expected uint64
	// Rows are the tasks concerned: one, none, or those of a Claim.
	Rows []Row
	// Spec is the task's, of a Submit.
	Spec *history.Spec
}

// Row is what a call tells of one task.
type Row struct {
	Task       string
	Token      uint64
	Phase      history.Phase
	Cancelling bool
	Version    uint64 // of the row that was the answer; 0: none was
}
