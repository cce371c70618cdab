package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/scenarios"
)

// worldEntry is a world that squall knows, be it in this build or not.
type worldEntry struct {
	name    string
	summary string
	// ability is what it can do, and scale what scenarios are scaled by in it unless the command line says otherwise.
	ability scenarios.Ability
	scale   scenarios.Scale
	// factors are for profiles that must be scaled otherwise. May be nil.
	factors map[string]float64
	// live worlds run in real time: what happened in one cannot be made to happen again by its seed.
	live bool
	// witness says what is weaker there about the witnesses of executions than in kind; empty: nothing.
	witness string
	// named worlds are used only when they are asked for by name: they are somebody else's.
	named bool
	// alone are the kinds of faults that befall everything in the world: such a run shares it with no other.
	alone []faults.Kind
	// open makes the world of one run. A world that must be got ready first has begin instead.
	open  scenarios.World
	begin func(context.Context, worldOptions) (*session, error)
	// adapt is what the world can do in the cluster that the options name, where that differs. May be nil.
	adapt func(worldEntry, worldOptions) worldEntry
	// get is the command that gets this world, for builds that lack it.
	get string
	// check looks for what the world needs on this machine; ready says in short why nothing can be run in it now, and fix gets
	// what is missing. All may be nil.
	check func(context.Context, worldOptions) []finding
	ready func(context.Context) error
	fix   func(context.Context, io.Writer) error
}

// session is a world that was got ready for all the runs of one command.
type session struct {
	open scenarios.World
	// lanes is how many runs it takes side by side.
	lanes int
	// about says where the runs happen, for people.
	about string
	// close ends it; what it made is removed, unless it is to be kept. It is called with a context that has time left, also
	// after Ctrl-C.
	close func(context.Context) error
}

// worldOptions are what the command line says about real clusters.
type worldOptions struct {
	nodeImage string
	cluster   string
	keep      bool
	context   string
	namespace string
	injector  string
	image     string // of the programs; empty: made and loaded where that can be done
	postgres  string // image of Postgres; likewise
	lanes     int
	// planted is set when a dispatcher with a planted defect is to run.
	planted bool
	// progress takes lines about what is being got ready.
	progress io.Writer
}

var worldEntries []worldEntry

// provision is what a build adds to a world that every build knows.
type provision struct {
	adapt func(worldEntry, worldOptions) worldEntry
	begin func(context.Context, worldOptions) (*session, error)
	check func(context.Context, worldOptions) []finding
	ready func(context.Context) error
	fix   func(context.Context, io.Writer) error
}

var provisions = map[string]provision{}

// registerWorld is called by the init functions of the worlds' files.
func registerWorld(w worldEntry) {
	w.ability.World = w.name
	w.provide(provisions[w.name])
	worldEntries = append(worldEntries, w)
	slices.SortFunc(worldEntries, func(a, b worldEntry) int { return strings.Compare(a.name, b.name) })
}

// provideWorld is called by the files that build tags leave out, in any order with registerWorld.
//
//lint:ignore U1000 for that reason
func provideWorld(name string, p provision) {
	provisions[name] = p
	for i := range worldEntries {
		if worldEntries[i].name == name {
			worldEntries[i].provide(p)
		}
	}
}

func (w *worldEntry) provide(p provision) {
	if p.begin != nil {
		w.begin, w.check, w.ready, w.fix, w.adapt = p.begin, p.check, p.ready, p.fix, p.adapt
	}
}

// here tells whether this build has the world.
func (w worldEntry) here() bool { return w.open != nil || w.begin != nil }

func worldNames() []string {
	names := make([]string, len(worldEntries))
	for i, w := range worldEntries {
		names[i] = w.name
	}
	return names
}

// plannedWorlds are those that Squall is to have and has not yet: asking for one is no typing error.
var plannedWorlds = []string{"local"}

// findWorld is the world of that name, ready to be used.
func findWorld(name string) (worldEntry, error) {
	w, err := knownWorld(name)
	if err == nil && !w.here() {
		return w, usage("this build of squall has no world %q; get it with: %s", name, w.get)
	}
	return w, err
}

// knownWorld is the world of that name, in this build or not.
func knownWorld(name string) (worldEntry, error) {
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

// suits refuses a scenario that the world cannot do.
func (w worldEntry) suits(s *scenarios.Scenario, from uint64, count int) error {
	if s.Swarm == "" {
		count = 1
	}
	for seed := from; seed < from+uint64(min(count, seedsLookedAt)); seed++ {
		if err := s.CheckWorld(w.ability, seed); err != nil {
			return err
		}
	}
	return nil
}

// seedsLookedAt is of how many seeds of a swarm it is looked at what they draw: one that the world cannot do is among them.
const seedsLookedAt = 50

// shared tells whether the run leaves others in the same world alone.
func (w worldEntry) shared(s *scenarios.Scenario, seed uint64) bool {
	plan, err := s.Plan(seed)
	return err == nil && !slices.ContainsFunc(plan, func(f faults.Fault) bool { return slices.Contains(w.alone, f.Kind) })
}

// openWorlds gets the worlds of the jobs ready, and returns how to end that.
func openWorlds(ctx context.Context, c *console, jobs []*job, o worldOptions) (closeAll func() error, err error) {
	open := map[string]*session{}
	closeAll = func() error { return closeSessions(open) }
	for _, j := range jobs {
		if j.world.begin == nil {
			continue
		}
		s := open[j.world.name]
		if s == nil {
			o.progress = c.lines("squall: " + j.world.name + ": ")
			if s, err = j.world.begin(ctx, o); err != nil {
				return closeAll, fmt.Errorf("world %s: %w", j.world.name, err)
			}
			open[j.world.name] = s
			if s.about != "" {
				c.note("squall: %s: %s", j.world.name, s.about)
			}
		}
		j.world.open, j.lanes = s.open, s.lanes
	}
	return closeAll, nil
}

// scaleOf is how the world scales a scenario unless the command line says otherwise.
func (w worldEntry) scaleOf(s *scenarios.Scenario) scenarios.Scale {
	sc := w.scale
	if factor, ok := w.factors[s.Profile]; ok {
		sc.Factor = factor
	}
	return sc
}
