package linearize

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker/history"
)

// lostClaims is what porcupine is known to be slow at: one task, 40 known operations, k claims
// whose replies were lost and of which there is no log. At the end, unless it is legal, one token too many executes.
func lostClaims(k int, legal bool) *history.History {
	h := &history.History{Tasks: []string{"a"}, Processes: []string{"p"}}
	seq := history.Seq(0)
	add := func(o history.Operation) {
		o.Task, o.Process, o.Call = 1, 1, seq+1
		if seq += 2; o.Outcome == history.OK {
			o.Return = seq
		}
		h.Operations = append(h.Operations, o)
	}
	add(history.Operation{Verb: history.Submit, Outcome: history.OK, Phase: history.Pending})
	for range k {
		add(history.Operation{Verb: history.Claim, Outcome: history.Unknown, Applied: history.Unknown})
	}
	token := uint64(0)
	for n := range 10 {
		token += 2
		if n%3 > 0 || n >= 3*(k-1) {
			add(history.Operation{Verb: history.Claim, Outcome: history.OK, Token: token, Phase: history.Running})
		}
		add(history.Operation{Verb: history.Start, Outcome: history.OK, Token: token, Phase: history.Running, Detail: fmt.Sprint("u", n)})
		add(history.Operation{Verb: history.Requeue, Outcome: history.OK, Token: token, Phase: history.Pending, Detail: "workload lost"})
		add(history.Operation{Verb: history.Cleaned, Outcome: history.OK, Token: token, Phase: history.Pending})
	}
	if !legal {
		add(history.Operation{Verb: history.Start, Outcome: history.OK, Token: token - 2, Phase: history.Running, Detail: "u8"})
	}
	return h
}

func TestLostClaims(t *testing.T) {
	for _, k := range []int{2, 8, 14, 30, 60} {
		for _, legal := range []bool{true, false} {
			want := Ok
			if !legal {
				want = Illegal
			}
			got := Check(lostClaims(k, legal), Options{}).Ledger
			if got.Verdict != want || got.Fallbacks > 0 {
				t.Errorf("k = %d: %v with %d fallbacks, want %v", k, got.Verdict, got.Fallbacks, want)
			}
			if got.Steps > 200_000 {
				t.Errorf("k = %d: %d steps, they should not grow like 2^k", k, got.Steps)
			}
		}
	}
}

// Porcupine takes 0.16 s, 0.27 s and 1.6 s for 8, 10 and 12 lost claims, and gives up on 14 after 8 s and 299 MB.
func BenchmarkLostClaims(b *testing.B) {
	for _, k := range []int{8, 10, 12, 14, 60} {
		h := lostClaims(k, false)
		b.Run(fmt.Sprintf("search/k=%d", k), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if got := Check(h, Options{}).Ledger; got.Verdict != Illegal {
					b.Fatal(got)
				}
			}
		})
	}
	h := lostClaims(8, false)
	b.Run("porcupine/k=8", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if referenceVerdict(h, Options{}) != Illegal {
				b.Fatal("not illegal")
			}
		}
	})
}

// crowd is a task on which more operations are open at once than the search has slots: starts of as many workloads.
func crowd(n, accepted int) *history.History {
	h := parse(&testing.T{}, "1-2 client submit = pending\n 3-4 d1 claim t5 = running")
	for i := range n {
		o := history.Operation{Verb: history.Start, Task: 1, Process: 1, Token: 5, Detail: fmt.Sprint("u", i),
			Call: history.Seq(10 + i), Return: history.Seq(1000 + i), Outcome: history.OK, Phase: history.Running}
		if i >= accepted {
			o.Outcome, o.Code = history.Fail, history.Refused
		}
		h.Operations = append(h.Operations, o)
	}
	return h
}

func TestFallback(t *testing.T) {
	for accepted, want := range map[int]Verdict{0: Illegal, 1: Ok, 70: Illegal} {
		h := crowd(70, accepted)
		got := Check(h, Options{Narrow: true}).Ledger
		if got.Verdict != want || got.Fallbacks != 1 {
			t.Errorf("%d of 70 workloads let in: %v with %d fallbacks, want %v with one", accepted, got.Verdict, got.Fallbacks, want)
		}
		if want == Illegal && !strings.Contains(got.Failures[0].Explanation, "no order of the 72 operations") {
			t.Errorf("explanation: %s", got.Failures[0].Explanation)
		}
	}
}

func TestLeadershipFallback(t *testing.T) {
	for granted, want := range map[uint64]Verdict{2: Ok, 1: Illegal} {
		h := parse(t, "1-2 d1 lead e1 dispatcher = ok\n 3-4 d1 confirm e1 dispatcher = ok")
		for i := range history.Seq(70) {
			h.Operations = append(h.Operations, history.Operation{Verb: history.Confirm, Detail: dispatcherRole, Epoch: 1,
				Outcome: history.Fail, Code: history.Fenced, Call: 5 + i, Return: 1000 + i})
		}
		h.Operations = append(h.Operations, history.Operation{Verb: history.Lead, Detail: dispatcherRole, Epoch: granted,
			Outcome: history.OK, Call: 100, Return: 101})
		if got := Check(h, Options{}).Leadership; got.Verdict != want || got.Fallbacks != 1 {
			t.Errorf("epoch %d granted: %v with %d fallbacks, want %v with one", granted, got.Verdict, got.Fallbacks, want)
		}
	}
}

// Operations that have happened in every order give their slots back, even while their callers wait: 40 starts are refused
// once another one is let in, and 40 reads see what comes after.
func TestSlotsAreGivenBack(t *testing.T) {
	h := parse(t, "1-2 client submit = pending\n 3-4 d1 claim t5 = running")
	waiting := func(o history.Operation) {
		for range 40 {
			o.Task, o.Process, o.Token = 1, 1, 5
			o.Call = h.Operations[len(h.Operations)-1].Call + 1
			o.Return = o.Call + 1000
			h.Operations = append(h.Operations, o)
		}
	}
	waiting(history.Operation{Verb: history.Start, Detail: "u2", Outcome: history.Fail, Code: history.Refused})
	h.Operations = append(h.Operations, history.Operation{Verb: history.Start, Detail: "u1", Outcome: history.OK, Task: 1, Process: 2, Token: 5, Call: 50, Return: 51})
	waiting(history.Operation{Verb: history.Read, Outcome: history.OK, Phase: history.Failed})
	h.Operations[43].Call = 52
	h.Operations = append(h.Operations, history.Operation{Verb: history.Conclude, Detail: "deadline", Outcome: history.OK, Task: 1, Process: 2, Token: 5, Call: 200, Return: 201})
	if got := Check(h, Options{Narrow: true}).Ledger; got.Verdict != Ok || got.Fallbacks != 0 {
		t.Errorf("%v with %d fallbacks, want ok without", got.Verdict, got.Fallbacks)
	}
}

func TestBudget(t *testing.T) {
	over, cancel := context.WithTimeout(context.Background(), -time.Second)
	defer cancel()
	for name, o := range map[string]Options{
		"steps":          {Budget: Budget{Steps: 20}},
		"configurations": {Budget: Budget{Configurations: 2}},
		"time":           {Context: over},
	} {
		got := Check(lostClaims(14, false), o).Ledger
		if got.Verdict != Unknown || got.Undecided != 1 {
			t.Errorf("a budget of too few %s: %v, want unknown", name, got.Verdict)
		}
	}
	if got := Check(crowd(70, 2), Options{Budget: Budget{Steps: 100}}).Ledger; got.Verdict != Unknown {
		t.Errorf("porcupine with too few steps: %v, want unknown", got.Verdict)
	}
}

// Illegal wins over Unknown, and every illegal task is counted.
func TestVerdictOfSeveralTasks(t *testing.T) {
	h := (&synthetic{tasks: 50, illegal: 20}).history()
	got := Check(h, Options{Narrow: true})
	if l := got.Ledger; l.Verdict != Illegal || l.Illegal != 1 || l.Partitions != 50 || l.Failures[0].Task != 20 {
		t.Errorf("got %+v, want task 20 of 50 illegal", l)
	}
	f := got.Ledger.Failures[0]
	if o := h.Operations[f.Culprit]; o.Task != 20 || o.Verb != history.Start {
		t.Errorf("the culprit is %v of task %d, want the second worker's start", o.Verb, o.Task)
	}
	if len(f.Operations) < 8 || f.Prefix < 7 {
		t.Errorf("%d operations, of which %d in order: too few", len(f.Operations), f.Prefix)
	}
}

func TestVisualize(t *testing.T) {
	h := parse(t, begun+"9-10 w2 start t5 u2 = running")
	f := Check(h, Options{Narrow: true}).Ledger.Failures[0]
	var page bytes.Buffer
	if err := Visualize(&page, h, true, f); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"start by w2 with token 5, u2 was accepted", "running, executing with token 5"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}
