package checker_test

import (
	"testing"

	"github.com/squall-chaos/squall/checker"
)

func TestFalseDeath(t *testing.T) {
	judge(t, "I5-false-death", checker.ErrFalseDeath, []verdict{
		{
			name: "requeued when its container was dead", want: checker.Valid,
			story: `
				1 work-started t1 #1 u1 n1
				8 work-ended t1 #1 u1 n1
				9 requeue reconciler-1 t1 #1 "workload_lost"`,
		},
		{
			name: "an older attempt's container lives on", want: checker.Valid,
			story: `
				1 work-started t1 #1 u1 n1
				9 requeue reconciler-1 t1 #2 "workload_lost"`,
		},
		{
			name: "requeued alive", want: checker.Invalid,
			story: `
				1 row t1 running #1
				2 work-started t1 #1 u1 n1
				9 requeue reconciler-1 t1 #1 "workload_lost"`,
			messages: []string{"t1 was requeued (workload lost) by reconciler-1 at 9 s although attempt 1 (token 1) was alive on n1, running since 2 s"},
		},
		{
			name: "requeued alive, but the store refused", want: checker.NotExercised,
			story: `
				2 work-started t1 #1 u1 n1
				9 requeue reconciler-1 t1 #1 conflict "workload_lost"`,
		},
		{
			name: "a kill by deadline taken for a loss", want: checker.Invalid,
			story: `
				1 row t1 running #1
				2 work-started t1 #1 u1 n1
				8 work-ended t1 #1 u1 n1
				8 object-phase t1 #1 u1 "failed_DeadlineExceeded"
				9 requeue reconciler-1 t1 #1 "workload_lost"`,
			messages: []string{"t1 was requeued (workload lost) by reconciler-1 at 9 s although its deadline had ended attempt 1 (token 1)"},
		},
		{
			name: "the machine comes back, and tells of the deadline, between the call and its effect", want: checker.Valid,
			story: `
				1 row t1 running #1
				2 work-started t1 #1 u1 n1
				8 work-ended t1 #1 u1 n1
				9 requeue reconciler-1 t1 #1 effect=11 "workload_lost"
				10 object-phase t1 #1 u1 "failed_DeadlineExceeded"
				11 row t1 pending #1`,
		},
		{
			name: "the machine comes back, and tells of the deadline, between the look and the call", want: checker.Valid,
			story: `
				1 row t1 running #1
				2 work-started t1 #1 u1 n1
				8 work-ended t1 #1 u1 n1
				9 get reconciler-1 t1 #1
				10 object-phase t1 #1 u1 "failed_DeadlineExceeded"
				10 get reconciler-2 t1 #1
				11 requeue reconciler-1 t1 #1 "workload_lost"`,
		},
		{
			name: "the look shows what the machine told, and is not heeded", want: checker.Invalid,
			story: `
				1 row t1 running #1
				2 work-started t1 #1 u1 n1
				8 work-ended t1 #1 u1 n1
				9 get reconciler-1 t1 #1
				10 object-phase t1 #1 u1 "failed_DeadlineExceeded"
				10 get reconciler-1 t1 #1
				11 requeue reconciler-1 t1 #1 "workload_lost"`,
			messages: []string{"t1 was requeued (workload lost) by reconciler-1 at 11 s although its deadline had ended attempt 1 (token 1)"},
		},
		{
			name: "it never began, its start timeout was over, and nobody looked before its deadline ended it", want: checker.Valid,
			story: `
				1 row t1 running #1
				8 object-phase t1 #1 u1 "failed_DeadlineExceeded"
				9 requeue reconciler-1 t1 #1 "start_timeout"`,
		},
		{
			name: "it had begun, and its end by the deadline is taken for a start that never came", want: checker.Invalid,
			story: `
				1 row t1 running #1
				2 work-started t1 #1 u1 n1
				8 work-ended t1 #1 u1 n1
				8 object-phase t1 #1 u1 "failed_DeadlineExceeded"
				9 requeue reconciler-1 t1 #1 "start_timeout"`,
			messages: []string{"t1 was requeued (start timeout) by reconciler-1 at 9 s although its deadline had ended attempt 1 (token 1)"},
		},
		{
			name: "deleted alive", want: checker.Invalid,
			story: `
				1 row t1 running #1
				2 work-started t1 #1 u1 n1
				8 scan reconciler-1
				9 delete reconciler-1 t1 "u1"`,
			messages: []string{"delete, called by reconciler-1 at 9 s, ended attempt 1 (token 1) of t1, which was alive on n1 since 2 s and wanted"},
		},
		{
			name: "it began after its row was read", want: checker.Valid,
			story: `
				1 row t1 running #1
				2 scan reconciler-1
				3 work-started t1 #1 u1 n1
				9 delete reconciler-1 t1 "u1"`,
		},
		{
			name: "a delete by name alone falls on an object that was made after it was asked for", want: checker.Invalid,
			story: `
				1 row t1 running #1
				2 scan reconciler-1
				3 delete reconciler-1 t1 effect=9
				4 object-created t1 #1 u2 "task-t1"
				5 work-started t1 #1 u2 n1`,
			messages: []string{"delete, called by reconciler-1 at 3 s, ended attempt 1 (token 1) of t1, which was alive on n1 since 5 s and wanted"},
		},
		{
			name: "a dispatcher read it, alive, and deleted it as somebody else's", want: checker.Invalid,
			story: `
				1 claim dispatcher-1 t1 #1
				1 row t1 running #1
				2 work-started t1 #1 u1 n1
				8 get dispatcher-1 t1
				9 delete dispatcher-1 t1 "u1"`,
			messages: []string{"delete, called by dispatcher-1 at 9 s, ended attempt 1 (token 1) of t1, which was alive on n1 since 2 s and wanted"},
		},
		{
			name: "deleted when it was to be cancelled", want: checker.Valid,
			story: `
				1 row t1 running #1
				2 work-started t1 #1 u1 n1
				3 row t1 running #1 cancelling
				8 scan reconciler-1
				9 delete reconciler-1 t1 "u1"`,
		},
		{
			name: "an object of an earlier attempt is deleted", want: checker.Valid,
			story: `
				1 row t1 running #1
				2 work-started t1 #1 u1 n1
				3 row t1 running #2
				8 scan reconciler-1
				9 delete reconciler-1 t1 "u1"`,
		},
	})
}
