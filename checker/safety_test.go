package checker_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker"
)

func checkViolation(t *testing.T, v checker.Violation, promise error) {
	t.Helper()
	if !errors.Is(v.Err, promise) || !strings.HasPrefix(v.Err.Error(), promise.Error()+": ") {
		t.Errorf("error %q does not wrap the promise %q", v.Err, promise)
	}
	if v.Seq == 0 || len(v.Evidence) == 0 {
		t.Errorf("violation without place or evidence: %+v", v)
	}
}

func TestOverlap(t *testing.T) {
	judge(t, "I1-overlap", checker.ErrOverlap, []verdict{
		{
			name: "one after the other", want: checker.Valid, margin: 2 * time.Second,
			story: `
				1  row t17 running #17
				2  work-started t17 #17 u1 n1
				8  work-ended t17 #17 u1 n1
				9  row t17 running #44
				10 work-started t17 #44 u2 n2
				15 work-ended t17 #44 u2 n2`,
		},
		{
			name: "two at once", want: checker.Invalid, margin: -42 * time.Second,
			story: `
				1   row t17 running #17
				2   work-started t17 #17 u1 spot-2 n1
				300 row t17 running #44
				361 work-started t17 #44 u2 n2
				403 work-ended t17 #17 u1 n1
				500 work-ended t17 #44 u2 n2`,
			messages: []string{"t17 ran twice at once for 42 s: attempt 1 (token 17) on n1 until 403 s, attempt 2 (token 44) on n2 from 361 s"},
		},
		{
			name: "two objects of one attempt", want: checker.Invalid,
			story: `
				1 row t1 running #1
				2 work-started t1 #1 u1 n1
				3 work-started t1 #1 u2 n2
				5 work-ended t1 #1 u1 n1
				6 work-ended t1 #1 u2 n2`,
			messages: []string{"t1 ran twice at once for 2 s: object u1 of attempt 1 (token 1) on n1 until 5 s, object u2 of attempt 1 (token 1) on n2 from 3 s"},
		},
		{
			name: "the third overlaps with the first", want: checker.Invalid,
			story: `
				1 row t1 running #1
				1 work-started t1 #1 u1
				2 row t1 running #2
				2 work-started t1 #2 u2
				3 work-ended t1 #2 u2
				4 row t1 running #3
				5 work-started t1 #3 u3
				6 work-ended t1 #3 u3
				9 ended`,
			messages: []string{
				"t1 ran twice at once for 1 s: attempt 1 (token 1) until after the end of the run, attempt 2 (token 2) from 2 s",
				"t1 ran twice at once for 1 s: attempt 1 (token 1) until after the end of the run, attempt 3 (token 3) from 5 s",
			},
		},
		{
			name: "a start asked for again is no second one", want: checker.NotExercised,
			story: `
				1 work-started t1 #1 u1
				2 work-started t1 #1 u1
				3 work-ended t1 #1 u1`,
		},
		{
			name: "two tasks at once", want: checker.NotExercised,
			story: `
				1 work-started t1 #1 u1
				1 work-started t2 #2 u2`,
		},
	})
}

func TestEffect(t *testing.T) {
	judge(t, "I1-effect", checker.ErrEffect, []verdict{
		{
			name: "the late result is refused", want: checker.Valid,
			story: `
				1 row t1 running #1
				5 effect-counted t1 #2 u2
				6 effect-refused t1 #1 u1`,
		},
		{
			name: "counted, lost and counted again", want: checker.Valid,
			story: `
				5 effect-counted t1 #1
				6 effect-lost t1 #1
				7 effect-counted t1 #2`,
		},
		{
			name: "both are counted", want: checker.Invalid,
			story: `
				1 row t1 running #1
				2 row t1 running #2
				5 effect-counted t1 #1
				6 effect-counted t1 #2`,
			messages: []string{"the effect of t1 was counted twice: of attempt 1 (token 1) at 5 s, and of attempt 2 (token 2) again at 6 s"},
		},
		{name: "once", want: checker.NotExercised, story: `5 effect-counted t1 #1`},
	})
}

func TestCancel(t *testing.T) {
	const running = `
		1  row t1 running #1
		2  work-started t1 #1 u1 n1
		10 cancel client t1 running cancelling
		10 row t1 running #1 cancelling
		`
	judge(t, "I4-cancel", checker.ErrCancel, []verdict{
		{
			name: "dead within the grace", want: checker.Valid, margin: 5 * time.Second,
			story: running + `25 work-ended t1 #1 u1`,
		},
		{
			name: "alive for too long", want: checker.Invalid, margin: -5 * time.Second,
			story: running + `35 work-ended t1 #1 u1`,
			messages: []string{
				"t1 was alive 25 s after its cancel was acknowledged at 10 s (attempt 1 (token 1) on n1 until 35 s), where pod_grace + 10 s allow 20 s"},
		},
		{
			name: "alive for long, while the node was cut off", want: checker.Valid,
			story: `
				1  row t1 running #1
				2  work-started t1 #1 u1 n1
				5  fault-struck f1
				10 cancel client t1 running cancelling
				10 row t1 running #1 cancelling
				20 fault-healed f1 due=10
				35 work-ended t1 #1 u1`,
		},
		{
			name: "starts after it", want: checker.Invalid,
			story: `
				1  row t1 running #1
				10 cancel client t1 running cancelling
				12 work-started t1 #1 u1 n1
				13 work-ended t1 #1 u1`,
			messages: []string{"t1 began to run at 12 s (attempt 1 (token 1) on n1) although its cancel was acknowledged at 10 s"},
		},
		{
			name: "the effect is counted after it", want: checker.Invalid,
			story:    running + `12 effect-counted t1 #1`,
			messages: []string{"the effect of t1 was counted at 12 s (attempt 1 (token 1)) although its cancel was acknowledged at 10 s"},
		},
		{
			name: "a cancel just after success stays a success", want: checker.NotExercised,
			story: `
				1  row t1 running #1
				2  work-started t1 #1 u1
				9  effect-counted t1 #1
				9  row t1 succeeded #1 cleanup
				10 cancel client t1 succeeded
				40 work-ended t1 #1 u1`,
		},
		{
			name: "a cancel that nobody was told of and that was lost", want: checker.NotExercised,
			story: `
				1  row t1 running #1
				10 cancel client t1 running cancelling unknown
				10 row t1 running #1 cancelling
				11 row t1 running #1
				12 work-started t1 #1 u1`,
		},
	})
}

func TestBudget(t *testing.T) {
	judge(t, "I5-budget", checker.ErrBudget, []verdict{
		{
			name: "charged for what ran", want: checker.Valid,
			story: `
				1 row t1 running #1
				2 work-started t1 #1 u1
				3 row t1 pending #1 failures=1 cleanup "work_failed"
				4 row t1 running #2 failures=1
				5 work-started t1 #2 u2
				6 row t1 needs-attention #2 failures=2 cleanup "failure_budget_spent"`,
		},
		{
			name: "charged without having run", want: checker.Invalid,
			story: `
				1 row t1 running #1
				3 row t1 pending #1 failures=1 cleanup "work_failed"`,
			messages: []string{"t1 was charged 1 failure by 3 s (work failed) although its container had begun only 0 times"},
		},
		{
			name: "evicted, and charged to the work", want: checker.Invalid,
			story: `
				1 row t1 running #1
				2 container-started t1 #1 u1
				2 work-started t1 #1 u1
				8 object-phase t1 #1 u1 "failed_Evicted"
				9 requeue reconciler-1 t1 #1 "work_failed"`,
			messages: []string{"t1 was charged with a failure of attempt 1 (token 1) by reconciler-1 at 9 s although its workload had been evicted by 8 s"},
		},
		{
			name: "runs for ever", want: checker.Invalid,
			story: `
				1 work-started t1 #1 u1
				2 work-started t1 #2 u2
				3 work-started t1 #3 u3
				4 work-started t1 #4 u4
				5 work-started t1 #5 u5
				6 work-started t1 #6 u6`,
			messages: []string{"t1 ran for the 5. time at 5 s, where 2 failures and 2 disruptions allow 4"},
		},
		{
			name: "resumed with fresh budgets", want: checker.Valid,
			story: `
				1 work-started t1 #1 u1
				2 work-started t1 #2 u2
				3 work-started t1 #3 u3
				4 work-started t1 #4 u4
				5 row t1 needs-attention #4 failures=2 disruptions=2
				6 resume person t1 pending
				6 row t1 pending #4
				7 work-started t1 #5 u5`,
		},
	})
}

func TestRate(t *testing.T) {
	creates := func(n int, apart float64) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%g create dispatcher-1 t1 #1 throttled\n", float64(i)*apart)
		}
		return b.String()
	}
	gets := func(n int, apart float64) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%g get reconciler-1 t1\n", 60+float64(i)*apart)
		}
		return b.String()
	}
	three := limits
	three.CallsPerMinute = 3
	judge(t, "I5-rate", checker.ErrRate, []verdict{
		{name: "every two seconds", want: checker.Valid, story: creates(90, 2)},
		{
			name: "every second", want: checker.Invalid, story: creates(90, 1),
			messages: []string{"dispatcher-1 for t1 called create 31 times in a minute, from 0 s to 30 s, where 30 are allowed"},
		},
		{
			name: "more lists than the limit", limits: &three, want: checker.Invalid,
			story: `
				1   list reconciler-1
				2   list reconciler-1
				3   list reconciler-2
				4   list reconciler-1
				90  list reconciler-1
				91  list reconciler-1
				92  list reconciler-1
				93  list reconciler-1 unavailable`,
			messages: []string{"reconciler-1 called list 4 times in a minute, from 90 s to 93 s, where 3 are allowed"},
		},
		{
			name: "more calls than the limit, about as many tasks", limits: &three, want: checker.Valid,
			story: `
				1 delete reconciler-1 t1
				1 delete reconciler-1 t2
				1 delete reconciler-1 t3
				1 delete reconciler-1 t4
				2 delete reconciler-1 t5`,
		},
		{
			name: "more calls than the limit, about one task after others", limits: &three, want: checker.Invalid,
			story:    "1 get reconciler-1 t2\n" + gets(13, 2),
			messages: []string{"reconciler-1 called get 13 times in a minute, from 60 s to 84 s, where 3 are allowed"},
		},
		{
			name: "one claim of many tasks is one call", limits: &three, want: checker.NotExercised,
			story: `
				1 claim dispatcher-1 t1 #1
				1 claim dispatcher-1 t2 #2 call=1
				1 claim dispatcher-1 t3 #3 call=1
				1 claim dispatcher-1 t4 #4 call=1`,
		},
	})
}

func TestFence(t *testing.T) {
	judge(t, "I6-fence", checker.ErrFence, []verdict{
		{
			name: "the old leader is refused", want: checker.Valid,
			story: `
				1 lead dispatcher-1 @1 "dispatcher"
				2 claim dispatcher-1 t1 #1 @1
				3 lead dispatcher-2 @2 "dispatcher"
				4 launched dispatcher-1 t1 #1 @1 fenced
				5 launched dispatcher-2 t1 #1 @2`,
		},
		{
			name: "the old leader's write is accepted", want: checker.Invalid,
			story: `
				1 lead dispatcher-1 @1 "dispatcher"
				2 claim dispatcher-1 t1 #1 @1
				3 lead dispatcher-2 @2 "dispatcher"
				4 launched dispatcher-1 t1 #1 @1`,
			messages: []string{"the store accepted launched of t1 from dispatcher-1, called at 4 s in term 1 of the dispatcher, although dispatcher-2 had been granted term 2"},
		},
		{
			name: "it lies about its epoch", want: checker.Invalid,
			story: `
				1 lead reconciler-1 @1 "reconciler"
				3 lead reconciler-2 @2 "reconciler"
				4 requeue reconciler-1 t1 #1 @2`,
			messages: []string{"the store accepted requeue of t1 from reconciler-1, called at 4 s in term 1 of the reconciler, although reconciler-2 had been granted term 2"},
		},
		{
			name: "a write of an earlier term arrives late", want: checker.Invalid,
			story: `
				1 lead reconciler-1 @1 "reconciler"
				2 requeue reconciler-1 t1 #1 @1 unknown effect=5
				3 lead reconciler-1 @2 "reconciler"
				6 ended`,
			messages: []string{"the store accepted requeue of t1 from reconciler-1, called at 2 s in term 1 of the reconciler, although reconciler-1 had been granted term 2"},
		},
		{
			name: "each role has terms of its own", want: checker.NotExercised,
			story: `
				1 lead dispatcher-1 @1 "dispatcher"
				2 lead reconciler-1 @2 "reconciler"
				3 claim dispatcher-1 t1 #1 @1`,
		},
		{
			name: "a superseded ticket is accepted", want: checker.Invalid,
			story: `
				1 claim dispatcher-1 t1 #1 @1
				5 claim dispatcher-1 t1 #2 @1
				6 start worker t1 #1 refused
				7 finish worker t1 #1 "succeeded"`,
			messages: []string{"the store accepted finish of t1 with token 1, called at 7 s, although token 2 had been handed out"},
		},
		{
			name: "without a server's log the call counts", want: checker.NotExercised,
			story: `
				1 claim dispatcher-1 t1 #1 @1
				5 finish worker t1 #1 "failed"
				5 claim dispatcher-1 t1 #2 @1`,
		},
	})
}

func TestLimit(t *testing.T) {
	three := limits
	three.MaxInFlight = 2
	judge(t, "I7-limit", checker.ErrLimit, []verdict{
		{
			name: "a full batch", want: checker.Valid,
			story: `
				1 claim dispatcher-1 t1 #1
				1 claim dispatcher-1 t2 #2 call=1
				2 claim dispatcher-1 t3 #3`,
		},
		{
			name: "one task too many in a claim", want: checker.Invalid,
			story: `
				1 claim dispatcher-1 t1 #1
				1 claim dispatcher-1 t2 #2 call=1
				1 claim dispatcher-1 t3 #3 call=1`,
			messages: []string{"dispatcher-1 claimed more than CLAIM_BATCH_LIMIT (claim_batch) 2 tasks in one call at 1 s"},
		},
		{
			name: "in flight at the limit", limits: &three, want: checker.Valid,
			story: `
				1 row t1 running #1
				1 row t2 running #2
				2 row t1 succeeded #1
				3 row t3 running #3`,
		},
		{
			name: "one too many in flight", limits: &three, want: checker.Invalid,
			story: `
				1 row t1 running #1
				1 row t2 running #2
				3 row t3 running #3`,
			messages: []string{"3 tasks ran at once at 3 s, with t3 as the last, where max_in_flight is 2"},
		},
		{
			name: "two sweeps back to back", want: checker.Valid,
			story: `
				1 requeue reconciler-1 t1
				2 requeue reconciler-1 t2
				3 requeue reconciler-1 t3
				4 requeue reconciler-1 t4
				5 requeue reconciler-2 t5
				6 requeue reconciler-1 t6`,
		},
		{
			name: "more than two sweeps could", want: checker.Invalid,
			story: `
				1 requeue reconciler-1 t1
				2 requeue reconciler-1 t2
				3 requeue reconciler-1 t3
				4 requeue reconciler-1 t4
				4 requeue reconciler-1 t5
				5 requeue reconciler-1 t6`,
			messages: []string{"reconciler-1 requeued 5 tasks in 3 s, from 1 s to 4 s, where two sweeps of RECOVERY_BATCH_LIMIT (recover_batch) 2 each allow 4"},
		},
	})
}

func TestTruth(t *testing.T) {
	judge(t, "I8-truth", checker.ErrTruth, []verdict{
		{
			name: "succeeded with an effect, failed without", want: checker.Valid,
			story: `
				1 row t1 running #1
				2 effect-counted t1 #1
				2 row t1 succeeded #1
				3 row t2 failed #2 "deadline"
				4 row t3 pending
				9 ended`,
		},
		{
			name: "failed although it was done", want: checker.Invalid,
			story: `
				1 row t1 running #1
				2 effect-counted t1 #1
				3 row t1 failed #1 "deadline"
				9 ended`,
			messages: []string{"t1 is recorded as failed at the end, but its effect was counted at 2 s (attempt 1 (token 1))"},
		},
		{
			name: "to be done again although it was done", want: checker.Invalid,
			story: `
				1 row t1 running #1
				2 effect-counted t1 #1
				3 row t1 pending #1
				9 ended`,
			messages: []string{"t1 is recorded as pending at the end, but its effect was counted at 2 s (attempt 1 (token 1))"},
		},
		{
			name: "succeeded without an effect", want: checker.Invalid,
			story: `
				1 row t1 running #1
				2 effect-counted t1 #1
				2 effect-lost t1 #1
				3 row t1 succeeded #1
				9 ended`,
			messages: []string{"t1 has been recorded as succeeded since 3 s, but no effect of it was counted"},
		},
		{name: "the run has no end", want: checker.NotExercised, story: `3 row t1 succeeded #1`},
	})
}

func TestTerminal(t *testing.T) {
	judge(t, "I8-terminal", checker.ErrTerminal, []verdict{
		{
			name: "stays", want: checker.Valid,
			story: `
				1 row t1 running #1
				2 row t1 succeeded #1 cleanup
				3 row t1 succeeded #1`,
		},
		{
			name: "resurrected", want: checker.Invalid,
			story: `
				2 row t1 succeeded #1 cleanup
				3 row t1 pending #1
				4 row t1 running #2
				5 row t1 succeeded #2`,
			messages: []string{"t1 had been succeeded since 2 s and became pending at 3 s"},
		},
		{
			name: "needs attention is left by a person", want: checker.NotExercised,
			story: `
				2 row t1 needs-attention #1
				3 row t1 pending #1`,
		},
	})
}
