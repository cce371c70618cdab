package linearize

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/squall-chaos/squall/checker/history"
)

func TestLeadership(t *testing.T) {
	const led = "1-2 d1 lead e1 dispatcher = ok\n"
	const deposed = led + "3-4 d2 lead e2 dispatcher = ok\n"
	for _, c := range []struct {
		rule, history string
		want          Verdict
		says          string
	}{
		{"one leader", led + "3-4 d1 confirm e1 dispatcher = ok\n 5-6 d1 claim nobody e1 = ok", Ok, ""},
		{"nobody led yet", "1-2 d1 confirm e1 dispatcher = ok", Illegal, "confirm by d1 with epoch 1, dispatcher was accepted (call #1, return #2) fits in no order: at the start the newest epoch of the dispatcher can only be none"},
		{"a deposed leader's write is accepted", deposed + "5-6 d1 claim t1 e1 = running", Illegal, "can only be 2 (since lead by d2, call #3)"},
		{"a deposed leader's write is fenced", deposed + "5-6 d1 claim nobody e1 = fenced", Ok, ""},
		{"the new leader is fenced", deposed + "5-6 d2 claim nobody e2 = fenced", Illegal, "was fenced"},
		{"a fence during the change", led + "3-6 d2 lead e2 dispatcher = ok\n 4-5 d1 claim nobody e1 = fenced", Ok, ""},
		{"a write during the change", led + "3-8 d2 lead e2 dispatcher = ok\n 4-5 d1 claim nobody e1 = ok\n 6-7 d1 confirm e1 dispatcher = fenced", Ok, ""},
		{"back and forth during the change", led + "3-8 d2 lead e2 dispatcher = ok\n 4-5 d1 claim nobody e1 = fenced\n 6-7 d1 confirm e1 dispatcher = ok", Illegal, "d1"},
		{"an epoch is granted twice", led + "3-4 d2 lead e1 dispatcher = ok", Illegal, "lead by d2"},
		{"the roles know nothing of each other", led + "3-4 r1 lead e1 reconciler = ok\n 5-6 r1 requeue t1 e1 lost = pending\n 7-8 d1 launched t1 e1 u = running", Ok, ""},
		{"a conflict says nothing", deposed + "5-6 d1 unclaim t1 e1 = conflict", Ok, ""},
		{"a stale write took effect, its reply was lost", deposed + "5-9 d1 claim t1 e1 = applied 6 running", Illegal, "took effect, says the server's log"},
		{"a stale write that never arrived", deposed + "5-9 d1 claim t1 e1 = dropped", Ok, ""},
		{"one of a claim's tasks is as good as all", led + "3-9 d1 claim t1 e1 = running\n 3-9 d1 claim t2 e1 = running\n 4-5 d2 lead e2 dispatcher = ok", Ok, ""},
		{"a lost lead fences", led + "3-4 d2 lead dispatcher = lost\n 5-6 d1 claim nobody e1 = fenced", Ok, ""},
		{"a lost lead may not have happened", led + "3-4 d2 lead dispatcher = lost\n 5-6 d1 claim nobody e1 = ok", Ok, ""},
		{"a lost lead's epoch may turn up", led + "3-4 d2 lead dispatcher = lost\n 5-6 d2 claim nobody e2 = ok", Ok, ""},
		{"a lost lead's epoch is one", led + "3-4 d2 lead dispatcher = lost\n 5-6 d2 claim nobody e2 = ok\n 7-8 d2 claim nobody e3 = ok", Illegal, "epoch 3"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			h := parse(t, c.history)
			got := Check(h, Options{Narrow: true}).Leadership
			if got.Verdict != c.want {
				t.Errorf("verdict %v, want %v: %v", got.Verdict, c.want, got.Failures)
			}
			if c.want == Illegal && len(got.Failures) == 1 && !strings.Contains(got.Failures[0].Explanation, c.says) {
				t.Errorf("explanation %q does not say %q", got.Failures[0].Explanation, c.says)
			}
			if other := referenceLeadership(h); other != c.want {
				t.Errorf("porcupine says %v, want %v", other, c.want)
			}
		})
	}
}

// referenceLeadership is porcupine's verdict on leadership, role by role.
func referenceLeadership(h *history.History) Verdict {
	c := &leadershipCheck{h: h, narrow: true, leads: partition(h, true).leads}
	for _, role := range []string{dispatcherRole, reconcilerRole} {
		r := &roleCheck{role: role}
		r.model.epochs = c.epochs(role)
		ops := c.operations(r)
		if byPorcupine(ops, reference([]term{0}, r.model.step, hashTerm, unbounded()), unbounded()) != going {
			return Illegal
		}
	}
	return Ok
}

// The search, porcupine and a trial of all orders must agree on random terms.
func TestLeadershipAgreesWithReference(t *testing.T) {
	illegal := 0
	for n := range partitionsOf(t, 10_000) {
		h := drawTerms(rand.New(rand.NewPCG(uint64(n), 11)))
		got := Check(h, Options{Narrow: true}).Leadership
		if got.Verdict == Illegal {
			illegal++
		}
		if want := referenceLeadership(h); got.Verdict != want {
			t.Fatalf("partition %d: the search says %v, porcupine %v", n, got.Verdict, want)
		}
		c := &leadershipCheck{h: h, narrow: true, leads: partition(h, true).leads}
		r := &roleCheck{role: dispatcherRole}
		r.model.epochs = c.epochs(r.role)
		if ops := c.operations(r); len(ops) <= 6 {
			if all := bruteForce(term(0), pointers(ops), r.model.step); all != (got.Verdict == Ok) {
				t.Fatalf("partition %d: the search says %v, a trial of all orders %v", n, got.Verdict, all)
			}
		}
	}
	if illegal < 1_000 {
		t.Errorf("only %d were illegal", illegal)
	}
}

// drawTerms makes up a few leads and writes of one role; about half of the histories are legal.
func drawTerms(r *rand.Rand) *history.History {
	h := &history.History{}
	epoch, stamps := uint64(0), r.Perm(60)
	for i := range 3 + r.IntN(6) {
		o := history.Operation{Verb: history.Confirm, Detail: dispatcherRole, Outcome: history.OK, Epoch: epoch}
		o.Call, o.Return = history.Seq(i*6+1+stamps[2*i]/8), history.Seq(i*6+8+stamps[2*i+1]/4)
		switch {
		case i == 0 || r.IntN(3) == 0:
			epoch++
			o.Verb, o.Epoch = history.Lead, epoch
			if r.IntN(4) == 0 {
				o.Outcome, o.Applied, o.Epoch = history.Unknown, history.Unknown, 0
			}
		case r.IntN(3) == 0 && epoch > 1:
			o.Outcome, o.Code, o.Epoch = history.Fail, history.Fenced, epoch-uint64(r.IntN(2))
		case r.IntN(8) == 0:
			o.Epoch++
		}
		h.Operations = append(h.Operations, o)
	}
	slices.SortStableFunc(h.Operations, func(a, b history.Operation) int { return cmp.Compare(a.Call, b.Call) })
	return h
}
