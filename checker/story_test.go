package checker_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/checker/history"
)

// limits are those of every story that has none of its own: B is 20 + 5 + 10 + 5 = 40 s, a restart 20 s.
var limits = history.Limits{
	ClaimBatch: 2, RecoverBatch: 2, MaxFailures: 2, MaxDisruptions: 2,
	Tick: 10 * time.Second, RecoveryGrace: 20 * time.Second, RecoverInterval: 5 * time.Second,
	CreateTimeout: 5 * time.Second, PodGrace: 10 * time.Second, CallMax: 5 * time.Second,
}

// A story is a history, one event or operation per line: seconds, a kind or a verb, and then in any order
//
//	t1 n1 u1 f1       task, node, object, fault       #17 @2   token, epoch
//	dispatcher-1      process                         running  phase, and likewise outcomes and codes
//	cancelling cleanup applied                        due=30 returned=9 failures=1 disruptions=1
//	call=3            the same call as in line 3      effect=9 applied at second 9
//	"failed Error"    detail, with _ for spaces
//
// An operation takes effect and returns at once unless its outcome or code says otherwise.
type teller struct {
	t       testing.TB
	h       history.History
	tasks   *history.Table
	nodes   *history.Table
	process *history.Table
	late    map[int]time.Duration // operation: when it took effect
	moments []time.Duration       // of lines
}

func tell(t testing.TB, l history.Limits, story string) *history.History {
	t.Helper()
	s := &teller{t: t, tasks: history.NewTable(), nodes: history.NewTable(), process: history.NewTable(), late: map[int]time.Duration{}}
	s.h.Meta.Limits = l
	for line := range strings.Lines(story) {
		if words := strings.Fields(line); len(words) > 0 {
			s.line(words)
		}
	}
	for i, at := range s.late {
		seq := history.Seq(0)
		for n, moment := range s.moments {
			if moment <= at {
				seq = history.Seq(10*(n+1) + 5)
			}
		}
		s.h.Operations[i].Effect, s.h.Operations[i].Applied = seq, history.OK
	}
	s.h.Tasks, s.h.Nodes, s.h.Processes = s.tasks.Names(), s.nodes.Names(), s.process.Names()
	s.h.Specs = make([]history.Spec, len(s.h.Tasks))
	return &s.h
}

func (s *teller) line(words []string) {
	s.t.Helper()
	at := s.seconds(words[0])
	s.moments = append(s.moments, at)
	seq := history.Seq(10 * len(s.moments))
	if kind, err := history.ParseKind(words[1]); err == nil {
		e := history.Event{Seq: seq, At: at, Kind: kind}
		for _, w := range words[2:] {
			s.eventWord(&e, w)
		}
		s.h.Events = append(s.h.Events, e)
		return
	}
	verb, err := history.ParseVerb(words[1])
	if err != nil {
		s.t.Fatal(err)
	}
	o := history.Operation{Call: seq, Effect: seq + 1, Return: seq + 2, CalledAt: at, ReturnedAt: at, Verb: verb, Outcome: history.OK, Applied: history.OK}
	for _, w := range words[2:] {
		s.operationWord(&o, w)
	}
	s.h.Operations = append(s.h.Operations, o)
}

func (s *teller) eventWord(e *history.Event, w string) {
	s.t.Helper()
	key, value, _ := strings.Cut(w, "=")
	phase, err := history.ParsePhase(w)
	switch {
	case err == nil:
		e.Phase = phase
	case w == "cancelling":
		e.Cancelling = true
	case w == "cleanup":
		e.Cleanup = true
	case key == "due":
		e.Due = s.seconds(value)
	case key == "failures":
		e.Failures = int32(s.number(value))
	case key == "disruptions":
		e.Disruptions = int32(s.number(value))
	case w[0] == '#':
		e.Token = s.number(w[1:])
	case w[0] == '@':
		e.Epoch = s.number(w[1:])
	case w[0] == 't':
		e.Task = s.tasks.ID(w)
	case w[0] == 'n':
		e.Node = s.nodes.ID(w)
	case w[0] == 'u':
		e.Object = w
	case w[0] == 'f':
		e.Fault = int32(s.number(w[1:]))
	case w[0] == '"':
		e.Detail = detail(w)
	default:
		e.Process = s.process.ID(w)
	}
}

func (s *teller) operationWord(o *history.Operation, w string) {
	s.t.Helper()
	key, value, _ := strings.Cut(w, "=")
	phase, notPhase := history.ParsePhase(w)
	outcome, notOutcome := history.ParseOutcome(w)
	code, notCode := history.ParseCode(w)
	switch {
	case notPhase == nil:
		o.Phase = phase
	case notOutcome == nil:
		o.Outcome = outcome
		if outcome == history.Unknown {
			o.Applied, o.Effect, o.Return = history.Fail, 0, 0
		}
	case notCode == nil:
		o.Code, o.Outcome, o.Applied, o.Effect = code, history.Fail, history.Fail, 0
	case w == "applied":
		o.Applied, o.Effect = history.OK, o.Call+1
	case w == "cancelling":
		o.Cancelling = true
	case key == "returned":
		o.ReturnedAt, o.Return = s.seconds(value), o.Call+3
	case key == "call":
		o.Call = history.Seq(10 * s.number(value))
	case key == "effect":
		s.late[len(s.h.Operations)] = s.seconds(value)
	case w[0] == '#':
		o.Token = s.number(w[1:])
	case w[0] == '@':
		o.Epoch = s.number(w[1:])
	case w[0] == 't':
		o.Task = s.tasks.ID(w)
	case w[0] == '"':
		o.Detail = detail(w)
	default:
		o.Process = s.process.ID(w)
	}
}

func detail(w string) string { return strings.ReplaceAll(strings.Trim(w, `"`), "_", " ") }

func (s *teller) seconds(text string) time.Duration {
	s.t.Helper()
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return time.Duration(f * float64(time.Second))
}

func (s *teller) number(text string) uint64 {
	s.t.Helper()
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

// verdict is one case: what an invariant says to a story.
type verdict struct {
	name   string
	limits *history.Limits // nil: limits
	story  string
	want   checker.Verdict
	// messages are those of all violations, in order of Seq.
	messages []string
	margin   time.Duration // of want valid or invalid; 0: not compared
}

func judge(t *testing.T, invariant string, promise error, cases []verdict) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := limits
			if c.limits != nil {
				l = *c.limits
			}
			report := checker.Check(tell(t, l, c.story), checker.Options{SkipLinearizability: true})
			result := report.Invariant(invariant)
			if result.Verdict != c.want {
				t.Errorf("%s is %s (exercised %d, %s), want %s", invariant, result.Verdict, result.Exercised, result.Note, c.want)
			}
			if c.margin != 0 && result.WorstMargin != c.margin {
				t.Errorf("margin %s is %s, want %s", result.MarginOf, result.WorstMargin, c.margin)
			}
			var got []string
			for _, v := range report.Violations {
				if v.Invariant == invariant {
					got = append(got, v.Message)
					checkViolation(t, v, promise)
				}
			}
			if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", c.messages) {
				t.Errorf("violations\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.messages, "\n"))
			}
			if (result.Verdict == checker.Invalid) != (len(c.messages) > 0) || result.Violated != len(c.messages) {
				t.Errorf("%d violations are counted, the verdict is %s", result.Violated, result.Verdict)
			}
		})
	}
}
