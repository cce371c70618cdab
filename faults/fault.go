// Package faults is what can go wrong: kinds of faults, plans of them, and the injector that
// arms a plan on a world. A fault that the world cannot do is an error before anything starts.
package faults

import (
	"time"

	"github.com/squall-chaos/squall/clusters"
)

// Family groups kinds as the reports do.
type Family string

// The families.
const (
	NodeFamily     Family = "node kill"
	DeadlineFamily Family = "deadline overrun"
	ResponseFamily Family = "lost response"
	LeaderFamily   Family = "stale leader"
	OutageFamily   Family = "outage"
)

// Kind is a kind of fault.
type Kind string

// The kinds. kinds.go says what each needs and does.
const (
	NodeKill         Kind = "node-kill"         // machine off; on again after For
	NodeRemove       Kind = "node-remove"       // machine and Node object gone for good
	NodePartition    Kind = "node-partition"    // cut from Ports; containers live on; joined after For
	SpotReclaim      Kind = "spot-reclaim"      // Notice, then gone
	PodEvict         Kind = "pod-evict"         // graceful deletion by somebody else
	PodRemove        Kind = "pod-remove"        // object force-removed
	PodRelabel       Kind = "pod-relabel"       // its labels edited: selectors miss it
	ContainerKill    Kind = "container-kill"    // exit 137
	RunTime          Kind = "run-time"          // the work takes Run from now on: overruns step, deadline or grace
	SchedulingHold   Kind = "scheduling-hold"   // pods stay pending For
	ProcessCrash     Kind = "process-crash"     // restarted after For
	ProcessPause     Kind = "process-pause"     // resumed after For: the stale leader
	ClockSkew        Kind = "clock-skew"        // a process's clock is By off
	LeaseUnreachable Kind = "lease-unreachable" // lease calls refused, all else works
	LeaseHang        Kind = "lease-hang"        // lease calls get no answer
	Call             Kind = "call"              // Action on the calls that Target selects
	APIOutage        Kind = "api-outage"        // every API call refused
	APISlow          Kind = "api-slow"          // Delay on every API call
	APIPause         Kind = "api-pause"         // the API server is frozen; goes on after For
	StoreOutage      Kind = "store-outage"      // every store call refused
	StoreSlow        Kind = "store-slow"
	StoreCrash       Kind = "store-crash"    // the database is killed; started after For
	StorePause       Kind = "store-pause"    // the database is frozen; goes on after For
	StoreFailover    Kind = "store-failover" // loses the commits of the last Lost
	StaleCache       Kind = "stale-cache"    // lists and watches are Lag old
	StaleReplica     Kind = "stale-replica"  // replica reads are Lag old
)

// Target aims a fault.
type Target struct {
	Process string // name, "dispatcher*", or "leader:dispatcher" / "leader:reconciler": whoever holds the lease when it strikes
	Node    string // name, "task:ID" (the node that the task's workload runs on when it strikes), "any:spot", "any:on-demand", "any"
	// Groups are the node groups that an "any" node is drawn from: a world knows its nodes by name only.
	Groups []string
	Task   string // ID, or "any:running": one whose container runs when it strikes
	Port   clusters.Port
	Verb   string // a port method, as history.Verb prints it
	Nth    int
	Share  float64
}

// Fault is one fault of a plan, every random choice already made.
type Fault struct {
	Kind   Kind
	Target Target
	At     time.Duration
	For    time.Duration // 0: until all faults heal; for one that cannot be undone: it heals at once
	// What the kind needs.
	Action clusters.Action
	Code   string
	// Applied and RetryAfter are of an Answer: the call takes effect all the same, and when to ask again.
	Applied    bool
	RetryAfter time.Duration
	Delay      clusters.Dist // of calls; with CrashCaller: how long the process stays down
	Notice     time.Duration
	Run        time.Duration
	By         time.Duration
	Lag        time.Duration
	Lost       time.Duration
	Ports      []clusters.Port
}

// Plan is the faults of one run, in order of At.
type Plan []Fault
