package memory

import (
	"context"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
)

// Scan implements dispatcher.Recovery. Limit 0 is no limit. Stale makes no difference here: whoever models a
// replica answers with ScanAsOf.
func (s *Store) Scan(_ context.Context, q dispatcher.Scan) (dispatcher.Page, error) {
	now := s.now()
	page, rows := newPager(q, now), s.candidates(q, now)
	if most := min(len(rows), max(q.Limit, 0)); most > 0 {
		page.Tasks = s.page(most)
	}
	for _, e := range rows {
		if !page.add(e.row) {
			break
		}
	}
	return page.Page, nil
}

// Health implements dispatcher.Recovery.
func (s *Store) Health(context.Context) (dispatcher.Health, error) {
	now := s.now()
	var h dispatcher.Health
	// All are counted and the oldest is the oldest: order does not matter.
	for _, r := range s.rows {
		switch r.Phase {
		case dispatcher.Pending:
			h.Pending++
		case dispatcher.Running:
			h.Running++
			h.OldestRunning = max(h.OldestRunning, now.Sub(r.Attempt.ClaimedAt))
		case dispatcher.NeedsAttention:
			h.NeedsAttention++
		}
		h.RepeatedFailures += count(!r.Phase.Stopped() && r.Failures > 1)
		h.CleanupOwed += count(!r.CleanupAt.IsZero() && !r.CleanupAt.After(now))
	}
	return h, nil
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// ScanAsOf answers a scan as a replica does that has applied the commits up to a moment: the rows are old, the
// clock is not (now() on a standby is the standby's own). The undo log bounds how far back it sees; without
// KeepUndo it sees the present.
func (s *Store) ScanAsOf(q dispatcher.Scan, moment time.Time) dispatcher.Page {
	now := s.now()
	page := newPager(q, now)
	old := s.undo.rowsAsOf(moment, s.newMark())
	for _, e := range s.candidates(q, now) {
		if e.row.mark == s.mark {
			continue // its state then is among old
		}
		for len(old) > 0 && old[0].Spec.ID < e.row.Spec.ID {
			if !page.add(old[0]) {
				return page.Page
			}
			old = old[1:]
		}
		if !page.add(e.row) {
			return page.Page
		}
	}
	for _, r := range old {
		if !page.add(r) {
			break
		}
	}
	return page.Page
}

// candidates returns the rows from which a scan selects, in order of ID.
func (s *Store) candidates(q dispatcher.Scan, now time.Time) []entry {
	if now.After(s.lookedUntil) {
		s.lookedUntil = now
	}
	for r := s.indexes[owed].first(); r != nil && !r.CleanupAt.After(now); r = s.indexes[owed].first() {
		s.reindex(r)
	}
	if q.CancelsOnly {
		return s.indexes[cancelling].after(q.After)
	}
	return s.indexes[looked].after(q.After)
}

// pager fills one page.
type pager struct {
	dispatcher.Page
	scan dispatcher.Scan
}

func newPager(q dispatcher.Scan, now time.Time) pager {
	return pager{Page: dispatcher.Page{Now: now}, scan: q}
}

// add puts the row on the page if the scan selects it, and tells whether to go on.
func (p *pager) add(r *row) bool {
	if r.Spec.ID <= p.scan.After || !r.needsLook(p.Now) || p.scan.CancelsOnly && !r.cancelling() {
		return true
	}
	if p.scan.Limit > 0 && len(p.Tasks) == p.scan.Limit {
		p.More = true
		return false
	}
	p.Tasks = append(p.Tasks, r.Task)
	return true
}

// needsLook tells that the row is a reconciler's business.
func (r *row) needsLook(now time.Time) bool {
	return r.Phase == dispatcher.Running || !r.CleanupAt.IsZero() && !r.CleanupAt.After(now)
}
