package reports

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/dispatcher"
)

func html(t *testing.T, r *Run) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestStories(t *testing.T) {
	effect := failing()
	effect.Report.Violations = effect.Report.Violations[1:]
	tolerant := failing()
	tolerant.Tolerated, tolerant.Judged = []string{"I1-overlap", "I1-effect"}, checker.Valid
	open := passing()
	open.Judged = checker.Unknown
	open.Report.Invariants[6].Verdict, open.Report.Invariants[6].Note = checker.Unknown, "the budget is spent"
	other := failing()
	other.Report.Violations = []checker.Violation{{Invariant: "I6-fence", Task: "7", At: sec(134.5), Message: "the store accepted a write of epoch 1"}}
	for name, c := range map[string]struct {
		run  *Run
		want string
	}{
		"overlap": {failing(), "At 74 s dispatcher-1 is paused for 60 s; at 126.4 s reconciler-1 requeues task 7 (workload lost) while its container on spot-1 is still working, " +
			"and from 134.3 s, when the second one begins on on-demand-1, two executions are alive at once for 55.73 s."},
		"effect":    {effect, "At 74 s dispatcher-1 is paused for 60 s; 2 results of task 7 are counted, at 189.8 s from spot-1 (token 7) and at 257.8 s from on-demand-1 (token 31)."},
		"other":     {other, "At 74 s dispatcher-1 is paused for 60 s; the store accepted a write of epoch 1."},
		"valid":     {passing(), "12 tasks went through 3 faults in 12 containers, and every invariant that was exercised held."},
		"tolerated": {tolerant, "12 tasks went through 3 faults in 13 containers, and every invariant that was exercised held."},
		"unknown":   {open, "No violation was found, but this could not be decided: L1-ledger (the budget is spent)."},
		"broken":    {&Run{Err: errors.New("panic: index out of range")}, "The harness itself failed, which says nothing about the dispatcher: panic: index out of range."},
	} {
		if got := c.run.Story(); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, c.want)
		}
	}
}

func TestPageIsOneSoundFile(t *testing.T) {
	failed := failing()
	failed.Control = passing()
	for name, r := range map[string]*Run{"invalid": failed, "valid": passing(), "broken": {Err: errors.New("no world")}} {
		text := html(t, r)
		if found := regexp.MustCompile(`(?:src|href)="(?:https?:|//|file:)[^"]*"|@import|url\((?:['"]?https?:)`).FindString(text); found != "" {
			t.Errorf("%s: the page refers to %s", name, found)
		}
		ids := map[string]int{}
		for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(text, -1) {
			if ids[m[1]]++; ids[m[1]] == 2 {
				t.Errorf("%s: two elements have the ID %s", name, m[1])
			}
		}
		for _, m := range regexp.MustCompile(` href="#([^"]+)"`).FindAllStringSubmatch(text, -1) {
			if target, _, _ := strings.Cut(m[1], "?"); ids[target] == 0 { // what follows the ? is a view of the full timeline
				t.Errorf("%s: a link leads to #%s, which is not there", name, m[1])
			}
		}
		if strings.Contains(text, "ZgotmplZ") || strings.Contains(text, "<no value>") {
			t.Errorf("%s: the template gave up on a value", name)
		}
	}
}

func TestPageEscapesEverything(t *testing.T) {
	const evil = `"><script>alert(1)</script><b class='x`
	r := failing()
	r.History.Meta.Scenario, r.History.Meta.Dispatcher, r.History.Meta.Version = evil, evil, evil
	for _, table := range [][]string{r.History.Processes, r.History.Tasks, r.History.Nodes} {
		for i := range table {
			table[i] += evil
		}
	}
	for i := range r.History.Events {
		r.History.Events[i].Detail += evil
	}
	for i := range r.Report.Violations {
		r.Report.Violations[i].Message, r.Report.Violations[i].Task = evil, "7"+evil
	}
	r.Scenario, r.Control = []byte(evil), passing()
	text := html(t, r)
	if strings.Contains(text, "<script>alert") || strings.Contains(text, "<b class=") {
		t.Error("a name or a message gets into the page as markup")
	}
	var b bytes.Buffer
	s := SummaryOf(r)
	s.Unmet, s.Failures, s.Report = []string{evil}, []string{evil}, "javascript:alert(1)"
	if err := (Suite{}).WriteHTML(&b, evil, evil, []Summary{s}); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); strings.Contains(text, "<script>alert") || strings.Contains(text, "<b class=") || strings.Contains(text, `href="javascript:`) {
		t.Error("a summary gets into the suite's page as markup or as a script")
	}
}

func TestEveryMarkHasATitleAndARow(t *testing.T) {
	text := html(t, failing())
	figure := text[strings.Index(text, `id="timeline-figure"`):]
	figure = figure[:strings.Index(figure, "</svg>")]
	for _, m := range regexp.MustCompile(`<(?:rect|path|line) [^>]*class="(?:bar|glyph)[^>]*>(<title>)?`).FindAllStringSubmatch(figure, -1) {
		if m[1] == "" {
			t.Errorf("no title: %s", m[0])
		}
	}
	scene := setScene(failing())
	if rows, steps := len(scene.table(scene.moments())), len(scene.moments()); rows < 30 || steps < 8 || steps > mostMoments {
		t.Errorf("%d rows and %d steps", rows, steps)
	}
}

func TestInvariantsShowWhatWasNotExercised(t *testing.T) {
	text := html(t, passing())
	row := text[strings.Index(text, `id="invariant-I4-cancel"`):]
	row = row[:strings.Index(row, "</tr>")]
	if !strings.Contains(row, "row-warn") || !strings.Contains(row, "not exercised") {
		t.Errorf("zero checks look like a pass: %s", row)
	}
}

func TestFirstDifference(t *testing.T) {
	failed := setScene(failing())
	d := firstDifference(failed, setSceneLike(passing(), failed))
	if !d.Found || d.Here != "reconciler-1: get, not-found" || d.There != "dispatcher-2: claim, ok" {
		t.Errorf("%+v", d)
	}
	if d := firstDifference(failed, setSceneLike(failing(), failed)); d.Found {
		t.Errorf("a run differs from itself: %+v", d)
	}
}

// large is a run of many tasks over hours, one of which fails.
func large(tasks int) *Run {
	r := failing()
	t := newTape("planted/silence-is-death")
	t.background()
	for i := range tasks {
		name := fmt.Sprintf("batch-%d", i)
		at := 10 + float64(i%400)*4
		t.call(at-1, at-.9, "client-1", name, history.Operation{Verb: history.Submit, Outcome: history.OK})
		for n := range 3 {
			start := at + float64(n)*600
			t.attempt(attempt{task: name, node: "spot-1", leader: "dispatcher-1", token: uint64(1000 + 3*i + n), epoch: 1, claim: start, start: start + 3, end: start + 500, refused: n < 2})
		}
	}
	big := t.history()
	r.History, r.Virtual = big, 90*time.Minute
	r.Report.Violations = []checker.Violation{{Invariant: "I6-fence", Task: "batch-7", At: sec(640), Seq: 1, Message: "a write of a superseded epoch was accepted"}}
	return r
}

func TestPageStaysSmall(t *testing.T) {
	r := large(2000)
	r.Control = passing()
	if size := len(html(t, r)); size > 3<<20 {
		t.Errorf("the page of %d operations has %d bytes; 3 MB are the limit", len(r.History.Operations), size)
	}
	text := html(t, large(100))
	if !strings.Contains(text, "history.jsonl") {
		t.Error("the history is not in the page")
	}
}

func TestLadderFollowsTheDiscipline(t *testing.T) {
	words := func(profile string, change func(*dispatcher.Settings)) string {
		s, _ := dispatcher.Profile(profile)
		change(&s)
		var words []string
		for _, r := range rungs(s, s.Check()) {
			word := r.Name
			if r.Broken {
				word += "!"
			}
			if r.Outer == "" {
				word += "."
			}
			words = append(words, word)
		}
		return strings.Join(words, " ")
	}
	for _, c := range []struct {
		profile string
		change  func(*dispatcher.Settings)
		want    string
	}{
		{"tick-300s", func(*dispatcher.Settings) {}, "HTTP call step workflow tick recovery grace."},
		{"tick-300s", func(s *dispatcher.Settings) { s.WorkflowDeadline = 300 * time.Second }, "HTTP call step workflow! tick recovery grace."},
		{"b0", func(*dispatcher.Settings) {}, "HTTP call step workflow. 3 heartbeats worker lease recovery grace."},
		{"b0", func(s *dispatcher.Settings) { s.WorkerLease = 58 * time.Second }, "HTTP call step workflow. 3 heartbeats worker lease! recovery grace."},
	} {
		if got := words(c.profile, c.change); got != c.want {
			t.Errorf("%s: got %s, want %s", c.profile, got, c.want)
		}
	}
}

// TestAFaultThatWasKeptFromStrikingSaysWhy: the ledger has it as planned, and the reason.
func TestAFaultThatWasKeptFromStrikingSaysWhy(t *testing.T) {
	r := failing()
	last := r.History.Events[len(r.History.Events)-1]
	for i, detail := range []string{"the pod of task-9 is evicted", "the pod of task-9 is evicted: it did not strike, as the API server was frozen"} {
		kind := []history.Kind{history.FaultPlanned, history.FaultMissed}[i]
		r.History.Events = append(r.History.Events, history.Event{At: last.At, Seq: last.Seq + history.Seq(i+1), Kind: kind, Fault: 99, Detail: detail})
	}
	text := html(t, r)
	if !strings.Contains(text, "as the API server was frozen") || !strings.Contains(text, "did not strike") {
		t.Error("the ledger does not say that a fault did not strike, or why")
	}
}
