package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/scenarios"
)

// part is a part of the suite.
type part string

const (
	partReference part = "reference" // must do what the scenario expects of it
	partNaive     part = "naive"     // likewise: mostly, it must be seen to fail
	partVariants  part = "variants"  // the same, with other figures
	partDefect    part = "defect"    // must be found
	partWitness   part = "witness"   // must be found by a second invariant, or in a second scenario, too
	partSwarm     part = "swarm"     // the reference must be valid under every seed
	partLive      part = "kind"      // the reference in a real cluster
	partConfirm   part = "confirm"   // a planted defect, seen in a real cluster too
)

// trial is one line of the suite.
type trial struct {
	part part
	job  job
	// quarry is what is hunted: the first seed that ends the hunt is the last. Nil: every seed is run.
	quarry *quarry
	// defect is what is hunted, if it is planted.
	defect *planted.Defect
	// variants, when set, are run in the place of the job, whose name they have.
	variants []job
}

// quarry is a set of invariants to see violated.
type quarry struct {
	names []string
	all   bool // all of them, not any
}

// missing are those that still have to be seen.
func (q quarry) missing(seen map[string]int) []string {
	var missing []string
	for _, name := range q.names {
		if seen[name] == 0 {
			missing = append(missing, name)
		} else if !q.all {
			return nil
		}
	}
	return missing
}

func (q quarry) String() string {
	if q.all {
		return strings.Join(q.names, " and ")
	}
	return strings.Join(q.names, " or ")
}

// simTrials lists the suite of the simulation.
func (f *chaosFlags) simTrials(world worldEntry) ([]trial, error) {
	of := func(s *scenarios.Scenario, dispatcher string, from uint64, count int) job {
		text, _ := scenarios.LibraryFile(s.Name)
		system, _ := planted.Lookup(dispatcher)
		return job{scenario: s, text: text, system: system, world: world, from: from, count: count}
	}
	var reference, naive, varied, defects, witnesses, swarm []trial
	for _, s := range scenarios.Library() {
		if err := world.suits(s, 1, 1); err != nil {
			return nil, err
		}
		if s.Swarm != "" {
			swarm = append(swarm, trial{part: partSwarm, job: of(s, "reference", f.from, f.seeds)})
		} else {
			reference = append(reference, trial{part: partReference, job: of(s, "reference", 1, max(s.Seeds, 1))})
		}
		if s.Expect.Naive != nil {
			naive = append(naive, naiveTrial(of(s, "naive", 1, max(s.Seeds, 1))))
		}
		if len(s.Variants) > 0 {
			more, err := variantTrials(s, suiteVariants, func(dispatcher string, variant int) (job, error) {
				return of(s, dispatcher, 1, max(s.Seeds, 1)).varied(variant)
			})
			if err != nil {
				return nil, broken(err)
			}
			varied = append(varied, more...)
		}
	}
	for _, d := range planted.Defects() {
		s, err := scenarios.Find(d.Scenario)
		if err != nil {
			return nil, broken(fmt.Errorf("planted defect %s: %w", d.System.Name, err))
		}
		defects = append(defects, trial{part: partDefect, job: of(s, d.System.Name, 1, d.Seeds), quarry: &quarry{names: d.Breaks}, defect: &d})
		if w := d.Witness; w != nil {
			if s, err = scenarios.Find(w.Scenario); err != nil {
				return nil, broken(fmt.Errorf("second witness of planted defect %s: %w", d.System.Name, err))
			}
			witnesses = append(witnesses, trial{part: partWitness, job: of(s, d.System.Name, 1, w.Seeds), quarry: &quarry{names: w.Breaks}, defect: &d})
		}
	}
	return slices.Concat(reference, naive, varied, defects, witnesses, swarm), nil
}

// naiveTrial is a trial of the naive dispatcher, or of another of which the scenario expects something. Where a verdict needs many seeds it is hunted: it fails so often that to run
// them all would be the larger part of the suite.
func naiveTrial(j job) trial {
	x := trial{part: partNaive, job: j}
	if e := j.scenario.Expect.Of(j.system.Name); j.count > 1 && e.Verdict == "invalid" {
		x.quarry = &quarry{names: e.Violates, all: true}
	}
	return x
}

// patience is how many times as many seeds a failure is looked for that is known to come in the random order: in another it has other seeds.
const patience = 10

// reorder has the trial run in that order of events.
func (x *trial) reorder(order clusters.Order) {
	x.job.order = order
	for v := range x.variants {
		x.variants[v].order = order
	}
	if order.Strategy == "" {
		return
	}
	mustFail := verdictWanted(x.job.scenario.Expect.Of(x.job.system.Name)) == "invalid"
	switch {
	case x.part == partNaive && mustFail:
		x.job.count *= patience
		*x = naiveTrial(x.job)
	case x.part == partVariants && mustFail && x.job.system.Name == naiveName: // planted defects are hunted with patience elsewhere
		x.job.count *= patience
		for v := range x.variants {
			x.variants[v].count *= patience
		}
	case x.part == partDefect, x.part == partWitness:
		x.job.count *= patience
	}
}

// asMeant tells whether the trial came out as it must.
func (x trial) asMeant(o outcome) bool {
	return o.failed == nil && !o.tally.Interrupted && len(o.unmet()) == 0
}
