package scenarios_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/squall-chaos/squall/scenarios"
)

// TestEveryIncidentIsModelledOrSaysWhyNot: a row is never left out in silence, and never excused when a scenario stands for it.
func TestEveryIncidentIsModelledOrSaysWhyNot(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range scenarios.Incidents() {
		for _, i := range c.Rows {
			if seen[i.Row] || !strings.HasPrefix(i.Row, c.Letter) || len(i.Reports) == 0 || i.Symptom == "" || !strings.Contains("ABC", i.Grade) {
				t.Errorf("row %+v of class %s is a second one, of another class, or lacks something", i, c.Letter)
			}
			seen[i.Row] = true
			switch n := len(i.Scenarios()); {
			case n == 0 && i.NotModelled == "":
				t.Errorf("%s: no scenario stands for it: write one, or say in incidents.yaml why not (not_modelled)", i.Row)
			case n > 0 && i.NotModelled != "":
				t.Errorf("%s: %s stands for it: take not_modelled out of incidents.yaml", i.Row, i.Scenarios()[0].Name)
			}
		}
	}
	row := regexp.MustCompile(`^[A-Z][0-9]$`)
	for _, s := range scenarios.Library() {
		for _, name := range s.Incidents {
			if row.MatchString(name) && !seen[name] {
				t.Errorf("%s stands for %s, which the catalogue does not have", s.Name, name)
			}
		}
	}
}

func TestFindIncidents(t *testing.T) {
	for pattern, want := range map[string]int{"incidents/...": 51, "incidents/C": 4, "incidents/C3": 1} {
		if found, err := scenarios.FindIncidents(pattern); err != nil || len(found) != want {
			t.Errorf("%s means %d incidents (%v), expected %d", pattern, len(found), err, want)
		}
	}
	for pattern, want := range map[string]string{"incidents/c3": `did you mean "incidents/C3"`, "incidents/": "incidents/... is all of them"} {
		if _, err := scenarios.FindIncidents(pattern); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; expected %s", pattern, err, want)
		}
	}
}
