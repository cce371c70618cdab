package dispatcher

import "time"

// move is what the reconciler does about one task, decided from the row and one look, and nothing else.
type move uint8

const (
	wait     move = iota // nothing to do, or nothing known
	requeue              // end the attempt, the task runs again
	conclude             // end the task for good
	remove               // delete the workload gracefully
	purge                // delete it by force and release it: its kubelet will never answer
	release              // remove our finalizer
	cleaned              // nothing is left of the last attempt
	postpone             // keep the finished workload for its time
)

// decision is a move with what it needs.
type decision struct {
	move move
	why  Reason        // requeue, conclude
	wait time.Duration // postpone
}

// suspicious tells whether a row deserves a live look, given what a list showed. It is only a filter that saves
// calls: whatever it lets through is looked at again.
func (s Settings) suspicious(t Task, listed Workload, found bool, now time.Time) bool {
	if t.Phase != Running || t.Desired == DesiredCancel {
		return true
	}
	if s.silence(t, now) > s.graceOf(t) || s.overdue(t, now) != ReasonNone {
		return true
	}
	return !found || listed.Token != t.Attempt.Token || listed.State.Ended() || listed.Deleting
}

// decide is the reconciler's judgement. See the table in doc.go. How long nothing was heard of an attempt is judged as of the moment
// at which its row was read: a sweep that is slow may hold a row for longer than the grace, and what was heard since is not in it.
func (s Settings) decide(t Task, ev Evidence, asOf, now time.Time) decision {
	if ev.Sighting == SightUnknown {
		return decision{} // unknown is not gone
	}
	if ev.Foreign && ev.Workload.Token <= t.Attempt.Token {
		if d := s.clear(ev.Workload, now); d.move != wait {
			return d // an earlier object under the name is superseded, whatever becomes of the row
		}
	}
	if t.Phase != Running {
		return s.decideCleanup(t, ev, now)
	}
	if why := s.ending(t, asOf); why != ReasonNone && !(why == ReasonDeadline && s.lostBefore(t, ev)) {
		return s.decideEnding(t, ev, why, now)
	}
	return s.decideRunning(t, ev, asOf, now)
}

// lostBefore tells that an attempt which never began, and is past its deadline by now, was not there for that to end: it was never made, or
// somebody else removed it earlier (its stamp has whole seconds). It was lost, then, and its task has other chances.
func (s Settings) lostBefore(t Task, ev Evidence) bool {
	switch w := ev.Workload; ev.Sighting {
	case SightAbsent, SightNodeGone:
		return true
	case SightEnded:
		past := t.Attempt.ClaimedAt.Add(s.deadline(t.Spec))
		return w.Deleting && w.Failure != FailureDeadline && w.DeletedAt.Add(time.Second).Before(past)
	}
	return false
}

// decideRunning judges an attempt that is wanted.
func (s Settings) decideRunning(t Task, ev Evidence, asOf, now time.Time) decision {
	switch ev.Sighting {
	case SightEnded:
		return endedBy(t, ev.Workload)
	case SightNodeGone:
		return decision{move: requeue, why: ReasonLost}
	case SightAbsent:
		// A create may still be in flight, and a container can outlive its object: wait out the grace.
		if s.silence(t, asOf) > s.graceOf(t) {
			return decision{move: requeue, why: ReasonLost}
		}
	case SightAlive:
		if s.silence(t, asOf) > s.graceOf(t) {
			return s.endSilent(ev.Workload, now)
		}
	}
	return decision{}
}

// endSilent ends an attempt whose container must be dead by its lease or deadline, though the API server does not
// say so: first by asking, then, when nobody answers, by declaring it lost. Its token fences what may be left of it.
func (s Settings) endSilent(w Workload, now time.Time) decision {
	switch {
	case !w.Deleting:
		return decision{move: remove}
	case s.stuck(w, now):
		return decision{move: requeue, why: ReasonLost}
	}
	return decision{}
}

// endedBy says what an ended workload means for an attempt that recorded no result.
func endedBy(t Task, w Workload) decision {
	switch {
	case w.Failure == FailureDeadline:
		return decision{move: conclude, why: ReasonDeadline}
	case w.Failure == FailureEvicted:
		return decision{move: requeue, why: ReasonDisrupted}
	case t.Activity != Executing:
		return decision{move: requeue, why: ReasonDisrupted} // never began: not a failure of the work
	case w.State == WorkloadSucceeded:
		return decision{move: requeue, why: ReasonNoResult}
	case w.Failure == FailureUnknown || w.ExitCode == ExitFenced:
		return decision{move: requeue, why: ReasonLost}
	}
	return decision{move: requeue, why: ReasonWorkFailed}
}

// ending says why a running attempt must be ended although nothing is wrong with its workload.
func (s Settings) ending(t Task, now time.Time) Reason {
	if t.Desired == DesiredCancel {
		return ReasonCancelled
	}
	return s.overdue(t, now)
}

// overdue says which limit an attempt that has not begun is past. The earlier one counts, however long its removal
// takes: a workflow deadline fails the task, a start timeout has the attempt replaced.
func (s Settings) overdue(t Task, now time.Time) Reason {
	if !t.Attempt.StartedAt.IsZero() {
		return ReasonNone
	}
	waited := now.Sub(t.Attempt.ClaimedAt)
	switch {
	case t.Spec.StartDeadline > 0 && now.Sub(t.SubmittedAt) > t.Spec.StartDeadline:
		return ReasonStartDeadline
	case waited <= min(s.StartTimeout, s.deadline(t.Spec)):
		return ReasonNone
	case s.StartTimeout < s.deadline(t.Spec):
		return ReasonStartTimeout
	}
	return ReasonDeadline
}

// decideEnding removes the workload first and draws the conclusion when it is gone or dead: a verdict that the
// world could still contradict is none.
func (s Settings) decideEnding(t Task, ev Evidence, why Reason, now time.Time) decision {
	final := decision{move: conclude, why: why}
	if why == ReasonStartTimeout {
		final = decision{move: requeue, why: why}
	}
	switch ev.Sighting {
	case SightEnded, SightNodeGone, SightAbsent:
		return final
	}
	switch {
	case !ev.Workload.Deleting:
		return decision{move: remove}
	case s.stuck(ev.Workload, now):
		return final
	}
	return decision{}
}

// decideCleanup works off what a stopped or requeued task owes.
func (s Settings) decideCleanup(t Task, ev Evidence, now time.Time) decision {
	w := ev.Workload
	switch {
	case ev.Foreign:
		return decision{} // being cleared, or of a later attempt that somebody else launched
	case ev.Sighting == SightAbsent:
		return decision{move: cleaned}
	case !w.State.Ended() && !w.Deleting && t.Phase == Succeeded && now.Sub(t.EndedAt) <= s.PodGrace:
		return decision{} // it committed its result a moment ago and is about to exit
	case ev.Sighting == SightNodeGone:
		return decision{move: purge}
	case w.State.Ended() && t.Phase.Stopped() && now.Sub(t.EndedAt) < s.TTLAfterFinished:
		return s.keep(t, w, now)
	}
	return s.clear(w, now)
}

// keep lets a finished workload stand for its time, without our finalizer.
func (s Settings) keep(t Task, w Workload, now time.Time) decision {
	if w.Held {
		return decision{move: release}
	}
	return decision{move: postpone, wait: s.TTLAfterFinished - now.Sub(t.EndedAt)}
}

// clear removes a workload that nothing is expected of any more.
func (s Settings) clear(w Workload, now time.Time) decision {
	switch {
	case !w.Deleting:
		return decision{move: remove}
	case w.State.Ended() && w.Held:
		return decision{move: release}
	case s.stuck(w, now):
		return decision{move: purge}
	}
	return decision{}
}

// stuck tells whether a deletion has taken longer than any kubelet that is alive would let it.
func (s Settings) stuck(w Workload, now time.Time) bool {
	return w.Deleting && now.Sub(w.DeletedAt) > w.Grace+s.TerminationTimeout
}

// silence is how long nothing has been heard of the attempt, by the database clock.
func (s Settings) silence(t Task, now time.Time) time.Duration {
	return now.Sub(t.Attempt.SignOfLife())
}

// graceOf is the recovery grace of one task: without heartbeats, a longer deadline of its own is waited for.
func (s Settings) graceOf(t Task) time.Duration {
	if s.Heartbeats() {
		return s.RecoveryGrace
	}
	return s.RecoveryGrace + max(0, s.deadline(t.Spec)-s.WorkflowDeadline)
}
