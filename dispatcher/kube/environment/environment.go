// Package environment says how a Pod tells the process inside it what to do. It is apart from package kube, and takes the
// standard library only, so that a worker needs no client of Kubernetes.
package environment

import (
	"encoding/json"
	"fmt"
	"strconv"

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

// Order is what a workload is told.
type Order struct {
	Ticket  dispatcher.Ticket
	Attempt int
	Node    string
	Work    dispatcher.Work
}

// Read takes the order from the environment; lookup is os.LookupEnv.
func Read(lookup func(string) (string, bool)) (Order, error) {
	r := reader{lookup: lookup}
	o := Order{
		Ticket: dispatcher.Ticket{
			ID:       dispatcher.TaskID(r.text(Task)),
			Token:    dispatcher.Token(r.number(Token)),
			Workload: dispatcher.UID(r.text(Workload)),
		},
		Attempt: int(r.number(Attempt)),
		Node:    r.text(Node),
	}
	if text := r.text(Work); r.err == nil {
		o.Work, r.err = DecodeWork(text)
	}
	return o, r.err
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

// reader keeps the first problem.
type reader struct {
	lookup func(string) (string, bool)
	err    error
}

func (r *reader) text(name string) string {
	value, ok := r.lookup(name)
	if (!ok || value == "") && r.err == nil {
		r.err = fmt.Errorf("read the order of the workload: %s is not set", name)
	}
	return value
}

func (r *reader) number(name string) uint64 {
	text := r.text(name)
	if r.err != nil {
		return 0
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		r.err = fmt.Errorf("read %s: %w", name, err)
	}
	return n
}
