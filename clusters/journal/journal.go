// Package journal is the record of a world in which many processes run for themselves: each writes its own journal, line by
// line, and afterwards one history is made of all of them.
//
// Every line carries a stamp of the machine's real-time clock, in nanoseconds. That is one clock as long as all processes run on one
// kernel, as the nodes of a kind cluster do; a world that spans machines needs another order.
package journal

import (
	"time"

	"github.com/squall-chaos/squall/checker/history"
)

// Event is an event of a history before the names have IDs and the stamps an order.
type Event struct {
	At          time.Time
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
	Delay       time.Duration // FaultStruck, FaultHealed: history.Event.Due
}

// Call is one call of one process: a history.Operation before the names have IDs and the stamps an order.
type Call struct {
	Process  string
	Verb     history.Verb
	Called   time.Time
	Returned time.Time // zero: the caller never learned the outcome
	Outcome  history.Outcome
	Code     history.Code
	Epoch    uint64
	Detail   string
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
}
