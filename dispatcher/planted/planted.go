// Package planted holds dispatchers with one deliberate defect each, as few lines as possible away
// from the reference. They prove that the checkers can see: a checker that passes one of them is broken.
package planted

import "github.com/squall-chaos/squall/dispatcher"

// Defect is a planted dispatcher and what it is expected to break.
type Defect struct {
	System dispatcher.System
	// Breaks lists the invariants that are all found violated, though not under each seed.
	Breaks []string
	// Scenario is the library scenario whose seeds show it.
	Scenario string
	// Seeds is within how many seeds, counted from 1, it must be found there.
	Seeds int
	// Incident is the row of the catalogue of public incidents that it comes from.
	Incident string
	// Bare is the reference without the second line of defence that would hide the defect, if there is one: the control of a
	// defect that lacks it, too. It must pass where the defect is seen.
	Bare *dispatcher.System
	// Witness is where else it is seen, when one invariant in one scenario would be all that sees it.
	Witness *Sight
	// SimOnly says why it cannot run on real servers; empty: it can.
	SimOnly string
}

// Sight is where a defect shows, too.
type Sight struct {
	Scenario string
	Breaks   []string // one of these is found violated
	Seeds    int      // within how many seeds, counted from 1
}

// also is a second sight of a defect.
func also(scenario, invariant string, seeds int) *Sight {
	return &Sight{Scenario: scenario, Breaks: []string{invariant}, Seeds: seeds}
}

// Reference is the dispatcher as it should be.
func Reference() dispatcher.System {
	return dispatcher.System{Name: "reference", Summary: "the protocol as documented in package dispatcher"}
}

// Defects lists all planted dispatchers; naive, which has most defects at once, comes first.
func Defects() []Defect {
	return []Defect{
		naive(),
		randomNames(),
		resendOnRetryAfter(),
		createErrorIsFailure(),
		errorIsAbsence(),
		ageAlone(),
		graceEqualsDeadline(),
		noEpoch(),
		leadershipInABoolean(),
		releaseOnCancel(),
		resultByState(),
		cancelRowOnly(),
		rollbackInside(),
		frozenCache(), expiryBeforeRedelivery(), labelLookup(),
		hostClockLeases(), renewWithoutTimeout(),
		deleteWithoutUID(), finalizerNeverReleased(), finalizerLeftToOthers(), cleanupByInstanceName(), ownPodTakenForForeign(), existsIsFailure(),
		deleteAskedOnce(), startTimeoutLeavesPod(), workerNotOwned(), pendingWithoutDeadline(),
		cachedAbsence(), replacedWhileTerminating(), deadlineIsLoss(), goneIsNoNews(), unstartedUnwatched(),
		hostClockSilence(), staleScan(), thresholdEqualsInterval(),
		terminalOverwritten(), absenceIsTodo(), crashNotCharged(), claimWithoutChange(), resultAfterCancel(),
		exitCodeIsResult(), disruptionsAreFailures(),
		noBackoffOnRefusal(), unboundedClaims(),
		noWorkerStartGuard(), noSelfFence(), heartbeatByTask(),
		everyReplicaClaims(),
		launchFromSnapshot(), holdersInMemory(), finishedTakenForRunning(), counterByEvents(), twoRetryLayers(), watchNotRelisted(), catchUpRefused(),
	}
}

// Lookup returns the reference or the planted dispatcher of that name.
func Lookup(name string) (dispatcher.System, bool) {
	if ref := Reference(); ref.Name == name {
		return ref, true
	}
	for _, d := range Defects() {
		if d.System.Name == name {
			return d.System, true
		}
	}
	return dispatcher.System{}, false
}

// SimOnly says why the planted dispatcher of that name cannot run on real servers; empty: it can.
func SimOnly(name string) string {
	for _, d := range Defects() {
		if d.System.Name == name {
			return d.SimOnly
		}
	}
	return ""
}

// Names lists the names that Lookup knows, the reference first.
func Names() []string {
	names := []string{Reference().Name}
	for _, d := range Defects() {
		names = append(names, d.System.Name)
	}
	return names
}
