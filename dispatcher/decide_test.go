package dispatcher

import (
	"testing"
	"time"
)

var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func at(seconds int) time.Time { return epoch.Add(time.Duration(seconds) * time.Second) }

// row is a running task claimed at 0 s and, when started is not negative, started then.
func row(activity Activity, started int) Task {
	t := Task{
		Spec: Spec{ID: "t"}, Version: 3, Desired: DesiredRun, Phase: Running, Activity: activity,
		SubmittedAt: at(0),
		Attempt:     Attempt{Number: 1, Token: 7, Workload: "u7", ClaimedAt: at(0)},
	}
	if started >= 0 {
		t.Attempt.StartedAt = at(started)
	}
	return t
}

func object(state WorkloadState) Workload {
	return Workload{Name: "task-t", UID: "u7", Token: 7, Held: true, Grace: 30 * time.Second, Node: "n", State: state}
}

func deleting(w Workload, since int) Workload {
	w.Deleting, w.DeletedAt = true, at(since)
	return w
}

func failedBy(f Failure, exit int) Workload {
	w := object(WorkloadFailed)
	w.Failure, w.ExitCode = f, exit
	return w
}

func seen(s Sighting, w Workload) Evidence { return Evidence{Sighting: s, Workload: w} }

func TestDecide(t *testing.T) {
	tick := tickProfile()
	cancelled := func(t Task) Task { t.Desired = DesiredCancel; return t }
	ended := func(t Task, p Phase, second int) Task {
		t.Phase, t.EndedAt, t.CleanupAt = p, at(second), at(second)
		return t
	}
	requeued := func(t Task) Task { t.Phase, t.Activity, t.CleanupAt = Pending, Idle, at(0); return t }
	brief := func(t Task) Task { t.Spec.Deadline = 60 * time.Second; return t }
	older := Workload{Name: "task-t", UID: "u3", Token: 3, Held: true, State: WorkloadRunning, Node: "n"}
	newer := older
	newer.Token = 9

	for _, c := range []struct {
		name string
		task Task
		ev   Evidence
		now  int
		want decision
	}{
		{"unknown is not gone", row(Executing, 5), Evidence{}, 9999, decision{}},
		{"alive is left alone", row(Executing, 5), seen(SightAlive, object(WorkloadRunning)), 300, decision{}},
		{"absent within the grace may be a create in flight", row(Launching, -1), seen(SightAbsent, Workload{}), 200, decision{}},
		{"absent past the grace is lost", row(Launched, 5), seen(SightAbsent, Workload{}), 366, decision{move: requeue, why: ReasonLost}},
		{"a node that was removed is proof at once", row(Executing, 5), seen(SightNodeGone, object(WorkloadRunning)), 10, decision{move: requeue, why: ReasonLost}},
		{"silent past the grace is asked to go first", row(Executing, 5), seen(SightAlive, object(WorkloadRunning)), 366, decision{move: remove}},
		{"then waited for", row(Executing, 5), seen(SightAlive, deleting(object(WorkloadRunning), 370)), 400, decision{}},
		{"then declared lost", row(Executing, 5), seen(SightAlive, deleting(object(WorkloadRunning), 370)), 461, decision{move: requeue, why: ReasonLost}},
		{"a slow exit within the grace is waited for", row(Executing, 5), seen(SightAlive, deleting(object(WorkloadRunning), 30)), 200, decision{}},

		{"a kill by deadline is recorded as such", row(Executing, 5), seen(SightEnded, failedBy(FailureDeadline, 137)), 250, decision{move: conclude, why: ReasonDeadline}},
		{"an eviction is no failure", row(Executing, 5), seen(SightEnded, failedBy(FailureEvicted, 143)), 50, decision{move: requeue, why: ReasonDisrupted}},
		{"a crash is a failure", row(Executing, 5), seen(SightEnded, failedBy(FailureError, 137)), 50, decision{move: requeue, why: ReasonWorkFailed}},
		{"a crash before the start is not", row(Launched, -1), seen(SightEnded, failedBy(FailureError, 1)), 50, decision{move: requeue, why: ReasonDisrupted}},
		{"a worker that fenced itself did not fail", row(Executing, 5), seen(SightEnded, failedBy(FailureError, ExitFenced)), 50, decision{move: requeue, why: ReasonLost}},
		{"neither did one whose machine was restarted", row(Executing, 5), seen(SightEnded, failedBy(FailureUnknown, 137)), 50, decision{move: requeue, why: ReasonLost}},
		{"exit 0 without a result is a failure", row(Executing, 5), seen(SightEnded, object(WorkloadSucceeded)), 50, decision{move: requeue, why: ReasonNoResult}},

		{"pending within the start timeout waits", row(Launched, -1), seen(SightPending, object(WorkloadPending)), 200, decision{}},
		{"pending past it is removed before the verdict", row(Launched, -1), seen(SightPending, object(WorkloadPending)), 211, decision{move: remove}},
		{"and replaced once gone", row(Launched, -1), seen(SightAbsent, Workload{}), 215, decision{move: requeue, why: ReasonStartTimeout}},
		{"however long the removal took", row(Launched, -1), seen(SightEnded, failedBy(FailureEvicted, 0)), 245, decision{move: requeue, why: ReasonStartTimeout}},
		{"what was removed before an earlier deadline was lost", brief(row(Launched, -1)), seen(SightEnded, deleting(failedBy(FailureEvicted, 0), 50)), 65, decision{move: requeue, why: ReasonDisrupted}},
		{"what was removed for an earlier deadline was not", brief(row(Launched, -1)), seen(SightEnded, deleting(failedBy(FailureEvicted, 0), 60)), 65, decision{move: conclude, why: ReasonDeadline}},
		{"absent past an earlier deadline is lost, not late", brief(row(Launched, -1)), seen(SightAbsent, Workload{}), 366, decision{move: requeue, why: ReasonLost}},
		{"and within the grace may be a create in flight", brief(row(Launching, -1)), seen(SightAbsent, Workload{}), 65, decision{}},
		{"on a node that was removed it is lost at once", brief(row(Launched, -1)), seen(SightNodeGone, object(WorkloadPending)), 65, decision{move: requeue, why: ReasonLost}},
		{"pending past an earlier deadline fails", brief(row(Launched, -1)), seen(SightEnded, failedBy(FailureEvicted, 0)), 65, decision{move: conclude, why: ReasonDeadline}},

		{"cancel removes the workload first", cancelled(row(Executing, 5)), seen(SightAlive, object(WorkloadRunning)), 60, decision{move: remove}},
		{"cancel waits for its end", cancelled(row(Executing, 5)), seen(SightAlive, deleting(object(WorkloadRunning), 60)), 80, decision{}},
		{"cancel is done when it ended", cancelled(row(Executing, 5)), seen(SightEnded, failedBy(FailureEvicted, 143)), 80, decision{move: conclude, why: ReasonCancelled}},
		{"cancel without a workload is done at once", cancelled(row(Executing, 5)), seen(SightAbsent, Workload{}), 80, decision{move: conclude, why: ReasonCancelled}},

		{"an older attempt's object is removed", row(Launching, -1), Evidence{Sighting: SightAbsent, Workload: older, Foreign: true}, 10, decision{move: remove}},
		{"a newer attempt's object is left alone", row(Launching, -1), Evidence{Sighting: SightAbsent, Workload: newer, Foreign: true}, 10, decision{}},

		{"cleanup lets a finished worker exit", ended(row(Executing, 5), Succeeded, 100), seen(SightAlive, object(WorkloadRunning)), 101, decision{}},
		{"cleanup removes what does not exit", ended(row(Executing, 5), Succeeded, 100), seen(SightAlive, object(WorkloadRunning)), 131, decision{move: remove}},
		{"cleanup releases what ended", requeued(row(Idle, 5)), seen(SightEnded, deleting(failedBy(FailureEvicted, 143), 10)), 20, decision{move: release}},
		{"cleanup purges what is stuck", requeued(row(Idle, 5)), seen(SightAlive, deleting(object(WorkloadRunning), 10)), 101, decision{move: purge}},
		{"cleanup is over when nothing is left", requeued(row(Idle, 5)), seen(SightAbsent, Workload{}), 20, decision{move: cleaned}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := tick.decide(c.task, c.ev, at(c.now), at(c.now)); got != c.want {
				t.Errorf("decide = %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestDecideKeepsFinishedWorkloads(t *testing.T) {
	s := baseProfile()
	done := row(Executing, 5)
	done.Phase, done.EndedAt, done.CleanupAt = Succeeded, at(100), at(100)
	held := object(WorkloadSucceeded)
	free := held
	free.Held = false
	for _, c := range []struct {
		name string
		w    Workload
		now  int
		want decision
	}{
		{"the finalizer goes at once", held, 101, decision{move: release}},
		{"the object stays for its time", free, 160, decision{move: postpone, wait: 3540 * time.Second}},
		{"and then goes", free, 3701, decision{move: remove}},
	} {
		if got := s.decide(done, seen(SightEnded, c.w), at(c.now), at(c.now)); got != c.want {
			t.Errorf("%s: decide = %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestGraceFollowsALongerDeadline(t *testing.T) {
	s := tickProfile()
	long := row(Executing, 5)
	long.Spec.Deadline = 900 * time.Second
	if got := s.decide(long, seen(SightAlive, object(WorkloadRunning)), at(900), at(900)); got.move != wait {
		t.Errorf("a task with a longer deadline of its own was moved: %+v", got)
	}
	if got := s.decide(long, seen(SightAlive, object(WorkloadRunning)), at(5+360+661), at(5+360+661)); got.move != remove {
		t.Errorf("past its own grace it must go: %+v", got)
	}
}

// A row that was read before it fell silent says nothing of the time since: its worker may have been heard of.
func TestSilenceIsJudgedByWhatWasRead(t *testing.T) {
	b0, _ := Profile("b0")
	task := row(Executing, 5)
	silent := 5 + int(b0.RecoveryGrace/time.Second) + 1
	for _, c := range []struct {
		asOf int
		want move
	}{{10, wait}, {silent, remove}} {
		if got := b0.decide(task, seen(SightAlive, object(WorkloadRunning)), at(c.asOf), at(silent)); got.move != c.want {
			t.Errorf("read at %d s: move %d, want %d", c.asOf, got.move, c.want)
		}
	}
}
