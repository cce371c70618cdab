package calibration

import (
	"strings"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
)

// mostCalls is how many calls of one port are taken of a run: more say nothing new.
const mostCalls = 10_000

// recording turns the record of a run into samples.
type recording struct {
	h       *history.History
	to      *Samples
	kind    func(node string) clusters.CapacityType
	windows [][2]time.Duration // in which a fault was active, or still felt
	pods    map[string]*life
	order   []*life
}

// life is what happened to one object.
type life struct {
	task                          history.ID
	node                          history.ID
	created, deleting             time.Duration
	asked, began, worked, stopped bool
	started, work, end            time.Duration
	detail                        string
	ended                         bool
}

// FromHistory adds what the record of a run says to the samples. A record has no moment at which a pod was bound to its node, so
// Startup is from a pod's creation, where the image was there already, and Scheduling and ImagePull are not told.
func FromHistory(h *history.History, kind func(node string) clusters.CapacityType, to *Samples) {
	r := &recording{h: h, to: to, kind: kind, pods: map[string]*life{}}
	r.windows = disturbed(h)
	for i := range h.Events {
		r.event(&h.Events[i])
	}
	r.lives()
	r.machines()
	r.calls()
}

// disturbed are the times in which faults were active, or still felt.
func disturbed(h *history.History) [][2]time.Duration {
	const never = time.Duration(1<<63 - 1)
	open := map[int32]int{}
	var windows [][2]time.Duration
	for _, e := range h.Events {
		switch e.Kind {
		case history.FaultStruck:
			open[e.Fault] = len(windows)
			windows = append(windows, [2]time.Duration{e.At, never})
		case history.FaultHealed:
			if i, ok := open[e.Fault]; ok {
				windows[i][1] = e.At + e.Due
			}
		}
	}
	return windows
}

// calm tells whether no fault could have had a part in what happened between two moments.
func (r *recording) calm(from, to time.Duration) bool {
	for _, w := range r.windows {
		if from < w[1] && to > w[0] {
			return false
		}
	}
	return true
}

const underFault = "a fault was active, or still felt"

func (r *recording) add(m Measure, kind clusters.CapacityType, from, to time.Duration, of Subject) {
	if !r.calm(from, to) {
		r.to.Leave(m, underFault)
		return
	}
	r.to.Add(m, kind, Sample{Value: max(to-from, 0), Of: of})
}

func (r *recording) event(e *history.Event) {
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
		if !p.began {
			continue
		}
		node := r.name(p.node, r.h.Nodes)
		kind, of := r.kind(node), Subject{Pod: r.name(p.task, r.h.Tasks), Node: node}
		if p.created >= 0 && used[p.node] && added[p.node] <= p.created {
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
			r.add(Provisioning, r.kind(node), p.created, added[p.node], Subject{Pod: r.name(p.task, r.h.Tasks), Node: node})
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
