package journal

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/squall-chaos/squall/checker/history"
)

// microsecond is what the database cuts off its stamps.
const microsecond = time.Microsecond

// matcher finds out which call made which change.
type matcher struct {
	time      timeline
	calls     []Call
	log       []write
	found     [][]int          // by call: indexes into log
	processes map[string]bool  // that make calls
	byRole    map[string][]int // indexes into log
	byVersion map[rowVersion][]int
	byCommit  map[uint64][]int // indexes into log by transaction
	tolerance time.Duration    // of stamps of the two clocks
}

func newMatcher(t timeline, calls []Call, log []write) *matcher {
	m := &matcher{time: t, calls: calls, log: log, found: make([][]int, len(calls)), processes: map[string]bool{},
		byRole: map[string][]int{}, byVersion: map[rowVersion][]int{}, byCommit: map[uint64][]int{},
		tolerance: microsecond}
	for i := range calls {
		m.processes[calls[i].Process] = true
	}
	for i := range log {
		w := &log[i]
		m.byRole[w.Write.Role] = append(m.byRole[w.Write.Role], i)
		version := rowVersion{w.Task, w.Write.Version} // several changes if the row was deleted between
		m.byVersion[version] = append(m.byVersion[version], i)
		m.byCommit[w.Write.Transaction] = append(m.byCommit[w.Write.Transaction], i)
	}
	return m
}

type rowVersion struct {
	task    string
	version uint64
}

// rowKey names a row of either table.
func rowKey(role, task string) string {
	if role != "" {
		return "\x00" + role
	}
	return task
}

// match goes from what is certain to what is likely: answers that show the version or the epoch that was written; accepted calls by
// the time between their call and return; then the calls whose caller learned nothing.
func (m *matcher) match() {
	m.answered()
	m.accepted()
	m.unknown(true)
	m.tolerance = stepped // as far as the clock may have been set without anybody noticing
	m.answered()
	m.accepted()
	m.unknown(false)
}

// assign notes that the call made the change; a claim makes all of its transaction.
func (m *matcher) assign(call, change int) {
	c := &m.calls[call]
	all := []int{change}
	if c.Verb == history.Claim {
		all = m.byCommit[m.log[change].Write.Transaction]
	}
	for _, i := range all {
		if w := &m.log[i]; w.call == unmatched && w.madeBy(c.Verb) {
			w.call = call
			m.found[call] = append(m.found[call], i)
		}
	}
}

// by tells whether the process of a call can have made the change. A session whose application is nobody that we know may be
// anybody's.
func (m *matcher) by(w *write, process string) bool {
	return w.Write.Application == process || !m.processes[w.Write.Application]
}

// window is from when to when the call, if it was accepted, took effect.
func (m *matcher) window(c *Call) (from, to time.Duration) {
	from = m.time.of(c.Called, c.CalledMonotonic) - m.tolerance
	return from, m.time.of(c.Returned, c.ReturnedMonotonic) + m.tolerance
}

// during tells that the change was made while the call was under way.
func (m *matcher) during(w *write, c *Call) bool {
	from, to := m.window(c)
	return w.at >= from && !c.Returned.IsZero() && w.at <= to
}

// answered matches the accepted calls.
func (m *matcher) answered() {
	for i := range m.calls {
		if c := &m.calls[i]; c.Outcome == history.OK && logged(c.Verb) && len(m.found[i]) == 0 {
			m.shown(i, c)
		}
	}
}

// shown matches a call that was answered with what it wrote.
func (m *matcher) shown(i int, c *Call) {
	if c.Verb == history.Lead {
		for _, j := range m.byRole[c.Detail] {
			if w := &m.log[j]; w.call == unmatched && w.Epoch == c.Epoch {
				m.assign(i, j)
				return
			}
		}
	}
	for _, row := range c.Rows {
		if row.Version == 0 {
			continue
		}
		for _, j := range m.byVersion[rowVersion{row.Task, row.Version}] {
			w := &m.log[j]
			if w.call == unmatched && w.madeBy(c.Verb) && m.by(w, c.Process) && m.during(w, c) {
				m.assign(i, j)
				break
			}
		}
	}
}

// accepted matches the accepted calls whose answer shows no version: heartbeats, and claims that got nothing.
func (m *matcher) accepted() {
	m.each(func(w *write, c *Call) bool {
		return c.Outcome == history.OK && m.by(w, c.Process) && w.fits(c) && m.during(w, c)
	}, func(c *Call) bool {
		return c.Outcome == history.OK && (c.Verb == history.Heartbeat || c.Verb == history.Claim && len(c.Rows) == 0)
	})
}

// unknown matches the calls whose caller learned nothing. Their effect may come late, so the window has no end. Not strictly, a
// process's own change that no other call explains is taken for one that a defect of the system let through in another form.
func (m *matcher) unknown(strict bool) {
	m.each(func(w *write, c *Call) bool {
		if strict {
			return m.by(w, c.Process) && w.fits(c)
		}
		return w.Write.Application == c.Process
	}, func(c *Call) bool { return c.Outcome == history.Unknown && logged(c.Verb) })
}

// each gives every change that is unexplained to the best of the calls that may have made it.
func (m *matcher) each(may func(*write, *Call) bool, among func(*Call) bool) {
	all := m.candidates(among)
	if len(all) == 0 {
		return
	}
	for j := range m.log {
		w := &m.log[j]
		if w.call != unmatched {
			continue
		}
		best := all[rowKey(w.Write.Role, w.Task)].best(m, w, may)
		if best < 0 {
			best = all[claims].best(m, w, may)
		}
		if best >= 0 {
			m.assign(best, j)
		}
	}
}

// claims is where calls are kept that name no row.
const claims = "\x00claims"

// candidates are calls that may have made a change of a row, in the order in which they were made.
type candidates struct {
	calls   []int
	called  []time.Duration
	longest time.Duration // that one was under way; if one never returned, for ever
}

func (m *matcher) candidates(among func(*Call) bool) map[string]*candidates {
	all := map[string]*candidates{}
	for i := range m.calls {
		c := &m.calls[i]
		if len(m.found[i]) > 0 || !among(c) {
			continue
		}
		key := claims
		switch {
		case c.Verb == history.Lead:
			key = rowKey(c.Detail, "")
		case c.Verb == history.Claim:
		case len(c.Rows) > 0:
			key = c.Rows[0].Task
		default:
			continue // about nothing
		}
		if all[key] == nil {
			all[key] = &candidates{}
		}
		all[key].calls = append(all[key].calls, i)
	}
	for _, of := range all {
		of.order(m)
	}
	return all
}

func (of *candidates) order(m *matcher) {
	called := func(i int) time.Duration { from, _ := m.window(&m.calls[i]); return from }
	slices.SortStableFunc(of.calls, func(a, b int) int { return cmp.Compare(called(a), called(b)) })
	of.called = make([]time.Duration, len(of.calls))
	for n, i := range of.calls {
		of.called[n] = called(i)
		took := time.Duration(math.MaxInt64)
		if c := &m.calls[i]; c.Outcome == history.OK {
			_, to := m.window(c)
			took = to - of.called[n]
		}
		of.longest = max(of.longest, took)
	}
}

// best is, of those who may, the latest that was under way at the time of the change, else the latest made before it.
func (of *candidates) best(m *matcher, w *write, may func(*write, *Call) bool) int {
	best := -1
	if of == nil {
		return best
	}
	n, _ := slices.BinarySearch(of.called, w.at+1)
	for n--; n >= 0 && w.at-of.called[n] <= of.longest; n-- {
		i := of.calls[n]
		c := &m.calls[i]
		if len(m.found[i]) > 0 || !w.madeBy(c.Verb) || !may(w, c) {
			continue
		}
		if m.during(w, c) {
			return i
		}
		if best < 0 {
			best = i
		}
	}
	return best
}
