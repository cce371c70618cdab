package kubernetes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// compactionAge is how long etcd keeps old revisions (kube-apiserver --etcd-compaction-interval): a continue
// token or a watch that needs an older one is answered 410 Gone (kubernetes.io/docs/reference/using-api/api-concepts).
const compactionAge = 5 * time.Minute

// snapshot is the state that the further pages of a list show.
type snapshot struct {
	version uint64
	at      time.Duration
	items   []dispatcher.Workload
}

// List returns one page in order of name. All pages of a list show the moment of the first; a list that a cache may
// answer is as old as the cache, and comes in one page because the cache ignores the limit.
func (s *Server) List(l dispatcher.List) (dispatcher.WorkloadPage, error) {
	switch {
	case l.Continue != "":
		return s.nextPage(l)
	case l.Stale && s.cache.on:
		return dispatcher.WorkloadPage{Items: s.cached()}, nil
	case l.Stale || l.Limit <= 0 || l.Limit >= len(s.byName):
		return dispatcher.WorkloadPage{Items: s.current(len(s.byName))}, nil
	}
	s.keep()
	return dispatcher.WorkloadPage{Items: s.current(l.Limit), Continue: token(s.version, l.Limit)}, nil
}

// current copies the first n objects that the selector finds.
func (s *Server) current(n int) []dispatcher.Workload {
	if s.unselected > 0 {
		return s.selected(n)
	}
	items := s.memory.copies.Take(n)
	for i := range items {
		items[i] = s.byName[i].w
	}
	return items
}

func (s *Server) selected(n int) []dispatcher.Workload {
	items := make([]dispatcher.Workload, 0, n)
	for _, p := range s.byName {
		if !p.unselected && len(items) < n {
			items = append(items, p.w)
		}
	}
	return items
}

// keep stores the present state for further pages, and drops what was compacted.
func (s *Server) keep() {
	if n := len(s.snapshots); n > 0 && s.snapshots[n-1].version == s.version {
		s.snapshots[n-1].at = s.k.Now() // nothing changed: still the latest revision
		return
	}
	old := 0
	for old < len(s.snapshots) && s.k.Now()-s.snapshots[old].at >= compactionAge {
		old++
	}
	s.snapshots = append(slices.Delete(s.snapshots, 0, old), snapshot{s.version, s.k.Now(), s.current(len(s.byName))})
}

func (s *Server) nextPage(l dispatcher.List) (dispatcher.WorkloadPage, error) {
	version, from, ok := parseToken(l.Continue)
	if !ok {
		return dispatcher.WorkloadPage{}, fmt.Errorf("list workloads: continue token %q: %w", l.Continue, dispatcher.ErrRejected)
	}
	i := slices.IndexFunc(s.snapshots, func(o snapshot) bool { return o.version == version })
	if i < 0 || s.k.Now()-s.snapshots[i].at >= compactionAge {
		return dispatcher.WorkloadPage{}, fmt.Errorf("list workloads: continue token of version %d: %w", version, dispatcher.ErrExpired)
	}
	items := s.snapshots[i].items
	from = min(from, len(items))
	to := len(items)
	if l.Limit > 0 {
		to = min(from+l.Limit, to)
	}
	page := dispatcher.WorkloadPage{Items: slices.Clone(items[from:to])}
	if to < len(items) {
		page.Continue = token(version, to)
	}
	return page, nil
}

// token says where the next page of a list starts. Clients must not look inside.
func token(version uint64, from int) string {
	return strconv.FormatUint(version, 10) + ":" + strconv.Itoa(from)
}

func parseToken(t string) (version uint64, from int, ok bool) {
	v, f, found := strings.Cut(t, ":")
	version, err := strconv.ParseUint(v, 10, 64)
	if !found || err != nil {
		return 0, 0, false
	}
	from, err = strconv.Atoi(f)
	return version, from, err == nil && from >= 0
}
