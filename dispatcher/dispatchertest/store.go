package dispatchertest

import (
	"slices"
	"testing"

	"github.com/squall-chaos/squall/dispatcher"
)

// storeCase is one promise of the store.
type storeCase struct {
	name string
	set  func(*dispatcher.Settings) // nil: suiteSettings as they are
	run  func(*fixture)
}

// ExerciseStore runs the conformance suite. open returns an empty store with the given settings, and what moves
// its clock; a case moves it by some minutes at most.
func ExerciseStore(t *testing.T, open func(t *testing.T, s dispatcher.Settings) (dispatcher.Store, AdvanceClock)) {
	for _, c := range storeCases() {
		t.Run(c.name, func(t *testing.T) {
			store, advance := open(t, c.settings())
			c.run(newFixture(t, store, advance))
		})
	}
}

func (c storeCase) settings() dispatcher.Settings {
	s := suiteSettings()
	if c.set != nil {
		c.set(&s)
	}
	return s
}

func storeCases() []storeCase {
	cases := slices.Concat(clientCases, termCases, claimCases, launchCases, workerCases, budgetCases, recoveryCases)
	for _, o := range operations {
		cases = append(cases, storeCase{name: "in every state/" + o.name, run: o.exercise})
	}
	return cases
}
