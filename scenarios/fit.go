package scenarios

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/faults"
)

// fit makes do with the machines that there are: the groups of a type share them in the order of the file, what they can carry
// stays the same, and a fault of a machine that is missing is left out, since it would befall machines that carry nothing.
func (s *Scenario) fit(machines map[clusters.CapacityType]int) {
	if machines == nil {
		return
	}
	left := maps.Clone(machines)
	s.Nodes = slices.Clone(s.Nodes)
	absent := map[string]bool{}
	for i := range s.Nodes {
		left[s.Nodes[i].CapacityType] -= s.fitGroup(&s.Nodes[i], left[s.Nodes[i].CapacityType], absent)
	}
	all := s.Faults
	s.Faults, s.kept = nil, nil
	for i, f := range all {
		if absent[f.Target.Node] {
			s.fitted = append(s.fitted, fmt.Sprintf("the %s of %s is left out", f.Kind, f.Target.Node))
			continue
		}
		f.Name = either(f.Name, fmt.Sprintf("fault %d", i+1)) // its stream of randomness stays its own
		s.Faults, s.kept = append(s.Faults, f), append(s.kept, i)
	}
}

// fitGroup gives the group what it needs of the machines left, and returns how many that is.
func (s *Scenario) fitGroup(g *NodeGroup, left int, absent map[string]bool) int {
	want := max(g.Count, g.Max)
	have := min(want, left)
	if have == g.Count && g.Max <= g.Count || have == 0 || g.Count == 0 && s.outwaitsStart() {
		return have // as it is, or not at all: see Misfits
	}
	if g.Count == 0 { // the work would wait for a machine: let it wait as long for its place on one
		s.Platform.Scheduling = sum(s.Platform.Scheduling, s.Platform.Provisioning)
		s.fitted = append(s.fitted, fmt.Sprintf("nodes of group %s are there from the start, and scheduling takes as long as a new one would", g.Name))
	}
	pods := (want*g.Pods + have - 1) / have
	s.fitted = append(s.fitted, fmt.Sprintf("group %s has %d nodes of %d pods instead of up to %d of %d", g.Name, have, pods, want, g.Pods))
	for n := have; n < want; n++ {
		absent[fmt.Sprintf("%s-%d", g.Name, n+1)] = true
	}
	g.Count, g.Max, g.Pods = have, 0, pods
	return have
}

// outwaitsStart tells that a new machine takes longer than an attempt waits for its start. Where each attempt waited for its place instead, none
// would ever begin, whereas a machine is there for later attempts.
func (s *Scenario) outwaitsStart() bool {
	settings, err := s.DispatcherSettings()
	return err == nil && s.Platform.Provisioning.Max() > settings.StartTimeout
}

// sum is about the sum of two distributions: from the least of both together to the most.
func sum(a, b clusters.Dist) clusters.Dist {
	least := func(d clusters.Dist) clusters.Dist {
		if d.Shape == clusters.UniformShape || d.Shape == clusters.FixedShape {
			return d
		}
		return clusters.Uniform(d.Min(), d.Max())
	}
	a, b = least(a), least(b)
	return clusters.Uniform(a.A+b.A, max(a.A, a.B)+max(b.A, b.B))
}

// Ability is what a world can do.
type Ability struct {
	World  string
	Faults faults.Capabilities
	Cannot faults.Refusals
	// Machines is how many nodes of each type there are; nil: as many as a scenario wants, the autoscaler's included.
	Machines map[clusters.CapacityType]int
	// Launchers: containers of tasks can make pods.
	Launchers bool
	// Start is how long a task may take from its submission to its begin when nothing goes wrong; no start deadline can be shorter.
	Start time.Duration
}

// CheckWorld tells, before anything starts, whether a world can do what the scenario asks for under that seed. The error is
// an *InputError.
func (s *Scenario) CheckWorld(a Ability, seed uint64) error {
	src := s.sourceFor()
	for i, f := range s.Faults {
		series := f.series(clusters.Dist.Max, s.groups())
		if field, why := a.refuses(series[0]); why != "" {
			src.add(src.place(fmt.Sprintf("faults[%d].%s", s.faultIndex(i), field)), faults.CodeWorldCannot, "run it in sim",
				"world %s cannot do %s: %s", a.World, worded(series[0]), why)
		}
	}
	if s.Swarm != "" {
		draw, err := s.Draw(seed)
		if err != nil {
			return err
		}
		for _, f := range draw.Plan {
			if _, why := a.refuses(f); why != "" {
				src.add(src.place("swarm"), faults.CodeWorldCannot, "run it in sim",
					"world %s cannot do %s, which the swarm draws under seed %d: %s", a.World, worded(f), seed, why)
				break
			}
		}
	}
	s.checkMachines(a, src)
	s.checkWork(a, src)
	return src.err()
}

// worded is what a fault is, as a scenario file has it.
func worded(f faults.Fault) string {
	if f.Action != "" {
		return strings.TrimSpace(fmt.Sprintf("%s %s of %s", f.Kind, f.Action, either(f.Target.Verb, "any call")))
	}
	return string(f.Kind)
}

// refuses says why the world cannot do the fault, and which field says so; empty: it can.
func (a Ability) refuses(f faults.Fault) (faults.Field, string) {
	if why, field, refused := a.Cannot.Of(f); refused {
		return field, why
	}
	if !a.Faults.Has(f.Kind.Need()) {
		return faults.FieldKind, fmt.Sprintf("it has no faults of %s", f.Kind.Need())
	}
	return "", ""
}

func (s *Scenario) checkMachines(a Ability, src *source) {
	if a.Machines == nil {
		return
	}
	left := maps.Clone(a.Machines)
	for i, g := range s.Nodes {
		path := fmt.Sprintf("nodes[%d]", i)
		if g.Max > g.Count {
			src.add(src.place(path+".max"), faults.CodeWorldCannot, "run it in sim", "world %s provisions no nodes, and group %s may grow to %d",
				a.World, g.Name, g.Max)
		}
		if left[g.CapacityType] -= g.Count; left[g.CapacityType] < 0 {
			src.add(src.place(path+".count"), faults.CodeWorldCannot, "run it in sim", "world %s has %s, and group %s wants %d more than are left",
				a.World, nodes(a.Machines[g.CapacityType], g.CapacityType), g.Name, -left[g.CapacityType])
		}
	}
}

func (s *Scenario) checkWork(a Ability, src *source) {
	for i, g := range s.Tasks {
		if g.Work.Launcher && !a.Launchers {
			src.add(src.place(fmt.Sprintf("tasks[%d].work.launcher", i)), faults.CodeWorldCannot, "run it in sim",
				"world %s cannot do work.launcher: workers there have no right to make pods", a.World)
		}
		if g.StartDeadline > 0 && g.StartDeadline < a.Start {
			src.add(src.place(fmt.Sprintf("tasks[%d].start_deadline", i)), faults.CodeWorldCannot, "run it in sim",
				"world %s cannot keep a start_deadline of %s: it takes up to %s to start a task there", a.World, g.StartDeadline, a.Start)
		}
	}
}

// faultIndex is where the fault stood in the file: fitting leaves some out.
func (s *Scenario) faultIndex(i int) int {
	if s.kept == nil {
		return i
	}
	return s.kept[i]
}

// Misfits says in short why the world cannot do the scenario; empty: it can. It is CheckWorld for lists.
func (s *Scenario) Misfits(a Ability, seed uint64) []string {
	err := s.CheckWorld(a, seed)
	if err == nil {
		return nil
	}
	input, ok := err.(*InputError)
	if !ok {
		return []string{err.Error()}
	}
	var all []string
	for _, p := range input.Problems {
		if text := strings.TrimPrefix(p.Message, "world "+a.World+" "); !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

func nodes(n int, kind clusters.CapacityType) string {
	if n == 1 {
		return "1 " + string(kind) + " node"
	}
	return fmt.Sprintf("%d %s nodes", n, kind)
}
