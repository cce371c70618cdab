package memory

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/squall-chaos/squall/dispatcher"
)

// The indexes. Each holds the rows that satisfy a condition, in an order.
const (
	running    = iota // running; by ID
	launching         // running, wanted, Launching; by ID
	claimable         // pending, wanted, nothing owed; by due time, ID
	deadlined         // pending, wanted, with a start deadline; by it, ID
	looked            // running, or cleanup due by Store.lookedUntil; by ID
	owed              // cleanup due later; by CleanupAt, ID
	cancelling        // cancel requested and not done; by ID
	indexCount
)

// places is where a row stands in each index: its key, or absent.
type places [indexCount]int64

const absent = math.MinInt64

var nowhere = func() (p places) {
	for i := range p {
		p[i] = absent
	}
	return p
}()

// placesOf computes them from the row's content. Indexes by ID alone have the key 0.
func (s *Store) placesOf(r *row) places {
	p := nowhere
	switch {
	case r.Phase == dispatcher.Running:
		p[running], p[looked] = 0, 0
		if r.Activity == dispatcher.Launching && r.Desired == dispatcher.DesiredRun {
			p[launching] = 0
		}
	case r.wants(dispatcher.Pending):
		if r.CleanupAt.IsZero() {
			p[claimable] = r.dueAt().UnixNano()
		}
		if deadline, some := r.startDeadline(); some {
			p[deadlined] = deadline.UnixNano()
		}
	}
	switch {
	case r.CleanupAt.IsZero():
	case r.CleanupAt.After(s.lookedUntil):
		p[owed] = r.CleanupAt.UnixNano()
	default:
		p[looked] = 0
	}
	if r.cancelling() {
		p[cancelling] = 0
	}
	return p
}

// reindex moves the row to where its content belongs.
func (s *Store) reindex(r *row) { s.place(r, s.placesOf(r)) }

// place moves the row to the given places.
func (s *Store) place(r *row, to places) {
	for i := range to {
		if r.places[i] == to[i] {
			continue
		}
		if r.places[i] != absent {
			s.indexes[i].remove(entry{r.places[i], r})
		}
		if to[i] != absent {
			s.indexes[i].insert(entry{to[i], r})
		}
	}
	r.places = to
}

// entry is a row in an index.
type entry struct {
	key int64
	row *row
}

func compare(a, b entry) int {
	if a.key != b.key {
		return cmp.Compare(a.key, b.key)
	}
	return strings.Compare(string(a.row.Spec.ID), string(b.row.Spec.ID))
}

// index is a sorted slice with room to give at both ends: rows leave mostly at the front, where they are due,
// and arrive mostly at the back, so that neither moves the rest.
type index struct {
	slots []entry
	head  int // slots before it are free
}

func (x *index) entries() []entry { return x.slots[x.head:] }

func (x *index) len() int { return len(x.slots) - x.head }

// first returns the row that comes first, nil when there is none.
func (x *index) first() *row {
	if x.len() == 0 {
		return nil
	}
	return x.slots[x.head].row
}

// after returns the entries of an index by ID that follow the ID.
func (x *index) after(id dispatcher.TaskID) []entry {
	all := x.entries()
	if id == "" {
		return all
	}
	n, _ := slices.BinarySearchFunc(all, id, func(e entry, id dispatcher.TaskID) int {
		if e.row.Spec.ID <= id {
			return -1
		}
		return 1
	})
	return all[n:]
}

func (x *index) insert(e entry) {
	all := x.entries()
	n, _ := slices.BinarySearchFunc(all, e, compare)
	if x.head > 0 && n < len(all)/2 {
		x.head--
		copy(x.slots[x.head:], all[:n])
		x.slots[x.head+n] = e
		return
	}
	x.slots = slices.Insert(x.slots, x.head+n, e)
}

func (x *index) remove(e entry) {
	all := x.entries()
	n, found := slices.BinarySearchFunc(all, e, compare)
	if !found {
		panic("memory: row " + string(e.row.Spec.ID) + " is missing from an index")
	}
	if n >= len(all)/2 {
		x.slots = slices.Delete(x.slots, x.head+n, x.head+n+1)
		return
	}
	copy(all[1:], all[:n])
	x.slots[x.head] = entry{}
	x.head++
	if x.head > len(x.slots)/2+64 {
		x.slots = slices.Delete(x.slots, 0, x.head)
		x.head = 0
	}
}
