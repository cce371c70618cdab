package reports

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/squall-chaos/squall/scenarios"
)

func TestBaselineIsReadAsItIsWritten(t *testing.T) {
	b, err := NoBaseline("known.yaml").After(decided(sampleSummaries()))
	if err != nil {
		t.Fatal(err)
	}
	b.Failures[0].Because = "ticket 12: \"still open\""
	var text bytes.Buffer
	if err := b.Write(&text); err != nil {
		t.Fatal(err)
	}
	golden(t, "baseline.yaml", text.Bytes())
	read, err := ParseBaseline("known.yaml", text.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(read, b) {
		t.Errorf("got %+v, wrote %+v", read, b)
	}
	again, err := read.After(decided(sampleSummaries()))
	if err != nil || !reflect.DeepEqual(again, b) {
		t.Errorf("written anew, the reasons or the failures changed: %+v, %v", again, err)
	}
}

// decided are the summaries that a baseline can take.
func decided(all []Summary) []Summary {
	var some []Summary
	for _, s := range all {
		if v := s.Verdict(); !s.Interrupted && (v == Valid || v == Invalid) {
			some = append(some, s)
		}
	}
	return some
}

func TestBaselineComparison(t *testing.T) {
	all := sampleSummaries()
	of := func(i int, violates ...string) KnownFailure {
		k := failureOf(all[i])
		k.Violates = violates
		return k
	}
	for name, c := range map[string]struct {
		known                      []KnownFailure
		new, known_, fixed, unseen int
	}{
		"nothing known":          {nil, 5, 0, 0, 0}, // a failure, an undecided one, a broken harness, an interrupted one, an unmet expectation
		"known":                  {[]KnownFailure{of(0, "I1-overlap", "I1-effect")}, 4, 1, 0, 0},
		"more was known":         {[]KnownFailure{of(0, "I1-overlap", "I1-effect", "I4-cancel")}, 4, 1, 0, 0},
		"worse than known":       {[]KnownFailure{of(0, "I1-overlap")}, 5, 0, 0, 0},
		"fixed":                  {[]KnownFailure{{Part: "reference", Scenario: "stale-leader", Dispatcher: "reference", World: "sim", Verdict: Invalid, Violates: []string{"I1-overlap"}}}, 5, 0, 1, 0},
		"not run":                {[]KnownFailure{{Scenario: "other", Dispatcher: "reference", World: "sim", Verdict: Invalid, Violates: []string{"I1-overlap"}}}, 5, 0, 0, 1},
		"another world":          {[]KnownFailure{{Part: "reference", Scenario: "stale-leader", Dispatcher: "planted/silence-is-death", World: "kind", Verdict: Invalid, Violates: []string{"I1-overlap", "I1-effect"}}}, 5, 0, 0, 1},
		"undecided is not known": {[]KnownFailure{of(3, "L1-ledger")}, 5, 0, 0, 1},
		"broken is not known":    {[]KnownFailure{of(4, "I1-overlap")}, 5, 0, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			all := sampleSummaries()
			got := (&Baseline{Failures: c.known}).Compare(all)
			if len(got.New) != c.new || len(got.Known) != c.known_ || len(got.Fixed) != c.fixed || len(got.Unseen) != c.unseen {
				t.Errorf("%s; expected %d new, %d known, %d fixed, %d not seen", got.headline(), c.new, c.known_, c.fixed, c.unseen)
			}
			for i, s := range all {
				if s.Known != (i == 0 && c.known_ == 1) {
					t.Errorf("%s against %s: known is %v", s.Scenario, s.Dispatcher, s.Known)
				}
			}
		})
	}
	if _, err := NoBaseline("x").After(all); err == nil || !strings.Contains(err.Error(), "only what was decided can be known") {
		t.Errorf("a baseline takes what nobody decided: %v", err)
	}
}

func TestBadBaselines(t *testing.T) {
	head := "apiVersion: squall/v1alpha1\nkind: Baseline\nfailures:\n"
	for name, c := range map[string]struct{ text, says string }{
		"empty":            {"", "known.yaml:1:1: SQ406 apiVersion is \"\""},
		"not YAML":         {"a: [", "known.yaml:1:4: SQ406"},
		"another kind":     {"apiVersion: squall/v1alpha1\nkind: Chain\n", "known.yaml:2:7: SQ406 kind is \"Chain\""},
		"unknown field":    {head + "  - {scenaro: x}\n", "known.yaml:4:6: SQ406 unknown field \"scenaro\""},
		"no world":         {head + "  - {scenario: x, dispatcher: y, verdict: valid}\n", "needs scenario, dispatcher and world"},
		"unknown verdict":  {head + "  - {scenario: x, dispatcher: y, world: sim, verdict: unknown}\n", "known.yaml:4:55: SQ406 verdict is \"unknown\""},
		"nothing violated": {head + "  - {scenario: x, dispatcher: y, world: sim, verdict: invalid}\n", "an invalid result violates something"},
		"no invariant":     {head + "  - {scenario: x, dispatcher: y, world: sim, verdict: invalid, violates: [I1-overlp]}\n", "did you mean \"I1-overlap\"?"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseBaseline("known.yaml", []byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "\n  fix: ") {
				t.Errorf("got %v, expected %s and a remedy", err, c.says)
			}
		})
	}
}

func TestASuiteTellsOfItsBaseline(t *testing.T) {
	all := sampleSummaries()
	k := failureOf(all[0])
	k.Because = "ticket <12>"
	b := &Baseline{Failures: []KnownFailure{k}, file: "known.yaml"}
	suite := Suite{Changes: b.Compare(all)}
	var text, markdown, page, junit bytes.Buffer
	for _, err := range []error{suite.WriteText(&text), suite.WriteMarkdown(&markdown), suite.WriteHTML(&page, "Squall", "v1", all), WriteJUnit(&junit, all)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ in, want string }{
		{text.String(), "against the baseline known.yaml: 4 new, 1 known, 0 fixed"}, {text.String(), "because ticket <12>"},
		{markdown.String(), "### Against the baseline `known.yaml`: 4 new, 1 known, 0 fixed"},
		{page.String(), `id="baseline"`}, {page.String(), "ticket &lt;12&gt;"}, {junit.String(), `<skipped message="known: I1-overlap, I1-effect under 1 of 1 seeds"`},
	} {
		if !strings.Contains(c.in, c.want) {
			t.Errorf("%q is not in\n%s", c.want, c.in)
		}
	}
}

// suiteWithBaseline is the sample suite with results of several classes, against a baseline that knows one of its failures.
func suiteWithBaseline() (Suite, []Summary) {
	all := sampleSummaries()
	flaky := ofWorld("kind", Valid)
	flaky.Seeds, flaky.Group, flaky.Suite, flaky.Moods = 2, "kind", true, []Mood{{Seed: 1, Unmet: []string{"seed 1: task-2 must succeed"}, Bundle: ".squall/runs/moody", Report: "runs/moody/report.html"}}
	bad := ofWorld("sim", Invalid, "I3-loss")
	bad.Scenario, bad.Group, bad.Suite = "database-crash", "reference", true
	good := ofWorld("sim", Valid)
	good.Scenario, good.Group, good.Suite = "api-server-away", "reference", true
	all = append(all, flaky, bad, good)
	known := failureOf(all[0])
	known.Because = "ticket 12"
	fixed := failureOf(good)
	fixed.Verdict, fixed.Violates = Invalid, []string{"I2-stranded"}
	suite := sampleSuite()
	suite.Changes = (&Baseline{Failures: []KnownFailure{known, fixed}, file: "known.yaml"}).Compare(all)
	return suite, all
}

// TestEveryClassOfTheCatalogueHasItsRow: whatever its letter.
func TestEveryClassOfTheCatalogueHasItsRow(t *testing.T) {
	var all []Summary
	for _, s := range scenarios.Library() {
		all = append(all, Summary{Scenario: s.Name})
	}
	rows := classesOf(all)
	for i, c := range scenarios.Incidents() {
		if i >= len(rows) || rows[i].Letter != c.Letter || rows[i].Name != c.Name || rows[i].Results == 0 {
			t.Fatalf("row %d is not that of %s, %s: %v", i+1, c.Letter, c.Name, rows)
		}
	}
}

func TestClassesByVerdict(t *testing.T) {
	of := func(scenario, dispatcher string, v Verdict) Summary {
		s := ofWorld("sim", v)
		s.Scenario, s.Dispatcher = scenario, dispatcher
		return s
	}
	rows := classesOf([]Summary{of("database-crash", "reference", Valid), of("database-crash", "naive", Invalid), of("api-server-away", "reference", Valid), of("mine", "reference", Valid)})
	if len(rows) != 3 || rows[0].Letter != "B" || rows[1].Letter != "D" || rows[2].Letter != "K" {
		t.Fatalf("database-crash stands for B and K, api-server-away for D: %+v", rows)
	}
	if r := rows[0]; r.Results != 2 || r.Valid != 1 || r.Invalid != 1 || len(r.Unexpected) != 1 || r.Unexpected[0] != "database-crash against naive" {
		t.Errorf("class B: %+v", r)
	}
}

// FuzzBaseline: whatever the file, it is read or refused with a place and a remedy.
func FuzzBaseline(f *testing.F) {
	head := "apiVersion: squall/v1alpha1\nkind: Baseline\n"
	for _, text := range []string{"", "a: [", head, head + "failures:\n  - {scenario: x, dispatcher: y, world: sim, verdict: invalid, violates: [I1-overlap]}\n", head + "failures: &a [*a]\n", "- ? :\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, err := ParseBaseline("known.yaml", []byte(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "known.yaml:") || !strings.Contains(err.Error(), "\n  fix: ") {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		var out bytes.Buffer
		if err := b.Write(&out); err != nil {
			t.Fatal(err)
		}
		if _, err := ParseBaseline("known.yaml", out.Bytes()); err != nil {
			t.Errorf("%q is read, and written it is not: %v\n%s", text, err, out.String())
		}
	})
}
