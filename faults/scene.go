package faults

import (
	"slices"
	"strings"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
)

// scene follows a run's history so that late-bound targets can be resolved: who leads now, what runs where.
// Every world keeps a history, so no world needs queries of its own for this.
type scene struct {
	c       clusters.Cluster
	read    int         // events read so far
	leaders []lead      // by lease, in order of first sight
	nodes   []string    // present now, in order of arrival
	live    []container // containers alive now, in order of start
}

type lead struct{ lease, process string }

type container struct {
	task, node, object string
}

// update reads what was recorded since the last look.
func (s *scene) update() {
	events := s.c.History().Events
	for _, e := range events[min(s.read, len(events)):] {
		s.take(e)
	}
	s.read = len(events)
}

func (s *scene) take(e history.Event) {
	switch e.Kind {
	case history.LeaseHeld:
		s.held(e.Detail, s.c.Processes().Name(e.Process))
	case history.NodeAdded:
		if node := s.c.Nodes().Name(e.Node); !slices.Contains(s.nodes, node) {
			s.nodes = append(s.nodes, node)
		}
	case history.NodeGone:
		gone := s.c.Nodes().Name(e.Node)
		s.nodes = slices.DeleteFunc(s.nodes, func(n string) bool { return n == gone })
	case history.ContainerStarted:
		s.live = append(s.live, container{s.c.Tasks().Name(e.Task), s.c.Nodes().Name(e.Node), e.Object})
	case history.ContainerEnded:
		s.live = slices.DeleteFunc(s.live, func(r container) bool { return r.object == e.Object })
	}
}

func (s *scene) held(lease, process string) {
	for i := range s.leaders {
		if s.leaders[i].lease == lease {
			s.leaders[i].process = process
			return
		}
	}
	s.leaders = append(s.leaders, lead{lease, process})
}

// leader is the process that holds the role's lease; empty when nobody does.
func (s *scene) leader(role string) string {
	for _, l := range s.leaders {
		if strings.HasSuffix(l.lease, role) {
			return l.process
		}
	}
	return ""
}

// nodeOf is where the task's latest live container runs; empty when none does.
func (s *scene) nodeOf(task string) string {
	for _, r := range slices.Backward(s.live) {
		if r.task == task {
			return r.node
		}
	}
	return ""
}

// running lists the tasks with a live container, sorted.
func (s *scene) running() []string {
	var tasks []string
	for _, r := range s.live {
		if r.task != "" && !slices.Contains(tasks, r.task) {
			tasks = append(tasks, r.task)
		}
	}
	slices.Sort(tasks)
	return tasks
}

// nodesIn lists the present nodes of the groups, sorted; no groups means all.
func (s *scene) nodesIn(groups []string) []string {
	var nodes []string
	for _, n := range s.nodes {
		cut := strings.LastIndexByte(n, '-')
		if len(groups) == 0 || cut > 0 && slices.Contains(groups, n[:cut]) {
			nodes = append(nodes, n)
		}
	}
	slices.Sort(nodes)
	return nodes
}

// aim turns a late-bound target into what it means now; false when nothing fits yet.
func (in *Injector) aim(f Fault) (Fault, bool) {
	t := &f.Target
	if !late(*t) {
		return f, true
	}
	in.scene.update()
	if role, ok := strings.CutPrefix(t.Process, "leader:"); ok {
		t.Process = in.scene.leader(role)
		if t.Process == "" {
			return f, false
		}
	}
	if t.Task == "any:running" {
		if t.Task = in.pick(in.scene.running()); t.Task == "" {
			return f, false
		}
	}
	switch task, ok := strings.CutPrefix(t.Node, "task:"); {
	case ok:
		t.Node = in.scene.nodeOf(task)
	case t.Node == "any" || strings.HasPrefix(t.Node, "any:"):
		t.Node = in.pick(in.scene.nodesIn(t.Groups))
	default:
		return f, true
	}
	return f, t.Node != ""
}

func late(t Target) bool {
	return strings.HasPrefix(t.Process, "leader:") || t.Task == "any:running" ||
		t.Node == "any" || strings.HasPrefix(t.Node, "any:") || strings.HasPrefix(t.Node, "task:")
}

func (in *Injector) pick(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return names[in.random.IntN(len(names))]
}
