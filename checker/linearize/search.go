package linearize

import (
	"bytes"
	"math/bits"
)

// progress is how far a search came.
type progress uint8

const (
	going   progress = iota
	stuck            // an operation fits in no order
	spent            // the budget is used up
	crowded          // more operations are open at once than there are slots
)

const slots = 64

// search decides one partition, fed with its operations in order of their calls.
type search[S comparable] struct {
	step  func(S, *op, int) (S, bool)
	hash  func(S) uint64
	meter *meter

	ops      [slots]op
	order    [slots]uint8 // the open slots, in order of return
	open     int
	taken    uint64        // slots in use
	optional uint64        // slots of operations that may not have happened
	looks    uint64        // slots of operations that change nothing
	earlier  [slots]uint64 // slots of operations that are alike and return first
	now      frontier[S]   // what is possible before the next return
	next     frontier[S]   // what is possible after it
	work     frontier[S]   // what is still to be extended
	settled  int           // operations that have returned
	culprit  uint8         // when stuck: the slot of the operation that fits nowhere
	quiet    int           // operations before the last point at which none was open
	added    int
}

// begin starts a new partition whose state is one of the given.
func (s *search[S]) begin(initial ...S) {
	s.open, s.taken, s.optional, s.looks = 0, 0, 0, 0
	s.settled, s.quiet, s.added = 0, 0, 0
	s.now.reset()
	for _, state := range initial {
		s.now.insert(config[S]{state: state, last: -1}, 0, s.hash, 0)
	}
}

// run searches all operations of a partition.
func (s *search[S]) run(ops []op, initial ...S) progress {
	s.begin(initial...)
	for i := range ops {
		o := &ops[i]
		if p := s.until(o.call); p != going {
			return p
		}
		if next := i + 1; (next == len(ops) || ops[next].call > o.ret) && s.pass(o) {
			continue
		}
		if p := s.add(o); p != going {
			return p
		}
	}
	return s.finish()
}

// add opens an operation, after everything that returned before its call.
func (s *search[S]) add(o *op) progress {
	if p := s.until(o.call); p != going {
		return p
	}
	if s.open == 0 {
		s.quiet = s.added
	}
	if s.open == slots && !s.retire() {
		return crowded
	}
	s.added++
	s.place(o)
	return going
}

// until settles everything that returned before the call.
func (s *search[S]) until(call uint64) progress {
	for s.open > 0 && s.ops[s.order[0]].ret < call {
		if p := s.settle(); p != going {
			return p
		}
	}
	return going
}

// pass is add and settle at once for the common case: an operation that overlaps with no other. It tells whether that
// was so, and the operation fitted.
func (s *search[S]) pass(o *op) bool {
	if s.open > 0 || len(s.now.items) != 1 || o.choices != 1 || o.optional {
		return false
	}
	s.meter.steps++
	c := &s.now.items[0]
	state, ok := s.step(c.state, o, 0)
	if !ok {
		return false
	}
	if state != c.state {
		c.state, c.last = state, o.index
	}
	s.quiet = s.added
	s.added++
	s.settled++
	return true
}

// finish settles what is still open. What may not have happened and never returned asks for nothing; it comes last.
func (s *search[S]) finish() progress {
	for s.open > 0 {
		if first := s.order[0]; s.ops[first].ret == never && s.ops[first].optional {
			break
		}
		if p := s.settle(); p != going {
			return p
		}
	}
	return going
}

// place gives an operation a slot. One that only looks happens at once where it fits; where it fits everywhere it
// needs no slot.
func (s *search[S]) place(o *op) {
	slot := uint8(bits.TrailingZeros64(^s.taken))
	bit := uint64(1) << slot
	s.ops[slot], s.earlier[slot] = *o, 0
	if o.looks {
		if s.look(slot) {
			s.settled++
			return
		}
		s.looks |= bit
	} else if s.taken != 0 {
		s.match(slot)
	}
	s.taken |= bit
	if o.optional {
		s.optional |= bit
	}
	i := s.open
	for ; i > 0 && s.ops[slot].before(&s.ops[s.order[i-1]]); i-- {
		s.order[i] = s.order[i-1]
	}
	s.order[i] = slot
	s.open++
}

// look lets an operation that only looks happen where it fits, and tells whether that was everywhere.
func (s *search[S]) look(slot uint8) (everywhere bool) {
	fitting := 0
	for i := range s.now.items {
		if c := &s.now.items[i]; s.fits(c.state, slot) {
			c.done |= 1 << slot
			fitting++
		}
	}
	if fitting < len(s.now.items) {
		return false
	}
	s.forget(1 << slot)
	return true
}

// forget takes operations that have happened everywhere out of the configurations.
func (s *search[S]) forget(done uint64) {
	for i := range s.now.items {
		s.now.items[i].done &^= done
	}
}

// retire frees the slots of open operations that have happened in every configuration.
func (s *search[S]) retire() bool {
	done := s.taken
	for i := range s.now.items {
		done &= s.now.items[i].done
	}
	s.forget(done)
	for rest := done; rest != 0; rest &= rest - 1 {
		s.drop(uint8(bits.TrailingZeros64(rest)))
	}
	return done != 0
}

// match finds the open operations that the new one is interchangeable with.
func (s *search[S]) match(slot uint8) {
	o := &s.ops[slot]
	for rest := s.taken &^ s.looks; rest != 0; rest &= rest - 1 {
		other := bits.TrailingZeros64(rest)
		switch p := &s.ops[other]; {
		case p.verb != o.verb || !p.alike(o):
		case p.ret <= o.ret:
			s.earlier[slot] |= 1 << other
		default:
			s.earlier[other] |= 1 << slot
		}
	}
}

// drop frees a slot; the configurations no longer name it.
func (s *search[S]) drop(slot uint8) {
	bit := uint64(1) << slot
	s.settled++
	s.taken &^= bit
	s.optional &^= bit
	s.looks &^= bit
	if s.open--; s.open == 0 {
		return
	}
	for rest := s.taken; rest != 0; rest &= rest - 1 {
		s.earlier[bits.TrailingZeros64(rest)] &^= bit
	}
	at := bytes.IndexByte(s.order[:], slot)
	copy(s.order[at:s.open], s.order[at+1:s.open+1])
}

func (s *search[S]) fits(state S, slot uint8) bool {
	o := &s.ops[slot]
	s.meter.steps++
	for choice := range int(o.choices) {
		if _, ok := s.step(state, o, choice); ok {
			return true
		}
	}
	return false
}

// settle lets the operation that returns next happen in every configuration where it has not yet.
func (s *search[S]) settle() progress {
	slot := s.order[0]
	if len(s.now.items) == 1 && s.straight(slot) {
		return going
	}
	if !s.meter.allows(len(s.now.items)) {
		return spent
	}
	bit := uint64(1) << slot
	s.next.reset()
	s.work.reset()
	for _, c := range s.now.items {
		switch {
		case c.done&bit != 0:
			c.done &^= bit
			s.next.insert(c, s.optional, s.hash, 0)
			continue
		case s.optional&bit != 0:
			s.next.insert(c, s.optional&^bit, s.hash, 0)
		}
		s.work.insert(c, s.optional, s.hash, 0)
	}
	if p := s.extend(slot); p != going {
		return p
	}
	if len(s.next.items) == 0 {
		s.culprit = slot
		return stuck
	}
	s.now, s.next = s.next, s.now
	s.drop(slot)
	return going
}

// straight is settle for the common case: one configuration, in which nothing else can happen before.
func (s *search[S]) straight(slot uint8) bool {
	c, o, bit := &s.now.items[0], &s.ops[slot], uint64(1)<<slot
	if c.done&bit == 0 {
		if o.choices != 1 || o.optional || s.looks&bit != 0 {
			return false
		}
		for rest := s.taken &^ s.looks &^ c.done &^ bit; rest != 0; rest &= rest - 1 {
			if s.fits(c.state, uint8(bits.TrailingZeros64(rest))) {
				return false
			}
		}
		s.meter.steps++
		state, ok := s.step(c.state, o, 0)
		if !ok {
			return false
		}
		if state != c.state {
			c.state, c.last = state, o.index
			c.done |= s.seen(*c)
		}
	}
	c.done &^= bit
	s.drop(slot)
	return true
}

// extend lets open operations happen before the one in slot, in every order that the states allow,
// until it has happened too.
func (s *search[S]) extend(slot uint8) progress {
	bit := uint64(1) << slot
	movers := s.taken &^ s.looks
	for i := 0; i < len(s.work.items); i++ {
		if !s.meter.allows(len(s.work.items) + len(s.next.items)) {
			return spent
		}
		c := s.work.items[i]
		if movers&bit != 0 {
			s.happen(c, slot, bit, i+1)
		}
		for rest := movers &^ c.done &^ bit; rest != 0; rest &= rest - 1 {
			if other := uint8(bits.TrailingZeros64(rest)); s.earlier[other]&^c.done == 0 {
				s.happen(c, other, bit, i+1)
			}
		}
	}
	return going
}

// happen lets the operation in slot happen in c, and files what comes of it: with the awaited one done or not yet.
func (s *search[S]) happen(c config[S], slot uint8, awaited uint64, keep int) {
	o := &s.ops[slot]
	for choice := range int(o.choices) {
		s.meter.steps++
		state, ok := s.step(c.state, o, choice)
		if !ok {
			continue
		}
		n := config[S]{done: c.done | 1<<slot, state: state, last: c.last}
		if state != c.state {
			n.last = o.index
			n.done |= s.seen(n)
		}
		if n.done&awaited != 0 {
			n.done &^= awaited
			s.next.insert(n, s.optional&^awaited, s.hash, 0)
		} else {
			s.work.insert(n, s.optional, s.hash, keep)
		}
	}
}

// seen returns the open operations that only look and fit the configuration's state.
func (s *search[S]) seen(c config[S]) (slots uint64) {
	for rest := s.looks &^ c.done; rest != 0; rest &= rest - 1 {
		slot := uint8(bits.TrailingZeros64(rest))
		if s.fits(c.state, slot) {
			slots |= 1 << slot
		}
	}
	return slots
}
