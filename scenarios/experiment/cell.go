package experiment

import (
	"fmt"
	"math"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/scenarios"
)

// Cell is one setting to be compared.
type Cell struct {
	Name    string
	Summary string
	// Source is the settings file that the cell is from; empty: the scenario's own settings.
	Source string
	// Profile, unless empty, takes the place of the scenario's settings; Settings come on top.
	Profile  string
	Settings scenarios.Overrides
	// SpotShare is which share of the machines in spot groups is spot.
	SpotShare float64
	// Point is where in a sweep the cell lies, one value per axis; nil: not of a sweep.
	Point []int64
	// Refined tells that the cell was added to locate a flip of the verdict.
	Refined bool
}

// Own is the cell of the scenario's own settings.
func Own() Cell { return Cell{Name: "scenario", SpotShare: 1} }

// FromVariant is the cell of a settings file.
func FromVariant(v *scenarios.Variant, source string) Cell {
	c := Cell{Name: v.Name, Summary: v.Summary, Source: source, Profile: v.Profile, Settings: v.Settings, SpotShare: 1}
	if v.SpotShare != nil {
		c.SpotShare = *v.SpotShare
	}
	return c
}

// Scenario is the scenario under the cell's settings and share of spot machines.
func (c Cell) Scenario(s *scenarios.Scenario) *scenarios.Scenario {
	changed := s.With(c.Profile, c.Settings)
	changed.Nodes = converted(s.Nodes, c.SpotShare)
	return changed
}

// Check returns the settings under the scenario, with what is wrong with them; an error if they mean nothing.
func (c Cell) Check(s *scenarios.Scenario) (dispatcher.Settings, []dispatcher.Finding, error) {
	settings, err := c.Scenario(s).DispatcherSettings()
	if err != nil {
		return settings, nil, err
	}
	found := settings.Check()
	for _, f := range found {
		if f.Rule == "range" {
			return settings, nil, fmt.Errorf("settings %s: %s", c.Name, f)
		}
	}
	return settings, found, nil
}

// onDemandPart is what the machines are called that a smaller share of spot makes on-demand.
const onDemandPart = "-as-on-demand"

// kept is how many of n machines stay spot.
func kept(n int, share float64) int { return int(math.Round(float64(n) * share)) }

// converted makes on-demand machines of those spot machines that are too many. Other machines stay as they are.
func converted(nodes []scenarios.NodeGroup, share float64) []scenarios.NodeGroup {
	if share >= 1 {
		return nodes
	}
	var all []scenarios.NodeGroup
	for _, n := range nodes {
		if n.CapacityType != clusters.Spot {
			all = append(all, n)
			continue
		}
		spot, other := n, n
		spot.Count, spot.Max = kept(n.Count, share), kept(n.Max, share)
		other.Count, other.Max = n.Count-spot.Count, n.Max-spot.Max
		other.CapacityType = clusters.OnDemand
		if spot.Count > 0 || spot.Max > 0 {
			all = append(all, spot)
			other.Name += onDemandPart
		}
		if other.Count > 0 || other.Max > 0 {
			all = append(all, other)
		}
	}
	return all
}

// plan is the block's plan for the cell's machines: what befalls a machine befalls the one in its place, but nobody takes an
// on-demand machine back.
func (c Cell) plan(base faults.Plan, nodes []scenarios.NodeGroup) faults.Plan {
	if c.SpotShare >= 1 {
		return base
	}
	moved := map[string]string{} // machines that have another name now, or are no spot any more
	var groups []string
	for _, n := range nodes {
		groups = append(groups, n.Name)
		if n.CapacityType != clusters.Spot {
			continue
		}
		spot, name := kept(n.Count, c.SpotShare), n.Name
		if spot > 0 || kept(n.Max, c.SpotShare) > 0 {
			name += onDemandPart
			groups = append(groups, name)
		}
		for i := spot; i < n.Count; i++ {
			moved[fmt.Sprintf("%s-%d", n.Name, i+1)] = fmt.Sprintf("%s-%d", name, i-spot+1)
		}
	}
	plan := faults.Plan{}
	for _, f := range base {
		to, is := moved[f.Target.Node]
		if f.Kind == faults.SpotReclaim && (is || c.SpotShare == 0) {
			continue
		}
		if is {
			f.Target.Node = to
		}
		if f.Target.Node == "any" {
			f.Target.Groups = groups
		}
		if f.Target.Node == "any:spot" && c.SpotShare == 0 {
			continue
		}
		plan = append(plan, f)
	}
	return plan
}
