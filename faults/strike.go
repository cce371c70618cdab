package faults

import (
	"fmt"
	"strings"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
)

// apply breaks what the fault breaks.
func (in *Injector) apply(i int, f Fault) {
	if in.elsewhere(i, f) {
		return
	}
	switch f.Kind {
	case NodeKill, NodeRemove, NodePartition, SpotReclaim:
		in.applyNode(i, f, in.world.(clusters.NodeFaults))
	case PodEvict, PodRemove, ContainerKill:
		in.applyPod(i, f, in.world.(clusters.PodFaults))
	case PodRelabel:
		if in.world.(clusters.LabelFaults).RelabelPod(f.Target.Task) {
			in.hit(i)
		}
	case ProcessCrash, ProcessPause, ClockSkew:
		in.applyProcess(i, f, in.world.(clusters.ProcessFaults))
	case RunTime, SchedulingHold, StoreFailover, StaleCache, StaleReplica:
		in.applyPlatform(i, f, in.world.(clusters.PlatformFaults))
	case StoreCrash, StorePause, APIPause:
		in.applyServer(i, f, in.world.(clusters.ServerFaults))
	default:
		in.applyCalls(i, f, in.world.(clusters.CallFaults))
	}
}

// hold breaks a thing that has two states; more faults on it change nothing until the last one heals.
func (in *Injector) hold(i int, key string, do, undo func()) {
	in.holds = append(in.holds, hold{index: i, key: key, undo: undo})
	do()
}

// set gives a thing a wrong value; the latest fault's value is the valid one.
func (in *Injector) set(i int, key string, do, undo func()) {
	in.holds = append(in.holds, hold{index: i, key: key, redo: do, undo: undo})
	do()
}

func (in *Injector) applyNode(i int, f Fault, w clusters.NodeFaults) {
	node := f.Target.Node
	switch f.Kind {
	case NodeKill:
		in.hold(i, "power of "+node, func() { w.KillNode(node) }, func() { w.ReturnNode(node) })
	case NodeRemove:
		w.RemoveNode(node)
	case SpotReclaim:
		w.ReclaimNode(node, f.Notice)
	case NodePartition:
		for _, port := range f.cutPorts() {
			in.hold(i, fmt.Sprintf("%s from %s", port, node), func() { w.CutNode(node, port) }, func() { w.JoinNode(node, port) })
		}
	}
}

func (in *Injector) applyPod(i int, f Fault, w clusters.PodFaults) {
	do := w.EvictPod
	switch f.Kind {
	case PodRemove:
		do = w.RemovePod
	case ContainerKill:
		do = w.KillContainer
	}
	if do(f.Target.Task) {
		in.hit(i)
	}
}

func (in *Injector) applyProcess(i int, f Fault, w clusters.ProcessFaults) {
	name := f.Target.Process
	for _, p := range in.matching(name) {
		switch f.Kind {
		case ProcessCrash:
			in.hold(i, down+p, func() { w.Crash(p) }, func() { w.Restart(p) })
		case ProcessPause:
			in.hold(i, "standing still of "+p, func() { w.Pause(p) }, func() { w.Resume(p) })
		case ClockSkew:
			in.set(i, "clock of "+p, func() { w.SkewClock(p, f.By) }, func() { w.SkewClock(p, 0) })
		}
	}
}

// down begins the key of what keeps a process from running.
const down = "absence of "

// matching lists the replicas that a process target means, in order of name.
func (in *Injector) matching(name string) []string {
	prefix, pattern := strings.CutSuffix(name, "*")
	if name == "" {
		pattern = true
	}
	if !pattern {
		return []string{name}
	}
	var names []string
	for _, p := range in.world.Processes().Names() {
		if strings.HasPrefix(p, prefix) && replica(p) {
			names = append(names, p)
		}
	}
	return names
}

// replica tells a dispatcher or reconciler process from workers and clients, which nobody restarts.
func replica(process string) bool {
	return strings.HasPrefix(process, "dispatcher-") || strings.HasPrefix(process, "reconciler-")
}

func (in *Injector) applyPlatform(i int, f Fault, w clusters.PlatformFaults) {
	switch f.Kind {
	case RunTime:
		task := f.Target.Task
		in.set(i, "run time of "+task, func() { w.SetRunTime(task, f.Run) }, func() { w.SetRunTime(task, 0) })
	case SchedulingHold:
		in.hold(i, "scheduling", func() { w.HoldScheduling(true) }, func() { w.HoldScheduling(false) })
	case StoreFailover:
		w.FailOver(f.Lost)
		in.hit(i)
	case StaleCache:
		in.set(i, "cache", func() { w.SetCacheLag(clusters.Fixed(f.Lag)) }, func() { w.SetCacheLag(clusters.Dist{}) })
	case StaleReplica:
		in.set(i, "replica", func() { w.SetReplicaLag(clusters.Fixed(f.Lag)) }, func() { w.SetReplicaLag(clusters.Dist{}) })
	}
}

// applyServer breaks a server; the world tells when something is seen of it.
func (in *Injector) applyServer(i int, f Fault, w clusters.ServerFaults) {
	port := clusters.Store
	if f.Kind == APIPause {
		port = clusters.API
	}
	felt := func() { in.hit(i) }
	if f.Kind == StoreCrash {
		in.hold(i, "absence of the server of "+string(port), func() { w.StopServer(port, felt) }, func() { w.StartServer(port) })
		return
	}
	in.hold(i, "standing still of the server of "+string(port), func() { w.PauseServer(port, felt) }, func() { w.ResumeServer(port) })
}

func (in *Injector) applyCalls(i int, f Fault, w clusters.CallFaults) {
	rule := f.rule()
	rule.Hit = func() { in.hit(i) }
	if rule.Action == clusters.CrashCaller {
		rule.Hit = func() { in.hit(i); in.restartLater(i, f) }
	}
	remove := w.Intercept(rule)
	in.holds = append(in.holds, hold{index: i, key: fmt.Sprintf("rule of fault %d", i+1), undo: remove})
	if f.Action == clusters.CrashCaller {
		in.holds = append(in.holds, hold{index: i, key: fmt.Sprintf("crashes of fault %d", i+1), undo: func() { in.restart(f) }})
	}
}

// restartLater does what a Deployment does for a process that crashed in a call.
func (in *Injector) restartLater(i int, f Fault) {
	after := f.Delay.Or(clusters.Fixed(defaultDown)).Draw(in.random)
	in.world.At(in.world.Now()+after, fmt.Sprintf("fault %d restarts the caller", i+1), func() { in.restart(f) })
}

// restart brings back what a crash in a call took down, but not what another fault keeps down.
func (in *Injector) restart(f Fault) {
	w, ok := in.world.(clusters.ProcessFaults)
	if !ok {
		return
	}
	for _, p := range in.matching(f.Target.Process) {
		if replica(p) && !in.keeps(down+p) {
			w.Restart(p)
		}
	}
}

func (in *Injector) keeps(key string) bool {
	for _, h := range in.holds {
		if h.key == key {
			return true
		}
	}
	return false
}

// rule is which calls a fault of calls affects, and how.
func (f Fault) rule() clusters.Rule {
	switch f.Kind {
	case LeaseUnreachable:
		return clusters.Rule{Port: clusters.Lease, Process: f.Target.Process, Action: clusters.Refuse}
	case LeaseHang:
		return clusters.Rule{Port: clusters.Lease, Process: f.Target.Process, Action: clusters.Drop}
	case APIOutage:
		return clusters.Rule{Port: clusters.API, Action: clusters.Refuse} // a rule for API calls takes the leases along
	case APISlow:
		return clusters.Rule{Port: clusters.API, Action: clusters.Slow, Delay: f.Delay}
	case StoreOutage:
		return clusters.Rule{Port: clusters.Store, Action: clusters.Refuse}
	case StoreSlow:
		return clusters.Rule{Port: clusters.Store, Action: clusters.Slow, Delay: f.Delay}
	}
	t := f.Target
	var verb history.Verb // both are validated; none is any, and to look for the nearest name to none takes its time
	var code history.Code
	if t.Verb != "" {
		verb, _ = history.ParseVerb(t.Verb)
	}
	if f.Code != "" {
		code, _ = history.ParseCode(f.Code)
	}
	return clusters.Rule{Port: t.Port, Process: t.Process, Node: t.Node, Verb: verb, Task: t.Task,
		Nth: t.Nth, Share: t.Share, Action: f.Action, Delay: f.Delay, Code: code,
		Applied: f.Applied, RetryAfter: f.RetryAfter}
}

// traced tells whether the history shows that the fault had an effect.
func (in *Injector) traced(s strike) bool {
	h := in.world.History()
	switch s.fault.Kind {
	case StaleCache:
		return made(h.Operations[s.calls:], history.List)
	case StaleReplica:
		return made(h.Operations[s.calls:], history.Scan)
	case ClockSkew:
		return true // a clock has no other witness
	}
	for _, e := range h.Events[s.events:] {
		if in.tracedBy(s.fault, e) {
			return true
		}
	}
	return s.fault.Kind == NodePartition && in.inhabited(s.fault.Target.Node)
}

func (in *Injector) tracedBy(f Fault, e history.Event) bool {
	switch f.Kind {
	case NodeKill, NodeRemove, NodePartition, SpotReclaim:
		if in.world.Nodes().Name(e.Node) != f.Target.Node {
			return false
		}
		return e.Kind == history.NodeNotReady || e.Kind == history.NodeGone || e.Kind == history.ContainerEnded
	case ProcessCrash:
		return e.Kind == history.ProcessCrashed && in.means(f.Target.Process, e.Process)
	case ProcessPause:
		return e.Kind == history.ProcessPaused && in.means(f.Target.Process, e.Process)
	case RunTime:
		return e.Kind == history.WorkStarted && in.world.Tasks().Name(e.Task) == f.Target.Task
	case SchedulingHold:
		return e.Kind == history.ObjectCreated
	}
	return false
}

func (in *Injector) means(target string, p history.ID) bool {
	name := in.world.Processes().Name(p)
	prefix, pattern := strings.CutSuffix(target, "*")
	return name == target || pattern && strings.HasPrefix(name, prefix)
}

// inhabited tells whether a container lives on the node: then cutting it off is felt at once.
func (in *Injector) inhabited(node string) bool {
	in.scene.update()
	for _, c := range in.scene.live {
		if c.node == node {
			return true
		}
	}
	return false
}

func made(calls []history.Operation, v history.Verb) bool {
	for _, c := range calls {
		if c.Verb == v {
			return true
		}
	}
	return false
}
