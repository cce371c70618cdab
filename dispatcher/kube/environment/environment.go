// Package environment says how the programs that run in a cluster are told what to do: a Pod its worker, an installation its
// dispatcher and reconciler. It is apart from package kube, and takes the standard library only, so that a worker needs no
// client of Kubernetes.
package environment

import (
	"encoding/json"
	"fmt"

	"github.com/squall-chaos/squall/dispatcher"
)

// The variables that every workload gets.
const (
	Task     = "SQUALL_TASK"     // task ID
	Attempt  = "SQUALL_ATTEMPT"  // number of the attempt, 1 for the first
	Token    = "SQUALL_TOKEN"    // fencing token
	Workload = "SQUALL_WORKLOAD" // UID of the Pod
	Node     = "SQUALL_NODE"     // name of the node
	Work     = "SQUALL_WORK"     // dispatcher.Work as JSON, durations in nanoseconds
)

// The variables of the programs.
const (
	DatabaseURL    = "DATABASE_URL"           // of all: what libpq takes
	Settings       = "SQUALL_SETTINGS"        // of all: the name of a profile, or dispatcher.Settings as JSON, durations in nanoseconds
	Record         = "SQUALL_RECORD"          // of all: the directory in which a journal is kept; empty: none
	RecordURL      = "SQUALL_RECORD_URL"      // of all: a Postgres URL; the journal is kept in a table there instead of a directory
	System         = "SQUALL_SYSTEM"          // of all, in builds with the tag "planted": the planted dispatcher to be
	Kubeconfig     = "KUBECONFIG"             // of replicas: how to reach the API server; empty: as a Pod does
	Process        = "SQUALL_PROCESS"         // of replicas: their name; empty: that of the host
	Namespace      = "SQUALL_NAMESPACE"       // of replicas: where the workloads and leases are
	Image          = "SQUALL_IMAGE"           // of replicas: what workloads run
	DatabaseSecret = "SQUALL_DATABASE_SECRET" // of replicas: the Secret whose key DatabaseKey is the workers' DATABASE_URL
	RecordClaim    = "SQUALL_RECORD_CLAIM"    // of replicas: the PersistentVolumeClaim in which workers keep their journals; empty: none
	RecordSecret   = "SQUALL_RECORD_SECRET"   // of replicas: the Secret whose key DatabaseKey is the workers' SQUALL_RECORD_URL; empty: none
	ServiceAccount = "SQUALL_SERVICE_ACCOUNT" // of replicas: that of the workloads; empty: the namespace's default. It gets no token
	Listen         = "SQUALL_LISTEN"          // of replicas: where metrics and health are served
	Gate           = "SQUALL_GATE"            // of replicas: the scheduling gate that workloads are made with; somebody has to open it. Empty: none
	Asked          = "SQUALL_ASKED"           // of workers that have a Startup: when their Pod was asked for, as RFC 3339; the time counts from then
	Startup        = "SQUALL_STARTUP"         // of replicas, for their workers: how long these idle before they ask to start; see Span
)

// What else the parties agree on.
const (
	DatabaseKey   = "url"       // in the Secret
	RecordFolder  = "/record"   // where a RecordClaim is mounted
	RunTimes      = "run-times" // folder in Record: a file per task, with the Go duration that replaces Work.Run
	WorkerProcess = "worker-"   // and the task's ID: the name of a worker
	DefaultListen = ":8080"
)

// Order is what a workload is told.
type Order struct {
	Ticket  dispatcher.Ticket
	Attempt int
	Node    string
	Work    dispatcher.Work
}

// Process is the name of the worker that has the order.
func (o Order) Process() string { return WorkerProcess + string(o.Ticket.ID) }

// Read takes the order from the environment; lookup is os.LookupEnv.
func Read(lookup func(string) (string, bool)) (Order, error) {
	r := NewReader(lookup)
	o := ReadOrder(r)
	return o, r.Err()
}

// ReadOrder takes the order, and leaves its problems with the reader.
func ReadOrder(r *Reader) Order {
	return Order{
		Ticket: dispatcher.Ticket{
			ID:       dispatcher.TaskID(r.Text(Task, "a task ID")),
			Token:    dispatcher.Token(r.number(Token, "a fencing token")),
			Workload: dispatcher.UID(r.Text(Workload, "the UID of the Pod")),
		},
		Attempt: int(r.number(Attempt, "the number of the attempt")),
		Node:    r.Text(Node, "the name of the node"),
		Work:    Parse(r, Work, "", "dispatcher.Work as JSON", DecodeWork),
	}
}

// EncodeWork is the value of the variable Work.
func EncodeWork(w dispatcher.Work) (string, error) {
	text, err := json.Marshal(w)
	return string(text), err
}

// DecodeWork is the reverse of EncodeWork.
func DecodeWork(text string) (dispatcher.Work, error) {
	var w dispatcher.Work
	if err := json.Unmarshal([]byte(text), &w); err != nil {
		return dispatcher.Work{}, fmt.Errorf("read %s: %w", Work, err)
	}
	return w, nil
}
