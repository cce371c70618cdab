package scenarios

import (
	_ "embed" // the catalogue
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"

	"github.com/squall-chaos/squall/checker/history"
)

//go:embed incidents.yaml
var incidentFile []byte

// IncidentPrefix begins what means incidents where a scenario is asked for: incidents/... is all of them, incidents/C a
// class, incidents/C3 a row.
const IncidentPrefix = "incidents/"

// IncidentClass is a root cause that public incidents share.
type IncidentClass struct {
	Letter string     `yaml:"letter"`
	Name   string     `yaml:"name"`
	Rows   []Incident `yaml:"rows"`
}

// Incident is a row of the catalogue: what one or more public reports tell of.
type Incident struct {
	Row     string   `yaml:"row"`     // the class's letter and a number
	Reports []string `yaml:"reports"` // owner/repository#number, the one that the row is named after first
	// Grade is A when an operator saw it in production, B when it was reproduced or confirmed, C when it was found by reading.
	Grade   string `yaml:"grade"`
	Symptom string `yaml:"symptom"`
	// NotModelled says why no scenario of the library stands for the row; empty when one does.
	NotModelled string `yaml:"not_modelled,omitempty"`
}

var incidents = sync.OnceValue(func() []IncidentClass {
	var classes []IncidentClass
	if err := yaml.UnmarshalWithOptions(incidentFile, &classes, yaml.Strict()); err != nil {
		panic(fmt.Sprintf("the catalogue of incidents is bad:\n%v", err))
	}
	return classes
})

// Incidents is the catalogue of public incidents, in order. It is shared: do not change it.
func Incidents() []IncidentClass { return incidents() }

// Scenarios are those of the library that stand for the row, in order of name; their controls stand beside them.
func (i Incident) Scenarios() []*Scenario {
	var all []*Scenario
	for _, s := range Library() {
		if s.Control != "" && slices.Contains(s.Incidents, i.Row) {
			all = append(all, s)
		}
	}
	return all
}

// FindIncidents returns the rows that a pattern means. An error says that there are none, and what was probably meant.
func FindIncidents(pattern string) ([]Incident, error) {
	name, _ := strings.CutPrefix(pattern, IncidentPrefix)
	var found []Incident
	var known []string
	for _, c := range Incidents() {
		known = append(known, c.Letter)
		for _, i := range c.Rows {
			known = append(known, i.Row)
			if name == "..." || name == c.Letter || name == i.Row {
				found = append(found, i)
			}
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	hint := "incidents/... is all of them, incidents/C a class, incidents/C3 a row; `squall list --incidents` shows them"
	if near := history.Nearest(strings.ToUpper(name), known); near != "" {
		hint = fmt.Sprintf("did you mean %q?", IncidentPrefix+near)
	}
	return nil, fmt.Errorf("the catalogue has no incident %q: %s", name, hint)
}
