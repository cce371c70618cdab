package reports

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/jstemmer/go-junit-report/v2/junit"
)

// WriteJUnit writes summaries as JUnit XML: one suite per scenario and world, one case per dispatcher. What is
// invalid, and what did not come out as expected, is a failure, as it is for the exit status; but in a suite an expected
// invalid is a pass, and what a baseline knows is skipped. What nobody could decide, and a failure of the harness, is an error.
//
// The path of a bundle is the property "attachment" of its suite, and stands in the case's output in the
// form that GitLab and Jenkins collect.
func WriteJUnit(w io.Writer, all []Summary) error {
	suites := junit.Testsuites{Name: "squall"}
	var wall time.Duration
	for _, group := range byScenario(all) {
		suite := junit.Testsuite{Name: group[0].Scenario + " (" + group[0].World + ")", ID: len(suites.Suites)}
		var took time.Duration
		for _, s := range group {
			suite.AddTestcase(testcase(s))
			if s.Bundle != "" && !s.Passed() {
				suite.AddProperty("attachment", s.Bundle)
			}
			took += s.Wall
		}
		suite.Time = junitSeconds(took)
		wall += took
		suites.AddSuite(suite)
	}
	suites.Time = junitSeconds(wall)
	if err := suites.WriteXML(w); err != nil {
		return fmt.Errorf("write JUnit XML: %w", err)
	}
	return nil
}

// byScenario groups summaries, keeping their order.
func byScenario(all []Summary) [][]Summary {
	var groups [][]Summary
	at := map[[2]string]int{}
	for _, s := range all {
		key := [2]string{s.Scenario, s.World}
		if _, ok := at[key]; !ok {
			at[key] = len(groups)
			groups = append(groups, nil)
		}
		groups[at[key]] = append(groups[at[key]], s)
	}
	return groups
}

func testcase(s Summary) junit.Testcase {
	c := junit.Testcase{Name: s.Dispatcher, Classname: "squall." + s.World + "." + s.Scenario, Time: junitSeconds(s.Wall)}
	switch verdict := s.Verdict(); {
	case s.Passed():
	case s.Known:
		c.Skipped = &junit.Result{Message: printable("known: " + failureMessage(s)), Data: details(s)}
	case verdict == Unknown:
		c.Error = &junit.Result{Message: undecidedMessage(s), Type: "unknown", Data: details(s)}
	case verdict == Broken:
		c.Error = &junit.Result{Message: "the harness failed", Type: "harness", Data: details(s)}
	default:
		c.Failure = &junit.Result{Message: printable(failureMessage(s)), Type: strings.Join(s.violated(), " "), Data: details(s)}
	}
	out := ""
	if flaky := s.flaky(); flaky != "" {
		out = "flaky: " + flaky + "\n" + printable(strings.Join(s.moods(), "\n")) + "\n"
	}
	if s.Bundle != "" {
		out += "[[ATTACHMENT|" + s.Bundle + "]]\n"
	}
	if out != "" {
		c.SystemOut = &junit.Output{Data: out}
	}
	return c
}

func undecidedMessage(s Summary) string {
	if s.Interrupted {
		return "interrupted after " + count(s.Seeds, "seed", "seeds")
	}
	return "not decided: " + strconv.Itoa(s.Unknown) + " of " + strconv.Itoa(s.Seeds) + " seeds"
}

// failureMessage is the line that a CI shows.
func failureMessage(s Summary) string {
	switch {
	case len(s.Unmet) > 0:
		return "not as expected: " + strings.Join(s.Unmet, "; ")
	case s.Verdict() == Valid:
		return "expected to be " + string(s.Expected) + ", and was valid"
	}
	text := strings.Join(s.violated(), ", ") + " under " + strconv.Itoa(s.Invalid) + " of " + strconv.Itoa(s.Seeds) + " seeds"
	if s.AsExpected() {
		text += ", as expected"
	}
	return text
}

// details are what stands in the body: the story, then how to see it again.
func details(s Summary) string {
	lines := append(append([]string{}, s.Failures...), s.Unmet...)
	if s.Story != "" {
		lines = append(lines, s.Story)
	}
	if s.FirstInvalid != nil {
		lines = append(lines, "first invalid seed: "+seed(*s.FirstInvalid))
	}
	if s.Replay != "" {
		lines = append(lines, s.again())
	}
	return "\n" + printable(strings.Join(lines, "\n")) + "\n"
}

// printable removes what XML 1.0 cannot hold, such as the colours of a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == '\uFFFE' || r == '\uFFFF' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

func junitSeconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) }
