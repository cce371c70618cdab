package kubernetes

import (
	"slices"
	"strings"
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
)

// cache is what an API server shows to those who accept stale answers: the state of a while ago. It never goes
// back in time, and when it begins to lag it first stands still.
type cache struct {
	on      bool
	applied int                    // changes taken in, counted from the journal's beginning
	items   []*dispatcher.Workload // in order of name
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
	s.cache = cache{on: true, applied: s.journal.start + len(s.journal.changes)}
	for _, p := range s.byName {
		if p.unselected {
			continue
		}
		w := p.w
		s.cache.items = append(s.cache.items, &w)
	}
}

// cached is the state as the cache shows it now.
func (s *Server) cached() []dispatcher.Workload {
	s.cache.advance(&s.journal, s.k.Now()-s.lag.Draw(s.streams.lag))
	items := s.memory.copies.Take(len(s.cache.items))
	for i, w := range s.cache.items {
		items[i] = *w
	}
	return items
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
	i, found := slices.BinarySearchFunc(c.items, next.w.Name, func(w *dispatcher.Workload, name string) int {
		return strings.Compare(w.Name, name)
	})
	switch {
	case next.typ == Deleted && found:
		c.items = slices.Delete(c.items, i, i+1)
	case next.typ == Deleted:
	case found:
		c.items[i] = next.w
	default:
		c.items = slices.Insert(c.items, i, next.w)
	}
}
