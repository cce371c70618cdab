package reports

import (
	"regexp"
	"strings"

	"github.com/squall-chaos/squall/scenarios"
)

// classRow is a class of incidents with what became of its scenarios under one part of the suite.
type classRow struct {
	Letter, Name                     string
	Results                          int
	Valid, Invalid, Unknown, Harness int
	Unexpected                       []string // scenario against dispatcher
	Look                             look
}

// incidentRow is how a scenario names a row of the catalogue: the letter of its class, and a number.
var incidentRow = regexp.MustCompile(`^([A-Z])[0-9]+$`)

// classesOf counts the results by the class of incidents that their scenarios stand for; a scenario of several classes counts in
// each. It returns nothing when no scenario names any.
func classesOf(all []Summary) []classRow {
	rows := map[string]*classRow{}
	for _, s := range all {
		for _, letter := range classesBehind(s.Scenario) {
			if rows[letter] == nil {
				rows[letter] = &classRow{}
			}
			rows[letter].add(s)
		}
	}
	var list []classRow
	for _, c := range scenarios.Incidents() {
		if row := rows[c.Letter]; row != nil {
			row.Letter, row.Name = c.Letter, c.Name
			row.Look = look{"as expected", "✓", "good"}
			if len(row.Unexpected) > 0 {
				row.Look = look{"not as expected", "✗", "bad"}
			}
			list = append(list, *row)
		}
	}
	return list
}

func (r *classRow) add(s Summary) {
	r.Results++
	switch s.Verdict() {
	case Valid:
		r.Valid++
	case Invalid:
		r.Invalid++
	case Unknown:
		r.Unknown++
	default:
		r.Harness++
	}
	if !s.AsExpected() && !s.Known {
		r.Unexpected = append(r.Unexpected, s.Scenario+" against "+s.Dispatcher)
	}
}

// classesBehind are the letters of the classes that a scenario of the library stands for, in order of the file.
func classesBehind(scenario string) []string {
	s, err := scenarios.Find(scenario)
	if err != nil {
		return nil
	}
	var letters []string
	seen := ""
	for _, incident := range s.Incidents {
		if m := incidentRow.FindStringSubmatch(incident); m != nil && !strings.Contains(seen, m[1]) {
			letters, seen = append(letters, m[1]), seen+m[1]
		}
	}
	return letters
}

// changesSection is the comparison with a baseline as the page shows it.
type changesSection struct {
	File, Headline string
	Rows           []changeRow
}

func (s Suite) changes() *changesSection {
	if s.Changes == nil {
		return nil
	}
	return &changesSection{File: s.Changes.File, Headline: s.Changes.headline(), Rows: s.Changes.rows()}
}
