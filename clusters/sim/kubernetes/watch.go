package kubernetes

import (
	"fmt"
	"sort"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// WatchType is what happened to a watched object.
type WatchType uint8

// The types of watch events.
const (
	Added WatchType = iota + 1
	Modified
	Deleted
)

// WatchEvent is one version of one object. A deletion shows the object's last state.
type WatchEvent struct {
	Type     WatchType
	Workload dispatcher.Workload
}

// Watcher is one watch, pulled.
type Watcher struct {
	server  *Server
	next    int // change, counted from the journal's beginning
	version uint64
	due     time.Duration // when the next change shows
	drawn   bool
	drop    func(WatchEvent) bool
}

// Version is the resourceVersion of the latest change.
func (s *Server) Version() uint64 { return s.version }

// Watch shows the changes after the resourceVersion from; 0 means from now on. Changes are remembered for
// compactionAge, and only from the first Watch or the first cache lag on: what is older answers 410, and the client must list again.
func (s *Server) Watch(from uint64) (*Watcher, error) {
	if from == 0 {
		from = s.version
	}
	return s.watchAfter(from)
}

// watchAfter is a watch from a version on, which may be 0: that of a cluster in which nothing has happened.
func (s *Server) watchAfter(from uint64) (*Watcher, error) {
	s.watched = true
	s.begin()
	j := &s.journal
	w := &Watcher{server: s, version: from}
	w.next = j.start + sort.Search(len(j.changes), func(i int) bool { return j.changes[i].w.Version > from })
	if w.compacted() {
		return nil, fmt.Errorf("watch workloads from version %d: %w", from, dispatcher.ErrExpired)
	}
	return w, nil
}

// Changes is one request of a watch that ends with what shows by now. The version to go on from is one more than the last that was
// shown, so that 0 can mean from now on.
func (s *Server) Changes(after uint64) (dispatcher.Changes, error) {
	from := s.version
	if after > 0 {
		from = after - 1
	}
	w, err := s.watchAfter(from)
	if err != nil {
		return dispatcher.Changes{}, err
	}
	var all dispatcher.Changes
	for {
		e, some, err := w.Next()
		if err != nil {
			return dispatcher.Changes{}, err
		}
		if all.Version = w.version + 1; !some {
			return all, nil
		}
		all.Items = append(all.Items, dispatcher.Change{Workload: e.Workload, Gone: e.Type == Deleted})
	}
}

// DropWatchEvents has drop decide, for each event about to be shown by this watch, whether it is lost instead; nil
// ends that. The API server promises that there are no gaps: this stands for a proxy or a client that breaks the promise.
func (w *Watcher) DropWatchEvents(drop func(WatchEvent) bool) { w.drop = drop }

// Next returns the next change that shows by now, if there is one. A watch that fell behind the compaction
// answers 410 from then on.
func (w *Watcher) Next() (WatchEvent, bool, error) {
	s := w.server
	for {
		if w.compacted() {
			return WatchEvent{}, false, fmt.Errorf("watch workloads at version %d: %w", w.version, dispatcher.ErrExpired)
		}
		i := w.next - s.journal.start
		if i >= len(s.journal.changes) {
			return WatchEvent{}, false, nil
		}
		c := s.journal.changes[i]
		if !w.drawn {
			w.due, w.drawn = c.at+s.lag.Draw(s.streams.lag), true
		}
		if w.due > s.k.Now() {
			return WatchEvent{}, false, nil
		}
		w.next++
		w.version, w.drawn = c.w.Version, false
		e := WatchEvent{Type: c.typ, Workload: *c.w}
		if w.drop == nil || !w.drop(e) {
			return e, true, nil
		}
	}
}

// compacted tells whether a change after the watch's position is no longer known.
func (w *Watcher) compacted() bool {
	j := &w.server.journal
	old := j.before(w.server.k.Now() - compactionAge)
	return w.version < j.since || old > 0 && w.version < j.changes[old-1].w.Version
}
