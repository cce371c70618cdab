package checker_test

import (
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/checker/history"
)

func TestStranded(t *testing.T) {
	starting := limits
	starting.StartTimeout, starting.Deadline = 20*time.Second, 30*time.Second
	brief := starting
	brief.Deadline = 5 * time.Second
	const lost = `
		1  row t1 running #1
		2  create dispatcher-1 t1 #1
		2  object-created t1 #1 u1 "task-t1"
		4  container-started t1 #1 u1 n1
		5  work-started t1 #1 u1 n1
		`
	judge(t, "I2-stranded", checker.ErrStranded, []verdict{
		{
			name: "recovered within B", want: checker.Valid, margin: 10 * time.Second,
			story: lost + `
				20 container-ended t1 #1 u1
				50 row t1 pending #1 cleanup
				99 ended`,
		},
		{
			name: "recovered too late", want: checker.Invalid, margin: -10 * time.Second,
			story: lost + `
				20 container-ended t1 #1 u1
				70 row t1 pending #1 cleanup
				99 ended`,
			messages: []string{"t1 stood as running with nothing alive for 50 s, from 20 s (until 70 s): 50 s of them were undisturbed, and B is 40 s with 1 task lost at once"},
		},
		{
			name: "never recovered", want: checker.Invalid,
			story: lost + `
				20 object-deleting t1 #1 u1 "task-t1"
				20 container-ended t1 #1 u1
				21 object-gone t1 #1 u1 "task-t1"
				99 ended`,
			messages: []string{"t1 stood as running with nothing alive for 79 s, from 20 s (it still stood so when the run ended): 79 s of them were undisturbed, and B is 40 s with 1 task lost at once"},
		},
		{
			name: "really alive on a node that is cut off", want: checker.NotExercised,
			story: lost + `
				20 object-gone t1 #1 u1 "task-t1"
				90 work-ended t1 #1 u1
				90 container-ended t1 #1 u1
				90 row t1 succeeded #1 cleanup`,
		},
		{
			name: "waiting for a node", want: checker.NotExercised,
			story: `
				1  row t1 running #1
				2  create dispatcher-1 t1 #1
				2  object-created t1 #1 u1 "task-t1"
				90 container-started t1 #1 u1 n1
				91 work-started t1 #1 u1 n1
				99 row t1 succeeded #1 cleanup`,
		},
		{
			name: "waiting for a node, past its start timeout and B", limits: &starting, want: checker.Invalid, margin: -15 * time.Second,
			story: `
				1  row t1 running #1
				2  create dispatcher-1 t1 #1
				2  object-created t1 #1 u1 "task-t1"
				76 container-started t1 #1 u1 n1
				77 work-started t1 #1 u1 n1
				99 row t1 succeeded #1 cleanup`,
			messages: []string{"t1 stood as running for 55 s after it had to begin by 21 s, and its object only waited (until 76 s): 55 s were undisturbed, and B is 40 s with 1 task waiting at once"},
		},
		{
			name: "waiting for a node, and given up within B", limits: &starting, want: checker.Valid, margin: 10 * time.Second,
			story: `
				1  row t1 running #1
				2  object-created t1 #1 u1 "task-t1"
				51 object-deleting t1 #1 u1 "task-t1"
				52 object-gone t1 #1 u1 "task-t1"
				53 row t1 pending #1
				99 ended`,
		},
		{
			name: "the deadline is earlier, and it waits to the end", limits: &brief, want: checker.Invalid, margin: -53 * time.Second,
			story: `
				1  row t1 running #1
				2  object-created t1 #1 u1 "task-t1"
				99 ended`,
			messages: []string{"t1 stood as running for 93 s after it had to begin by 6 s, and its object only waited (it still stood so when the run ended): 93 s were undisturbed, and B is 40 s with 1 task waiting at once"},
		},
		{
			name: "never launched", want: checker.Invalid,
			story: `
				1  row t1 running #1
				90 row t1 pending
				99 ended`,
			messages: []string{"t1 stood as running with nothing alive for 89 s, from 1 s (until 90 s): 89 s of them were undisturbed, and B is 40 s with 1 task lost at once"},
		},
		{
			name: "its object is terminating and never goes", want: checker.Invalid,
			story: `
				1  row t1 running #1
				1  object-created t1 #1 u1 "task-t1"
				2  object-deleting t1 #1 u1 "task-t1"
				99 ended`,
			messages: []string{"t1 stood as running with nothing alive for 97 s, from 2 s (it still stood so when the run ended): 97 s of them were undisturbed, and B is 40 s with 1 task lost at once"},
		},
		{
			name: "only an earlier attempt's container is there, and it does not work", want: checker.Invalid,
			story: `
				1  row t1 running #1
				1  container-started t1 #1 u1
				2  row t1 running #2
				60 container-ended t1 #1 u1
				60 row t1 pending #2`,
			messages: []string{"t1 stood as running with nothing alive for 58 s, from 2 s (until 60 s): 58 s of them were undisturbed, and B is 40 s with 1 task lost at once"},
		},
		{
			name: "a create call that hangs is in flight", want: checker.Valid, margin: 1 * time.Second,
			story: `
				1  row t1 running #1
				2  create dispatcher-1 t1 #1 returned=30 unavailable
				69 row t1 pending
				99 ended`,
		},
		{
			name: "three at once need two sweeps", want: checker.Valid, margin: 1 * time.Second,
			story: `
				1  row t1 running #1
				1  row t2 running #2
				1  row t3 running #3
				45 row t1 pending
				45 row t2 pending
				45 row t3 pending
				99 ended`,
		},
		{
			name: "disturbed: only what the fault left counts, with one restart", want: checker.Valid, margin: 1 * time.Second,
			story: lost + `
				20 container-ended t1 #1 u1
				25 fault-struck f1
				60 fault-healed f1 due=15
				114 row t1 pending #1 cleanup
				200 ended`,
		},
		{
			name: "disturbed, and then longer than B in peace", want: checker.Invalid, margin: -5 * time.Second,
			story: lost + `
				20 container-ended t1 #1 u1
				22 fault-struck f1
				60 fault-healed f1 due=15
				120 row t1 pending #1 cleanup
				200 ended`,
			messages: []string{"t1 stood as running with nothing alive for 100 s, from 20 s (until 120 s): 47 s of them were undisturbed, and B is 40 s with 1 task lost at once"},
		},
		{
			name: "a fault that never heals", want: checker.NotExercised,
			story: lost + `
				19  fault-struck f1
				20  container-ended t1 #1 u1
				220 row t1 pending #1 cleanup`,
		},
	})
}

func TestLoss(t *testing.T) {
	judge(t, "I3-loss", checker.ErrLoss, []verdict{
		{
			name: "all stopped", want: checker.Valid,
			story: `
				1   row t1 succeeded #1
				1   row t2 needs-attention #2 failures=2 "failure_budget_spent"
				1   row t3 needs-attention #3 disruptions=3 "disruption_budget_spent"
				1   row t4 failed "start_deadline_missed"
				1   cancel client t5 cancelled cancelling
				1   row t5 cancelled cancelling "cancelled"
				2   create dispatcher-1 t6 #6 rejected
				2   row t6 failed #6 "rejected"
				100 healed
				200 ended`,
		},
		{
			name: "forgotten", want: checker.Invalid,
			story: `
				1   row t1 pending cleanup
				100 healed
				200 ended`,
			messages: []string{"t1 never stopped: 100 s after all faults had healed it is pending with cleanup owed, and has been since 1 s"},
		},
		{
			name: "submitted, and its row is gone", want: checker.Invalid,
			story: `
				1   submit client t1
				1   row t1 pending
				2   row t1
				100 healed
				200 ended`,
			messages: []string{"t1 was submitted and acknowledged, and has no row at the end of the run"},
		},
		{
			name: "it still works", want: checker.Unknown,
			story: `
				1   row t1 running #1
				5   work-started t1 #1 u1
				100 healed
				200 ended`,
		},
		{
			name: "the run ended too early", want: checker.Unknown,
			story: `
				1   row t1 pending
				100 healed
				110 ended`,
		},
		{
			name: "no end after a healing", want: checker.NotExercised,
			story: `
				1   row t1 pending
				200 ended`,
		},
		{
			name: "given up with chances left", want: checker.Invalid,
			story: `
				1 row t1 needs-attention #1 failures=1 "failure_budget_spent"
				2 row t2 needs-attention #2 disruptions=2 "disruption_budget_spent"
				3 row t3 failed #3 "work_failed"`,
			messages: []string{
				"t1 stopped at 1 s as needs-attention (failure budget spent) with chances left: it had 1 of 2 failures and 0 of 2 disruptions",
				"t2 stopped at 2 s as needs-attention (disruption budget spent) with chances left: it had 0 of 2 failures and 2 of 2 disruptions",
				"t3 stopped at 3 s as failed (work failed) with chances left: it had 0 of 2 failures and 0 of 2 disruptions",
			},
		},
		{
			name: "rejected by nobody", want: checker.Invalid,
			story: `
				1 create dispatcher-1 t1 #1 throttled
				2 row t1 failed #1 "rejected"`,
			messages: []string{"t1 stopped at 2 s as failed (rejected) with chances left: no create of it was rejected"},
		},
		{
			name: "stopped for a deadline that ended it, or that passed before it began", want: checker.Valid,
			story: `
				1   work-started t1 #1 u1
				60  work-ended t1 #1 u1
				61  row t1 failed #1 "deadline"
				61  row t2 failed #2 "deadline"
				62  object-phase t1 #1 u1 "failed_DeadlineExceeded"
				100 healed
				200 ended`,
		},
		{
			name: "stopped for a deadline that was not what ended it", want: checker.Invalid,
			story: `
				1   work-started t1 #1 u1
				10  work-ended t1 #1 u1
				60  row t1 failed #1 "deadline"`,
			messages: []string{"t1 stopped at 60 s as failed (deadline) with chances left: its deadline had not ended attempt 1 (token 1), which had run until 10 s"},
		},
	})
}

func TestProgress(t *testing.T) {
	one := limits
	one.MaxInFlight = 1
	judge(t, "I7-progress", checker.ErrProgress, []verdict{
		{
			name: "claimed within B", want: checker.Valid, margin: 9 * time.Second,
			story: `
				1  row t1 pending
				32 row t1 running #1
				99 ended`,
		},
		{
			name: "not claimed", want: checker.Invalid,
			story: `
				1  row t1 pending
				99 ended`,
			messages: []string{"nothing was claimed for 98 s, from 1 s to the end of that chance at 99 s, although t1 was claimable, room was left and a dispatcher was up: 98 s were undisturbed, and B is 40 s"},
		},
		{
			name: "claimed too late", want: checker.Invalid, margin: -5 * time.Second,
			story: `
				1  row t1 pending due=20
				5  row t2 pending due=30
				65 row t1 running #1
				66 row t2 running #2
				99 ended`,
			messages: []string{"nothing was claimed for 45 s, from 20 s to the next claim at 65 s, although 2 tasks stood claimable, room was left and a dispatcher was up: 45 s were undisturbed, and B is 40 s"},
		},
		{
			name: "others are claimed", want: checker.Valid, margin: 5 * time.Second,
			story: `
				1   row t1 pending
				1   row t2 pending
				36  row t2 running #1
				70  row t1 running #2`,
		},
		{
			name: "cleanup is owed, or it is cancelled", want: checker.NotExercised,
			story: `
				1  row t1 pending cleanup
				1  row t2 pending cancelling
				99 ended`,
		},
		{
			name: "no room", limits: &one, want: checker.Valid, margin: 10 * time.Second,
			story: `
				0  row t1 running #1
				1  row t2 pending
				60 row t1 succeeded #1
				90 row t2 running #2`,
		},
		{
			name: "no dispatcher is up", want: checker.Valid, margin: 10 * time.Second,
			story: `
				0  process-started dispatcher-1
				0  process-started reconciler-1
				1  row t1 pending
				5  process-crashed dispatcher-1
				60 process-started dispatcher-1
				90 row t1 running #1`,
		},
	})
}

func TestLeak(t *testing.T) {
	const done = `
		1 object-created t1 #1 u1 "task-t1"
		9 row t1 succeeded #1 cleanup
		`
	judge(t, "I8-leak", checker.ErrLeak, []verdict{
		{
			name: "cleaned", want: checker.Valid,
			story: done + `
				20  object-gone t1 #1 u1 "task-t1"
				21  row t1 succeeded #1
				100 healed
				200 ended`,
		},
		{
			name: "kept for a while on purpose", want: checker.Valid,
			story: done + `
				20  row t1 succeeded #1 cleanup due=3600
				100 healed
				200 ended`,
		},
		{
			name: "kept for a while, and then not removed", want: checker.Invalid,
			story: done + `
				20  row t1 succeeded #1 cleanup due=110
				100 healed
				200 ended`,
			messages: []string{"the cleanup of t1, succeeded since 20 s, is still owed at the end of the run"},
		},
		{
			name: "still owed", want: checker.Invalid,
			story: done + `
				100 healed
				200 ended`,
			messages: []string{"the cleanup of t1, succeeded since 9 s, is still owed at the end of the run"},
		},
		{
			name: "recorded as done, and the object is there", want: checker.Invalid,
			story: done + `
				20  row t1 succeeded #1
				100 healed
				200 ended`,
			messages: []string{"task-t1, created at 1 s, is still there at the end of the run, although nothing is owed for t1, succeeded since 20 s"},
		},
		{
			name: "a late create just before the end", want: checker.Valid,
			story: done + `
				20  object-gone t1 #1 u1 "task-t1"
				21  row t1 succeeded #1
				100 healed
				190 object-created t1 #1 u2 "task-t1"
				200 ended`,
		},
	})
}

func TestATasksOwnDeadlineBoundsItsWait(t *testing.T) {
	l := limits
	l.StartTimeout, l.Deadline = 20*time.Second, 30*time.Second
	for deadline, want := range map[time.Duration]checker.Verdict{0: checker.Valid, 5 * time.Second: checker.Invalid} {
		h := tell(t, l, `
			1  row t1 running #1
			2  object-created t1 #1 u1 "task-t1"
			60 object-deleting t1 #1 u1 "task-t1"
			61 row t1 failed #1 cleanup "deadline"`)
		h.Specs = []history.Spec{{Deadline: deadline}}
		report := checker.Check(h, checker.Options{SkipLinearizability: true})
		if got := report.Invariant("I2-stranded").Verdict; got != want {
			t.Errorf("with a deadline of its own of %s: %s, expected %s", deadline, got, want)
		}
	}
}
