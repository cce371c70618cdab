package checker_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/checker/synthetic"
)

func TestALargeSoundHistoryIsValid(t *testing.T) {
	h := synthetic.History(synthetic.Options{Seed: 1, Tasks: 500, Lost: 0.2, Unknown: 0.05})
	report := checker.Check(h, checker.Options{})
	for _, v := range report.Violations {
		t.Errorf("%s: %s", v.Invariant, v.Message)
	}
	if report.Verdict != checker.Valid || report.First() != nil {
		t.Errorf("verdict is %s", report.Verdict)
	}
	for _, name := range []string{"I1-overlap", "I2-stranded", "I3-loss", "I5-budget", "I7-progress", "I7-limit", "I8-truth", "I8-terminal", "I8-leak", "L1-ledger"} {
		if i := report.Invariant(name); i.Verdict != checker.Valid || i.Exercised == 0 {
			t.Errorf("%s is %s, exercised %d: %s", name, i.Verdict, i.Exercised, i.Note)
		}
	}
}

// worst has one history of each way to break a promise early and late.
const worst = `
	1   row t1 running #1
	2   work-started t1 #1 u1
	3   row t1 running #2
	4   work-started t1 #2 u2
	5   effect-counted t1 #2
	6   effect-counted t1 #1
	7   row t1 failed #2 "deadline"
	8   row t1 pending #2
	100 healed
	200 ended`

func TestTheFirstViolationIsTheEarliest(t *testing.T) {
	report := checker.Check(tell(t, limits, worst), checker.Options{})
	if !slices.IsSortedFunc(report.Violations, func(a, b checker.Violation) int { return int(a.Seq) - int(b.Seq) }) {
		t.Errorf("violations are not in order: %+v", report.Violations)
	}
	if first := report.First(); first == nil || first.Invariant != "I1-overlap" || first.Task != "t1" || first.Seq != 40 {
		t.Errorf("first is %+v", first)
	}
	if report.Verdict != checker.Invalid {
		t.Errorf("verdict is %s", report.Verdict)
	}
}

func TestOnlyTheEarliestViolationsAreKept(t *testing.T) {
	var story strings.Builder
	n := checker.MaxViolations + 10
	for i := range n {
		fmt.Fprintf(&story, "%d effect-counted t%d #1\n%d effect-counted t%d #2\n", i, i, i, i)
	}
	report := checker.Check(tell(t, limits, story.String()), checker.Options{SkipLinearizability: true})
	result := report.Invariant("I1-effect")
	if result.Violated != n {
		t.Errorf("%d are counted, want %d", result.Violated, n)
	}
	if len(report.Violations) != checker.MaxViolations || report.First().Task != "t0" {
		t.Errorf("%d are kept, the first of %s", len(report.Violations), report.First().Task)
	}
}

func TestNothingExercisedIsUnknown(t *testing.T) {
	report := checker.Check(&history.History{}, checker.Options{})
	if report.Verdict != checker.Unknown {
		t.Errorf("verdict of an empty history is %s", report.Verdict)
	}
	for _, i := range report.Invariants {
		if i.Verdict != checker.NotExercised {
			t.Errorf("%s is %s", i.Name, i.Verdict)
		}
	}
}

func TestMerge(t *testing.T) {
	for _, c := range []struct{ a, b, want checker.Verdict }{
		{checker.Valid, checker.Valid, checker.Valid},
		{checker.Valid, checker.Unknown, checker.Unknown},
		{checker.Unknown, checker.Invalid, checker.Invalid},
		{checker.Valid, checker.NotExercised, checker.Valid},
		{checker.NotExercised, checker.NotExercised, checker.NotExercised},
	} {
		if got, back := c.a.Merge(c.b), c.b.Merge(c.a); got != c.want || back != c.want {
			t.Errorf("%s and %s merge to %s and %s, want %s", c.a, c.b, got, back, c.want)
		}
	}
}

func TestAReportIsReadableJSON(t *testing.T) {
	report := checker.Check(tell(t, limits, worst), checker.Options{})
	text, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"verdict":"invalid"`, `"invariant":"I1-overlap"`, `"verdict":"not exercised"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
	var back checker.Report
	if err := json.Unmarshal(text, &back); err != nil || back.Verdict != checker.Invalid {
		t.Errorf("read back as %s: %v", back.Verdict, err)
	}
}

func TestEveryInvariantHasAPromise(t *testing.T) {
	seen := map[string]bool{}
	for _, i := range checker.Invariants() {
		if seen[i.Name] || i.Promise == nil || i.Of == "" {
			t.Errorf("%+v is incomplete or there twice", i)
		}
		seen[i.Name] = true
	}
}

func large(b *testing.B, operations int) *history.History {
	b.Helper()
	h := synthetic.History(synthetic.Options{Seed: 1, Tasks: operations / synthetic.OperationsPerTask, Lost: 0.1, Unknown: 0.02})
	runtime.GC()
	return h
}

func benchmarkCheck(b *testing.B, o checker.Options) {
	for _, n := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprintf("operations=%d", n), func(b *testing.B) {
			h := large(b, n)
			var report checker.Report
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				report = checker.Check(h, o)
			}
			b.StopTimer()
			runtime.ReadMemStats(&after)
			if report.Verdict != checker.Valid {
				b.Fatalf("verdict is %s: %+v", report.Verdict, report.First())
			}
			items := float64(len(h.Operations) + len(h.Events))
			b.ReportMetric(items, "items")
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/check")
			// An upper bound: the history, and all that one check allocates.
			allocated := float64(after.TotalAlloc-before.TotalAlloc) / float64(b.N)
			b.ReportMetric((float64(before.HeapAlloc)+allocated)/1e6, "MB-peak")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/items, "ns/item")
		})
	}
}

func BenchmarkOracles(b *testing.B) {
	benchmarkCheck(b, checker.Options{SkipLinearizability: true})
}

func BenchmarkEverything(b *testing.B) { benchmarkCheck(b, checker.Options{}) }
