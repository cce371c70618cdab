package memory

import (
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// UndoSpan is how far back Rewind and ScanAsOf reach.
const UndoSpan = time.Minute

// change is what one commit replaced: a row, or (when row is nil) a role's current epoch.
type change struct {
	at     time.Time
	row    *row
	before row // Version 0: the commit inserted the row
	role   int
	epoch  dispatcher.Epoch
}

// undoLog keeps the changes of the last UndoSpan, in order of their commits.
type undoLog struct {
	slots []change
	head  int // slots before it have expired
}

func (u *undoLog) changes() []change { return u.slots[u.head:] }

// add appends a change of that moment, for the caller to fill in. A full log whose first half has expired is moved to
// the front instead of growing, so that its size follows the span and not the run.
func (u *undoLog) add(at time.Time) *change {
	oldest := at.Add(-UndoSpan)
	for u.head < len(u.slots) && u.slots[u.head].at.Before(oldest) {
		u.head++
	}
	if len(u.slots) == cap(u.slots) && u.head > len(u.slots)/2 {
		u.slots = slices.Delete(u.slots, 0, u.head)
		u.head = 0
	}
	u.slots = append(u.slots, change{at: at})
	return &u.slots[len(u.slots)-1]
}

// since returns the changes that were committed after a moment.
func (u *undoLog) since(moment time.Time) []change {
	all := u.changes()
	return all[sort.Search(len(all), func(i int) bool { return all[i].at.After(moment) }):]
}

// rowsAsOf returns, in order of ID and as they were at the moment, the rows that changed after it. The rows as
// they are now get the mark.
func (u *undoLog) rowsAsOf(moment time.Time, mark uint64) []*row {
	var rows []*row
	changes := u.since(moment)
	for i := range changes {
		c := &changes[i]
		if c.row == nil || c.row.mark == mark {
			continue
		}
		c.row.mark = mark
		if c.before.Version > 0 {
			rows = append(rows, &c.before)
		}
	}
	slices.SortFunc(rows, func(a, b *row) int { return strings.Compare(string(a.Spec.ID), string(b.Spec.ID)) })
	return rows
}

// newMark starts a walk that marks rows.
func (s *Store) newMark() uint64 {
	s.mark++
	return s.mark
}

// Rewind undoes every commit after the moment, as a failover to a standby that had not received them: rows
// and current epochs are as they were. It returns the rows that were affected, in order of ID, as they were before
// being undone; Read has what they are now, and NotFound for one whose Submit was lost.
//
// A new timeline begins: tokens, epochs and versions handed out later are larger than all handed out before, so
// that nobody who remembers a lost commit passes for one who read a new row. (A Postgres store must raise its
// sequences when a standby is promoted, for the same reason.)
func (s *Store) Rewind(since time.Time) []dispatcher.Task {
	if !s.KeepUndo {
		panic("memory: Rewind without KeepUndo")
	}
	var lost []dispatcher.Task
	mark, changes := s.newMark(), s.undo.since(since)
	for i := len(changes) - 1; i >= 0; i-- {
		c := &changes[i]
		if c.row == nil {
			s.terms[c.role].current = c.epoch
			continue
		}
		if c.row.mark != mark {
			lost = append(lost, c.row.Task)
			s.versionFloor = max(s.versionFloor, c.row.Version)
		}
		s.restore(c.row, c.before)
		c.row.mark = mark
	}
	s.undo.slots = s.undo.slots[:len(s.undo.slots)-len(changes)]
	slices.SortFunc(lost, func(a, b dispatcher.Task) int { return strings.Compare(string(a.Spec.ID), string(b.Spec.ID)) })
	return lost
}

// restore gives the row its earlier content back, or removes it if it had none.
func (s *Store) restore(r *row, before row) {
	if before.Version == 0 {
		s.place(r, nowhere)
		delete(s.rows, r.Spec.ID)
		return
	}
	now := r.places
	*r = before
	r.places = now
	s.reindex(r)
}
