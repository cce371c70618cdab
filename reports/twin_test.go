package reports

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/scenarios"
)

// rows is a history of the rows of tasks alone, one step a second.
func rows(tasks map[string][]history.Event, order ...string) *Run {
	h := &history.History{Meta: history.Meta{Scenario: "lost-create-reply", Dispatcher: "reference", World: "kind"}}
	for _, name := range order {
		h.Tasks = append(h.Tasks, name)
		for i, e := range tasks[name] {
			e.Kind, e.Task, e.At = history.Row, history.ID(len(h.Tasks)), time.Duration(i+1)*time.Second
			h.Events = append(h.Events, e)
		}
	}
	return &Run{History: h, Made: Made{Scale: scenarios.Scale{Factor: 12}}}
}

func ofWorld(world string, v Verdict, violated ...string) Summary {
	s := Summary{Scenario: "lost-create-reply", Dispatcher: "reference", World: world, Seeds: 1, Violations: map[string]int{}}
	switch v {
	case Valid:
		s.Valid = 1
	case Invalid:
		s.Invalid = 1
	default:
		s.Unknown = 1
	}
	for _, name := range violated {
		s.Violations[name] = 1
	}
	return s
}

// TestAFlakyResultIsTold wherever it stands: that a run was repeated is never silent.
func TestAFlakyResultIsTold(t *testing.T) {
	s := ofWorld("kind", Valid)
	s.Seeds, s.Valid, s.Suite, s.Moods = 3, 3, true, []Mood{{Seed: 1, Unmet: []string{"task-2 must <succeed>"}, Bundle: "runs/first"},
		{Seed: 2, Unmet: []string{"seed 2: task-2 must succeed"}}}
	for name, write := range map[string]func(io.Writer, []Summary) error{"text": WriteText, "json": WriteJSON, "junit": WriteJUnit, "markdown": WriteMarkdown,
		"html": func(w io.Writer, all []Summary) error { return Suite{}.WriteHTML(w, "Squall", "v1", all) }} {
		var b bytes.Buffer
		if err := write(&b, []Summary{s}); err != nil {
			t.Fatal(err)
		}
		if text := b.String(); name != "json" && !strings.Contains(text, "as expected in 1 of 3 runs") || !strings.Contains(text, "seed 2: task-2 must succeed") && name != "json" ||
			name != "html" && !strings.Contains(text, "runs/first") || name == "json" && !strings.Contains(text, `"as_expected": 1,`) {
			t.Errorf("%s does not tell that it is flaky:\n%s", name, text)
		} else if name == "html" && !strings.Contains(text, "<dt>Flaky</dt><dd>1</dd>") {
			t.Error("the page does not count it in its banner")
		}
	}
	if !s.Passed() {
		t.Error("it does not pass")
	}
}

var (
	pending = history.Event{Phase: history.Pending}
	first   = history.Event{Phase: history.Running, Token: 7}
	second  = history.Event{Phase: history.Running, Token: 9}
	done    = history.Event{Phase: history.Succeeded, Token: 7}
	again   = history.Event{Phase: history.Pending, Token: 7}
	redone  = history.Event{Phase: history.Succeeded, Token: 9}
)

// sampleSuite is one pair that agrees, two that do not, and what was not run.
func sampleSuite() Suite {
	model := rows(map[string][]history.Event{"task-1": {pending, first, done}, "task-2": {pending, first, done}}, "task-1", "task-2")
	real := rows(map[string][]history.Event{"task-1": {pending, first, first, done}, "task-2": {pending, first, again, second, redone}}, "task-1", "task-2")
	differs := TwinOf(model, ofWorld("sim", Valid), real, ofWorld("kind", Invalid, "I1-overlap"))
	differs.Real.Report = "../runs/a/report.html"
	agrees := TwinOf(model, ofWorld("sim", Valid), real, ofWorld("kind", Valid))
	unknown := TwinOf(model, ofWorld("sim", Valid), model, ofWorld("kind", Unknown))
	return Suite{Twins: []Twin{agrees, differs, unknown},
		Left: []LeftOut{{"kind", "clocks-disagree", "cannot do clock-skew: the clock is the kernel's"}}}
}

func TestWhereWorldsPart(t *testing.T) {
	s := sampleSuite()
	if agrees := s.Twins[0]; !agrees.Agree() || agrees.Parting != nil || agrees.Scale != 12 {
		t.Errorf("the same verdict: %+v", agrees)
	}
	want := "task-2 parts after running, attempt 1: sim succeeded, attempt 1 (3 s), kind pending, attempt 1 (3 s); 1 of 2 tasks do so"
	if got := s.Twins[1].told(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := s.Twins[2].told(); got != "rows and work went through the same" {
		t.Errorf("got %s", got)
	}
}

func TestInvalidForOtherReasonsIsNoAgreement(t *testing.T) {
	run := rows(nil)
	for violated, agree := range map[string]bool{"I1-overlap": true, "I6-fence": false} {
		c := TwinOf(run, ofWorld("sim", Invalid, "I1-overlap", "L1-ledger"), run, ofWorld("kind", Invalid, violated))
		if c.Agree() != agree {
			t.Errorf("%s: agree is %t", violated, c.Agree())
		}
	}
}

func TestTwinsAreGolden(t *testing.T) {
	var text, markdown bytes.Buffer
	if err := sampleSuite().WriteText(&text); err != nil {
		t.Fatal(err)
	}
	golden(t, "suite.txt", text.Bytes())
	if err := sampleSuite().WriteMarkdown(&markdown); err != nil {
		t.Fatal(err)
	}
	golden(t, "suite.md", markdown.Bytes())
	text.Reset()
	if err := (Suite{}).WriteText(&text); err != nil || text.Len() > 0 {
		t.Errorf("of nothing: %q %v", text.String(), err)
	}
}

// live is a run in a real cluster.
func live() *Run {
	r := failing()
	r.Live, r.Made.Scale.Factor, r.Fitted = true, 12, []string{"group od has 2 nodes of 30 pods instead of up to 3 of 20"}
	r.History.Meta.World, r.History.Meta.TraceHash = "kind", 0
	return r
}

func TestALiveRunSaysWhatToDoWithIt(t *testing.T) {
	text := html(t, live())
	for _, want := range []string{"Judge again", "squall check ", "no seed makes this run again", "squall run --world sim --faults-from ", "Times divided by", "To fit the world"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(text, "squall replay") {
		t.Error("the page names a command that cannot make the run again")
	}
	s := SummaryOf(live())
	var b bytes.Buffer
	if err := WriteText(&b, []Summary{s}); err != nil || !strings.Contains(b.String(), "judge again: squall check ") {
		t.Errorf("%v: %s", err, b.String())
	}
}
