package kubernetes

import (
	"slices"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
)

// What follows is for the harness, which may see everything: faults are aimed by it, and the end of a run is judged by it.

// PodOf returns the object of the task, if there is one.
func (s *Server) PodOf(task string) (dispatcher.Workload, bool) {
	if p := s.podOf(task); p != nil {
		return p.w, true
	}
	return dispatcher.Workload{}, false
}

// NodeOf returns the node that the task's pod is bound to; empty when there is none.
func (s *Server) NodeOf(task string) string {
	if p := s.podOf(task); p != nil {
		return p.w.Node
	}
	return ""
}

// ContainerOf returns the container of the task's pod; nil when its kubelet has not seen it.
func (s *Server) ContainerOf(task string) *Container {
	if p := s.podOf(task); p != nil {
		return p.container
	}
	return nil
}

// NodesOf returns the nodes of the capacity type (all when it is empty) whose machines are on, in order of their making.
func (s *Server) NodesOf(t clusters.CapacityType) []string {
	var names []string
	for _, n := range s.nodes {
		if n.on && (t == "" || n.spot == (t == clusters.Spot)) {
			names = append(names, n.name)
		}
	}
	return names
}

// RunningTasks returns the tasks that have a container running, in order of name.
func (s *Server) RunningTasks() []string {
	tasks := make([]string, 0, len(s.running))
	for _, c := range s.running {
		tasks = append(tasks, string(c.Workload.Task))
	}
	slices.Sort(tasks)
	return slices.Compact(tasks)
}

// Alive is how many containers run.
func (s *Server) Alive() int { return len(s.running) }

// Objects is how many objects exist.
func (s *Server) Objects() int { return len(s.byName) }
