package sim

import (
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/sim/kernel"
)

// state identifies what a world is like, so that a search can tell that it has been here before. It is a sum over
//
//   - what is on the servers, by value: rows with their versions, objects, leases, terms;
//   - what each owner has learned since it last began from nothing: a coroutine is in the state that what it has read puts it
//     in. A replica of the reference that goes to sleep after a round without an error remembers no more than whether it leads, and how
//     often it has claimed and listed: see dispatcher.RunDispatcher and RunReconciler, whose loops keep nothing else;
//   - calls under way, faults that have struck and not healed, executions and effects so far.
//
// Times count in whole steps of grain: two states that differ only in when things are due by less than that are taken for one.
type state struct {
	kernel  *kernel.Kernel
	forgets bool // replicas do, as said above
	values  map[uint64]uint64
	total   uint64 // sum over values
	learned []uint64
	rounds  []round
	chains  uint64 // sum over learned
	read    uint64 // by the event that is happening
	flying  uint64
	struck  uint64
}

// round is what a replica did between two sleeps.
type round struct {
	troubled      bool
	claims, lists uint64
}

// grain is what times are rounded to. Settings are whole seconds, and what a window delays is less.
const grain = time.Second

func newState(k *kernel.Kernel, c clusters.Config) state {
	s := c.System
	plain := s.Ports == nil && s.Store == nil && s.Workers == nil && s.Witness == nil // a wrapper may remember what it likes
	return state{kernel: k, forgets: plain && c.Settings.LaunchRate == 0, values: map[uint64]uint64{}}
}

// sum is the state as one number.
func (s *state) sum() uint64 { return s.total + s.chains + mix(s.flying, 1) + mix(s.struck, 2) }

func (s *state) set(resource, value uint64) {
	old, had := s.values[resource]
	if had {
		s.total -= mix(resource, old)
	}
	s.values[resource] = value
	s.total += mix(resource, value)
}

// setPart sets something that is part of a whole, whose value is the sum of its parts.
func (s *state) setPart(resource, whole, value uint64) {
	old, had := s.values[resource]
	if had {
		s.values[whole] -= mix(resource, old)
	}
	s.values[whole] += mix(resource, value)
	s.set(resource, value)
}

// learn adds to what an owner knows.
func (s *state) learn(o kernel.Owner, what, more uint64) { s.know(o, mix(mix(s.of(o), what), more)) }

func (s *state) of(o kernel.Owner) uint64 {
	for int(o) >= len(s.learned) {
		s.learned = append(s.learned, 0)
		s.rounds = append(s.rounds, round{})
	}
	return s.learned[o]
}

func (s *state) know(o kernel.Owner, what uint64) {
	name := word(s.kernel.Owners()[o])
	if old := s.of(o); old != 0 {
		s.chains -= mix(name, old)
	}
	s.learned[o] = what
	s.chains += mix(name, what)
}

// trouble is something that a replica may remember for longer than a round.
func (s *state) trouble(o kernel.Owner, what uint64) {
	s.learn(o, what, 3)
	s.rounds[o].troubled = true
}

// counts counts what the loops of a replica remember the times of.
func (s *state) counts(c *call) {
	o := s.kernel.Owner(c.by.name)
	s.of(o)
	switch c.verb {
	case history.Claim:
		s.rounds[o].claims++
	case history.List:
		s.rounds[o].lists++
	}
}

// sleep ends a replica's round.
func (s *state) sleep(p *process, leads bool, until time.Duration) {
	o := s.kernel.Owner(p.name)
	s.of(o)
	r := &s.rounds[o]
	if s.forgets && !r.troubled {
		known := mix(uint64(p.incarnation)<<1|bit(leads), 4)
		if leads {
			known = mix(known, r.claims<<32|r.lists)
		}
		s.know(o, known)
	}
	r.troubled = false
	s.learn(o, s.grains(until), 5)
}

// round is a time in steps of the grain.
func (s *state) grains(at time.Duration) uint64 { return uint64((at + grain/2) / grain) }

func (s *state) roundStamp(nanoseconds int64) uint64 {
	return uint64((nanoseconds + int64(grain)/2) / int64(grain))
}

// mix makes one number of two, so that no simple relation between pairs makes them the same.
func mix(a, b uint64) uint64 {
	x := a*0x9e3779b97f4a7c15 + b
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// word is a string as a number (FNV-1a).
func word(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := 0; i < len(s); i++ {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}
