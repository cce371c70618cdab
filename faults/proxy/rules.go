package proxy

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/squall-chaos/squall/clusters"
)

// Hit is a call that a rule struck.
type Hit struct {
	Rule    string        `json:"rule"`
	At      time.Time     `json:"at"`
	Port    clusters.Port `json:"port"`
	Process string        `json:"process"`
	Verb    string        `json:"verb,omitempty"`
	Task    string        `json:"task,omitempty"`
}

// maxHits is how many hits are kept. A run has thousands.
const maxHits = 100_000

// Armed is a rule with what it did so far.
type Armed struct {
	ID   string `json:"id"`
	Rule Rule   `json:"rule"`
	Seen int    `json:"seen"` // matching calls
	Hits int    `json:"hits"` // calls struck
}

type armed struct {
	Armed
	chance *rand.Rand
	done   chan struct{} // closed when the rule is disarmed
}

// call is one call of one process, as far as it is known when it is judged.
type call struct {
	port    clusters.Port
	process string
	verb    string
	task    string
	commits bool // it may write: a store call at its COMMIT

	counted []*armed // rules that have counted it already
}

// fate is what the rules have decided about a call.
type fate struct {
	action clusters.Action // empty: it goes its way
	delay  time.Duration   // late: until it takes effect
	slow   time.Duration   // on top of its way to the server
	rule   *armed          // of the action
	slowed []*armed
	held   []*armed // those of them that last until they are disarmed
}

// rules are those that are armed, in the order in which they were.
type rules struct {
	mu    sync.Mutex
	all   []*armed
	next  int
	hits  []Hit
	first int           // number of hits[0]
	more  chan struct{} // closed at the next hit
	now   func() time.Time
}

func newRules() *rules { return &rules{more: make(chan struct{}), now: time.Now} }

func (s *rules) arm(r Rule) *armed {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	a := &armed{Armed: Armed{ID: "r" + strconv.Itoa(s.next), Rule: r}, chance: rand.New(rand.NewPCG(r.Seed, 0)), done: make(chan struct{})}
	s.all = append(s.all, a)
	return a
}

// disarm takes the rules away that chosen says; it tells whether there was one.
func (s *rules) disarm(chosen func(*armed) bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.all)
	s.all = slices.DeleteFunc(s.all, func(a *armed) bool {
		if !chosen(a) {
			return false
		}
		close(a.done)
		return true
	})
	return len(s.all) < before
}

func (s *rules) list() []Armed {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Armed, len(s.all))
	for i, a := range s.all {
		out[i] = a.Armed
	}
	return out
}

// any tells whether some armed rule is so.
func (s *rules) any(so func(Rule) bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.all, func(a *armed) bool { return so(a.Rule) })
}

// judge asks every rule with an action that is open about the call, as the simulation does: delays add up, and the first
// other action that strikes decides. A rule counts a call once, however often it is judged.
func (s *rules) judge(c *call, open func(Rule) bool) fate {
	s.mu.Lock()
	defer s.mu.Unlock()
	var f fate
	for _, a := range s.all {
		slow := a.Rule.Action == clusters.Slow
		if f.action != "" && !slow || !open(a.Rule) || !a.strikes(c) {
			continue
		}
		if slow && a.Rule.Hold {
			f.slowed, f.held = append(f.slowed, a), append(f.held, a)
			continue
		}
		if slow {
			f.slow += a.Rule.Delay.draw(a.chance)
			f.slowed = append(f.slowed, a)
			continue
		}
		f.action, f.rule = a.Rule.Action, a
		if f.action == clusters.Late {
			f.delay = a.Rule.Delay.draw(a.chance)
		}
	}
	return f
}

// waits tells whether the call has to wait before it goes its way.
func (f fate) waits() bool { return f.slow > 0 || len(f.held) > 0 }

// wait is that; a proxy that stops lets every call go.
func (f fate) wait(stopping context.Context) {
	if f.slow > 0 {
		sleep(stopping, f.slow)
	}
	for _, a := range f.held {
		select {
		case <-a.done:
		case <-stopping.Done():
		}
	}
}

func (a *armed) strikes(c *call) bool {
	if !a.Rule.matches(c) || slices.Contains(c.counted, a) {
		return false
	}
	c.counted = append(c.counted, a)
	a.Seen++
	if a.Rule.Nth > 0 && a.Seen != a.Rule.Nth {
		return false
	}
	return a.Rule.Share == 0 || a.Rule.Share == 1 || a.chance.Float64() < a.Rule.Share
}

// hit records that the rule struck the call.
func (s *rules) hit(c *call, by ...*armed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range by {
		a.Hits++
		if len(s.hits) == maxHits {
			s.hits, s.first = slices.Delete(s.hits, 0, maxHits/10), s.first+maxHits/10
		}
		s.hits = append(s.hits, Hit{Rule: a.ID, At: s.now(), Port: c.port, Process: c.process, Verb: c.verb, Task: c.task})
	}
	if len(by) > 0 {
		close(s.more)
		s.more = make(chan struct{})
	}
}

// after returns the hits from the number on, the number of the next one, and what is closed when that comes. A number from the
// future is that of a proxy which ran before this one: it is set back.
func (s *rules) after(n int) (hits []Hit, next int, more <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next = s.first + len(s.hits)
	if from := max(n-s.first, 0); from < len(s.hits) {
		hits = slices.Clone(s.hits[from:])
	}
	return hits, next, s.more
}
