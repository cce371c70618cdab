package faults

import (
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
)

// Field is a field of a fault, by its name in a scenario file.
type Field string

// The fields that a kind may need, allow or refuse.
const (
	FieldProcess Field = "target.process"
	FieldNode    Field = "target.node"
	FieldTask    Field = "target.task"
	FieldPort    Field = "target.port"
	FieldVerb    Field = "target.verb"
	FieldNth     Field = "target.nth"
	FieldShare   Field = "target.share"
	FieldFor     Field = "for"
	FieldAction  Field = "action"
	FieldCode    Field = "code"
	FieldApplied Field = "applied"
	FieldRetry   Field = "retry_after"
	FieldDelay   Field = "delay"
	FieldNotice  Field = "notice"
	FieldRun     Field = "run"
	FieldBy      Field = "by"
	FieldLag     Field = "lag"
	FieldLost    Field = "lost"
	FieldPorts   Field = "ports"
)

// form is what is fixed about a kind.
type form struct {
	kind   Kind
	family Family
	need   Capability
	must   []Field // without these it means nothing
	may    []Field // these are allowed too; every other field is refused
	// until is how long after healing the fault may still delay the system, and why.
	until func(f Fault, s dispatcher.Settings) time.Duration
	why   string
	does  string // one sentence for documentation
}

// forms describes every kind, in the order of fault.go.
var forms = []form{
	{kind: NodeKill, family: NodeFamily, need: Nodes, must: []Field{FieldNode}, may: []Field{FieldFor},
		until: unreachable, why: unreachableWhy,
		does: "The machine is switched off: kubelet and containers die at once, the Node object stays. It comes back after `for`."},
	{kind: NodeRemove, family: NodeFamily, need: Nodes, must: []Field{FieldNode},
		until: orphaned, why: orphanedWhy,
		does: "The machine and its Node object are gone for good."},
	{kind: NodePartition, family: NodeFamily, need: Nodes, must: []Field{FieldNode}, may: []Field{FieldFor, FieldPorts},
		until: unreachable, why: unreachableWhy,
		does: "The node is cut from the API server (its kubelet), from the store (the workers on it), or both. Its containers live on."},
	{kind: SpotReclaim, family: NodeFamily, need: Nodes, must: []Field{FieldNode}, may: []Field{FieldNotice},
		until: orphaned, why: orphanedWhy,
		does: "The cloud takes a spot node: `notice` to leave, SIGTERM to its pods, then machine and Node object are gone."},
	{kind: PodEvict, family: NodeFamily, need: Pods, must: []Field{FieldTask},
		until: leaving, why: "an evicted pod may use its whole grace period to go",
		does: "Somebody else deletes the task's pod gracefully, as a drain does."},
	{kind: PodRemove, family: NodeFamily, need: Pods, must: []Field{FieldTask},
		until: none, why: "the object is gone at once, and a live read proves it",
		does: "Somebody force-removes the task's pod object. Its container lives on where no kubelet can see that."},
	{kind: PodRelabel, family: NodeFamily, need: Labels, must: []Field{FieldTask},
		until: none, why: "a live read of its name shows the pod all the same",
		does: "Somebody edits the labels of the task's pod: lists and watches, which select by them, no longer show it."},
	{kind: ContainerKill, family: NodeFamily, need: Pods, must: []Field{FieldTask},
		until: none, why: "the kubelet reports the container's end at once",
		does: "The task's container is killed (exit 137, as by the OOM killer)."},
	{kind: RunTime, family: DeadlineFamily, need: Platform, must: []Field{FieldTask, FieldRun}, may: []Field{FieldFor},
		until: none, why: "work that takes longer is alive, and waiting for live work is no delay",
		does: "The task's work takes `run` in every attempt that starts from now on. To pass the step's timeout the work must have ignore_timeouts."},
	{kind: SchedulingHold, family: DeadlineFamily, need: Platform, may: []Field{FieldFor},
		until: unstarted, why: "a pod held back until just before its start timeout is given up only then",
		does: "No pod is bound to a node: the scheduler is down, or the quota is spent."},
	{kind: ProcessCrash, family: LeaderFamily, need: Processes, must: []Field{FieldProcess}, may: []Field{FieldFor},
		until: handover, why: handoverWhy,
		does: "The process dies without a word. It is restarted as a new instance after `for`."},
	{kind: ProcessPause, family: LeaderFamily, need: Processes, must: []Field{FieldProcess}, may: []Field{FieldFor},
		until: handover, why: handoverWhy,
		does: "The process stands still, as by SIGSTOP or a long collection pause, and then goes on as if nothing had happened: the stale leader."},
	{kind: ClockSkew, family: LeaderFamily, need: Processes, must: []Field{FieldProcess, FieldBy}, may: []Field{FieldFor},
		until: handover, why: handoverWhy,
		does: "The process's own clock is off by `by`."},
	{kind: LeaseUnreachable, family: LeaderFamily, need: Calls, must: []Field{FieldProcess}, may: []Field{FieldFor},
		until: handover, why: handoverWhy,
		does: "The process cannot reach the lease objects; everything else works."},
	{kind: LeaseHang, family: LeaderFamily, need: Calls, must: []Field{FieldProcess}, may: []Field{FieldFor},
		until: handover, why: handoverWhy,
		does: "The process's lease calls get no answer at all; everything else works."},
	{kind: Call, family: ResponseFamily, need: Calls, must: []Field{FieldAction},
		may: []Field{FieldProcess, FieldNode, FieldTask, FieldPort, FieldVerb, FieldNth, FieldShare, FieldCode, FieldApplied, FieldRetry,
			FieldDelay, FieldFor},
		until: called, why: "what the call delayed, and a new leader if the caller lost its term over it",
		does: "`action` befalls the calls that the target selects."},
	{kind: APIOutage, family: OutageFamily, need: Calls, may: []Field{FieldFor},
		until: handover, why: handoverWhy,
		does: "The API server refuses every connection; the leases are there too."},
	{kind: APISlow, family: OutageFamily, need: Calls, must: []Field{FieldDelay}, may: []Field{FieldFor},
		until: called, why: "a call that was made just before the end is still on its way, and a leader may have lost its lease over it",
		does: "Every request to the API server takes `delay` longer."},
	{kind: APIPause, family: OutageFamily, need: Servers, may: []Field{FieldFor},
		until: handover, why: handoverWhy,
		does: "The API server is frozen, and the leases with it: connections stay open and nothing answers. After `for` it goes on."},
	{kind: StoreOutage, family: OutageFamily, need: Calls, may: []Field{FieldFor},
		until: handover, why: handoverWhy,
		does: "The database refuses every connection."},
	{kind: StoreSlow, family: OutageFamily, need: Calls, must: []Field{FieldDelay}, may: []Field{FieldFor},
		until: called, why: "a call that was made just before the end is still on its way, and a leader may have lost its term over it",
		does: "Every request to the database takes `delay` longer."},
	{kind: StoreCrash, family: OutageFamily, need: Servers, may: []Field{FieldFor},
		until: handover, why: handoverWhy,
		does: "The database is killed: connections break around commits, then are refused. It is started again after `for`, with all that it had acknowledged."},
	{kind: StorePause, family: OutageFamily, need: Servers, may: []Field{FieldFor},
		until: handover, why: handoverWhy,
		does: "The database is frozen: connections stay open and nothing answers. After `for` it goes on, and may do what nobody waits for any more."},
	{kind: StoreFailover, family: OutageFamily, need: Platform, must: []Field{FieldLost},
		until: handover, why: handoverWhy,
		does: "The database fails over to a standby that never got the commits of the last `lost`. No dispatcher can be right after that."},
	{kind: StaleCache, family: OutageFamily, need: Platform, must: []Field{FieldLag}, may: []Field{FieldFor},
		until: lagging, why: "what was read just before the end was that old",
		does: "Lists and watches that a cache answers are `lag` old."},
	{kind: StaleReplica, family: OutageFamily, need: Platform, must: []Field{FieldLag}, may: []Field{FieldFor},
		until: lagging, why: "what was read just before the end was that old",
		does: "What database replicas answer is `lag` old."},
}

func (k Kind) form() (form, bool) {
	for _, f := range forms {
		if f.kind == k {
			return f, true
		}
	}
	return form{}, false
}

// Kinds lists every kind.
func Kinds() []Kind {
	kinds := make([]Kind, len(forms))
	for i, f := range forms {
		kinds[i] = f.kind
	}
	return kinds
}

// Family returns the family that reports group the kind in; empty for an unknown kind.
func (k Kind) Family() Family {
	f, _ := k.form()
	return f.family
}

// Need returns what a world must be able to do for the kind.
func (k Kind) Need() Capability {
	f, _ := k.form()
	return f.need
}

// Does says in a sentence what the kind does.
func (k Kind) Does() string {
	f, _ := k.form()
	return f.does
}

// Fields returns the fields that a fault of the kind must set, and those that it may set.
func (k Kind) Fields() (must, may []Field) {
	f, _ := k.form()
	return f.must, f.may
}

// Instant tells whether a fault of the kind is over as soon as it has struck: nothing is left to heal.
func (k Kind) Instant() bool {
	switch k {
	case NodeRemove, PodEvict, PodRemove, PodRelabel, ContainerKill, StoreFailover:
		return true
	}
	return false
}

// Through is the port that a fault of the kind has to go through itself, whoever injects it; empty when it needs none.
func (k Kind) Through() clusters.Port {
	switch k {
	case PodEvict, PodRemove, PodRelabel:
		return clusters.API
	}
	return ""
}

// Families lists the families of faults.
func Families() []Family {
	return []Family{NodeFamily, DeadlineFamily, ResponseFamily, LeaderFamily, OutageFamily}
}
