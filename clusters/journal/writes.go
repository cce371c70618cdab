package journal

import (
	"cmp"
	"slices"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/dispatcher"
)

// write is one change in the database's log.
type write struct {
	*Event
	before *Event // of the same task; nil: there was no row
	at     time.Duration
	call   int // index of the call that made it; unmatched until it is found
}

const unmatched = -1

// gone tells that the row was deleted.
func (w *write) gone() bool { return w.Write.Role == "" && w.Phase == history.NoPhase }

// logOf picks the database's log out of the events, in the order in which it was committed: a row is locked until its
// transaction is over.
func logOf(t timeline, events []Event) []write {
	var log []write
	for i := range events {
		if e := &events[i]; e.Write != nil {
			log = append(log, write{Event: e, at: t.of(e.At, e.Monotonic), call: unmatched})
		}
	}
	slices.SortStableFunc(log, func(a, b write) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.Write.Version, b.Write.Version))
	})
	last := map[string]*Event{}
	for i := range log {
		w := &log[i]
		if w.Write.Role != "" {
			continue
		}
		w.before = last[w.Task]
		if last[w.Task] = w.Event; w.gone() {
			delete(last, w.Task)
		}
	}
	return log
}

// shown is what Row events show of a task, and so what makes a change worth one: as in the simulation.
type shown struct {
	phase                 history.Phase
	cancelling, cleanup   bool
	failures, disruptions int32
	token, epoch          uint64
	due                   int64
	kept                  bool
	reason                string
}

func shownOf(e *Event) shown {
	if e == nil || e.Phase == history.NoPhase {
		return shown{}
	}
	s := shown{phase: e.Phase, cancelling: e.Cancelling, cleanup: e.Cleanup, failures: e.Failures, disruptions: e.Disruptions,
		token: e.Token, epoch: e.Epoch, reason: e.Detail}
	if !e.Due.IsZero() {
		s.due = e.Due.UnixNano()
		s.kept = e.Phase.Stopped() && e.Write.CleanupAt.After(e.Write.EndedAt)
	}
	return s
}

// shows tells whether the change is a Row event of the history.
func (w *write) shows() bool { return w.Write.Role == "" && shownOf(w.Event) != shownOf(w.before) }

// logged are the verbs that change rows or terms, so that the database's log tells of them.
func logged(v history.Verb) bool {
	switch v {
	case history.Submit, history.Cancel, history.Resume, history.Lead, history.Claim, history.Launched, history.Unclaim,
		history.Reject, history.Observe, history.Requeue, history.Conclude, history.Cleaned, history.Postpone,
		history.Start, history.Heartbeat, history.Finish:
		return true
	}
	return false
}

// madeBy tells whether a call of the verb makes such a change.
func (w *write) madeBy(v history.Verb) bool {
	switch {
	case w.Write.Role != "":
		return v == history.Lead
	case w.gone():
		return false
	case w.before == nil:
		return v == history.Submit
	case w.before.Cancelling != w.Cancelling:
		return v == history.Cancel
	case w.before.Write.Finished != w.Write.Finished:
		return v == history.Finish
	case w.before.Phase == history.Running && w.Phase == history.Running:
		return w.whileRunning(v)
	case w.before.Phase == history.Running:
		return w.ended(v)
	}
	return w.whileIdle(v)
}

func (w *write) activity() (before, after dispatcher.Activity) {
	return dispatcher.Activity(w.before.Write.Activity), dispatcher.Activity(w.Write.Activity)
}

// whileRunning is about changes of an attempt that goes on.
func (w *write) whileRunning(v history.Verb) bool {
	was, is := w.activity()
	switch {
	case was != is && is == dispatcher.Launched:
		return v == history.Launched
	case was != is && is == dispatcher.Executing:
		return v == history.Start
	case !w.before.Write.HeartbeatAt.Equal(w.Write.HeartbeatAt):
		return v == history.Heartbeat
	case w.before.Write.Observed != w.Write.Observed, w.before.Write.ObservedVersion != w.Write.ObservedVersion:
		return v == history.Observe
	case w.before.Epoch != w.Epoch:
		return v == history.Claim
	}
	return v == history.Observe || v == history.Claim && is == dispatcher.Launching // seen as before, or taken over in the same term
}

// ended is about changes that end an attempt without a result.
func (w *write) ended(v history.Verb) bool {
	was, _ := w.activity()
	switch v {
	case history.Unclaim:
		return was == dispatcher.Launching && w.Token == 0
	case history.Reject:
		return was == dispatcher.Launching && w.Token != 0 && (w.Detail == string(dispatcher.ReasonRejected) || w.Phase == history.Cancelled)
	case history.Requeue:
		return w.Token != 0 && w.Phase != history.Failed
	case history.Conclude:
		return w.Token != 0 && (w.Phase == history.Failed && w.Detail != string(dispatcher.ReasonRejected) || w.Phase == history.Cancelled)
	}
	return false
}

// whileIdle is about changes of a task that does not run.
func (w *write) whileIdle(v history.Verb) bool {
	switch {
	case w.Phase == history.Running, w.before.Phase == history.Pending && w.Phase == history.Failed:
		return v == history.Claim // or failed by it, because its start deadline was missed
	case w.before.Phase == history.NeedsAttention && w.Phase == history.Pending:
		return v == history.Resume
	case w.before.Cleanup && !w.Cleanup:
		return v == history.Cleaned
	case !w.before.Write.CleanupAt.Equal(w.Write.CleanupAt):
		return v == history.Postpone
	}
	return v == history.Observe
}

// fits tells whether the change is, beyond its verb, the one that the call asked for.
func (w *write) fits(c *Call) bool {
	if w.Write.Role != "" {
		return w.Write.Role == c.Detail
	}
	if c.Verb == history.Claim {
		return true
	}
	if c.Expected != 0 && w.Write.Version != c.Expected+1 {
		return false
	}
	token := w.Token
	if c.Verb == history.Unclaim {
		token = w.before.Token
	}
	switch c.Verb {
	case history.Submit, history.Cancel, history.Resume:
		return true
	case history.Launched, history.Start:
		return token == c.Rows[0].Token && w.Write.Workload == c.Detail
	case history.Finish:
		return token == c.Rows[0].Token && w.Write.Finished.Result == c.Detail
	}
	return token == c.Rows[0].Token
}
