package checker_test

import (
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/checker/history"
)

// TestHostile has histories that somebody made up to get something past the checker, and which each invariant once let pass. What comes close and
// is right stands beside them.
func TestHostile(t *testing.T) {
	slow := limits
	slow.Deadline, slow.StartTimeout, slow.MaxDisruptions = 60*time.Second, 300*time.Second, 20
	for _, c := range []struct {
		name      string
		spec      history.Spec
		story     string
		invariant string
		message   string // empty: it is right
	}{
		{
			name: "one of two objects of an attempt has ended, and the other is given up alive", invariant: "I5-false-death",
			story: `
				1 row t1 running #1
				2 work-started t1 #1 u1 n1
				3 work-started t1 #1 u2 n2
				5 work-ended t1 #1 u2 n2
				7 requeue reconciler t1 #1 pending "workload_lost"
				7 row t1 pending #1
				9 work-ended t1 #1 u1 n1`,
			message: "t1 was requeued (workload lost) by reconciler at 7 s although attempt 1 (token 1) was alive on n1, running since 2 s",
		},
		{
			name: "a result of an attempt that was given up, before the next is claimed", invariant: "I6-fence",
			story: `
				1 row t1 running #1
				5 row t1 pending #1 disruptions=1
				6 finish worker-t1 t1 #1 succeeded "succeeded"
				6 row t1 succeeded #1
				6 effect-counted t1 #1 u1`,
			message: "the store accepted a result of t1 at 6 s although no attempt of it was current: it had been pending since 5 s",
		},
		{
			name: "a result after the task had failed", invariant: "I6-fence",
			story: `
				1 row t1 running #1
				5 row t1 failed #1 "deadline"
				6 row t1 succeeded #1
				6 effect-counted t1 #1 u1`,
			message: "the store accepted a result of t1 at 6 s although no attempt of it was current: it had been failed since 5 s",
		},
		{
			name: "failed for a deadline that has not come", invariant: "I3-loss",
			story: `
				1  row t1 pending
				5  row t1 running #1
				20 row t1 failed #1 "deadline"`,
			message: "t1 stopped at 20 s as failed (deadline) with chances left: attempt 1 (token 1) had been claimed only 15 s before, and had 60 s",
		},
		{
			name: "failed for its own deadline, which has", invariant: "I3-loss", spec: history.Spec{Deadline: 14 * time.Second},
			story: `
				1  row t1 pending
				5  row t1 running #1
				20 row t1 failed #1 "deadline"`,
		},
		{
			name: "failed for a start deadline that has not come", invariant: "I3-loss", spec: history.Spec{StartDeadline: 30 * time.Second},
			story: `
				1  row t1 pending
				20 row t1 failed "start_deadline_missed"
				50 row t1 failed "start_deadline_missed" due=60`,
			message: "t1 stopped at 50 s as failed (start deadline missed) with chances left: it had been submitted only 19 s before, and had to begin within 30 s",
		},
		{
			name: "failed for a start deadline that it kept", invariant: "I3-loss", spec: history.Spec{StartDeadline: 30 * time.Second},
			story: `
				1  row t1 pending
				5  row t1 running #1
				9  start worker-t1 t1 #1 running
				9  work-started t1 #1 u1 n1
				40 row t1 failed #1 "start_deadline_missed"`,
			message: "t1 stopped at 40 s as failed (start deadline missed) with chances left: attempt 1 (token 1) had begun by 9 s",
		},
		{
			name: "failed for a start deadline that it missed", invariant: "I3-loss", spec: history.Spec{StartDeadline: 30 * time.Second},
			story: `
				1  row t1 pending
				5  row t1 running #1
				40 row t1 failed #1 "start_deadline_missed"`,
		},
		{
			name: "cancelled, and nobody asked", invariant: "I3-loss",
			story: `
				1  row t1 pending
				20 row t1 cancelled`,
			message: "t1 stopped at 20 s as cancelled although nobody had asked for that",
		},
		{
			name: "cancelled by somebody who got no answer", invariant: "I3-loss",
			story: `
				1  row t1 pending
				20 cancel client t1 unknown applied
				20 row t1 cancelled`,
		},
		{
			name: "a failure that is charged to the disruptions", invariant: "I5-budget",
			story: `
				1  row t1 running #1
				1  object-created t1 #1 u1
				2  container-started t1 #1 u1 n1
				2  work-started t1 #1 u1 n1
				6  work-ended t1 #1 u1 n1
				6  container-ended t1 #1 u1 n1 "exit_137"
				6  object-phase t1 #1 u1 "failed_Error"
				8  get reconciler t1
				9  requeue reconciler t1 #1 pending "workload_lost"
				9  row t1 pending #1 disruptions=1`,
			message: "t1 was requeued (workload lost) by reconciler at 9 s, which no failure is charged for, although the work of attempt 1 (token 1) had failed by itself by 6 s",
		},
		{
			name: "a failure that nobody had seen yet", invariant: "I5-budget",
			story: `
				1  row t1 running #1
				1  object-created t1 #1 u1
				2  container-started t1 #1 u1 n1
				2  work-started t1 #1 u1 n1
				6  get reconciler t1
				7  work-ended t1 #1 u1 n1
				7  container-ended t1 #1 u1 n1 "exit_137"
				7  object-phase t1 #1 u1 "failed_Error"
				9  requeue reconciler t1 #1 pending "workload_lost"
				9  row t1 pending #1 disruptions=1`,
		},
		{
			name: "a worker that stopped itself has not failed", invariant: "I5-budget",
			story: `
				1  row t1 running #1
				1  object-created t1 #1 u1
				2  container-started t1 #1 u1 n1
				2  work-started t1 #1 u1 n1
				6  work-ended t1 #1 u1 n1
				6  container-ended t1 #1 u1 n1 "exit_75"
				6  object-phase t1 #1 u1 "failed_Error"
				8  get reconciler t1
				9  requeue reconciler t1 #1 pending "workload_lost"
				9  row t1 pending #1 disruptions=1`,
		},
		{
			name: "a worker whose lease was over has not failed", invariant: "I5-budget",
			story: `
				1  row t1 running #1
				1  object-created t1 #1 u1
				2  container-started t1 #1 u1 n1
				2  work-started t1 #1 u1 n1
				6  work-ended t1 #1 u1 n1
				6  container-ended t1 #1 u1 n1 "lease_over"
				6  object-phase t1 #1 u1 "failed_Error"
				8  get reconciler t1
				9  requeue reconciler t1 #1 pending "workload_lost"
				9  row t1 pending #1 disruptions=1`,
		},
		{
			name: "taken on again, and nobody resumed it", invariant: "I5-budget",
			story: `
				1  row t1 running #1
				1  container-started t1 #1 u1 n1
				2  container-started t1 #2 u2 n1
				6  row t1 needs-attention #1 failures=2 "failure_budget_spent"
				9  row t1 pending #1`,
			message: "t1 was taken on again at 9 s although its budget was spent and nobody had resumed it",
		},
		{
			name: "taken on again by a person", invariant: "I5-budget",
			story: `
				1  row t1 running #1
				1  container-started t1 #1 u1 n1
				2  container-started t1 #2 u2 n1
				6  row t1 needs-attention #1 failures=2 "failure_budget_spent"
				9  resume client t1 pending
				9  row t1 pending #1`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := tell(t, slow, c.story)
			h.Specs = []history.Spec{c.spec}
			var got []string
			for _, v := range checker.Check(h, checker.Options{SkipLinearizability: true}).Violations {
				if v.Invariant == c.invariant {
					got = append(got, v.Message)
				}
			}
			switch {
			case c.message == "" && len(got) > 0:
				t.Errorf("accused wrongly: %q", got)
			case c.message != "" && (len(got) != 1 || got[0] != c.message):
				t.Errorf("%s says %q, want %q", c.invariant, got, c.message)
			}
		})
	}
}
