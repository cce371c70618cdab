package linearize

import (
	"strings"
	"testing"

	"github.com/squall-chaos/squall/checker/history"
)

// begun is how most histories begin: a task that executes as token 5 in workload u1.
const begun = `
	1-2 client submit = pending
	3-4 d1 claim t5 e1 = running
	5-6 d1 launched t5 e1 u1 = running
	7-8 w1 start t5 u1 = running
`

var ledgerCases = []struct {
	rule, history string
	want          Verdict
	says          string // in the explanation
}{
	{"the straight way", begun + "9-10 w1 finish t5 succeeded = succeeded\n 11-12 client read t5 = succeeded", Ok, ""},
	{"a read sees the row as it was during the read", "1-2 c submit = pending\n 3-9 c read = pending\n 4-5 d claim t1 = running", Ok, ""},
	{"a read does not see what is over", "1-2 c submit = pending\n 3-4 d claim t1 = running\n 5-9 c read = pending", Illegal,
		"read by c read pending with token 0 (call #5, return #9) fits in no order: after the 2 operations that returned before it the row of task a can only be running, launching with token 1 (since claim by d, call #3)"},
	{"a read sees the token that goes with the phase", "1-2 c submit = pending\n 3-4 d claim t1 = running\n 5-6 c read t2 = running", Illegal, "read running with token 2"},
	{"a read of what is not there", "1-2 c read = not-found\n 3-4 c submit = pending", Ok, ""},
	{"a row does not vanish", "1-2 c submit = pending\n 3-4 c read = not-found", Illegal, "found no row"},

	{"a repeated submit changes nothing", begun + "9-10 client submit = running", Ok, ""},
	{"a submit does not start over", begun + "9-10 client submit = pending", Illegal, "submit by client"},
	{"another spec conflicts with a row", "1-2 c submit = pending\n 3-4 c submit = conflict", Ok, ""},
	{"another spec does not conflict with nothing", "1-2 c submit = conflict", Illegal, "met a conflict"},

	{"two claims of one task", "1-2 c submit = pending\n 3-9 d1 claim t1 = running\n 4-8 d2 claim t2 = running", Illegal, "claim by d"},
	{"a launching task is taken over with its token", "1-2 c submit = pending\n 3-4 d1 claim t1 = running\n 5-6 d2 claim t1 = running", Ok, ""},
	{"a launched task is not taken over", "1-2 c submit = pending\n 3-4 d1 claim t1 = running\n 5-6 d1 launched t1 u1 = running\n 7-8 d2 claim t1 = running", Illegal, "claim by d2"},
	{"a token is not granted twice", begun + "9-10 w1 finish t5 failed = pending\n 11-12 r cleaned t5 = pending\n 13-14 d1 claim t5 = running", Illegal, "claim by d1 with token 5"},
	{"tokens only grow", begun + "9-10 w1 finish t5 failed = pending\n 11-12 r cleaned t5 = pending\n 13-14 d1 claim t4 = running", Illegal, "claim by d1 with token 4"},
	{"no claim before the cleanup", begun + "9-10 w1 finish t5 failed = pending\n 13-14 d1 claim t6 = running", Illegal, "cleanup owed"},
	{"no claim of what is to be cancelled", begun + "9-10 r requeue t5 lost = pending\n 11-12 c cancel = pending cancelling\n 13-14 d claim t6 = running", Illegal, "to be cancelled"},

	{"the start of the current attempt may be repeated", begun + "9-10 w1 start t5 u1 = running", Ok, ""},
	{"a start before its launch is recorded", "1-2 c submit = pending\n 3-4 d claim t1 = running\n 5-6 w start t1 u1 = running\n 7-8 d launched t1 u1 = running", Ok, ""},
	{"two workloads of one attempt", begun + "9-10 w2 start t5 u2 = running", Illegal, "start by w2"},
	{"the second workload is refused", begun + "9-10 w2 start t5 u2 = refused", Ok, ""},
	{"the first workload is not refused", begun + "9-10 w1 start t5 u1 = refused", Illegal, "was refused"},
	{"a superseded attempt", begun + "9-10 r requeue t5 lost = pending\n 11-12 r cleaned t5 = pending\n 13-14 d claim t6 = running\n 15-16 w1 start t5 u1 = running", Illegal, "token 6"},
	{"a superseded attempt is refused", begun + "9-10 r requeue t5 lost = pending\n 11-12 w1 start t5 u1 = refused", Ok, ""},
	{"a start after an acknowledged cancel", "1-2 c submit = pending\n 3-4 d claim t1 = running\n 5-6 c cancel = running cancelling\n 7-8 w start t1 u1 = running", Illegal, "to be cancelled"},
	{"a start refused by a concurrent cancel", "1-2 c submit = pending\n 3-4 d claim t1 = running\n 5-9 c cancel = running cancelling\n 6-7 w start t1 u1 = refused", Ok, ""},

	{"a result without a start", "1-2 c submit = pending\n 3-4 d claim t1 = running\n 5-6 w finish t1 succeeded = succeeded", Illegal, "finish by w"},
	{"a repeated result is accepted", begun + "9-10 w1 finish t5 succeeded = succeeded\n 11-12 w1 finish t5 succeeded = succeeded", Ok, ""},
	{"another result is not", begun + "9-10 w1 finish t5 failed = pending\n 11-12 w1 finish t5 succeeded = succeeded", Illegal, "finish by w1"},
	{"a repeated result is not refused", begun + "9-10 w1 finish t5 succeeded = succeeded\n 11-12 w1 finish t5 succeeded = refused", Illegal, "was refused"},
	{"a late repetition, even after the next claim", begun + "9-10 w1 finish t5 failed = pending\n 11-12 r cleaned t5 = pending\n 13-14 d claim t6 = running\n 15-16 w1 finish t5 failed = running", Ok, ""},
	{"a stale result counts", begun + "9-10 r requeue t5 lost = pending\n 11-12 w1 finish t5 succeeded = succeeded", Illegal, "finish by w1 with token 5, succeeded"},
	{"a stale result is refused", begun + "9-10 r requeue t5 lost = pending\n 11-12 w1 finish t5 succeeded = refused", Ok, ""},
	{"workers of one name are told apart where they can be", begun + "9-10 w1 start t5 u2 = refused\n 11-12 w1 finish t5 succeeded = succeeded\n 13-14 w1 finish t5 succeeded = refused", Ok, ""},
	{"a failure that spends the budget", begun + "9-10 w1 finish t5 failed = needs-attention\n 11-12 c resume = pending", Ok, ""},

	{"requeued once", begun + "9-12 r1 requeue t5 lost = pending\n 10-11 r2 requeue t5 lost = pending", Illegal, "requeue by r"},
	{"a conflict proves nothing", begun + "9-10 r1 requeue t5 lost = conflict", Ok, ""},
	{"given back", "1-2 c submit = pending\n 3-4 d claim t1 = running\n 5-6 d unclaim t1 = pending\n 7-8 c read = pending\n 9-10 d claim t2 = running", Ok, ""},
	{"given back, but its worker is let in", "1-2 c submit = pending\n 3-4 d claim t1 = running\n 5-6 d unclaim t1 = pending\n 7-8 w start t1 u1 = running", Illegal, "start by w"},
	{"what executes is not given back", begun + "9-10 d unclaim t5 = pending", Illegal, "unclaim by d"},
	{"rejected", "1-2 c submit = pending\n 3-4 d claim t1 = running\n 5-6 d reject t1 = failed", Ok, ""},
	{"rejected while it executes", begun + "9-10 d reject t5 = failed", Illegal, "reject by d"},

	{"cancelled at once", "1-2 c submit = pending\n 3-4 c cancel = cancelled", Ok, ""},
	{"cancelled too early", begun + "9-10 c cancel = cancelled", Illegal, "cancel by c"},
	{"cancelled in the end", begun + "9-10 c cancel = running cancelling\n 11-12 r conclude t5 cancelled = cancelled", Ok, ""},
	{"cancelled without a request", begun + "11-12 r conclude t5 cancelled = cancelled", Illegal, "conclude by r"},
	{"a cancel that waits for cleanup", begun + "9-10 w1 finish t5 failed = pending\n 11-12 c cancel = pending cancelling\n 13-14 r cleaned t5 = cancelled", Ok, ""},
	{"an acknowledged cancel is not forgotten", begun + "9-10 c cancel = running cancelling\n 11-12 r requeue t5 lost = pending", Illegal, "requeue by r"},
	{"a result after an acknowledged cancel", begun + "9-10 c cancel = running cancelling\n 11-12 w1 finish t5 succeeded = succeeded", Illegal, "finish by w1"},
	{"what is stopped stays as it is", begun + "9-10 w1 finish t5 succeeded = succeeded\n 11-12 c cancel = succeeded", Ok, ""},
	{"a terminal phase changes", begun + "9-10 w1 finish t5 succeeded = succeeded\n 11-12 c cancel = cancelled", Illegal, "cancel by c"},
	{"past its deadline", begun + "9-10 r conclude t5 deadline = failed", Ok, ""},
	{"resumed without need", begun + "9-10 c resume = pending", Illegal, "resume by c"},
	{"resumed without need, a conflict", begun + "9-10 c resume = conflict", Ok, ""},
	{"not resumed in need", begun + "9-10 w1 finish t5 failed = needs-attention\n 11-12 c resume = conflict", Illegal, "met a conflict"},
}

func TestLedger(t *testing.T) {
	for _, c := range ledgerCases {
		t.Run(c.rule, func(t *testing.T) { expect(t, parse(t, c.history), Options{Narrow: true}, c.want, c.says) })
	}
}

// expect checks the ledger with both searches.
func expect(t *testing.T, h *history.History, o Options, want Verdict, says string) {
	t.Helper()
	got := Check(h, o).Ledger
	if got.Verdict != want {
		t.Errorf("verdict %v, want %v: %v", got.Verdict, want, got.Failures)
	}
	if want == Illegal && len(got.Failures) == 1 && !strings.Contains(got.Failures[0].Explanation, says) {
		t.Errorf("explanation %q does not say %q", got.Failures[0].Explanation, says)
	}
	if other := referenceVerdict(h, o); other != want {
		t.Errorf("porcupine says %v, want %v", other, want)
	}
}

func TestUnknownOutcomes(t *testing.T) {
	const running = "1-2 c submit = pending\n 3-4 d1 claim t5 = running\n"
	for _, c := range []struct {
		rule, history string
		narrow        bool
		want          Verdict
	}{
		{"applied: the next may build on it", "1-2 c submit = pending\n 3-9 d1 claim t5 = applied 5 running\n 6-7 w start t5 u1 = running", true, Ok},
		{"applied: it did not happen after its effect", running + "5-6 w start t5 u1 = applied 7 running\n 8-9 d1 unclaim t5 = pending", true, Illegal},
		{"applied: later reads see it", running + "5-9 c cancel = applied 6 running cancelling\n 7-8 c read t5 = running", true, Illegal},
		{"applied: earlier reads need not", running + "5-9 c cancel = applied 8 running cancelling\n 6-7 c read t5 = running", true, Ok},
		{"applied, and not visible at once", running + "5-6 c cancel = applied 7..10 running cancelling\n 8-9 c read t5 = running", true, Ok},
		{"applied, and visible by then", running + "5-6 c cancel = applied 7..8 running cancelling\n 9-10 c read t5 = running", true, Illegal},
		{"not narrowed, it may not have happened", running + "5-6 w start t5 u1 = applied 7 running\n 8-9 d1 unclaim t5 = pending", false, Ok},
		{"dropped: nothing may build on it", running + "5-6 d1 launched t5 u1 = dropped\n 7-8 w start t5 u2 = refused", true, Illegal},
		{"not narrowed, it may have happened", running + "5-6 d1 launched t5 u1 = dropped\n 7-8 w start t5 u2 = refused", false, Ok},
		{"no log: it happened", running + "5-6 w start t5 u1 = lost\n 7-8 w finish t5 succeeded = succeeded", true, Ok},
		{"no log: it happened late", running + "5-6 c cancel = lost\n 7-8 w start t5 u1 = running\n 9-10 c read t5 = running cancelling", true, Ok},
		{"no log: it did not happen", running + "5-6 c cancel = lost\n 7-8 w start t5 u1 = running\n 9-10 w finish t5 succeeded = succeeded", true, Ok},
		{"no log: it cannot have happened before its call", running + "5-6 w start t5 u1 = refused\n 7-8 c cancel = lost", true, Illegal},
		{"no log: it happens once", running + "5-6 r requeue t5 lost = lost\n 7-8 w start t5 u1 = refused\n 9-10 r requeue t5 lost = pending\n 11-12 w start t5 u1 = running", true, Illegal},
		{"no log: the budget may be spent", running + "5-6 r requeue t5 lost = lost\n 7-8 c resume = pending", true, Ok},
		{"a lost claim grants the token that turns up", "1-2 c submit = pending\n 3-4 d claim = lost\n 5-6 w start t7 u1 = running", true, Ok},
		{"a lost claim grants one token", "1-2 c submit = pending\n 3-4 d claim = lost\n 5-6 w start t7 u1 = running\n 7-8 w start t8 u2 = running", true, Illegal},
		{"a lost claim whose token nobody saw", "1-2 c submit = pending\n 3-4 d claim = lost\n 5-6 c cancel = running cancelling", true, Ok},
		{"a claim of which not even the task is known", "1-2 c submit = pending\n 3-4 d claim nobody = lost\n 5-6 w start t7 u1 = running", true, Ok},
		{"but the server's log knows that it claimed nothing", "1-2 c submit = pending\n 3-4 d claim nobody = dropped\n 5-6 w start t7 u1 = running", true, Illegal},
	} {
		t.Run(c.rule, func(t *testing.T) { expect(t, parse(t, c.history), Options{Narrow: c.narrow}, c.want, "") })
	}
}

// A start deadline passes without anybody's call: the next Claim fails the task on the side, and the store's clock
// turns a late worker away.
func TestStartDeadline(t *testing.T) {
	for _, c := range []struct {
		rule, history string
		deadline      bool
		want          Verdict
	}{
		{"missed while pending", "1-2 c submit = pending\n 3-4 c read = failed", true, Ok},
		{"no deadline to miss", "1-2 c submit = pending\n 3-4 c read = failed", false, Illegal},
		{"missed once it runs", begun + "9-10 c read t5 = failed", true, Illegal},
		{"a worker that is late", "1-2 c submit = pending\n 3-4 d claim t1 = running\n 5-6 w start t1 u1 = refused", true, Ok},
		{"a worker that was let in before", begun + "9-10 w1 start t5 u1 = refused", true, Illegal},
	} {
		t.Run(c.rule, func(t *testing.T) {
			h := parse(t, c.history)
			if c.deadline {
				h.Specs = []history.Spec{{StartDeadline: 1}}
			}
			expect(t, h, Options{Narrow: true}, c.want, "")
		})
	}
}
