package dispatchertest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// Side is one of two stores that are compared. Its clock must be one that can be moved by years.
type Side struct {
	Store   dispatcher.Store
	Advance AdvanceClock
}

// The time of a comparison. Real time passes at its own pace on a real database, so nothing may depend on it: the
// clock moves in whole units, every wait is an odd number of thirds, and no run comes near a sixth. Each step
// also takes a tick, so that no two stamps are equal and their order is that of the steps on both sides.
const (
	unit = 1000 * time.Hour
	tick = time.Second
)

// DiffSettings are the settings with which both sides must be opened.
func DiffSettings() dispatcher.Settings {
	s := suiteSettings()
	s.MaxInFlight = 6
	s.MaxFailures = 5
	s.Backoff, s.MaxBackoff = unit/3, 5*unit/3
	return s
}

// DiffStores makes the same random calls on two empty stores and demands the same answers and rows, apart from what
// a store is free to choose: the values of tokens, epochs and versions, and the clock. It takes at least the given
// number of steps, and ends only when every operation has succeeded and been refused.
func DiffStores(t *testing.T, a, b Side, seed uint64, steps int) {
	t.Helper()
	diffStores(t, a, b, seed, steps)
}

func diffStores(r reporter, a, b Side, seed uint64, steps int) {
	r.Helper()
	d := &diff{
		reporter: r,
		rand:     rand.New(rand.NewPCG(seed, 0)),
		sides:    [2]*side{newSide(a), newSide(b)},
		seen:     map[string]*coverage{},
	}
	for _, o := range diffOperations {
		d.seen[o.name] = &coverage{}
	}
	for n := 0; n < steps || d.missing() != ""; n++ {
		if n == 50*(steps+100) {
			d.Fatalf("after %d steps still not seen: %s", n, d.missing())
		}
		d.step(n)
	}
}

// diff is a comparison under way.
type diff struct {
	reporter
	rand  *rand.Rand
	sides [2]*side
	seen  map[string]*coverage
	trail []string // the latest steps
}

type coverage struct{ accepted, refused bool }

// missing names what was not seen yet.
func (d *diff) missing() string {
	var names []string
	for _, o := range diffOperations {
		if c := d.seen[o.name]; !c.accepted {
			names = append(names, o.name+" accepted")
		} else if !c.refused && !o.never {
			names = append(names, o.name+" refused")
		}
	}
	return strings.Join(names, ", ")
}

func (d *diff) step(n int) {
	c := d.choose()
	o := d.operation(c)
	var answers [2]answer
	for i, s := range d.sides {
		s.Advance(tick)
		answers[i] = o.call(s, c)
	}
	d.note("%d: %s %+v: %s", n, o.name, c, verdict(answers[0].err))
	d.compare(answers[0], answers[1])
	d.seen[o.name].accepted = d.seen[o.name].accepted || answers[0].err == nil
	d.seen[o.name].refused = d.seen[o.name].refused || answers[0].err != nil
	for _, t := range answers[0].tasks {
		d.refresh(t.Spec.ID)
	}
	d.refresh(c.id)
	if n%100 == 0 {
		for _, id := range d.sides[0].ids {
			d.refresh(id)
		}
	}
}

// refresh reads the row on both sides, compares, and keeps it as what a later writer may have read.
func (d *diff) refresh(id dispatcher.TaskID) {
	var rows [2]answer
	for i, s := range d.sides {
		rows[i] = s.answer(s.Store.Read(s.ctx, id))
	}
	d.compare(rows[0], rows[1])
	if rows[0].err != nil {
		return
	}
	var changed [2]bool
	for i, s := range d.sides {
		changed[i] = s.keep(rows[i].tasks[0])
	}
	if changed[0] != changed[1] {
		d.differ("task %s: version changed: %v on one side, %v on the other", id, changed[0], changed[1])
	}
}

func (d *diff) compare(a, b answer) {
	if verdict(a.err) != verdict(b.err) {
		d.differ("one side: %v; the other: %v", a.err, b.err)
	}
	if a.more != b.more {
		d.differ("more: %v on one side, %v on the other", a.more, b.more)
	}
	if len(a.tasks) != len(b.tasks) {
		d.differ("%d rows on one side, %d on the other", len(a.tasks), len(b.tasks))
	}
	for i := range a.tasks {
		d.compareRows(a.tasks[i], b.tasks[i])
	}
	if !a.at.IsZero() {
		d.compareStamps("the clock", a.at, b.at)
	}
}

func (d *diff) compareRows(a, b dispatcher.Task) {
	as, bs := stamps(&a), stamps(&b)
	for i := range as {
		d.compareStamps(string(a.Spec.ID)+"'s "+as[i].name, *as[i].at, *bs[i].at)
		*as[i].at, *bs[i].at = time.Time{}, time.Time{}
	}
	if a, b := d.sides[0].neutral(a), d.sides[1].neutral(b); a != b {
		d.differ("one side:\n%+v\nthe other:\n%+v", a, b)
	}
}

func (d *diff) compareStamps(what string, a, b time.Time) {
	since := [2]time.Duration{a.Sub(d.sides[0].base), b.Sub(d.sides[1].base)}
	if a.IsZero() != b.IsZero() || !a.IsZero() && (since[0]-since[1]).Abs() > unit/6 {
		d.differ("%s: %v after the start on one side, %v on the other", what, since[0], since[1])
	}
}

func (d *diff) note(format string, args ...any) {
	d.trail = append(d.trail[max(0, len(d.trail)-20):], fmt.Sprintf(format, args...))
}

func (d *diff) differ(format string, args ...any) {
	d.Fatalf("the stores differ: %s\nafter\n%s", fmt.Sprintf(format, args...), strings.Join(d.trail, "\n"))
}

// verdict is what an error means to its caller.
func verdict(err error) string {
	if err == nil {
		return "accepted"
	}
	for _, known := range []error{dispatcher.ErrNotFound, dispatcher.ErrConflict, dispatcher.ErrFenced, dispatcher.ErrRefused, dispatcher.ErrRejected} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return "broken: " + err.Error()
}

// side is a store with what its callers remember. Both sides remember as many things in the same order.
type side struct {
	Side
	ctx    context.Context
	base   time.Time
	terms  map[dispatcher.Role][]dispatcher.Term
	ids    []dispatcher.TaskID
	rows   map[dispatcher.TaskID][]dispatcher.Task // as read, oldest first
	tokens map[dispatcher.Token]dispatcher.Token   // numbered in order of sight
}

func newSide(s Side) *side {
	n := &side{
		Side:   s,
		ctx:    context.Background(),
		terms:  map[dispatcher.Role][]dispatcher.Term{},
		rows:   map[dispatcher.TaskID][]dispatcher.Task{},
		tokens: map[dispatcher.Token]dispatcher.Token{},
	}
	n.base, _ = s.Store.Now(n.ctx)
	return n
}

// keep remembers a row if it is news.
func (s *side) keep(t dispatcher.Task) bool {
	id, rows := t.Spec.ID, s.rows[t.Spec.ID]
	if len(rows) > 0 && rows[len(rows)-1].Version == t.Version {
		return false
	}
	if len(rows) == 0 {
		s.ids = append(s.ids, id)
	}
	s.rows[id] = append(rows, t)
	return true
}

// neutral replaces what a store is free to choose by what both must agree on: which token and epoch it is, in order
// of first sight.
func (s *side) neutral(t dispatcher.Task) dispatcher.Task {
	t.Version = 0
	if t.Attempt.Token != 0 {
		if s.tokens[t.Attempt.Token] == 0 {
			s.tokens[t.Attempt.Token] = dispatcher.Token(len(s.tokens) + 1)
		}
		t.Attempt.Token = s.tokens[t.Attempt.Token]
	}
	t.Attempt.Epoch = dispatcher.Epoch(1 + slices.IndexFunc(s.terms[dispatcher.RoleDispatcher], func(term dispatcher.Term) bool {
		return term.Epoch == t.Attempt.Epoch
	}))
	return t
}

// answer is everything that a call can return.
type answer struct {
	tasks []dispatcher.Task
	more  bool
	at    time.Time
	err   error
}

func (s *side) answer(t dispatcher.Task, err error) answer {
	if err != nil {
		return answer{err: err}
	}
	return answer{tasks: []dispatcher.Task{t}}
}
