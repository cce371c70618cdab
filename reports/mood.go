package reports

import (
	"strconv"
	"strings"
)

// Mood is a run in a real cluster that was valid and not as expected, where the scenario was run more than once.
type Mood struct {
	Seed   uint64   `json:"seed"`
	Unmet  []string `json:"unmet"`            // what was not as expected
	Bundle string   `json:"bundle,omitempty"` // its evidence
	Report string   `json:"-"`                // path of the page; empty: none
}

// String says what was not as expected, and where the evidence is.
func (m Mood) String() string {
	text := m.What()
	if m.Bundle != "" {
		text += " (squall show " + shellWord(m.Bundle) + ")"
	}
	return text
}

// What is what was not as expected, with the seed.
func (m Mood) What() string {
	text := strings.Join(m.Unmet, "; ")
	if own := "seed " + seed(m.Seed) + ": "; !strings.HasPrefix(text, own) {
		text = own + text
	}
	return text
}

// jsonFlaky is in how many of its runs in a real cluster a result was as expected, and the others.
type jsonFlaky struct {
	AsExpected int    `json:"as_expected"`
	Of         int    `json:"of"`
	Runs       []Mood `json:"runs"`
}

// asExpectedRuns is in how many of its runs a result was as expected.
func (s Summary) asExpectedRuns() int { return s.Seeds - len(s.Moods) }

// flaky says in how many of its runs a result was as expected, where that was not all; empty: it was.
func (s Summary) flaky() string {
	if len(s.Moods) == 0 {
		return ""
	}
	return "as expected in " + strconv.Itoa(s.asExpectedRuns()) + " of " + count(s.Seeds, "run", "runs")
}

func (s Summary) jsonFlaky() *jsonFlaky {
	if len(s.Moods) == 0 {
		return nil
	}
	return &jsonFlaky{s.asExpectedRuns(), s.Seeds, s.Moods}
}

// moods are the runs that were not as expected, in words.
func (s Summary) moods() []string {
	words := make([]string, len(s.Moods))
	for i, m := range s.Moods {
		words[i] = m.String()
	}
	return words
}
