package explore

import (
	"slices"
	"strings"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/faults"
)

// kind is a fault that the search can place at a call.
type kind struct {
	name string
	does string
	// usual kinds are placed unless others are asked for.
	usual bool
	at    func(c *clusters.Called, s *dispatcher.Settings) (faults.Fault, bool)
}

// kinds are the faults that can be placed. Where a process dies between two of its calls makes no difference but to what its call had done by
// then; so a crash right after each effect is a crash anywhere.
var kinds = []kind{
	{"lost-reply", "the call takes effect, and its reply is lost", true, inCall(clusters.LoseReply)},
	{"crash", "the caller crashes when the call has taken effect; a replica is started again", true, inCall(clusters.CrashCaller)},
	{"lease-loss", "a replica cannot reach its lease, from this call on and until it must have lost it", true, leaseLoss},
	{"lost-request", "the call never arrives", false, inCall(clusters.Drop)},
	{"cut-reply", "the call takes effect, and its connection breaks", false, inCall(clusters.CutReply)},
	{"refused", "the server refuses the connection, for this call and all others of the caller for a while", false, refused},
	{"late", "the caller gives up, and then the call takes effect", false, late},
	{"pause", "a replica stands still when it has made the call, until it must have lost its lease", false, pause},
	{"clock", "a replica's clock goes ahead by as long as a lease and more, when it makes the call, and for as long", false, clock},
	{"throttled", "the server answers that it is too busy, for this call and all others of the caller for a while", false, throttled},
	{"evicted", "somebody deletes the pod of the call's task, with its grace period, just before the call", false, toPod(faults.PodEvict)},
	{"removed", "somebody removes the object of that pod by force, while its container may be alive", false, removed},
	{"relabelled", "somebody edits the labels by which that pod is selected", false, toPod(faults.PodRelabel)},
	{"killed", "that pod's container is killed", false, toPod(faults.ContainerKill)},
	{"node-off", "the machine on which that container runs is off, until the task must have been recovered", false, toNode(faults.NodeKill)},
	{"cut-off", "that machine reaches neither API server nor database, as long", false, toNode(faults.NodePartition)},
}

// SmallWorlds are the scenarios of the library that are made to be searched.
func SmallWorlds() []string {
	return []string{"two-tasks-control", "two-tasks-slow-control", "three-tasks-failing-control"}
}

// Kinds are the names of the faults that a search can place.
func Kinds() []string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// UsualKinds are those that are placed unless others are asked for.
func UsualKinds() []string {
	var names []string
	for _, k := range kinds {
		if k.usual {
			names = append(names, k.name)
		}
	}
	return names
}

// Does says what a kind of fault does; empty for one that there is not.
func Does(name string) string {
	for _, k := range kinds {
		if k.name == name {
			return k.does
		}
	}
	return ""
}

// placements are the faults of the kinds at a call.
func placements(c *clusters.Called, names []string, s *dispatcher.Settings) []faults.Fault {
	var all []faults.Fault
	for _, k := range kinds {
		if !slices.Contains(names, k.name) {
			continue
		}
		if f, ok := k.at(c, s); ok {
			f.At = c.At - 1 // a nanosecond before it is made
			all = append(all, f)
		}
	}
	return all
}

// inCall is an action on this one call. It lasts until its caller has learned, or not, what became of it.
func inCall(action clusters.Action) func(*clusters.Called, *dispatcher.Settings) (faults.Fault, bool) {
	return func(c *clusters.Called, s *dispatcher.Settings) (faults.Fault, bool) {
		f := faults.Fault{Kind: faults.Call, Action: action, Target: of(c), For: c.Deadline - c.At + time.Second}
		client := !c.Replica && !strings.HasPrefix(c.Process, "worker-")
		return f, !(action == clusters.CrashCaller && client)
	}
}

func of(c *clusters.Called) faults.Target {
	return faults.Target{Process: c.Process, Port: c.Port, Verb: c.Verb, Nth: 1}
}

// lapse is how long it takes until a replica that cannot renew is sure to be replaced.
func lapse(s *dispatcher.Settings) time.Duration { return s.LeaseTTL + 3*s.RetryPeriod }

func leaseLoss(c *clusters.Called, s *dispatcher.Settings) (faults.Fault, bool) {
	return faults.Fault{Kind: faults.LeaseUnreachable, Target: faults.Target{Process: c.Process}, For: lapse(s)},
		c.Port == clusters.Lease
}

func refused(c *clusters.Called, s *dispatcher.Settings) (faults.Fault, bool) {
	t := of(c)
	t.Verb, t.Nth = "", 0
	return faults.Fault{Kind: faults.Call, Action: clusters.Refuse, Target: t, For: 5 * time.Second}, true
}

func late(c *clusters.Called, s *dispatcher.Settings) (faults.Fault, bool) {
	verb, _ := history.ParseVerb(c.Verb)
	reads := verb == history.Get || verb == history.List || verb == history.Read || verb == history.Scan || verb == history.Now ||
		verb == history.GetLease || verb == history.NodeExists
	return faults.Fault{Kind: faults.Call, Action: clusters.Late, Target: of(c), For: lapse(s) + time.Second, Delay: clusters.Fixed(lapse(s))}, !reads
}

func clock(c *clusters.Called, s *dispatcher.Settings) (faults.Fault, bool) {
	return faults.Fault{Kind: faults.ClockSkew, Target: faults.Target{Process: c.Process}, By: lapse(s), For: lapse(s)}, c.Replica
}

func throttled(c *clusters.Called, s *dispatcher.Settings) (faults.Fault, bool) {
	t := of(c)
	t.Verb, t.Nth = "", 0
	f := faults.Fault{Kind: faults.Call, Action: clusters.Answer, Code: history.Throttled.String(), Target: t, For: 5 * time.Second}
	return f, c.Port == clusters.API
}

// toPod befalls the pod of the call's task. Who makes the call does not matter, only when.
func toPod(k faults.Kind) func(*clusters.Called, *dispatcher.Settings) (faults.Fault, bool) {
	return func(c *clusters.Called, _ *dispatcher.Settings) (faults.Fault, bool) {
		return faults.Fault{Kind: k, Target: faults.Target{Task: c.Task}}, aboutPod(c)
	}
}

// removed is not placed where the reconciler looks: it does that when a container has ended, too. With its object goes, finalizer and all, whatever
// tells how it ended, and nobody can know any more whether it was the deadline.
func removed(c *clusters.Called, s *dispatcher.Settings) (faults.Fault, bool) {
	f, ok := toPod(faults.PodRemove)(c, s)
	return f, ok && !strings.HasPrefix(c.Process, "reconciler-")
}

// toNode befalls the machine of the call's task, for as long as it takes to replace what runs there.
func toNode(k faults.Kind) func(*clusters.Called, *dispatcher.Settings) (faults.Fault, bool) {
	return func(c *clusters.Called, s *dispatcher.Settings) (faults.Fault, bool) {
		f := faults.Fault{Kind: k, Target: faults.Target{Node: "task:" + c.Task}, For: s.RecoveryGrace + s.PodGrace + s.TerminationTimeout + 2*s.RecoverInterval}
		return f, aboutPod(c)
	}
}

// aboutPod tells that there may be a pod for the task of the call.
func aboutPod(c *clusters.Called) bool {
	verb, _ := history.ParseVerb(c.Verb)
	return c.Task != "" && verb != history.Submit && verb != history.Create
}

func pause(c *clusters.Called, s *dispatcher.Settings) (faults.Fault, bool) {
	return faults.Fault{Kind: faults.ProcessPause, Target: faults.Target{Process: c.Process}, For: lapse(s)}, c.Replica
}
