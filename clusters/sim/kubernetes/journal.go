package kubernetes

import (
	"sort"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// journal is the recent changes, in order of resourceVersion. It is kept only while a stale cache or a watch needs it: then each
// change costs one copy of the object.
type journal struct {
	on      bool
	since   uint64 // changes up to this version are not in it
	start   int    // how many changes were trimmed
	changes []change
}

// change is one version of one object.
type change struct {
	at  time.Duration
	typ WatchType
	w   *dispatcher.Workload // never written again
}

// trimAt is the length from which on the journal is trimmed now and then.
const trimAt = 1024

func (s *Server) record(t WatchType, w *dispatcher.Workload) {
	j := &s.journal
	kept := s.memory.copies.New()
	*kept = *w
	j.changes = append(j.changes, change{s.k.Now(), t, kept})
	if len(j.changes)%trimAt == 0 {
		s.trim()
	}
}

// trim drops what was compacted and what the cache has taken in.
func (s *Server) trim() {
	j := &s.journal
	old := j.before(s.k.Now() - compactionAge)
	if s.cache.on {
		s.cache.advance(j, s.k.Now()-s.lag.Max())
		old = min(old, s.cache.applied-j.start)
	}
	if old > len(j.changes)/2 {
		j.start += old
		j.since = j.changes[old-1].w.Version
		j.changes = append([]change(nil), j.changes[old:]...)
	}
}

// begin starts recording, if it is not on.
func (s *Server) begin() {
	if !s.journal.on {
		s.journal = journal{on: true, since: s.version}
	}
}

// before is how many of the changes kept are from t or earlier.
func (j *journal) before(t time.Duration) int {
	return sort.Search(len(j.changes), func(i int) bool { return j.changes[i].at > t })
}
