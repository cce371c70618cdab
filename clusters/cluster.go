// Package clusters says what a world is to the harness: something that runs a dispatcher, takes
// faults and keeps a history. The worlds are its subpackages.
package clusters

import (
	"context"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/dispatcher"
)

// Config is everything that a world is made from. The same Config, seed included, makes the
// same run in the simulation.
type Config struct {
	Seed        uint64
	Settings    dispatcher.Settings
	System      dispatcher.System
	Dispatchers int // replicas, named dispatcher-1, dispatcher-2, ...
	Reconcilers int // replicas, named reconciler-1, ...
	Nodes       []NodeGroup
	Platform    Platform
	// Fork continues the run otherwise from some point on. Only the simulation can do that.
	Fork Fork
	// Order is how events are ordered that fall close together, for a world that is Orderly.
	Order Order
	// Seen, when set, is told the State after each Access of Explore, with its index; true ends the run with ErrSeen.
	Seen func(index int, state uint64) bool
}

// Fork is where a run leaves the one of its seed: from the record At on, everything is drawn from another seed. The zero Fork is none.
type Fork struct {
	At   history.Seq
	Seed uint64
}

// CapacityType is the value of the label karpenter.sh/capacity-type.
type CapacityType string

// The capacity types. Spot nodes carry a taint that only spot-tolerating workloads tolerate.
const (
	OnDemand CapacityType = "on-demand"
	Spot     CapacityType = "spot"
)

// NodeGroup is a set of equal nodes, named NAME-1, NAME-2, ...
type NodeGroup struct {
	Name         string
	CapacityType CapacityType
	Count        int // present from the start
	Max          int // the autoscaler adds nodes up to this when pods do not fit; below Count: none
	Pods         int // capacity of one node
}

// Platform is how fast the platform is, as distributions drawn per event.
type Platform struct {
	APILatency   Dist // one way of a call to the API server takes half of it
	StoreLatency Dist // likewise for the database
	Scheduling   Dist // pod created to bound, when it fits
	ImagePull    Dist // on a node that has not run the image yet
	Startup      Dist // bound and pulled, to container running
	Shutdown     Dist // SIGTERM to exit, for a container that heeds it
	Provisioning Dist // pod that fits nowhere, to the new node being ready
	CacheLag     Dist // age of what a stale list or watch shows
	ReplicaLag   Dist // age of what a database replica shows
	// OnDemand and Spot are how their machines differ from the above.
	OnDemand, Spot Machine
}

// Machine is what can differ between the machines of one capacity type and all others; what is not set does not.
type Machine struct {
	ImagePull    Dist
	Startup      Dist
	Shutdown     Dist
	Provisioning Dist
}

// Steady is the platform with nothing left to chance: every distribution is fixed at what is typical of it.
func (p Platform) Steady() Platform {
	for _, d := range []*Dist{&p.APILatency, &p.StoreLatency, &p.Scheduling, &p.ImagePull, &p.Startup, &p.Shutdown, &p.Provisioning,
		&p.CacheLag, &p.ReplicaLag, &p.OnDemand.ImagePull, &p.OnDemand.Startup, &p.OnDemand.Shutdown, &p.OnDemand.Provisioning,
		&p.Spot.ImagePull, &p.Spot.Startup, &p.Spot.Shutdown, &p.Spot.Provisioning} {
		if d.Shape != NotSet {
			*d = Fixed(d.Typical())
		}
	}
	return p
}

// On returns the platform as it is on machines of that type.
func (p Platform) On(t CapacityType) Platform {
	m := p.OnDemand
	if t == Spot {
		m = p.Spot
	}
	p.ImagePull, p.Startup = m.ImagePull.Or(p.ImagePull), m.Startup.Or(p.Startup)
	p.Shutdown, p.Provisioning = m.Shutdown.Or(p.Shutdown), m.Provisioning.Or(p.Provisioning)
	return p
}

// Port is a way that calls go.
type Port string

// The ports of a process.
const (
	API   Port = "api"   // workloads and nodes
	Lease Port = "lease" // the lease objects; an outage of API takes it along
	Store Port = "store"
)

// Cluster is a world with one run in it. Methods are called from one goroutine, and what it calls back while it runs (what
// At was given, a rule's Hit, Run's done) comes from the goroutine of Run. What Go starts may run beside it.
type Cluster interface {
	// Now is the offset from the start of the run.
	Now() time.Duration
	// At has fn called at the given offset, from within Run.
	At(at time.Duration, name string, fn func())
	// Go starts a harness process, such as a client, named name, within Run. Its ports are recorded.
	Go(name string, run func(ctx context.Context, p dispatcher.Ports))
	// Run lets the world go on until the offset, until done says so (asked now and then; may be nil),
	// or until ctx ends. A panic in the system under test is an error.
	Run(ctx context.Context, until time.Duration, done func() bool) error
	// Quiet tells that nothing is left to do: all tasks stopped, no cleanup owed, no container alive.
	Quiet() bool
	// Observe adds an event of the harness (a fault, the end of a phase) to the history; Seq and At are set here.
	Observe(e history.Event)
	// ID interns a name for events: of a process, task or node.
	Processes() *history.Table
	Tasks() *history.Table
	Nodes() *history.Table
	// History is what was recorded so far. Valid until Close. A Collector's is before Collect what it has seen by then: enough
	// to aim faults by. Until then it only grows.
	History() *history.History
	// Close stops everything and removes what the world made.
	Close() error
}

// Recycler is a world that can hand the memory of its history on to a later one, after Close. Nobody may look at the
// history any more.
type Recycler interface {
	Recycle()
}

// Collector is a world whose history lies in many places, journals of processes that may be dead or cut off, and is made into
// one when the run is over.
type Collector interface {
	// Collect makes the final history: History returns it from then on. It is called once, after the last Run, also when
	// that was interrupted or failed. An error is a failure of the harness; History then has what could be had.
	Collect(ctx context.Context) error
}

// What follows are capabilities: a fault needs one, and a world may lack it.

// NodeFaults are faults of machines.
type NodeFaults interface {
	// KillNode switches the machine off: kubelet and containers die at once, the Node object stays.
	KillNode(node string)
	// ReturnNode switches it on again; its containers are not restarted.
	ReturnNode(node string)
	// RemoveNode takes the machine and its Node object away for good.
	RemoveNode(node string)
	// CutNode severs the node's kubelet (API) or the workers on it (Store) from a port. Containers run on.
	CutNode(node string, port Port)
	JoinNode(node string, port Port)
	// ReclaimNode gives notice (cordon, SIGTERM by graceful node shutdown) and removes the node after it.
	ReclaimNode(node string, notice time.Duration)
}

// PodFaults are faults of the current workload of a task. Each tells whether there was one.
type PodFaults interface {
	// EvictPod deletes the pod through the API with its grace period, as a drain does.
	EvictPod(task string) bool
	// RemovePod takes the object away at once, finalizers included, as an operator does by force. The container lives on
	// if its kubelet cannot see it.
	RemovePod(task string) bool
	// KillContainer kills the container (exit 137) without touching the object.
	KillContainer(task string) bool
}

// LabelFaults are edits of what anybody may edit of an object.
type LabelFaults interface {
	// RelabelPod edits the labels by which the pods of tasks are selected, of the task's current pod. It tells whether there was one that
	// could be selected.
	RelabelPod(task string) bool
}

// ProcessFaults are faults of a dispatcher or reconciler replica.
type ProcessFaults interface {
	Crash(process string)
	Restart(process string) // as a new instance; no-op if it runs
	Pause(process string)   // SIGSTOP: calls in flight go on, their replies wait
	Resume(process string)
	SkewClock(process string, by time.Duration)
}

// CallFaults are faults of single calls.
type CallFaults interface {
	// Intercept applies the rule to matching calls until remove is called.
	Intercept(r Rule) (remove func())
}

// PlatformFaults are faults of the platform at large. A zero Dist restores the configured one.
type PlatformFaults interface {
	SetCacheLag(d Dist)
	SetReplicaLag(d Dist)
	SetRunTime(task string, run time.Duration) // of the attempts that start from now on; 0 restores the spec's
	HoldScheduling(hold bool)                  // no pod is bound
	FailOver(lost time.Duration)               // the database loses the commits of the last moments
}

// ServerFaults are faults of the servers themselves: the database (Store), and the API server (API), which takes the leases
// along. Each is told what to call when something was seen of it, as a Rule is by Hit.
type ServerFaults interface {
	// StopServer kills the server: connections break, and are refused until StartServer. What it has acknowledged stays.
	StopServer(p Port, felt func())
	StartServer(p Port)
	// PauseServer freezes the server: connections stay open, and nothing answers until ResumeServer. Then it goes on as if nothing
	// had happened, with the requests that have come meanwhile.
	PauseServer(p Port, felt func())
	ResumeServer(p Port)
}

// Hindered is a world that some faults have to go a way through that another one has closed: who evicts a pod asks the API server for it,
// and a real one that is frozen evicts nobody.
type Hindered interface {
	// Hindrance says why nothing goes through the port now, not even what the harness itself wants; "" when it does.
	Hindrance(p Port) string
}

// Rule selects calls and says what becomes of them. Empty selectors match everything.
type Rule struct {
	Port    Port
	Process string       // name, or a prefix followed by *
	Node    string       // calls made from this node (workers)
	Verb    history.Verb // 0: any
	Task    string
	Nth     int     // only the nth matching call since the rule was set (1-based); 0: every one
	Share   float64 // of the matching calls, drawn from the seed; 0: all
	Action  Action
	Delay   Dist         // Slow, Late: how long
	Code    history.Code // Answer: with what
	Applied bool         // Answer: the request takes effect all the same, as when something in between answers
	// RetryAfter of an Answer on the API port is when the server says to ask again; no matter to a caller that decides itself.
	RetryAfter time.Duration
	Hit        func() // told of every call affected; may be nil
}

// Action is what becomes of a call.
type Action string

// The actions.
const (
	Refuse      Action = "refuse"       // connection refused: nothing happens, the caller knows at once
	Drop        Action = "drop"         // the request is lost: nothing happens, the caller times out
	LoseReply   Action = "lose-reply"   // it takes effect, the caller times out
	CutReply    Action = "cut-reply"    // it takes effect, the connection breaks: the caller gets Unknown at once
	CutCall     Action = "cut-call"     // the connection breaks before it takes effect: Unknown at once, nothing happens
	Late        Action = "late"         // the caller times out, the request takes effect after Delay
	Slow        Action = "slow"         // Delay is added to the request's way
	Answer      Action = "answer"       // the answer is Code, and nothing happens unless the rule says Applied
	CrashCaller Action = "crash-caller" // it takes effect, and the calling process crashes before the reply
)
