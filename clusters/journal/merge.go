package journal

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/squall-chaos/squall/checker/history"
)

// Merge makes one history of the journals of all processes, the database's log and what others saw. Nothing is judged here, and nothing
// guessed: what the log does not tell stays unknown.
//
// A call with an unknown outcome was applied if the log has a change that this process's call makes and that no other call explains. It
// was not, and never will be, if there is none although the log goes on for longer than meta.Limits.CallMax after the call:
// whoever holds calls back must have that in it. The log goes on to the event Ended, after which the caller must have read it.
//
// The history comes together with ErrClockStepped or ErrWitnesses too, so that a report can show it; no verdict can be based on it.
func Merge(start time.Time, meta history.Meta, calls []Call, events []Event) (*history.History, error) {
	t, unsteady := newTimeline(start, calls, events)
	m := &merger{time: t, calls: calls, events: events, log: logOf(t, events)}
	found := newMatcher(t, calls, m.log)
	found.match()
	m.found = found.found
	bodies, disagreeing := witness(t, calls, events)
	m.bodies = bodies
	m.settle(meta.Limits.CallMax)
	m.place()
	h := m.number(meta)
	return h, errors.Join(unsteady, disagreeing)
}

// merger is the state of one Merge.
type merger struct {
	time   timeline
	calls  []Call
	events []Event
	log    []write
	found  [][]int // by call: the changes that it made
	bodies []body  // events of containers and executions, by both witnesses

	applied  []history.Outcome // by call
	rows     [][]Row           // by call, completed from the log
	epochs   []uint64          // by call
	items    []item
	latest   map[string]time.Duration // of each task's changes
	followed map[int]time.Duration    // by call: when somebody else first changed a row that it had changed
	counted  map[attempt]bool
	refused  map[refusal]bool
	lateness time.Duration
}

// moment is what an item is.
type moment uint8

const (
	called moment = iota
	effected
	visible
	returned
	happened
)

// item takes one place in the order. Items of the same time stay in the order in which they were placed.
type item struct {
	at    time.Duration
	what  moment
	index int // of the call
	event *Event
}

func (m *merger) add(at time.Duration, what moment, index int, e *Event) {
	m.items = append(m.items, item{at, what, index, e})
}

// settle says of each call whether it was applied, and to what.
func (m *merger) settle(callMax time.Duration) {
	n := len(m.calls)
	m.applied, m.rows, m.epochs = make([]history.Outcome, n), make([][]Row, n), make([]uint64, n)
	end, complete := m.end()
	for i := range m.calls {
		c := &m.calls[i]
		m.applied[i], m.rows[i], m.epochs[i] = c.Outcome, c.Rows, c.Epoch
		if c.Outcome != history.Unknown || !logged(c.Verb) {
			continue
		}
		at := m.time.of(c.Called, c.CalledMonotonic)
		switch {
		case len(m.found[i]) > 0:
			m.applied[i] = history.OK
			m.complete(i)
		case complete && callMax > 0 && end-at > callMax:
			m.applied[i] = history.Fail
		}
	}
}

// end is until when the log is known to be complete.
func (m *merger) end() (time.Duration, bool) {
	if len(m.log) == 0 {
		return 0, false
	}
	for i := range m.events {
		if e := &m.events[i]; e.Kind == history.Ended {
			return m.time.of(e.At, e.Monotonic), true
		}
	}
	return 0, false
}

// complete fills in what only the log knows of a call without an answer.
func (m *merger) complete(call int) {
	c := &m.calls[call]
	var rows []Row
	for _, i := range m.found[call] {
		w := &m.log[i]
		switch {
		case w.Write.Role != "":
			m.epochs[call] = w.Epoch
		case c.Verb == history.Claim:
			if w.Phase == history.Running {
				rows = append(rows, Row{w.Task, w.Token, w.Phase, w.Cancelling, w.Write.Version})
			}
		default:
			rows = append(rows, Row{w.Task, c.Rows[0].Token, w.Phase, w.Cancelling, w.Write.Version})
		}
	}
	if c.Verb == history.Heartbeat {
		return // it tells nothing of the row, see clusters/sim
	}
	if len(rows) > 0 {
		m.rows[call] = rows
	}
}

// place gives every call, effect, return and event its time.
func (m *merger) place() {
	m.latest, m.followed = map[string]time.Duration{}, map[int]time.Duration{}
	m.counted, m.refused = map[attempt]bool{}, map[refusal]bool{}
	effects := m.changes()
	m.ownRefusals()
	for i := range m.calls {
		m.placeCall(i, effects[i])
	}
	for i := range m.log {
		if m.log[i].call == unmatched {
			m.placeChange(&m.log[i], m.log[i].at)
		}
	}
	for i := range m.events {
		if e := &m.events[i]; e.Write == nil && !ofBody(e.Kind) && m.kept(e) {
			m.add(m.time.of(e.At, e.Monotonic), happened, 0, e)
		}
	}
	for i := range m.bodies {
		m.add(m.bodies[i].at, happened, 0, &m.bodies[i].Event)
	}
	m.holders()
	m.placeVisible()
	slices.SortStableFunc(m.items, func(a, b item) int { return cmp.Compare(a.at, b.at) })
}

// placeVisible says of the calls without an answer by when everybody saw their effect. COMMIT stamps it a moment before it lets go of
// the row: whoever changed the row next saw it, and nobody earlier need have.
func (m *merger) placeVisible() {
	last := slices.MaxFunc(m.items, func(a, b item) int { return cmp.Compare(a.at, b.at) }).at
	for i := range m.calls {
		if m.calls[i].Outcome != history.Unknown || len(m.found[i]) == 0 {
			continue
		}
		at, followed := m.followed[i]
		if !followed {
			at = last
		}
		m.add(at, visible, i, nil)
	}
}

// changes settles when each change took place: within its call, and after the change of the same row before.
func (m *merger) changes() (effects map[int]time.Duration) {
	effects = map[int]time.Duration{}
	changer := map[string]int{} // by row: the call that changed it last
	for i := range m.log {
		w := &m.log[i]
		if w.call != unmatched {
			c := &m.calls[w.call]
			w.at = max(w.at, m.time.of(c.Called, c.CalledMonotonic))
			if c.Outcome == history.OK {
				w.at = min(w.at, m.time.of(c.Returned, c.ReturnedMonotonic))
			}
		}
		key := rowKey(w.Write.Role, w.Task)
		w.at = max(w.at, m.latest[key])
		m.latest[key] = w.at
		if before, changed := changer[key]; changed && before != w.call {
			if _, known := m.followed[before]; !known {
				m.followed[before] = w.at
			}
		}
		if changer[key] = w.call; w.call == unmatched {
			continue
		}
		if first, known := effects[w.call]; !known || w.at < first {
			effects[w.call] = w.at
		}
	}
	return effects
}

func (m *merger) placeCall(i int, effect time.Duration) {
	c := &m.calls[i]
	at := m.time.of(c.Called, c.CalledMonotonic)
	m.add(at, called, i, nil)
	if len(m.found[i]) > 0 {
		m.add(effect, effected, i, nil)
		for _, j := range m.found[i] {
			m.placeChange(&m.log[j], m.log[j].at)
			at = max(at, m.log[j].at)
		}
	}
	if c.Returned.IsZero() {
		return
	}
	back := m.time.of(c.Returned, c.ReturnedMonotonic)
	if c.Outcome != history.OK { // the effect may come later
		m.lateness = max(m.lateness, at-back)
		at = m.time.of(c.Called, c.CalledMonotonic)
	}
	back = max(back, at)
	m.derivedRefusal(i, back)
	m.add(back, returned, i, nil)
}

// placeChange adds the Row event of a change, and the effect that counts from it on.
func (m *merger) placeChange(w *write, at time.Duration) {
	if w.shows() {
		m.add(at, happened, 0, w.Event)
	}
	m.count(w, at)
}

// holders derives who held each lease from the updates that were accepted, unless somebody watched the leases.
func (m *merger) holders() {
	if slices.ContainsFunc(m.events, func(e Event) bool { return e.Kind == history.LeaseHeld }) {
		return
	}
	var puts []int
	for i := range m.calls {
		if c := &m.calls[i]; c.Verb == history.PutLease && c.Outcome == history.OK {
			puts = append(puts, i)
		}
	}
	back := func(i int) time.Duration { return m.time.of(m.calls[i].Returned, m.calls[i].ReturnedMonotonic) }
	slices.SortStableFunc(puts, func(a, b int) int { return cmp.Compare(back(a), back(b)) })
	holder := map[string]string{}
	for _, i := range puts {
		c := &m.calls[i]
		if before := holder[c.Detail]; before == c.Object {
			continue
		}
		holder[c.Detail] = c.Object
		m.add(back(i), happened, 0, &Event{Kind: history.LeaseHeld, Process: processOf(c.Object), Detail: c.Detail})
	}
}

// processOf is the process that an instance is a life of.
func processOf(instance string) string {
	if cut := strings.LastIndexByte(instance, '/'); cut >= 0 {
		return instance[:cut]
	}
	return instance
}
