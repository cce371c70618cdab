package scenarios_test

import (
	"strings"
	"testing"

	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/scenarios"
)

func TestEveryFamilyHasThreeVariantsThatNaiveFails(t *testing.T) {
	failing := map[faults.Family]int{}
	for _, s := range scenarios.Library() {
		if e := s.Expect.Naive; e != nil && e.Verdict == "invalid" {
			failing[s.Family]++
		}
	}
	for _, f := range []faults.Family{faults.NodeFamily, faults.DeadlineFamily, faults.ResponseFamily, faults.LeaderFamily} {
		if failing[f] < 3 {
			t.Errorf("%s: naive fails %d scenarios, expected at least 3", f, failing[f])
		}
	}
}

func TestControlsPassAndDifferInTheFault(t *testing.T) {
	for _, s := range scenarios.Library() {
		control, err := s.LoadControl()
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
		if control == nil {
			continue
		}
		if e := control.Expect.Reference; e == nil || e.Verdict != "valid" {
			t.Errorf("%s: the control %s does not expect the reference to pass", s.Name, control.Name)
		}
		if e := s.Expect.Naive; e != nil && e.Verdict == "invalid" {
			if c := control.Expect.Naive; c == nil || c.Verdict != "valid" {
				t.Errorf("%s: the control %s does not expect naive to pass", s.Name, control.Name)
			}
		}
		if control.Swarm != "" {
			t.Errorf("%s: the control %s has a swarm", s.Name, control.Name)
		}
	}
}

// TestEveryScenarioNamesItsIncidentsAndHasAControl keeps what the README says of the library true.
func TestEveryScenarioNamesItsIncidentsAndHasAControl(t *testing.T) {
	for _, s := range scenarios.Library() {
		if strings.HasSuffix(s.Name, "-control") {
			continue
		}
		if control, err := s.LoadControl(); err != nil || control == nil {
			t.Errorf("%s has no control: %v", s.Name, err)
		}
		if len(s.Incidents) == 0 && s.Swarm == "" {
			t.Errorf("%s names no incident and is no swarm", s.Name)
		}
	}
}

func TestLibraryFilesAreNamedAfterTheirScenario(t *testing.T) {
	for _, s := range scenarios.Library() {
		if _, ok := scenarios.LibraryFile(s.Name); !ok {
			t.Errorf("the file of %s has another name", s.Name)
		}
	}
}

// TestEveryVariantOfTheLibraryIsAScenario, those that nobody has run too.
func TestEveryVariantOfTheLibraryIsAScenario(t *testing.T) {
	for _, s := range scenarios.Library() {
		if len(s.Variants) == 0 {
			continue
		}
		for number := 1; number <= 20; number++ {
			v, err := s.Varied(number)
			if err != nil {
				t.Error(err)
				continue
			}
			if control, err := v.LoadControl(); err != nil || control == nil {
				t.Errorf("variant %d of %s has lost its control: %v", number, s.Name, err)
			}
		}
	}
}
