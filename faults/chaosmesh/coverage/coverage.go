// Package coverage says which faults Chaos Mesh can express, which in part, and which not, each with the reason. It is data, and needs
// nothing of Kubernetes: a build without package chaosmesh can print it all the same.
package coverage

import (
	"fmt"
	"strings"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/faults"
)

// Extent is how much of a fault Chaos Mesh can express.
type Extent string

// The extents. What is covered in part is a fault of the same sort, and Why says what differs.
const (
	Whole Extent = "whole"
	Part  Extent = "part"
	None  Extent = "no"
)

// Row is one kind of fault, or one action of kind call.
type Row struct {
	Kind   faults.Kind
	Action clusters.Action // of kind call; empty for all others
	Extent Extent
	Object string // the object that it becomes; empty when there is none
	Why    string // what differs, or why not; of what is covered as a whole: what it comes to
}

// String is the row's fault: "node-kill", "call slow".
func (r Row) String() string { return strings.TrimSpace(string(r.Kind) + " " + string(r.Action)) }

const (
	refusedDropped = "packets are dropped, so that calls hang instead of being refused at once"
	platformLives  = "only dispatchers and reconcilers are struck: kubelets and controllers reach it as ever"
	podsAtStart    = "Pods are selected once, when it strikes: those that start later are spared"
	perPacket      = "packets are delayed, not calls: a call that sets up a connection waits several times"
	plainHTTP      = "only where the calls go to a plain HTTP server in a Pod (--http), never on the way to the API server or Postgres; " +
		"it cannot count: all matching calls are affected while it lasts"
)

var rows = []Row{
	{Kind: faults.NodeKill, Extent: None, Why: "no kind of Chaos Mesh switches a machine off. To kill all Pods of a node is another fault: its kubelet lives and reports their end"},
	{Kind: faults.NodeRemove, Extent: None, Why: "no kind of Chaos Mesh removes a machine or its Node object"},
	{Kind: faults.NodePartition, Extent: Part, Object: "NetworkChaos partition",
		Why: "the workers are cut off from the store; a kubelet runs in the node's own network, where no Pod selector reaches, so it is never cut off from the API server. " + podsAtStart},
	{Kind: faults.SpotReclaim, Extent: Part, Object: "PodChaos pod-kill",
		Why: "the Pods are deleted with the notice as their grace period; the machine and its Node object stay, so that new Pods may go there"},
	{Kind: faults.PodEvict, Extent: Whole, Object: "PodChaos pod-kill", Why: "gracePeriod is the Pod's own"},
	{Kind: faults.PodRemove, Extent: Part, Object: "PodChaos pod-kill",
		Why: "gracePeriod 0 ends the container at once and takes no finalizer away: an object that has one, as the dispatcher's workloads do, stays until its owner lets it go"},
	{Kind: faults.PodRelabel, Extent: None, Why: "no kind of Chaos Mesh edits an object"},
	{Kind: faults.ContainerKill, Extent: Whole, Object: "PodChaos container-kill", Why: "SIGKILL by the container runtime: exit 137"},
	{Kind: faults.RunTime, Extent: Part, Object: "StressChaos cpu",
		Why: "the work is starved of CPU: how long it then takes depends on it, and work that only waits takes no longer. " + podsAtStart},
	{Kind: faults.SchedulingHold, Extent: None, Why: "the scheduler runs in the network of its node, where no Pod selector reaches, and there is no kind that spends a quota"},
	{Kind: faults.ProcessCrash, Extent: Part, Object: "PodChaos pod-failure",
		Why: "the container's image is swapped for a pause image: the process gets SIGTERM first, and may release its lease; the kubelet adds its back-off at the end"},
	{Kind: faults.ProcessPause, Extent: None, Why: "no kind of Chaos Mesh stops a process (SIGSTOP, freezer): StressChaos only starves it, and it goes on keeping its lease"},
	{Kind: faults.ClockSkew, Extent: Whole, Object: "TimeChaos", Why: "CLOCK_REALTIME of the process, by ptrace; timers run on the monotonic clock and are left alone"},
	{Kind: faults.LeaseUnreachable, Extent: Part, Object: "NetworkChaos partition",
		Why: "leases are behind the same address as the rest of the API: all its API calls fail, not only those; " + refusedDropped},
	{Kind: faults.LeaseHang, Extent: Part, Object: "NetworkChaos partition",
		Why: "leases are behind the same address as the rest of the API: all its API calls hang, not only those"},
	{Kind: faults.Call, Action: clusters.Refuse, Extent: Part, Object: "NetworkChaos partition", Why: refusedDropped + "; only all calls of a process to a server, not some of them"},
	{Kind: faults.Call, Action: clusters.Drop, Extent: Part, Object: "NetworkChaos partition, loss",
		Why: "only all calls of a process to a server; a share of them becomes a share of the packets, which TCP repeats: the calls get slow more than lost"},
	{Kind: faults.Call, Action: clusters.LoseReply, Extent: Part, Object: "HTTPChaos Response abort", Why: "the connection breaks instead of falling silent; " + plainHTTP},
	{Kind: faults.Call, Action: clusters.CutReply, Extent: Part, Object: "HTTPChaos Response abort", Why: plainHTTP},
	{Kind: faults.Call, Action: clusters.CutCall, Extent: Part, Object: "HTTPChaos Request abort", Why: plainHTTP},
	{Kind: faults.Call, Action: clusters.Late, Extent: None, Why: "a delay of the network ends when the caller gives up: nothing takes effect long after that"},
	{Kind: faults.Call, Action: clusters.Slow, Extent: Part, Object: "NetworkChaos delay", Why: perPacket + "; only all calls of a process to a server"},
	{Kind: faults.Call, Action: clusters.Answer, Extent: None, Why: "nothing of Chaos Mesh speaks for the API server, nor the wire protocol of Postgres"},
	{Kind: faults.Call, Action: clusters.CrashCaller, Extent: None, Why: "no kind of Chaos Mesh kills a process at a certain call"},
	{Kind: faults.APIOutage, Extent: Part, Object: "NetworkChaos partition", Why: platformLives + "; " + refusedDropped},
	{Kind: faults.APISlow, Extent: Part, Object: "NetworkChaos delay", Why: perPacket + "; " + platformLives},
	{Kind: faults.APIPause, Extent: Part, Object: "NetworkChaos partition", Why: platformLives + "; what was sent arrives when TCP repeats it, some seconds after the end"},
	{Kind: faults.StoreOutage, Extent: Part, Object: "NetworkChaos partition", Why: refusedDropped + ". " + podsAtStart},
	{Kind: faults.StoreSlow, Extent: Part, Object: "NetworkChaos delay", Why: perPacket + ". " + podsAtStart},
	{Kind: faults.StoreCrash, Extent: Part, Object: "PodChaos pod-failure",
		Why: "only a database in a Pod (--database LABEL=VALUE); it gets SIGTERM first, which to Postgres is a smart shutdown; the kubelet adds its back-off at the end"},
	{Kind: faults.StorePause, Extent: Part, Object: "NetworkChaos partition",
		Why: "cut off instead of frozen: what the database had begun goes on meanwhile. " + podsAtStart},
	{Kind: faults.StoreFailover, Extent: None, Why: "nothing of Chaos Mesh makes a database lose commits that it acknowledged"},
	{Kind: faults.StaleCache, Extent: None, Why: "nothing of Chaos Mesh makes the API server answer from an old cache"},
	{Kind: faults.StaleReplica, Extent: None, Why: "nothing of Chaos Mesh holds back the replication of Postgres without cutting it off"},
}

// Rows lists all rows, in the order of faults.Kinds and faults.Actions.
func Rows() []Row { return append([]Row(nil), rows...) }

// Of returns the row of a fault; one that has none counts as not covered.
func Of(f faults.Fault) Row {
	r := Row{Kind: f.Kind, Extent: None, Why: "it is in no table"}
	if f.Kind == faults.Call {
		r.Action = f.Action
	}
	for _, known := range rows {
		if known.Kind == r.Kind && known.Action == r.Action {
			return known
		}
	}
	return r
}

// Whom is a way to aim a fault, and what Chaos Mesh makes of it.
type Whom struct {
	Target string // as a scenario file has it
	Why    string
}

// Targets lists what cannot be aimed as a scenario does.
func Targets() []Whom {
	return []Whom{
		{"process: dispatcher-1", "the Pods of a Deployment have no numbers: one Pod of the role is drawn, each time anew"},
		{"process: leader:dispatcher", "Chaos Mesh cannot know who leads: one Pod of the role is drawn"},
		{"process: client*", "clients are outside the cluster: not covered"},
		{"task: any:running", "one running worker is drawn by Chaos Mesh, not by the seed"},
		{"node: spot-1, any:spot", "the workers of one node cannot be told from those of another without its name: one worker on a node of that capacity type is drawn"},
		{"verb, nth, share", "packets do not tell one call from another: with NetworkChaos not covered, but for the share of a drop"},
	}
}

// Markdown is the whole as the documentation has it.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| fault | covered | object of Chaos Mesh | what it comes to, what differs, or why not |\n|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r, r.Extent, r.Object, r.Why)
	}
	b.WriteString("\n| aim | what becomes of it |\n|---|---|\n")
	for _, w := range Targets() {
		fmt.Fprintf(&b, "| %s | %s |\n", w.Target, w.Why)
	}
	return b.String()
}
