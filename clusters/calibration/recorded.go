package calibration

import (
	"strings"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
)

// mostCalls is how many calls of one port are taken of a run: more say nothing new.
const mostCalls = 10_000

// realNodes is the world whose nodes are all there from the start, with the image.
const realNodes = "kind"

// recording turns the record of a run into samples.
type recording struct {
	h       *history.History
	to      *Samples
	named   func(node string) clusters.CapacityType
	types   map[history.ID]clusters.CapacityType // of those nodes whose record tells
	windows []window                             // in which a fault was active, or still felt
	pods    map[string]*life
	order   []*life
	bound   bool // the record says when pods got their nodes
}

// window is a time in which a fault was active, or still felt; Node is its target, if that is a node.
type window struct {
	from, to time.Duration
	node     history.ID
}

// life is what happened to one object.
type life struct {
	task                          history.ID
	node                          history.ID
	created, deleting, bound      time.Duration
	told, gated                   bool // it got its node at bound; the world had held it back
	asked, began, worked, stopped bool
	started, work, end            time.Duration
	detail                        string
	ended                         bool
}

// FromHistory adds what the record of a run says to the samples. Only the record of a real cluster has the moment at which a pod was
// bound to its node. Where it is missing, Startup is from a pod's creation, and FromHistory returns true: the scheduling is in the
// starts. ImagePull is in no record: in the simulation a start tells only where the image was there already, and the nodes of a kind
// cluster have it from the beginning.
func FromHistory(h *history.History, kind func(node string) clusters.CapacityType, to *Samples) (startsFromCreation bool) {
	r := &recording{h: h, to: to, named: kind, pods: map[string]*life{}, types: map[history.ID]clusters.CapacityType{}}
	r.windows = disturbed(h)
	for i := range h.Events {
		r.event(&h.Events[i])
	}
	r.lives()
	r.machines()
	r.silences()
	r.calls()
	return !r.bound
}

// disturbed are the times in which faults were active, or still felt.
func disturbed(h *history.History) []window {
	const never = time.Duration(1<<63 - 1)
	open := map[int32]int{}
	var windows []window
	for _, e := range h.Events {
		switch e.Kind {
		case history.FaultStruck:
			open[e.Fault] = len(windows)
			windows = append(windows, window{e.At, never, e.Node})
		case history.FaultHealed:
			if i, ok := open[e.Fault]; ok {
				windows[i].to = e.At + e.Due
			}
		}
	}
	return windows
}

// calm tells whether no fault could have had a part in what happened between two moments, but for those of one node; 0 is none.
func (r *recording) calm(from, to time.Duration, but history.ID) bool {
	for _, w := range r.windows {
		if from < w.to && to > w.from && (but == 0 || w.node != but) {
			return false
		}
	}
	return true
}

const underFault = "a fault was active, or still felt"

func (r *recording) add(m Measure, kind clusters.CapacityType, from, to time.Duration, of Subject) {
	if !r.calm(from, to, 0) {
		r.to.Leave(m, underFault)
		return
	}
	r.to.Add(m, kind, Sample{Value: max(to-from, 0), Of: of})
}

// kind is the capacity type of a node: as the record says, or else by its name.
func (r *recording) kind(node history.ID) clusters.CapacityType {
	if kind := r.types[node]; kind != "" {
		return kind
	}
	return r.named(r.name(node, r.h.Nodes))
}

func (r *recording) event(e *history.Event) {
	if kind := clusters.CapacityType(e.Detail); e.Kind == history.NodeAdded && (kind == clusters.OnDemand || kind == clusters.Spot) {
		r.types[e.Node] = kind
	}
	if e.Object == "" {
		return
	}
	p := r.pods[e.Object]
	if p == nil {
		p = &life{task: e.Task, created: -1}
		r.pods[e.Object] = p
		r.order = append(r.order, p)
	}
	switch e.Kind {
	case history.ObjectCreated:
		p.created = e.At
	case history.ObjectDeleting:
		p.asked, p.deleting = true, e.At
	case history.ObjectBound:
		r.bound = true
		p.told, p.bound, p.gated, p.node = true, e.At, e.Detail == history.Gated, e.Node
	case history.ContainerStarted:
		p.began, p.started, p.node = true, e.At, e.Node
	case history.WorkStarted:
		p.worked, p.work = true, e.At
	case history.WorkEnded:
		p.stopped, p.end = true, e.At
	case history.ContainerEnded:
		p.ended, p.detail = true, e.Detail
		if !p.stopped {
			p.end = e.At
		}
	}
}

func (r *recording) name(of history.ID, table []string) string {
	if of < 1 || int(of) > len(table) {
		return ""
	}
	return table[of-1]
}

func (r *recording) lives() {
	last := time.Duration(0)
	if n := len(r.h.Events); n > 0 {
		last = r.h.Events[n-1].At
	}
	used := map[history.ID]bool{}
	added := r.added()
	for _, p := range r.order {
		node := r.name(p.node, r.h.Nodes)
		kind, of := r.kind(p.node), Subject{Pod: r.name(p.task, r.h.Tasks), Node: node}
		r.scheduling(p, kind, of)
		if !p.began {
			continue
		}
		switch {
		case p.told:
			r.add(Startup, kind, p.bound, p.started, of)
		case p.created >= 0 && (used[p.node] || r.h.Meta.World == realNodes) && added[p.node] <= p.created:
			r.add(Startup, kind, p.created, p.started, of)
		}
		used[p.node] = true
		r.run(p, kind, of, last)
		switch {
		case !p.asked || !p.ended || p.end < p.deleting:
		case p.detail == "exit 143":
			r.add(Shutdown, kind, p.deleting, p.end, of)
		default:
			r.to.Leave(Shutdown, "did not heed SIGTERM, or died with its machine")
		}
	}
}

func (r *recording) scheduling(p *life, kind clusters.CapacityType, of Subject) {
	switch {
	case !p.told || p.created < 0:
	case p.gated:
		r.to.Leave(Scheduling, "held back by the run, which imitates a slower cluster")
	default:
		r.add(Scheduling, kind, p.created, p.bound, of)
	}
}

// silences are how long it took to notice that a node was silent. That a fault of its own made it so does not spoil them.
func (r *recording) silences() {
	for _, e := range r.h.Events {
		switch {
		case e.Kind != history.NodeNotReady:
		case e.Due == 0:
			r.to.Leave(NotReady, "the record does not say when the node was last heard of")
		case !r.calm(e.At-e.Due, e.At, e.Node):
			r.to.Leave(NotReady, underFault)
		default:
			r.to.Add(NotReady, r.kind(e.Node), Sample{Value: e.Due, Of: Subject{Node: r.name(e.Node, r.h.Nodes)}})
		}
	}
}

func (r *recording) run(p *life, kind clusters.CapacityType, of Subject, last time.Duration) {
	switch {
	case !p.worked:
	case !p.ended:
		r.to.Add(Run, kind, Sample{Value: last - p.work, AtLeast: true, Of: of})
	case p.detail == "exit 0":
		r.to.Add(Run, kind, Sample{Value: p.end - p.work, Of: of})
	case strings.HasPrefix(p.detail, "exit ") && p.detail != "exit 143" && p.detail != "exit 137":
		r.to.Leave(Run, "failed by itself: how long it would have run is not known")
	default:
		r.to.Add(Run, kind, Sample{Value: p.end - p.work, AtLeast: true, Of: of})
	}
}

// added is when each node came.
func (r *recording) added() map[history.ID]time.Duration {
	at := map[history.ID]time.Duration{}
	for _, e := range r.h.Events {
		if e.Kind == history.NodeAdded {
			at[e.Node] = e.At
		}
	}
	return at
}

// machines are those that came later: the first pod that ran on one, of those that had been waiting, tells how long it took.
func (r *recording) machines() {
	if r.h.Meta.World == realNodes {
		return // they are all there from the start
	}
	added := r.added()
	first := map[history.ID]*life{}
	for _, p := range r.order {
		at, ok := added[p.node]
		if !ok || at == 0 || p.created < 0 || p.created > at {
			continue
		}
		if f := first[p.node]; f == nil || p.created < f.created {
			first[p.node] = p
		}
	}
	for _, p := range r.order {
		if first[p.node] == p {
			node := r.name(p.node, r.h.Nodes)
			r.add(Provisioning, r.kind(p.node), p.created, added[p.node], Subject{Pod: r.name(p.task, r.h.Tasks), Node: node})
		}
	}
}

// calls are those that came back with an answer while no fault was active.
func (r *recording) calls() {
	total := map[Measure]int{}
	for i := range r.h.Operations {
		total[portOf(r.h.Operations[i].Verb)]++
	}
	seen := map[Measure]int{}
	var before history.Seq
	for i := range r.h.Operations {
		o := &r.h.Operations[i]
		m := portOf(o.Verb)
		if o.Outcome != history.OK || o.Call == before || m == "" {
			continue // a call that concerns several tasks is one
		}
		before = o.Call
		if seen[m]++; total[m] > mostCalls && seen[m]%(total[m]/mostCalls+1) != 0 {
			continue
		}
		r.add(m, "", o.CalledAt, o.ReturnedAt, Subject{Pod: r.name(o.Process, r.h.Processes)})
	}
}

// portOf is the latency that a call shows; empty for one that is none.
func portOf(v history.Verb) Measure {
	switch {
	case v == history.Now:
		return "" // asked together with others
	case v >= history.Create:
		return APILatency
	}
	return StoreLatency
}
