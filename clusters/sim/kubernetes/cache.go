package kubernetes

import (
	"slices"
	"strings"
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/sim/kernel"
	"github.com/squall-chaos/squall/dispatcher"
)

// cache is what an API server shows to those who accept stale answers: the state of a while ago. It never goes
// back in time, and when it begins to lag it first stands still.
type cache struct {
	on      bool
	applied int                   // changes taken in, counted from the journal's beginning
	items   []dispatcher.Workload // in order of name
	lent    bool                  // items are in an answer: the next change goes into a copy
	copies  *kernel.Arena[dispatcher.Workload]
}

// SetCacheLag sets how old stale lists and watches are; the zero Dist restores the configured lag.
func (s *Server) SetCacheLag(d clusters.Dist) {
	s.lag = d.Or(s.platform.CacheLag)
	s.lagChanged()
}

func (s *Server) lagChanged() {
	if s.lag.Max() <= 0 {
		s.cache = cache{}
		if !s.watched {
			s.journal = journal{}
		}
		return
	}
	if s.cache.on {
		return
	}
	s.begin()
	s.cache = cache{on: true, applied: s.journal.start + len(s.journal.changes), copies: &s.memory.copies}
	for _, p := range s.byName {
		if p.unselected {
			continue
		}
		s.cache.items = append(s.cache.items, p.w)
	}
}

// cached is the state as the cache shows it now. It is only lent: who is shown it must not change it.
func (s *Server) cached() []dispatcher.Workload {
	s.cache.advance(&s.journal, s.k.Now()-s.lag.Draw(s.streams.lag))
	s.cache.lent = true
	return s.cache.items[:len(s.cache.items):len(s.cache.items)]
}

// advance takes in the changes up to t, which may be before what is already shown.
func (c *cache) advance(j *journal, t time.Duration) {
	for c.applied-j.start < len(j.changes) {
		next := j.changes[c.applied-j.start]
		if next.at > t {
			return
		}
		c.apply(next)
		c.applied++
	}
}

func (c *cache) apply(next change) {
	if c.lent {
		own := c.copies.Take(len(c.items) + len(c.items)/4 + 8) // with room for what comes
		c.items, c.lent = own[:copy(own, c.items)], false
	}
	i, found := slices.BinarySearchFunc(c.items, next.w.Name, func(w dispatcher.Workload, name string) int {
		return strings.Compare(w.Name, name)
	})
	switch {
	case next.typ == Deleted && found:
		c.items = slices.Delete(c.items, i, i+1)
	case next.typ == Deleted:
	case found:
		c.items[i] = *next.w
	default:
		c.items = slices.Insert(c.items, i, *next.w)
	}
}
