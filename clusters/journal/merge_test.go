package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters/journal"
)

// start is that of every run here: the stamps in the journals are nanoseconds from it.
var start = time.Unix(0, 0)

func at(ms float64) time.Time { return start.Add(time.Duration(ms * 1e6)) }

// row is a change of task a in the database's log.
func row(ms float64, version uint64, process string, change func(*journal.Event)) journal.Event {
	e := journal.Event{Kind: history.Row, Task: "a", At: at(ms), Phase: history.Running, Token: 1, Epoch: 1,
		Write: &journal.Write{Transaction: 100 + version, Application: process, Version: version, Activity: "executing", Workload: "u1"}}
	if change != nil {
		change(&e)
	}
	return e
}

func pending(e *journal.Event) {
	e.Phase, e.Token, e.Epoch, e.Due, e.Write.Activity, e.Write.Workload = history.Pending, 0, 0, at(1), "idle", ""
}

func succeeded(e *journal.Event) {
	e.Phase, e.Cleanup, e.Due, e.Write.Activity = history.Succeeded, true, e.At, "idle"
	e.Write.EndedAt, e.Write.CleanupAt = e.At, e.At
	e.Write.Finished = journal.Finished{Token: 1, Workload: "u1", Result: "succeeded"}
}

func superseding(e *journal.Event) { e.Token, e.Write.Activity, e.Write.Workload = 2, "launching", "" }

func launching(e *journal.Event) { e.Write.Activity, e.Write.Workload = "launching", "" }

func ended(ms float64) journal.Event { return journal.Event{Kind: history.Ended, At: at(ms)} }

func container(kind history.Kind, ms float64, detail string) journal.Event {
	return journal.Event{Kind: kind, At: at(ms), Object: "u1", Detail: detail, Node: "spot-1"}
}

const header = `{"journal":1,"process":"%s","at":0}`

// worker is the journal of a worker that began to work, and went on with the given lines.
func worker(lines ...string) string {
	return strings.Join(append([]string{fmt.Sprintf(header, "worker-a"),
		`{"event":"container-started","at":20000000,"task":"a","node":"spot-1","object":"u1","token":1}`,
		`{"call":1,"at":21000000,"verb":"start","detail":"u1","object":"u1","rows":[{"task":"a","token":1}]}`,
		`{"return":1,"at":23000000,"outcome":"ok","detail":"u1","rows":[{"task":"a","token":1,"phase":"running","version":3}]}`,
		`{"event":"work-started","at":24000000,"task":"a","node":"spot-1","object":"u1","token":1}`,
	}, lines...), "\n") + "\n"
}

const (
	finishing  = `{"call":2,"at":30000000,"verb":"finish","detail":"succeeded","object":"u1","rows":[{"task":"a","token":1}]}`
	finishOK   = `{"return":2,"at":33000000,"outcome":"ok","detail":"succeeded","rows":[{"task":"a","token":1,"phase":"succeeded","version":4}]}`
	finishLost = `{"return":2,"at":33000000,"outcome":"unknown","code":"timeout","detail":"succeeded","rows":[{"task":"a","token":1}]}`
	finishAsks = `{"call":3,"at":34000000,"verb":"finish","detail":"succeeded","object":"u1","rows":[{"task":"a","token":1}]}`
	finishIsOK = `{"return":3,"at":35000000,"outcome":"ok","detail":"succeeded","rows":[{"task":"a","token":1,"phase":"succeeded","version":4}]}`
	ownEffect  = `{"event":"effect-counted","at":33100000,"task":"a","object":"u1","token":1}`
	exits      = `{"event":"work-ended","at":36000000,"task":"a","node":"spot-1","object":"u1","token":1}` + "\n" +
		`{"event":"container-ended","at":36000000,"task":"a","node":"spot-1","object":"u1","token":1,"detail":"exit 0"}`

	claimCall = `{"call":1,"at":5000000,"verb":"claim","epoch":1}`
	claimLost = `{"return":1,"at":9000000,"outcome":"unknown","code":"connection-lost","epoch":1}`
)

func dispatcher1(lines ...string) string {
	return strings.Join(append([]string{fmt.Sprintf(header, "dispatcher-1")}, lines...), "\n") + "\n"
}

// started are the changes up to the beginning of the work.
func started(more ...journal.Event) []journal.Event {
	return append([]journal.Event{row(1, 1, "client-1", pending), row(7, 2, "dispatcher-1", launching), row(22, 3, "worker-a", nil)}, more...)
}

var merges = []struct {
	name     string
	journals []string
	events   []journal.Event
	want     string // of the lines of the history: those with the words in show
	show     string
	err      error
}{
	{
		name: "a success", show: "finish effect- work- container-",
		journals: []string{worker(finishing, finishOK, ownEffect, exits)},
		events:   started(row(32, 4, "worker-a", succeeded), container(history.ContainerStarted, 19, ""), container(history.ContainerEnded, 38, "exit 0")),
		want: `{"event":"container-started","seq":3,"at":0.019,"task":"a","node":"spot-1","token":1,"object":"u1"}
{"event":"work-started","seq":7,"at":0.024,"task":"a","process":"worker-a","node":"spot-1","token":1,"object":"u1"}
{"op":"finish","process":"worker-a","task":"a","call":8,"effect":9,"return":12,"called":0.03,"returned":0.033,"outcome":"ok","applied":"ok","phase":"succeeded","token":1,"detail":"succeeded"}
{"event":"effect-counted","seq":11,"at":0.032,"task":"a","process":"worker-a","token":1,"object":"u1"}
{"event":"work-ended","seq":13,"at":0.036,"task":"a","process":"worker-a","node":"spot-1","token":1,"object":"u1"}
{"event":"container-ended","seq":14,"at":0.038,"task":"a","node":"spot-1","token":1,"object":"u1","detail":"exit 0"}
`,
	},
	{
		name: "a killed worker's journal simply stops", show: "work- container-ended finish",
		journals: []string{worker() + finishing[:40]},
		events:   started(container(history.ContainerStarted, 19, ""), container(history.ContainerEnded, 29, "killed")),
		want: `{"event":"work-started","seq":7,"at":0.024,"task":"a","process":"worker-a","node":"spot-1","token":1,"object":"u1"}
{"event":"work-ended","seq":8,"at":0.029,"task":"a","process":"worker-a","node":"spot-1","token":1,"object":"u1","detail":"killed"}
{"event":"container-ended","seq":9,"at":0.029,"task":"a","node":"spot-1","token":1,"object":"u1","detail":"killed"}
`,
	},
	{
		name: "killed before the reply, and the effect counts", show: "finish effect-",
		journals: []string{worker(finishing)},
		events:   started(row(32, 4, "worker-a", succeeded)),
		want: `{"op":"finish","process":"worker-a","task":"a","call":8,"effect":9,"visible":12,"called":0.03,"outcome":"unknown","applied":"ok","phase":"succeeded","token":1,"detail":"succeeded"}
{"event":"effect-counted","seq":11,"at":0.032,"task":"a","process":"worker-a","token":1,"object":"u1"}
`,
	},
	{
		name: "a finish whose reply was lost counts once, whatever the worker is told when it asks again", show: "finish effect-",
		journals: []string{worker(finishing, finishLost, finishAsks, finishIsOK, ownEffect)},
		events:   started(row(32, 4, "worker-a", succeeded)),
		want: `{"op":"finish","process":"worker-a","task":"a","call":8,"effect":9,"visible":15,"return":12,"called":0.03,"returned":0.033,"outcome":"unknown","code":"timeout","applied":"ok","phase":"succeeded","token":1,"detail":"succeeded"}
{"event":"effect-counted","seq":11,"at":0.032,"task":"a","process":"worker-a","token":1,"object":"u1"}
{"op":"finish","process":"worker-a","task":"a","call":13,"return":14,"called":0.034,"returned":0.035,"outcome":"ok","applied":"ok","phase":"succeeded","token":1,"detail":"succeeded"}
`,
	},
	{
		name: "a refused finish", show: "effect-",
		journals: []string{worker(finishing, strings.NewReplacer("unknown", "fail", "timeout", "refused").Replace(finishLost))},
		events:   started(),
		want: `{"event":"effect-refused","seq":9,"at":0.033,"task":"a","process":"worker-a","token":1,"object":"u1"}
`,
	},
	{
		name: "an unknown claim that was applied", show: "claim row",
		journals: []string{dispatcher1(claimCall, claimLost)},
		events:   []journal.Event{row(1, 1, "client-1", pending), row(7, 2, "dispatcher-1", launching), ended(100)},
		want: `{"event":"row","seq":1,"at":0.001,"task":"a","phase":"pending","due":0.001}
{"op":"claim","process":"dispatcher-1","task":"a","call":2,"effect":3,"visible":7,"return":5,"called":0.005,"returned":0.009,"outcome":"unknown","code":"connection-lost","applied":"ok","phase":"running","token":1,"epoch":1}
{"event":"row","seq":4,"at":0.007,"task":"a","phase":"running","token":1,"epoch":1}
`,
	},
	{
		name: "an unknown claim: a reader may miss it until another process changes the row", show: "claim read start",
		journals: []string{dispatcher1(claimCall, claimLost, `{"call":2,"at":7100000,"verb":"read","rows":[{"task":"a"}]}`,
			`{"return":2,"at":7200000,"outcome":"ok","rows":[{"task":"a","phase":"pending"}]}`), worker()},
		events: append(started(), ended(100)),
		want: `{"op":"claim","process":"dispatcher-1","task":"a","call":2,"effect":3,"visible":11,"return":7,"called":0.005,"returned":0.009,"outcome":"unknown","code":"connection-lost","applied":"ok","phase":"running","token":1,"epoch":1}
{"op":"read","process":"dispatcher-1","task":"a","call":5,"return":6,"called":0.0071,"returned":0.0072,"outcome":"ok","applied":"ok","phase":"pending"}
{"op":"start","process":"worker-a","task":"a","call":9,"effect":10,"return":12,"called":0.021,"returned":0.023,"outcome":"ok","applied":"ok","phase":"running","token":1,"detail":"u1"}
`,
	},
	{
		name: "an unknown claim that arrived late", show: "claim",
		journals: []string{dispatcher1(claimCall, claimLost)},
		events:   []journal.Event{row(1, 1, "client-1", pending), row(17, 2, "dispatcher-1", launching), ended(100)},
		want: `{"op":"claim","process":"dispatcher-1","task":"a","call":2,"effect":4,"visible":7,"return":3,"called":0.005,"returned":0.009,"outcome":"unknown","code":"connection-lost","applied":"ok","phase":"running","token":1,"epoch":1}
`,
	},
	{
		name: "an unknown claim that never will be applied: the change is another process's", show: "claim",
		journals: []string{dispatcher1(claimCall, claimLost), strings.Replace(dispatcher1(), "dispatcher-1", "dispatcher-2", 1) +
			`{"call":1,"at":6000000,"verb":"now"}` + "\n"},
		events: []journal.Event{row(1, 1, "client-1", pending), row(7, 2, "dispatcher-2", launching), ended(100)},
		want: `{"op":"claim","process":"dispatcher-1","call":2,"return":5,"called":0.005,"returned":0.009,"outcome":"unknown","code":"connection-lost","applied":"fail","epoch":1}
`,
	},
	{
		name: "an unknown claim that may still be applied: the log ends too soon", show: "claim",
		journals: []string{dispatcher1(claimCall, claimLost)},
		events:   []journal.Event{row(1, 1, "client-1", pending), ended(30)},
		want: `{"op":"claim","process":"dispatcher-1","call":2,"return":3,"called":0.005,"returned":0.009,"outcome":"unknown","code":"connection-lost","applied":"unknown","epoch":1}
`,
	},
	{
		name: "a clock that is a little off puts no effect outside of its call", show: "finish",
		journals: []string{worker(finishing, finishOK)},
		events:   started(row(29.9995, 4, "worker-a", succeeded)),
		want: `{"op":"finish","process":"worker-a","task":"a","call":8,"effect":9,"return":12,"called":0.03,"returned":0.033,"outcome":"ok","applied":"ok","phase":"succeeded","token":1,"detail":"succeeded"}
`,
	},
	{
		name: "the runtime says that it ended, and the worker goes on", err: journal.ErrWitnesses,
		journals: []string{worker(finishing)},
		events:   started(container(history.ContainerStarted, 19, ""), container(history.ContainerEnded, 24, "exit 137")),
		want:     "worker-a, object u1 ended at 24ms by the container runtime, and its journal has the call finish at 30ms",
	},
	{
		name: "the exit codes differ", err: journal.ErrWitnesses,
		journals: []string{worker(exits)},
		events:   started(container(history.ContainerStarted, 19, ""), container(history.ContainerEnded, 38, "exit 75")),
		want:     `wrote at 36ms that it ends with "exit 0", and the container runtime saw "exit 75" at 38ms`,
	},
	{
		name: "the runtime never saw it", err: journal.ErrWitnesses,
		journals: []string{worker()},
		events:   started(journal.Event{Kind: history.ContainerStarted, At: at(5), Object: "another"}),
		want:     "worker-a, object u1 wrote work-started at 24ms, and the container runtime never saw its container",
	},
	{
		name: "it started long before the runtime started it", err: journal.ErrWitnesses,
		journals: []string{worker()},
		events:   started(container(history.ContainerStarted, 31_000, "")),
		want:     "worker-a, object u1 wrote at 20ms that it had started, and the container runtime started it at 31s",
	},
	{
		name: "a defect of the store accepts the result under another token: the effect is still that worker's", show: "finish effect-",
		journals: []string{worker(finishing, finishLost)},
		events: started(row(25, 4, "dispatcher-1", superseding),
			row(32, 5, "worker-a", func(e *journal.Event) { succeeded(e); e.Token, e.Write.Finished.Token = 2, 2 })),
		want: `{"op":"finish","process":"worker-a","task":"a","call":9,"effect":10,"visible":14,"return":13,"called":0.03,"returned":0.033,"outcome":"unknown","code":"timeout","applied":"ok","phase":"succeeded","token":1,"detail":"succeeded"}
{"event":"effect-counted","seq":12,"at":0.032,"task":"a","process":"worker-a","token":1,"object":"u1"}
`,
	},
	{
		name: "killed on its way out", show: "container-ended",
		journals: []string{worker(exits)},
		events:   started(container(history.ContainerStarted, 19, ""), container(history.ContainerEnded, 38, "exit 137")),
		want: `{"event":"container-ended","seq":9,"at":0.038,"task":"a","node":"spot-1","token":1,"object":"u1","detail":"exit 137"}
`,
	},
	{
		name: "who holds the lease follows from the updates", show: "lease-held",
		journals: []string{dispatcher1(
			`{"call":1,"at":5000000,"verb":"put-lease","detail":"squall","object":"dispatcher-1/x"}`, `{"return":1,"at":6000000,"outcome":"ok","detail":"squall"}`,
			`{"call":2,"at":7000000,"verb":"put-lease","detail":"squall","object":"dispatcher-1/x"}`, `{"return":2,"at":8000000,"outcome":"ok","detail":"squall"}`)},
		want: `{"event":"lease-held","seq":3,"at":0.006,"process":"dispatcher-1","detail":"squall"}
`,
	},
}

func TestMerge(t *testing.T) {
	for _, c := range merges {
		t.Run(c.name, func(t *testing.T) {
			calls, events := read(t, c.journals...)
			meta := history.Meta{World: "kind", Limits: history.Limits{CallMax: 50 * time.Millisecond}}
			h, err := journal.Merge(start, meta, calls, append(events, c.events...))
			if !errors.Is(err, c.err) {
				t.Fatalf("error %v, expected %v", err, c.err)
			}
			wellFormed(t, h)
			if c.err != nil {
				if !strings.Contains(err.Error(), c.want) {
					t.Errorf("error %v, expected %s", err, c.want)
				}
				return
			}
			if got := shown(t, h, strings.Fields(c.show)); got != c.want {
				t.Errorf("history\n%s\nexpected\n%s", got, c.want)
			}
		})
	}
}

func read(t testing.TB, journals ...string) (calls []journal.Call, events []journal.Event) {
	t.Helper()
	for _, text := range journals {
		c, e, err := journal.Read(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		calls, events = append(calls, c...), append(events, e...)
	}
	return calls, events
}

// shown are the lines of a history's file whose kind begins with one of the words.
func shown(t *testing.T, h *history.History, words []string) string {
	t.Helper()
	var file bytes.Buffer
	if err := history.Encode(&file, h); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for line := range strings.Lines(file.String()) {
		if slices.ContainsFunc(words, func(w string) bool {
			return strings.HasPrefix(line, `{"op":"`+w) || strings.HasPrefix(line, `{"event":"`+w)
		}) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// wellFormed demands what every history must be: readable, in one strict order, and fit to be judged.
func wellFormed(t testing.TB, h *history.History) {
	t.Helper()
	var file bytes.Buffer
	if err := history.Encode(&file, h); err != nil {
		t.Fatal(err)
	}
	if _, err := history.Decode(&file, "merged"); err != nil {
		t.Fatal(err)
	}
	checker.Check(h, checker.Options{})
	used := map[history.Seq]bool{}
	use := func(s history.Seq) {
		if used[s] {
			t.Fatalf("%d is there twice", s)
		}
		used[s] = true
	}
	for i, o := range h.Operations {
		if i > 0 && h.Operations[i-1].Call == o.Call {
			continue // of the same claim
		}
		use(o.Call)
		if o.Effect != 0 {
			use(o.Effect)
		}
		if o.Return != 0 {
			use(o.Return)
		}
		if o.Outcome == history.OK && o.Effect != 0 && (o.Effect <= o.Call || o.Effect >= o.Return) {
			t.Fatalf("its effect is not between call and return: %+v", o)
		}
	}
	for _, e := range h.Events {
		use(e.Seq)
	}
}

// TestClockStep has a journal of heartbeats during which the real-time clock is set.
func TestClockStep(t *testing.T) {
	for _, c := range []struct {
		name string
		step time.Duration
		late int // one line whose process lost the processor between the two clocks
		err  error
	}{
		{"steady", 0, 0, nil},
		{"slewed", 4 * time.Millisecond, 0, nil},
		{"one stamp is spoilt", 0, 12, nil},
		{"set forward", 6 * time.Millisecond, 0, journal.ErrClockStepped},
		{"set back", -time.Hour, 0, journal.ErrClockStepped},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := fmt.Sprintf(header, "worker-a") + "\n"
			for i := 1; i <= 40; i++ {
				monotonic := time.Duration(1000+i) * time.Second
				real := monotonic - 1000*time.Second
				if i > 20 {
					real += c.step
				}
				if i == c.late {
					real -= 30 * time.Millisecond
				}
				text += fmt.Sprintf(`{"call":%d,"at":%d,"mono":%d,"verb":"now"}`+"\n", i, real, monotonic)
			}
			calls, events := read(t, text)
			h, err := journal.Merge(start, history.Meta{}, calls, events)
			if !errors.Is(err, c.err) {
				t.Fatalf("error %v, expected %v", err, c.err)
			}
			for i, o := range h.Operations {
				if want := time.Duration(i+1) * time.Second; o.CalledAt != want {
					t.Fatalf("call %d is at %s, expected %s: the monotonic clock orders", i, o.CalledAt, want)
				}
			}
		})
	}
}

func TestReadRefusesWhatIsNoJournal(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"call":1,"at":1,"verb":"now"}` + "\n", "line 1: not a journal: the first line must be its header"},
		{`{"journal":2,"process":"p"}` + "\n", "version 2: expected 1"},
		{fmt.Sprintf(header, "p") + "\n{\"call\":1\n{}\n", "line 2"},
		{fmt.Sprintf(header, "p") + "\n" + `{"call":1,"verb":"clam"}` + "\n", `unknown verb "clam"; did you mean "claim"?`},
		{fmt.Sprintf(header, "p") + "\n" + `{"return":1,"outcome":"ok"}` + "\n", "return of call 1, which did not begin"},
	} {
		if _, _, err := journal.Read(strings.NewReader(c.text)); !errors.Is(err, journal.ErrFormat) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, expected %s", c.text, err, c.want)
		}
	}
}
