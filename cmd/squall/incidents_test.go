package main

import (
	"slices"
	"testing"

	"github.com/squall-chaos/squall/scenarios"
)

// TestSomebodyFailsEveryIncident: a scenario that nobody fails shows nothing.
func TestSomebodyFailsEveryIncident(t *testing.T) {
	for _, c := range scenarios.Incidents() {
		for _, i := range c.Rows {
			fails := slices.ContainsFunc(i.Scenarios(), failsSomebody)
			if len(i.Scenarios()) > 0 && !fails {
				t.Errorf("%s: no dispatcher fails any of its scenarios: plant one that does", i.Row)
			}
		}
	}
}
