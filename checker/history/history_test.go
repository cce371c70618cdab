package history_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/squall-chaos/squall/checker/history"
)

// small is a history with one of everything that reads well.
func small() *history.History {
	return &history.History{
		Meta: history.Meta{
			Scenario: "spot-reclaim", Dispatcher: "reference", World: "sim", Seed: 1<<63 + 7, Version: "v0.1.0", TraceHash: 0xfeedfacecafebeef,
			Limits: history.Limits{ClaimBatch: 10, RecoverBatch: 50, Tick: 5 * time.Second, CreateTimeout: 10 * time.Second, CallMax: 10250 * time.Millisecond},
		},
		Processes: []string{"dispatcher-1", `odd "name"`},
		Tasks:     []string{"task-17", "täsk\n"},
		Nodes:     []string{"spot-2"},
		Specs:     []history.Spec{{MaxFailures: 3}, {StartDeadline: time.Minute}},
		Operations: []history.Operation{
			{Call: 1, Effect: 2, Return: 4, CalledAt: time.Second, ReturnedAt: time.Second + 1, Process: 1, Task: 1, Verb: history.Claim,
				Outcome: history.OK, Applied: history.OK, Phase: history.Running, Token: 17, Epoch: 2},
			{Call: 1, Effect: 2, Return: 4, CalledAt: time.Second, ReturnedAt: time.Second + 1, Process: 1, Task: 2, Verb: history.Claim,
				Outcome: history.OK, Applied: history.OK, Phase: history.Running, Token: 18, Epoch: 2},
			{Call: 5, CalledAt: 2 * time.Second, Process: 2, Verb: history.NodeExists, Outcome: history.Unknown, Code: history.Timeout, Detail: "a\x00b"},
		},
		Events: []history.Event{
			{Seq: 3, At: time.Second, Kind: history.Row, Task: 1, Phase: history.Running, Token: 17, Epoch: 2, Failures: 1, Disruptions: 2, Due: -time.Millisecond, Cancelling: true, Cleanup: true},
			{Seq: 6, At: 3 * time.Second, Kind: history.ContainerStarted, Task: 1, Node: 1, Token: 17, Object: "uid-1"},
			{Seq: 7, At: 3 * time.Second, Kind: history.FaultStruck, Fault: 1, Process: 1, Due: time.Minute, Detail: "node-kill spot-2"},
			{Seq: 8, At: 4 * time.Second, Kind: history.Ended, Detail: "quiet"},
		},
	}
}

func encoded(t testing.TB, h *history.History) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := history.Encode(&b, h); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestAHistorySurvivesItsFile(t *testing.T) {
	want := small()
	got, err := history.Decode(bytes.NewReader(encoded(t, want)), "run.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read back\n%+v\nwant\n%+v", got, want)
	}
}

func TestAFileReadsLikeAStory(t *testing.T) {
	const want = `{"history":1,"scenario":"spot-reclaim","dispatcher":"reference","world":"sim","version":"v0.1.0","seed":"9223372036854775815","claim_batch":10,"recover_batch":50,"tick":5,"create_timeout":10,"call_max":10.25}
{"declare":"process","name":"dispatcher-1"}
{"declare":"process","name":"odd \"name\""}
{"declare":"node","name":"spot-2"}
{"declare":"task","name":"task-17","max_failures":3}
{"declare":"task","name":"täsk\n","start_deadline":60}
{"op":"claim","process":"dispatcher-1","task":"task-17","call":1,"effect":2,"return":4,"called":1,"returned":1.000000001,"outcome":"ok","applied":"ok","phase":"running","token":17,"epoch":2}
{"op":"claim","process":"dispatcher-1","task":"täsk\n","call":1,"effect":2,"return":4,"called":1,"returned":1.000000001,"outcome":"ok","applied":"ok","phase":"running","token":18,"epoch":2}
{"event":"row","seq":3,"at":1,"task":"task-17","phase":"running","cancelling":true,"cleanup":true,"failures":1,"disruptions":2,"token":17,"epoch":2,"due":-0.001}
{"op":"node-exists","process":"odd \"name\"","call":5,"called":2,"outcome":"unknown","code":"timeout","detail":"a\u0000b"}
{"event":"container-started","seq":6,"at":3,"task":"task-17","node":"spot-2","token":17,"object":"uid-1"}
{"event":"fault-struck","seq":7,"at":3,"process":"dispatcher-1","fault":1,"due":60,"detail":"node-kill spot-2"}
{"event":"ended","seq":8,"at":4,"detail":"quiet"}
{"end":"history","operations":3,"events":4,"trace_hash":"18369614221190020847"}
`
	if got := string(encoded(t, small())); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

const header = `{"history":1,"scenario":"s"}` + "\n"

func TestWhatIsWrongWithAFileIsSaidWithItsLine(t *testing.T) {
	declared := header + `{"declare":"process","name":"dispatcher-1"}` + "\n" + `{"declare":"task","name":"task-17"}` + "\n"
	for name, c := range map[string]struct{ file, want string }{
		"empty":               {"", `f:1: the file ends without its last line: expected {"end":"history",...}`},
		"not JSON":            {"kind: Scenario\n", `f:1: expected a JSON object: the first line must be the header {"history":1,...}`},
		"no header":           {`{"event":"healed","seq":1}` + "\n", `f:1: the header is missing: the first line must be the header {"history":1,...}`},
		"wrong version":       {`{"history":2}` + "\n", `f:1: the file has format version "2": expected 1`},
		"second header":       {header + header, `f:2: a second header: expected one, in the first line`},
		"truncated":           {declared, `f:4: the file ends without its last line: expected {"end":"history",...}`},
		"truncated in a line": {header + `{"event":"heal`, `f:2: expected a string, a number, true or false for "event"`},
		"events missing":      {header + `{"end":"history","events":2}` + "\n", `f:2: the file has 0 operations and 0 events: expected 0 and 2 by its last line`},
		"two footers":         {header + `{"end":"history"}` + "\n" + `{"end":"history"}` + "\n", `f:3: a line after the last one: expected the end of the file`},
		"unknown line":        {header + `{"events":"row"}` + "\n", `f:2: unknown kind of line "events": expected one of op, event, declare, end; did you mean "event"?`},
		"unknown field":       {declared + `{"op":"claim","proces":"dispatcher-1"}` + "\n", `f:4: unknown field "proces" of an operation; did you mean "process"?`},
		"unknown word":        {declared + `{"event":"row","seq":1,"phase":"runing"}` + "\n", `f:4: field "phase" is "runing": unknown word "runing": expected one of pending, running, succeeded, failed, cancelled, needs-attention; did you mean "running"?`},
		"undeclared name":     {declared + `{"event":"row","seq":1,"task":"task-71"}` + "\n", `f:4: field "task" is "task-71": task "task-71" is not declared before its use; did you mean "task-17"?`},
		"declared twice":      {declared + `{"declare":"task","name":"task-17"}` + "\n", `f:4: task "task-17" is declared twice`},
		"field twice":         {header + `{"event":"row","seq":1,"seq":1}` + "\n", `f:2: the field "seq" is there twice`},
		"wrong type":          {header + `{"event":"row","seq":"1"}` + "\n", `f:2: field "seq" is "1": expected a whole number`},
		"fraction":            {header + `{"event":"row","seq":1.5}` + "\n", `f:2: field "seq" is "1.5": expected a whole number`},
		"too large":           {header + `{"event":"row","seq":18446744073709551616}` + "\n", `f:2: field "seq" is "18446744073709551616": expected a whole number`},
		"ten digits":          {header + `{"event":"row","seq":1,"at":1.0000000001}` + "\n", `f:2: field "at" is "1.0000000001": expected a number of seconds`},
		"nested":              {header + `{"event":"row","seq":[1]}` + "\n", `f:2: expected a string, a number, true or false for "seq"`},
		"event order":         {header + `{"event":"healed","seq":2}` + "\n" + `{"event":"ended","seq":2}` + "\n", `f:3: event 2 is out of order: expected 3 or more`},
		"no task":             {header + `{"event":"row","seq":2}` + "\n", `f:2: event 2 is of no task: expected the task of this row`},
		"call order":          {header + `{"op":"read","call":5,"outcome":"ok"}` + "\n" + `{"op":"read","call":4,"outcome":"ok"}` + "\n", `f:3: call 4 is out of order: expected 5 or more`},
		"call taken":          {header + `{"op":"read","call":5,"outcome":"ok"}` + "\n" + `{"op":"get","call":5,"outcome":"ok"}` + "\n", `f:3: call 5 is taken by another operation: expected 6 or more`},
		"return before call":  {header + `{"op":"read","call":5,"return":4,"outcome":"ok"}` + "\n", `f:2: return 4 is out of order: expected more than the call's 5`},
		"no outcome":          {header + `{"op":"read","call":5}` + "\n", `f:2: expected the field "outcome"`},
		"trailing":            {header + `{"event":"healed","seq":2} x` + "\n", `f:2: expected a comma, or a closing brace and nothing after it`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := history.Decode(strings.NewReader(c.file), "f")
			if err == nil || err.Error() != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestTruncationAndVersionAreErrorsOfTheirOwn(t *testing.T) {
	whole := encoded(t, small())
	lastLine := bytes.LastIndexByte(bytes.TrimSuffix(whole, []byte("\n")), '\n') + 1
	for name, c := range map[string]struct {
		file []byte
		want error
	}{
		"cut after a line":   {whole[:lastLine], history.ErrTruncated},
		"a line is missing":  {append(bytes.Clone(whole[:bytes.Index(whole, []byte(`{"event":"ended"`))]), whole[lastLine:]...), history.ErrTruncated},
		"another version":    {bytes.Replace(whole, []byte(`"history":1`), []byte(`"history":9`), 1), history.ErrVersion},
		"something else":     {[]byte("PK\x03\x04"), history.ErrVersion},
		"an unreadable file": {nil, io.ErrClosedPipe},
	} {
		t.Run(name, func(t *testing.T) {
			var from io.Reader = bytes.NewReader(c.file)
			if c.file == nil {
				from = broken{}
			}
			if _, err := history.Decode(from, "f"); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

// endless is n bytes of the same.
type endless struct {
	fill byte
	n    int
}

func (e *endless) Read(b []byte) (int, error) {
	if e.n == 0 {
		return 0, io.EOF
	}
	b = b[:min(len(b), e.n)]
	for i := range b {
		b[i] = e.fill
	}
	e.n -= len(b)
	return len(b), nil
}

func TestGarbageFailsCleanly(t *testing.T) {
	for name, from := range map[string]io.Reader{
		"100 MB of one byte":        &endless{'x', 100 << 20},
		"100 MB of empty lines":     &endless{'\n', 100 << 20},
		"50 MB in one line":         io.MultiReader(strings.NewReader(header+`{"event":"row","detail":"`), &endless{'x', 50 << 20}),
		"50 MB of opening braces":   io.MultiReader(strings.NewReader(header), &endless{'{', 50 << 20}),
		"an escape that never ends": io.MultiReader(strings.NewReader(header+`{"event":"row","detail":"`), &endless{'\\', 50 << 20}),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := history.Decode(from, "f")
			var format *history.FormatError
			if !errors.As(err, &format) || format.Line > 2 {
				t.Errorf("got %v, want a FormatError in line 1 or 2", err)
			}
		})
	}
}

func TestAWriterRefusesWhatAReaderWould(t *testing.T) {
	ok := history.Operation{Call: 1, Verb: history.Read, Outcome: history.OK}
	for name, write := range map[string]func(w *history.Writer){
		"no verb":      func(w *history.Writer) { _ = w.Operation(history.Operation{Call: 1, Outcome: history.OK}) },
		"no outcome":   func(w *history.Writer) { _ = w.Operation(history.Operation{Call: 1, Verb: history.Read}) },
		"no such task": func(w *history.Writer) { o := ok; o.Task = 1; _ = w.Operation(o) },
		"call order": func(w *history.Writer) {
			_ = w.Operation(ok)
			o := ok
			o.Call, o.Verb = 1, history.Get
			_ = w.Operation(o)
		},
		"event order": func(w *history.Writer) { _ = w.Event(history.Event{Kind: history.Healed}) },
		"no kind":     func(w *history.Writer) { _ = w.Event(history.Event{Seq: 1}) },
		"phase":       func(w *history.Writer) { _ = w.Event(history.Event{Seq: 1, Kind: history.Healed, Phase: 99}) },
		"name twice":  func(w *history.Writer) { w.Task("a", history.Spec{}); w.Task("a", history.Spec{}) },
		"empty name":  func(w *history.Writer) { w.Node("") },
	} {
		t.Run(name, func(t *testing.T) {
			w := history.NewWriter(io.Discard, history.Meta{})
			write(w)
			if err := w.Close(0); err == nil {
				t.Error("written without an error")
			}
		})
	}
}

func TestNearest(t *testing.T) {
	known := []string{"node-kill", "node-remove", "pod-evict"}
	for name, want := range map[string]string{
		"node-kil": "node-kill", "Node-Kill": "node-kill", "nodekill": "node-kill", "pod-evcit": "pod-evict",
		"node-removal": "node-remove", "banana": "", "": "", strings.Repeat("node-kill", 1000): "",
	} {
		if got := history.Nearest(name, known); got != want {
			t.Errorf("nearest to %.20q is %q, want %q", name, got, want)
		}
	}
}

func TestEveryWordIsReadBack(t *testing.T) {
	for _, v := range history.Verbs() {
		if got, err := history.ParseVerb(v.String()); got != v || err != nil {
			t.Errorf("%s: %v, %v", v, got, err)
		}
	}
	for _, k := range history.Kinds() {
		if got, err := history.ParseKind(k.String()); got != k || err != nil {
			t.Errorf("%s: %v, %v", k, got, err)
		}
	}
	if n := len(history.Verbs()); n != int(history.Watch) {
		t.Errorf("%d verbs have a word, want %d", n, history.Watch)
	}
	if n := len(history.Kinds()); n != int(history.FaultMissed) {
		t.Errorf("%d kinds have a word, want %d", n, history.FaultMissed)
	}
	_, err := history.ParsePhase("runnning")
	if want := `unknown phase "runnning"; did you mean "running"?`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// draw makes any history that a Writer takes.
func draw(t *rapid.T) *history.History {
	name := rapid.StringN(1, 12, 40)
	unique := func(label string) []string {
		return rapid.SliceOfNDistinct(name, 1, 5, rapid.ID[string]).Draw(t, label)
	}
	duration := rapid.Custom(func(t *rapid.T) time.Duration { return time.Duration(rapid.Int64().Draw(t, "ns")) })
	h := &history.History{Processes: unique("processes"), Tasks: unique("tasks"), Nodes: unique("nodes")}
	h.Meta.Scenario, h.Meta.Seed, h.Meta.TraceHash = name.Draw(t, "scenario"), rapid.Uint64().Draw(t, "seed"), rapid.Uint64().Draw(t, "hash")
	h.Meta.Limits.Tick, h.Meta.Limits.ClaimBatch = duration.Draw(t, "tick"), rapid.Int().Draw(t, "batch")
	for range h.Tasks {
		h.Specs = append(h.Specs, history.Spec{MaxFailures: rapid.Int().Draw(t, "failures"), StartDeadline: duration.Draw(t, "deadline")})
	}
	id := func(names []string) history.ID { return history.ID(rapid.IntRange(0, len(names)).Draw(t, "id")) }
	call, seq := history.Seq(0), history.Seq(0)
	for range rapid.IntRange(0, 8).Draw(t, "operations") {
		call += history.Seq(rapid.IntRange(1, 3).Draw(t, "step"))
		h.Operations = append(h.Operations, history.Operation{Call: call, Return: call + history.Seq(rapid.IntRange(1, 1000).Draw(t, "return")),
			CalledAt: duration.Draw(t, "called"), ReturnedAt: duration.Draw(t, "returned"), Process: id(h.Processes), Task: id(h.Tasks),
			Verb: rapid.SampledFrom(history.Verbs()).Draw(t, "verb"), Outcome: history.Outcome(rapid.IntRange(1, 3).Draw(t, "outcome")),
			Code: history.Code(rapid.IntRange(0, int(history.Internal)).Draw(t, "code")), Applied: history.Outcome(rapid.IntRange(0, 3).Draw(t, "applied")),
			Phase: history.Phase(rapid.IntRange(0, 6).Draw(t, "phase")), Cancelling: rapid.Bool().Draw(t, "cancelling"),
			Token: rapid.Uint64().Draw(t, "token"), Epoch: rapid.Uint64().Draw(t, "epoch"), Detail: rapid.String().Draw(t, "detail")})
	}
	for range rapid.IntRange(0, 8).Draw(t, "events") {
		seq += history.Seq(rapid.IntRange(1, 3).Draw(t, "step"))
		h.Events = append(h.Events, history.Event{Seq: seq, At: duration.Draw(t, "at"), Kind: rapid.SampledFrom(history.Kinds()).Draw(t, "kind"),
			Task: history.ID(rapid.IntRange(1, len(h.Tasks)).Draw(t, "task")), Node: id(h.Nodes), Process: id(h.Processes), Fault: rapid.Int32().Draw(t, "fault"), Due: duration.Draw(t, "due"),
			Cleanup: rapid.Bool().Draw(t, "cleanup"), Object: rapid.String().Draw(t, "object"), Detail: rapid.String().Draw(t, "detail")})
	}
	return h
}

func TestAnyHistorySurvivesItsFile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := draw(t)
		var b bytes.Buffer
		if err := history.Encode(&b, want); err != nil {
			t.Fatal(err)
		}
		got, err := history.Decode(&b, "f")
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("read back\n%+v\nwant\n%+v", got, want)
		}
	})
}

// FuzzDecode: whatever the file, Decode returns, and what it takes means the same after another round.
func FuzzDecode(f *testing.F) {
	f.Add(encoded(f, small()))
	f.Add([]byte(header + `{"end":"history"}`))
	f.Add([]byte(header + ` { "event" : "healed" , "seq" : 1, "detail":"\ud83d\ude00\/\b" } ` + "\r\n" + `{"end":"history","events":1}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		first, err := history.Decode(bytes.NewReader(file), "f")
		if err != nil {
			var format *history.FormatError
			if !errors.As(err, &format) {
				t.Fatalf("not a FormatError: %v", err)
			}
			return
		}
		again, err := history.Decode(bytes.NewReader(encoded(t, first)), "f")
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprintf("%+v", again) != fmt.Sprintf("%+v", first) {
			t.Fatalf("second round\n%+v\nfirst\n%+v", again, first)
		}
	})
}
