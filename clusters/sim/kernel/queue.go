package kernel

import (
	"math/bits"
	"time"
)

// queue is a 4-ary heap of small entries over a slab of events. An entry is ordered by two
// integers, so that comparing two never leaves the heap's own memory. A stopped
// event frees its slot at once; its entry stays behind, is known by its old generation, and is
// thrown away when it comes up or when such entries are the majority.
type queue struct {
	heap  []entry
	slots []event
	free  []uint32
	stale int
	// hole tells that heap[0] was popped: a push before the next peek takes its place. Most events make one other, so that
	// two walks through the heap become one (timers 1.3 times as fast, processes 1.1 times).
	hole bool
}

// entry is an event's place in time.
type entry struct {
	at         time.Duration
	order      uint64 // tie-break, then sequence
	slot       uint32
	generation uint32
}

// event is what happens: a callback, or a process that goes on.
type event struct {
	fn         func()
	process    *Process
	value      any
	park       uint64
	label      Label
	generation uint32
}

// sequenceBits is enough for a million million events; the tie-break has the other 24 bits.
const sequenceBits = 40

// order packs the tie-break above the sequence.
func order(tie, seq uint64) uint64 { return tie<<sequenceBits | seq }

func (e *entry) before(o *entry) bool { return e.lead(o) == 1 }

// lead is 1 when e comes before o, else 0. Both words are compared as one number, by its borrow: which comes first is anybody's
// guess, so that a branch would be predicted wrongly every other time (timers are 1.4 times as fast without).
func (e *entry) lead(o *entry) int {
	_, borrow := bits.Sub64(e.order, o.order, 0)
	_, borrow = bits.Sub64(uint64(e.at), uint64(o.at), borrow)
	return int(borrow)
}

// earlier is the index of the earlier of two entries, i < j.
func earlier(h []entry, i, j int) int { return i + (j-i)*h[j].lead(&h[i]) }

// push makes an event with nothing but its label and returns its slot.
func (q *queue) push(at time.Duration, order uint64, label Label) uint32 {
	var slot uint32
	if n := len(q.free); n > 0 {
		slot = q.free[n-1]
		q.free = q.free[:n-1]
	} else {
		slot = uint32(len(q.slots))
		q.slots = append(q.slots, event{})
	}
	e := &q.slots[slot]
	e.label = label
	it := entry{at: at, order: order, slot: slot, generation: e.generation}
	if q.hole {
		q.hole = false
		q.down(0, it)
		return slot
	}
	q.heap = append(q.heap, it)
	q.up(len(q.heap)-1, it)
	return slot
}

// peek is the time of the next event.
func (q *queue) peek() (time.Duration, bool) {
	q.fill()
	for len(q.heap) > 0 {
		top := &q.heap[0]
		if q.slots[top.slot].generation == top.generation {
			return top.at, true
		}
		q.stale--
		q.removeTop()
	}
	return 0, false
}

// pop takes the event that peek showed.
func (q *queue) pop() (uint64, event) {
	top := q.heap[0]
	q.hole = true
	e := q.slots[top.slot]
	q.release(top.slot)
	return top.order, e
}

// release frees a slot; whoever still points at it is told by the generation.
func (q *queue) release(slot uint32) {
	e := &q.slots[slot]
	e.fn, e.process, e.value = nil, nil, nil
	e.generation++
	q.free = append(q.free, slot)
}

// staleMin keeps small heaps from being compacted again and again.
const staleMin = 256

// stop takes the event back, if it is still to come.
func (q *queue) stop(slot, generation uint32) bool {
	if q.slots[slot].generation != generation {
		return false
	}
	q.release(slot)
	if q.stale++; q.stale > staleMin && q.stale > len(q.heap)/2 {
		q.compact()
	}
	return true
}

// compact drops the entries of stopped events. The order of the others is total, so that the
// shape of the heap never shows.
func (q *queue) compact() {
	q.fill()
	kept := q.heap[:0]
	for _, e := range q.heap {
		if q.slots[e.slot].generation == e.generation {
			kept = append(kept, e)
		}
	}
	q.heap = kept
	for i := (len(kept) - 2) / 4; i >= 0 && len(kept) > 1; i-- {
		q.down(i, kept[i])
	}
	q.stale = 0
}

// fill closes the hole.
func (q *queue) fill() {
	if q.hole {
		q.hole = false
		q.removeTop()
	}
}

func (q *queue) removeTop() {
	n := len(q.heap) - 1
	last := q.heap[n]
	q.heap = q.heap[:n]
	if n > 0 {
		q.down(0, last)
	}
}

// up places e at the hole i or above.
func (q *queue) up(i int, e entry) {
	h := q.heap
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(&h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = e
}

// down places e at the hole i or below.
func (q *queue) down(i int, e entry) {
	h := q.heap
	for {
		first := 4*i + 1
		if first >= len(h) {
			break
		}
		least := first
		if first+4 <= len(h) {
			least = earlier(h, earlier(h, first, first+1), earlier(h, first+2, first+3))
		} else {
			for c := first + 1; c < len(h); c++ {
				least = earlier(h, least, c)
			}
		}
		if !h[least].before(&e) {
			break
		}
		h[i] = h[least]
		i = least
	}
	h[i] = e
}

// Timer is an event that can be taken back. The zero Timer is one that is over.
type Timer struct {
	queue      *queue
	slot       uint32
	generation uint32
}

// Stop takes the event back: it will never happen. It is false when it has happened, is happening,
// or was stopped before.
func (t Timer) Stop() bool { return t.queue != nil && t.queue.stop(t.slot, t.generation) }

// Active tells whether the event is still to come.
func (t Timer) Active() bool {
	return t.queue != nil && t.queue.slots[t.slot].generation == t.generation
}
