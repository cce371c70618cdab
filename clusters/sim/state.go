package sim

import (
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters/sim/kernel"
)

// state identifies what a world is like, so that a search can tell that it has been here before. It is made of
//
//   - what is on the servers, by value: rows with their versions, leases, terms; objects, nodes and containers with all that
//     controllers and kubelets know (kubernetes.Server.Digest); workers;
//   - what is to come: every event that is scheduled, for whom and when, and every call under way with what it asks for and how it was answered;
//   - faults that have struck and not healed, rules for calls, what is down, paused or frozen;
//   - what each replica and client has learned since it last began from nothing: a coroutine is in the state that what it has read puts it
//     in. A replica of the reference forgets, see round;
//   - executions and effects so far, since the verdict depends on them.
//
// Times count in whole kernel.Grain: two states that differ only in when things are due by less than that are taken for one.
type state struct {
	world   *Cluster
	forgets bool // replicas do, as said above
	values  map[uint64]uint64
	total   uint64 // sum over values
	learned []uint64
	rounds  []round
	chains  uint64 // sum over learned
	read    uint64 // by the event that is happening
	struck  uint64
	past    uint64 // every change of a row or object and when, for planted programs: those may read what is old
	owners  []uint64
	labels  []uint64
}

// round is what a replica of the reference remembers. See dispatcher.RunDispatcher and RunReconciler: after a round without an error it is
// whether it leads, when it last renewed its lease and when it last claimed or swept; and a claim or sweep that met an error stays with it (as leftover
// launches, for one) until one that met none.
type round struct {
	troubled bool // an error since it last slept
	open     bool // an error that is not about leading, and no full claim or sweep since
	worked   bool // it claimed or listed since it last slept
	renewed  uint64
	workedAt uint64
}

func newState(w *Cluster) state {
	s := w.config.System
	plain := s.Ports == nil && s.Store == nil && s.Workers == nil && s.Witness == nil // a wrapper may remember what it likes
	return state{world: w, forgets: plain && w.config.Settings.LaunchRate == 0, values: map[uint64]uint64{}}
}

// sum is the state as one number.
func (s *state) sum() uint64 {
	d := kernel.Digest(s.total + s.chains + mix(s.struck, 1))
	d.Add(s.past)
	s.world.digest(&d)
	d.Add(s.pending())
	return uint64(d)
}

// pending is what is to come. What is scheduled for one moment is so in no order that means anything.
func (s *state) pending() uint64 {
	k, sum := s.world.kernel, uint64(0)
	k.Pending(func(e kernel.Due) {
		sum += mix(mix(s.owner(e.Owner), s.label(e.Label)), kernel.Grains(e.At))
	})
	return sum
}

func (s *state) owner(o kernel.Owner) uint64 {
	names := s.world.kernel.Owners()
	for len(s.owners) <= int(o) {
		s.owners = append(s.owners, word(names[len(s.owners)]))
	}
	return s.owners[o]
}

func (s *state) label(l kernel.Label) uint64 {
	for len(s.labels) <= int(l) {
		s.labels = append(s.labels, word(s.world.kernel.LabelName(kernel.Label(len(s.labels)))))
	}
	return s.labels[l]
}

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
	if !s.forgets {
		s.past = mix(mix(s.past, resource^value), kernel.Grains(s.world.kernel.Now()))
	}
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
	if old := s.of(o); old != 0 {
		s.chains -= mix(s.owner(o), old)
	}
	s.learned[o] = what
	s.chains += mix(s.owner(o), what)
}

// begins is a new life of a process: nothing of the one before is left.
func (s *state) begins(o kernel.Owner, what uint64) {
	s.know(o, what)
	s.rounds[o] = round{}
}

// trouble is an error that a replica has met.
func (s *state) trouble(o kernel.Owner, v history.Verb, code uint64) {
	s.learn(o, mix(uint64(v), code), 3)
	r := &s.rounds[o]
	r.troubled = true
	switch v {
	case history.Now, history.GetLease, history.PutLease, history.Lead, history.Confirm:
	default:
		r.open = true
	}
}

// calls notes when a replica did what it remembers the time of.
func (s *state) calls(o kernel.Owner, v history.Verb, at time.Duration) {
	s.of(o)
	r := &s.rounds[o]
	switch v {
	case history.Now, history.Confirm:
		r.renewed = kernel.Grains(at)
	case history.Claim, history.List:
		r.worked = true
		if r.open { // it may be a second try, and the time of the first still be what counts
			r.workedAt = mix(r.workedAt, kernel.Grains(at))
		} else {
			r.workedAt = kernel.Grains(at)
		}
	}
}

// sleep ends a replica's round.
func (s *state) sleep(p *process, leads bool, until time.Duration) {
	o := s.world.kernel.Owner(p.name)
	s.of(o)
	r := &s.rounds[o]
	if r.worked && !r.troubled {
		r.open = false
	}
	if s.forgets && !r.troubled && !r.open {
		known := mix(mix(uint64(p.incarnation)<<1|bit(leads), 4), r.renewed)
		if leads {
			known = mix(known, r.workedAt)
		}
		s.know(o, known)
	}
	r.troubled, r.worked = false, false
	s.learn(o, kernel.Grains(until), 5)
}

func (s *state) roundStamp(nanoseconds int64) uint64 {
	return uint64((nanoseconds + int64(kernel.Grain)/2) / int64(kernel.Grain))
}

// The short names of what a digest is made with.
func mix(a, b uint64) uint64 { return kernel.Mix(a, b) }

func word(s string) uint64 { return kernel.Word(s) }
