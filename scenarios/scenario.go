// Package scenarios is the language in which runs are described, the library of such files, and the run itself.
//
// A scenario file is parsed strictly: what it says wrongly is an error with file, line and column before
// anything starts, and so is what nothing would ever look at.
package scenarios

import (
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/faults"
)

// APIVersion and Kind are what every scenario file begins with.
const (
	APIVersion = "squall/v1alpha1"
	Kind       = "Scenario"
)

// Scenario is one scenario file. The doc tags become the descriptions of the JSON schema.
type Scenario struct {
	APIVersion string        `yaml:"apiVersion" doc:"Version of the language: squall/v1alpha1."`
	Kind       string        `yaml:"kind" doc:"Always Scenario."`
	Name       string        `yaml:"name" doc:"Short name in lower case, words joined by hyphens; the file is named after it."`
	Summary    string        `yaml:"summary" doc:"What happens, in one sentence."`
	Family     faults.Family `yaml:"family,omitempty" doc:"The family of faults that the scenario stands for."`
	Incidents  []string      `yaml:"incidents,omitempty" doc:"The public incidents behind it."`
	Control    string        `yaml:"control,omitempty" doc:"The scenario beside this one that must pass, so that doing nothing never wins."`

	Dispatcher string    `yaml:"dispatcher,omitempty" doc:"The dispatcher under test, unless the command line names another; reference when left out."`
	Profile    string    `yaml:"profile,omitempty" doc:"The settings to start from; tick-300s when left out."`
	Settings   Overrides `yaml:"settings,omitempty" doc:"Settings that differ from the profile's."`
	// UnsafeSettings is the escape hatch for scenarios about settings that do not nest; the reason is shown in reports.
	UnsafeSettings string `yaml:"unsafe_settings,omitempty" doc:"Why settings that do not nest are run all the same. Without it they are refused."`

	Replicas Replicas    `yaml:"replicas,omitempty" doc:"How many processes of each role run; two of each when left out."`
	Nodes    []NodeGroup `yaml:"nodes" doc:"The machines of the cluster."`
	Platform Platform    `yaml:"platform,omitempty" doc:"How fast the platform is; what is left out has ordinary values."`
	// Calibration is in the file itself, or in one that it names.
	Calibration Calibration `yaml:"calibration,omitempty" doc:"What squall calibrate measured on a real cluster: the file that it wrote, seen from this one, or its content. It fills what is left out here."`

	Tasks   []TaskGroup `yaml:"tasks" doc:"The tasks that clients submit."`
	Clients []Step      `yaml:"clients,omitempty" doc:"What clients do later on."`

	Faults []Fault `yaml:"faults,omitempty" doc:"What goes wrong, and when."`
	Swarm  string  `yaml:"swarm,omitempty" doc:"A mix of faults from which each seed draws its own plan, besides those of faults."`

	Horizon time.Duration `yaml:"horizon" doc:"How long faults may strike; then everything heals."`
	Settle  time.Duration `yaml:"settle,omitempty" doc:"How long the healed system may take at most until everything is done; computed from the settings when left out."`
	From    int           `yaml:"from,omitempty" doc:"The first seed; 1 when left out."`
	Seeds   int           `yaml:"seeds,omitempty" doc:"How many seeds a verdict needs; 1 when left out."`

	Variants []Variation `yaml:"variants,omitempty" doc:"What may be otherwise, and must come out the same: squall run --variants N runs as many variants besides."`

	Expect Expect `yaml:"expect,omitempty" doc:"What must come out."`

	source *source // where each field stands; nil when not parsed from a file
	which  Which   // of its file's variants
	scale  Scale   // what the times were divided by
	fitted []string
	kept   []int // where the faults that are left stood in the file; nil: as they stand here
}

// Replicas is how many processes of each role run.
type Replicas struct {
	Dispatchers int `yaml:"dispatchers,omitempty" doc:"Dispatcher replicas, named dispatcher-1, dispatcher-2, ..."`
	Reconcilers int `yaml:"reconcilers,omitempty" doc:"Reconciler replicas, named reconciler-1, reconciler-2, ..."`
}

// NodeGroup is a set of equal nodes.
type NodeGroup struct {
	Name         string                `yaml:"name" doc:"The nodes are named NAME-1, NAME-2, ..."`
	CapacityType clusters.CapacityType `yaml:"capacity_type" doc:"on-demand, or spot: may be reclaimed, and takes only work without a start deadline."`
	Count        int                   `yaml:"count,omitempty" doc:"Nodes that are there from the start; may be 0."`
	Max          int                   `yaml:"max,omitempty" doc:"The autoscaler adds nodes up to this number when pods do not fit."`
	Pods         int                   `yaml:"pods" doc:"How many pods fit on one node."`
}

// Platform is how fast the platform is.
type Platform struct {
	APILatency   clusters.Dist `yaml:"api_latency,omitempty" doc:"One call to the API server, both ways."`
	StoreLatency clusters.Dist `yaml:"store_latency,omitempty" doc:"One call to the database, both ways."`
	Scheduling   clusters.Dist `yaml:"scheduling,omitempty" doc:"From a pod's creation to its node, when it fits somewhere."`
	ImagePull    clusters.Dist `yaml:"image_pull,omitempty" doc:"Image pull on a node that has not run the image yet."`
	Startup      clusters.Dist `yaml:"startup,omitempty" doc:"From the pulled image to the running container."`
	Shutdown     clusters.Dist `yaml:"shutdown,omitempty" doc:"From SIGTERM to exit, for a container that heeds it."`
	Provisioning clusters.Dist `yaml:"provisioning,omitempty" doc:"From a pod that fits nowhere to the new node being ready."`
	CacheLag     clusters.Dist `yaml:"cache_lag,omitempty" doc:"Age of what caches and watches show."`
	ReplicaLag   clusters.Dist `yaml:"replica_lag,omitempty" doc:"Age of what database replicas show."`
	OnDemand     Machine       `yaml:"on_demand,omitempty" doc:"How on-demand machines differ from that."`
	Spot         Machine       `yaml:"spot,omitempty" doc:"How spot machines differ from that."`
}

// Machine is what can differ between the machines of one capacity type and all others.
type Machine struct {
	ImagePull    clusters.Dist `yaml:"image_pull,omitempty" doc:"Image pull on a machine that has not run the image yet."`
	Startup      clusters.Dist `yaml:"startup,omitempty" doc:"From the pulled image to the running container."`
	Shutdown     clusters.Dist `yaml:"shutdown,omitempty" doc:"From SIGTERM to exit, for a container that heeds it."`
	Provisioning clusters.Dist `yaml:"provisioning,omitempty" doc:"From a pod that fits nowhere to the new machine being ready."`
}

// TaskGroup is a set of like tasks.
type TaskGroup struct {
	Name          string        `yaml:"name" doc:"Name of the task; with count, the tasks are named NAME-1, NAME-2, ..."`
	Count         int           `yaml:"count,omitempty" doc:"How many; left out: one, named NAME."`
	Arrive        Arrive        `yaml:"arrive,omitempty" doc:"When clients submit them; at the start when left out."`
	Run           clusters.Dist `yaml:"run" doc:"The true length of the work, drawn per task."`
	StartDeadline time.Duration `yaml:"start_deadline,omitempty" doc:"The work must have begun this long after submission; such work runs on on-demand nodes."`
	Deadline      time.Duration `yaml:"deadline,omitempty" doc:"Replaces the workflow_deadline of the settings for these tasks."`
	MaxFailures   int           `yaml:"max_failures,omitempty" doc:"Replaces the max_failures of the settings for these tasks."`
	// MaxDisruptions likewise.
	MaxDisruptions int  `yaml:"max_disruptions,omitempty" doc:"Replaces the max_disruptions of the settings for these tasks."`
	Work           Work `yaml:"work,omitempty" doc:"How the work behaves."`
}

// Arrive is when the tasks of a group are submitted.
type Arrive struct {
	At    clusters.Dist `yaml:"at,omitempty" doc:"When the first one is submitted."`
	Every clusters.Dist `yaml:"every,omitempty" doc:"Time between one and the next; an exponential one makes a Poisson process."`
	Batch int           `yaml:"batch,omitempty" doc:"How many are submitted at the same moment, before the next ones come; 1 when left out."`
}

// Work is how the work of a task behaves; its length is the task's run.
type Work struct {
	IgnoreTerm     bool          `yaml:"ignore_term,omitempty" doc:"The container runs on through SIGTERM, until SIGKILL."`
	IgnoreTimeouts bool          `yaml:"ignore_timeouts,omitempty" doc:"The work keeps neither the HTTP nor the step timeout: only the kubelet's deadline ends it."`
	IgnoreFence    bool          `yaml:"ignore_fence,omitempty" doc:"The work cannot stop itself when its heartbeats are refused or lost."`
	Hang           bool          `yaml:"hang,omitempty" doc:"The work never ends by itself."`
	FailUntil      int           `yaml:"fail_until,omitempty" doc:"Every attempt up to this number reports a failure at the end."`
	CrashAt        time.Duration `yaml:"crash_at,omitempty" doc:"The container is killed (exit 137) this far into each run."`
	NoResult       bool          `yaml:"no_result,omitempty" doc:"The container ends with exit 0 and without a result."`
	Launcher       bool          `yaml:"launcher,omitempty" doc:"The container only makes another pod, which does the work, and waits for its end; faults aimed at the task strike the launcher, and the other pod goes on."`
	Pods           int           `yaml:"pods,omitempty" doc:"How many pods a launcher makes; one when left out. The first does the work, the others live for as long; when one fails the launcher ends them all, and it waits for the last."`
	Stragglers     int           `yaml:"stragglers,omitempty" doc:"How many of these pods, the last ones, run on through SIGTERM, until SIGKILL."`
}

// Step is one thing that a client does. A task name that ends in * means all tasks that begin so.
type Step struct {
	At     clusters.Dist `yaml:"at" doc:"When."`
	Every  time.Duration `yaml:"every,omitempty" doc:"Time between repetitions."`
	Times  int           `yaml:"times,omitempty" doc:"How often; once when left out."`
	Cancel string        `yaml:"cancel,omitempty" doc:"The task to cancel; NAME-* for all of a group."`
	Read   string        `yaml:"read,omitempty" doc:"The task to read; NAME-* for all of a group."`
	Resume string        `yaml:"resume,omitempty" doc:"The task to take on again after it needed attention."`
	Submit string        `yaml:"submit,omitempty" doc:"The task to submit once more, with the same specification."`
}

// Fault is one fault, or a series of them. Times are drawn per seed.
type Fault struct {
	Name   string          `yaml:"name,omitempty" doc:"Names the stream of randomness, so that editing other faults does not change this one's draws."`
	At     clusters.Dist   `yaml:"at" doc:"When it strikes."`
	Kind   faults.Kind     `yaml:"kind" doc:"What goes wrong."`
	Target Target          `yaml:"target,omitempty" doc:"Whom it strikes."`
	For    clusters.Dist   `yaml:"for,omitempty" doc:"How long it lasts; until everything heals when left out."`
	Action clusters.Action `yaml:"action,omitempty" doc:"kind call: what becomes of the calls."`
	Code   string          `yaml:"code,omitempty" doc:"action answer: what the server answers."`
	// Applied and RetryAfter are of answers of the API server.
	Applied    bool            `yaml:"applied,omitempty" doc:"action answer, port api or lease: the call takes effect all the same, as when something in between answers."`
	RetryAfter time.Duration   `yaml:"retry_after,omitempty" doc:"action answer, port api or lease: the answer says to ask again after this; clients obey it by themselves, the reference's does not."`
	Delay      clusters.Dist   `yaml:"delay,omitempty" doc:"How much later; drawn per call. With crash-caller: how long the process stays down."`
	Notice     clusters.Dist   `yaml:"notice,omitempty" doc:"kind spot-reclaim: time from the notice to the end."`
	Run        clusters.Dist   `yaml:"run,omitempty" doc:"kind run-time: how long the work takes."`
	By         time.Duration   `yaml:"by,omitempty" sign:"any" doc:"kind clock-skew: how much the clock is ahead; negative: behind."`
	Lag        clusters.Dist   `yaml:"lag,omitempty" doc:"kinds stale-cache and stale-replica: how old the answers are."`
	Lost       clusters.Dist   `yaml:"lost,omitempty" doc:"kind store-failover: how much of the last commits is lost."`
	Ports      []clusters.Port `yaml:"ports,omitempty" doc:"kind node-partition: what the node is cut off from; api and store when left out."`
	Every      time.Duration   `yaml:"every,omitempty" doc:"Time between repetitions."`
	Times      int             `yaml:"times,omitempty" doc:"How often it strikes; once when left out."`
}

// Target aims a fault.
type Target struct {
	Process string        `yaml:"process,omitempty" doc:"A replica (dispatcher-1), all of a role (dispatcher*), or whoever leads when it strikes (leader:dispatcher)."`
	Node    string        `yaml:"node,omitempty" doc:"A node (spot-1), the node of a task (task:ID), any:spot, any:on-demand, or any."`
	Task    string        `yaml:"task,omitempty" doc:"A task, or any:running: one whose container runs when it strikes."`
	Port    clusters.Port `yaml:"port,omitempty" doc:"kind call: the way that the calls go."`
	Verb    string        `yaml:"verb,omitempty" doc:"kind call: the port method."`
	Nth     int           `yaml:"nth,omitempty" doc:"kind call: only the nth matching call, counted from 1."`
	Share   float64       `yaml:"share,omitempty" doc:"kind call: this share of the matching calls, drawn from the seed."`
}
