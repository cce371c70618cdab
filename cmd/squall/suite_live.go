package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/scenarios"
)

// entry is a scenario of the suite of a real cluster.
type entry struct {
	scenario string
	// defects are the planted dispatchers that must be found there.
	defects []string
	// defectsOnly leaves the reference out.
	defectsOnly bool
}

// liveSuite is what the suite runs in a real cluster: three scenarios and more of each of the four families, further incidents,
// and the defects that are confirmed there.
//
// One of each family comes first, so that a suite cut short by a budget has seen them all but those that befall nodes, which come
// last in any order.
var liveSuite = []entry{
	{scenario: "lost-create-reply", defects: []string{"random-names"}},
	// A late COMMIT outlives no idle_in_transaction_session_timeout, so what has no epoch on its writes is confirmed where it has
	// leadership in a boolean, too.
	{scenario: "lease-lapsed-unnoticed", defects: []string{"leadership-in-a-boolean"}},
	{scenario: "deadline-overrun", defects: []string{"age-alone"}},
	{scenario: "list-error", defects: []string{"error-is-absence"}},
	// lost response
	{scenario: "crash-between-create-and-record"},
	{scenario: "create-applied-late"},
	{scenario: "lost-finish-reply"},
	// stale leader
	{scenario: "paused-with-write-in-flight"},
	{scenario: "paused-in-mid-batch"},
	{scenario: "lease-unreachable"},
	{scenario: "hung-renewal"},
	// deadline overrun
	{scenario: "pending-past-its-timeout"},
	{scenario: "grace-at-the-deadline", defects: []string{"grace-equals-deadline"}, defectsOnly: true},
	// outages and other incidents
	{scenario: "database-gone-around-commits"},
	{scenario: "api-server-away"},
	{scenario: "evicted-and-killed"},
	{scenario: "cancel-while-running"},
	{scenario: "poison-task"},
	{scenario: "rejected-object"},
	// node kill
	{scenario: "node-kill-and-return"},
	{scenario: "partition-containers-live-on"},
	{scenario: "spot-taken-for-good"},
}

// confirmTries is how many runs a planted defect gets to show in a real cluster: where it needs a race to be lost, one run may
// see it won.
const confirmTries = 3

// liveTries is how many runs a scenario has of which the first was valid and did not end as expected: what is told of it is then in how many of
// them it did.
const liveTries = 3

// notRun is a scenario that a world cannot do, and why.
type notRun struct{ scenario, reason string }

// liveTrials lists the suite in a real world, and what of it cannot be run there.
func (f *chaosFlags) liveTrials(world worldEntry) (trials []trial, left []notRun, err error) {
	for _, e := range liveSuite {
		s, err := scenarios.Find(e.scenario)
		if err != nil {
			return nil, nil, broken(err)
		}
		sc := world.scaleOf(s)
		if f.scale > 0 {
			sc.Factor = f.scale
		}
		scaled, err := s.Scaled(sc)
		if err != nil {
			return nil, nil, err
		}
		if why := scaled.Misfits(world.ability, 1); len(why) > 0 {
			for _, reason := range why {
				left = append(left, notRun{s.Name, reason})
			}
			continue
		}
		trials = append(trials, e.trials(world, scaled)...)
	}
	for _, n := range leftOut(world) {
		if !slices.Contains(left, n) {
			left = append(left, n)
		}
	}
	return trials, left, nil
}

func (e entry) trials(world worldEntry, s *scenarios.Scenario) []trial {
	text, _ := scenarios.LibraryFile(s.Name)
	base := job{scenario: s, text: text, system: planted.Reference(), world: world, from: 1, count: 1}
	var all []trial
	if !e.defectsOnly {
		all = append(all, trial{part: partLive, job: base})
	}
	for _, name := range e.defects {
		j := base
		j.system, _ = planted.Lookup(name)
		j.count = confirmTries
		all = append(all, trial{part: partConfirm, job: j, quarry: &quarry{names: brokenBy(name, s)}})
	}
	return all
}

// brokenBy are the invariants that the planted defect is found by in the simulation: in a real cluster it must be one of them.
func brokenBy(name string, s *scenarios.Scenario) []string {
	var all []string
	for _, d := range planted.Defects() {
		if d.System.Name == name {
			all = slices.Clone(d.Breaks)
		}
	}
	if e := s.Expect.Of(name); e != nil {
		all = append(all, e.Violates...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// leftOut lists the scenarios of the library that the world cannot do at all, with the reason, and those that it could do but that
// its suite does without; controls stand beside their scenarios.
func leftOut(world worldEntry) []notRun {
	var left []notRun
	var spared []string
	for _, s := range scenarios.Library() {
		why := world.misfits(s)
		for _, reason := range why {
			left = append(left, notRun{s.Name, reason})
		}
		inSuite := slices.ContainsFunc(liveSuite, func(e entry) bool { return e.scenario == s.Name })
		if len(why) == 0 && !inSuite && !strings.HasSuffix(s.Name, "-control") {
			spared = append(spared, s.Name)
		}
	}
	if len(spared) > 0 {
		left = append(left, notRun{strings.Join(spared, ", "), "not part of its suite, which is to take minutes; squall run NAME --world " + world.name + " runs one"})
	}
	return left
}

func (n notRun) String() string { return fmt.Sprintf("%s: %s", n.scenario, n.reason) }
