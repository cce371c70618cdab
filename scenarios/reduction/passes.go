package reduction

import (
	"slices"
	"strings"
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/scenarios"
)

// toFixpoint goes through the passes until none of them finds anything smaller.
func (r *reducer) toFixpoint() {
	for r.ctx.Err() == nil {
		before := r.best.size
		r.minimise(func(s *scenarios.Scenario) int { return len(s.Faults) }, withoutFaults)
		r.minimise(func(s *scenarios.Scenario) int { return len(s.Tasks) }, withoutTasks)
		r.minimise(func(s *scenarios.Scenario) int { return len(s.Clients) }, withoutSteps)
		r.minimise(func(s *scenarios.Scenario) int { return len(s.Settings) }, withoutSettings)
		r.machines()
		r.plainer()
		r.fixed()
		r.rounder()
		r.otherSeed()
		if r.best.size == before {
			return
		}
	}
}

// minimise is ddmin over the things of one kind: halves, quarters and so on are left out, until none can go alone.
func (r *reducer) minimise(count func(*scenarios.Scenario) int, without func(s scenarios.Scenario, from, to int) scenarios.Scenario) {
	for pieces := 1; r.ctx.Err() == nil; {
		n := count(r.best.scenario)
		if n == 0 {
			return
		}
		pieces = min(pieces, n)
		all := make([]scenarios.Scenario, pieces)
		for i := range all {
			all[i] = without(*r.best.scenario, i*n/pieces, (i+1)*n/pieces)
		}
		switch {
		case r.take(all) >= 0:
			pieces = max(pieces-1, 1)
		case pieces == n:
			return
		default:
			pieces *= 2
		}
	}
}

// cut is a list without a part of it; the list stays as it is.
func cut[T any](list []T, from, to int) []T { return slices.Concat(list[:from], list[to:]) }

func withoutFaults(s scenarios.Scenario, from, to int) scenarios.Scenario {
	s.Faults = cut(s.Faults, from, to)
	return s
}

func withoutSteps(s scenarios.Scenario, from, to int) scenarios.Scenario {
	s.Clients = cut(s.Clients, from, to)
	return s
}

func withoutSettings(s scenarios.Scenario, from, to int) scenarios.Scenario {
	s.Settings = cut(s.Settings, from, to)
	return s
}

// withoutTasks takes along what speaks of the tasks.
func withoutTasks(s scenarios.Scenario, from, to int) scenarios.Scenario {
	gone := map[string]bool{}
	for _, g := range s.Tasks[from:to] {
		gone[g.Name] = true
	}
	s.Tasks = cut(s.Tasks, from, to)
	s.Clients = slices.DeleteFunc(slices.Clone(s.Clients), func(c scenarios.Step) bool {
		return gone[c.Cancel] || gone[c.Read] || gone[c.Resume] || gone[c.Submit]
	})
	s.Faults = slices.DeleteFunc(slices.Clone(s.Faults), func(f scenarios.Fault) bool {
		return gone[f.Target.Task] || gone[strings.TrimPrefix(f.Target.Node, "task:")]
	})
	return s
}

// machines tries fewer groups of nodes, nodes and replicas.
func (r *reducer) machines() {
	for r.ctx.Err() == nil {
		best := *r.best.scenario
		var all []scenarios.Scenario
		for i := range best.Nodes {
			c := best
			c.Nodes = cut(best.Nodes, i, i+1)
			all = append(all, c)
		}
		for i, g := range best.Nodes {
			for _, smaller := range []scenarios.NodeGroup{{Count: 1, Pods: 1}, {Count: g.Count, Pods: 1}, {Count: 1, Pods: g.Pods}, {Count: g.Count / 2, Pods: g.Pods},
				{Count: g.Count - 1, Pods: g.Pods}, {Count: g.Count, Pods: g.Pods}, {Max: g.Max - 1, Pods: g.Pods, Count: g.Count}, {Count: g.Count, Max: g.Max, Pods: g.Pods - 1}} {
				smaller.Name, smaller.CapacityType = g.Name, g.CapacityType
				c := best
				c.Nodes = slices.Clone(best.Nodes)
				c.Nodes[i] = smaller
				all = append(all, c)
			}
		}
		for _, replicas := range []scenarios.Replicas{{Dispatchers: 1, Reconcilers: 1}, {Dispatchers: 1, Reconcilers: best.Replicas.Reconcilers},
			{Dispatchers: best.Replicas.Dispatchers, Reconcilers: 1}, {}} {
			c := best
			c.Replicas = replicas
			all = append(all, c)
		}
		if r.take(all) < 0 {
			return
		}
	}
}

// copied is a scenario whose lists may be changed.
func copied(s *scenarios.Scenario) *scenarios.Scenario {
	c := *s
	c.Tasks, c.Clients, c.Faults = slices.Clone(s.Tasks), slices.Clone(s.Clients), slices.Clone(s.Faults)
	return &c
}

// plainer leaves details out.
func (r *reducer) plainer() {
	for i := 0; i < len(details(r.best.scenario)) && r.ctx.Err() == nil; i++ {
		c := copied(r.best.scenario)
		if d := details(c)[i]; d.set() {
			d.leave()
			r.take([]scenarios.Scenario{*c})
		}
	}
}

// round are the times that people write, shortest first.
var round = []time.Duration{0, time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 20 * time.Second, 30 * time.Second, time.Minute,
	2 * time.Minute, 3 * time.Minute, 4 * time.Minute, 5 * time.Minute, 6 * time.Minute, 8 * time.Minute, 10 * time.Minute, 20 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour}

// rounder tries shorter times and times with fewer figures, each by itself.
func (r *reducer) rounder() {
	for i := 0; i < len(times(r.best.scenario)) && r.ctx.Err() == nil; i++ {
		now := times(r.best.scenario)[i].get()
		tries := slices.Clone(round)
		for _, unit := range []time.Duration{10 * time.Minute, time.Minute, 10 * time.Second, time.Second, 100 * time.Millisecond} {
			tries = append(tries, now.Truncate(unit), now.Truncate(unit)+unit)
		}
		var all []scenarios.Scenario
		for _, d := range tries {
			if digits(d) > digits(now) || digits(d) == digits(now) && max(d, -d) >= max(now, -now) {
				continue
			}
			c := copied(r.best.scenario)
			times(c)[i].set(d)
			all = append(all, *c)
		}
		r.take(all)
	}
}

// fixed puts one time in the place of a distribution: its longest, or its shortest.
func (r *reducer) fixed() {
	for i := range r.best.scenario.Faults {
		d := r.best.scenario.Faults[i].Delay
		if d.Shape == clusters.NotSet || d.Shape == clusters.FixedShape {
			continue
		}
		var all []scenarios.Scenario
		for _, length := range []clusters.Dist{clusters.Fixed(d.Max().Truncate(time.Second)), clusters.Fixed(d.Max()), clusters.Fixed(d.Min())} {
			c := copied(r.best.scenario)
			c.Faults[i].Delay = length
			all = append(all, *c)
		}
		r.take(all)
	}
}

// seedsTried are how many small seeds are tried in the place of the one that was found.
const seedsTried = 8

func (r *reducer) otherSeed() {
	var all []scenarios.Scenario
	for seed := 1; seed <= seedsTried; seed++ {
		c := *r.best.scenario
		if c.From = seed; seed == 1 {
			c.From = 0
		}
		all = append(all, c)
	}
	r.take(all)
}
