package memory

import (
	"fmt"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// Store keeps the rows. Use New.
type Store struct {
	// OnCommit is called once for every row that a transaction changed, with the row as it now is: for reading, and
	// not for longer than the call. Rewind does not call it: what it takes back it returns.
	OnCommit func(after *dispatcher.Task)
	// Room makes the pages that Scan and Claim return; nil: each is made anew.
	Room func(rows int) []dispatcher.Task
	// KeepUndo keeps what Rewind and ScanAsOf need. Set it before the first transaction.
	KeepUndo bool

	settings dispatcher.Settings
	now      func() time.Time

	rows    map[dispatcher.TaskID]*row
	indexes [indexCount]index
	// lookedUntil is the latest clock of a scan: cleanup due by then is in the index looked.
	lookedUntil time.Time

	token        dispatcher.Token // the last one handed out
	terms        [roleCount]terms
	versionFloor uint64 // every version handed out from here on is larger
	undo         undoLog
	mark         uint64 // of the latest walk that marks rows

	made []*row // ever, to be used again after Reset
	used int    // of them
}

// row is one line of the table: the task, and two columns that only the store reads.
type row struct {
	dispatcher.Task
	finished finished // what Finish last accepted
	places   places
	mark     uint64 // the latest walk that saw the row
}

// finished is the last accepted result. It outlives the next claim, because a repeated Finish may come late.
type finished struct {
	token    dispatcher.Token
	workload dispatcher.UID
	result   dispatcher.Result
}

var _ dispatcher.Store = (*Store)(nil)

// New returns an empty store; now is the database clock and is read once per transaction.
func New(s dispatcher.Settings, now func() time.Time) *Store {
	return &Store{settings: s, now: now, rows: map[dispatcher.TaskID]*row{}}
}

// page returns an empty page with room for so many rows.
func (s *Store) page(rows int) []dispatcher.Task {
	if s.Room == nil {
		return make([]dispatcher.Task, 0, rows)
	}
	return s.Room(rows)[:0]
}

// Reset makes the store as empty as New does, on the memory that it has: for those who run many simulations.
func (s *Store) Reset(settings dispatcher.Settings, now func() time.Time) {
	clear(s.rows)
	for i := range s.indexes {
		s.indexes[i] = index{slots: s.indexes[i].slots[:0]}
	}
	*s = Store{settings: settings, now: now, rows: s.rows, indexes: s.indexes, undo: undoLog{slots: s.undo.slots[:0]}, made: s.made}
}

// LastToken is the last token handed out, for those who compare stores; 0: none was.
func (s *Store) LastToken() dispatcher.Token { return s.token }

// newRow takes a row from those that an earlier run made, if it left one.
func (s *Store) newRow() *row {
	if s.used == len(s.made) {
		s.made = append(s.made, new(row))
	}
	r := s.made[s.used]
	s.used++
	*r = row{places: nowhere}
	return r
}

// insert commits a new row.
func (s *Store) insert(t dispatcher.Task, now time.Time) dispatcher.Task {
	r := s.newRow()
	r.Spec.ID = t.Spec.ID
	s.rows[t.Spec.ID] = r
	return s.commit(r, &row{Task: t, places: nowhere}, now)
}

// commit makes after the row's new content.
func (s *Store) commit(r, after *row, now time.Time) dispatcher.Task {
	after.Version = max(r.Version, s.versionFloor) + 1
	if s.KeepUndo {
		c := s.undo.add(now)
		c.row, c.before = r, *r
	}
	*r = *after
	s.reindex(r)
	if s.OnCommit != nil {
		s.OnCommit(&r.Task)
	}
	return r.Task
}

// end makes the row a stopped one: terminal, or NeedsAttention. Owed cleanup stays owed.
func (r *row) end(p dispatcher.Phase, why dispatcher.Reason, now time.Time) {
	r.Phase, r.Reason, r.EndedAt = p, why, now
	r.Activity = dispatcher.Idle
	r.NotBefore = time.Time{}
	r.Remedy = ""
	if p == dispatcher.NeedsAttention {
		r.Remedy = dispatcher.Remedy(r.Spec.ID)
	}
}

// endOr ends the attempt's task as p, or as Cancelled when a cancel was acknowledged before.
func (r *row) endOr(p dispatcher.Phase, why dispatcher.Reason, now time.Time) {
	if r.cancelling() {
		p, why = dispatcher.Cancelled, dispatcher.ReasonCancelled
	}
	r.end(p, why, now)
}

// cancelling tells that a cancel was requested and is not done.
func (r *row) cancelling() bool {
	return r.Desired == dispatcher.DesiredCancel && !r.Phase.Terminal()
}

// wants tells that the row is in the phase, and that nobody asked for its end.
func (r *row) wants(p dispatcher.Phase) bool {
	return r.Phase == p && r.Desired == dispatcher.DesiredRun
}

// startDeadline is the last moment at which the work may begin; false when there is none. It
// holds for every attempt: a retry that would begin later is as useless to the client as a first try.
func (r *row) startDeadline() (time.Time, bool) {
	return r.SubmittedAt.Add(r.Spec.StartDeadline), r.Spec.StartDeadline > 0
}

// tooLate tells that the start deadline is missed.
func (r *row) tooLate(now time.Time) bool {
	deadline, some := r.startDeadline()
	return some && now.After(deadline)
}

// refusal explains a refusal; err is one of dispatcher's errors. The text is made when somebody reads it: hardly anybody does.
type refusal struct {
	verb string
	id   dispatcher.TaskID
	err  error
}

func refused(verb string, id dispatcher.TaskID, err error) error { return &refusal{verb, id, err} }

func (r *refusal) Error() string { return fmt.Sprintf("%s task %s: %v", r.verb, r.id, r.err) }

func (r *refusal) Unwrap() error { return r.err }
