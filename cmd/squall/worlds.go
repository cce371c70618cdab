package main

import (
	"slices"
	"strings"

	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/scenarios"
)

// worldEntry is a world that this build has. Each has a file of its own, so that build tags can leave it out.
type worldEntry struct {
	name    string
	summary string
	open    scenarios.World
	can     faults.Capabilities // what faults it can do
	// check looks for what the world needs on this machine.
	check func() []finding
}

var worldEntries []worldEntry

// registerWorld is called by the init functions of the worlds' files.
func registerWorld(w worldEntry) {
	worldEntries = append(worldEntries, w)
	slices.SortFunc(worldEntries, func(a, b worldEntry) int { return strings.Compare(a.name, b.name) })
}

func worldNames() []string {
	names := make([]string, len(worldEntries))
	for i, w := range worldEntries {
		names[i] = w.name
	}
	return names
}

// plannedWorlds are those that Squall is to have and has not yet: asking for one is no typing error.
var plannedWorlds = []string{"kind", "local"}

func findWorld(name string) (worldEntry, error) {
	for _, w := range worldEntries {
		if w.name == name {
			return w, nil
		}
	}
	if slices.Contains(plannedWorlds, name) {
		return worldEntry{}, usage("this version has no world %q yet; it has %s", name, strings.Join(worldNames(), ", "))
	}
	return worldEntry{}, unknownName("world", name, worldNames(), oneOf(worldNames()))
}

// suits refuses a scenario with a fault that the world cannot do.
func (w worldEntry) suits(s *scenarios.Scenario, seed uint64) error {
	plan, err := s.Plan(seed)
	if err != nil {
		return err
	}
	for _, f := range plan {
		if need := f.Kind.Need(); !w.can.Has(need) {
			return usage("%s scenario %s: world %s cannot do %s, which needs faults of %s; `squall explain %s` says more",
				faults.CodeWorldCannot, s.Name, w.name, f.Kind, need, faults.CodeWorldCannot)
		}
	}
	return nil
}
