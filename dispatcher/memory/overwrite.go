package memory

import "github.com/squall-chaos/squall/dispatcher"

// Overwrite writes the row as it is given, whatever stands there: an UPDATE by ID alone, as no method of dispatcher.Store is. Planted
// defects call it, and nothing else does. It returns the row with its new version, or NotFound.
func (s *Store) Overwrite(t dispatcher.Task) (dispatcher.Task, error) {
	r := s.rows[t.Spec.ID]
	if r == nil {
		return dispatcher.Task{}, refused("overwrite", t.Spec.ID, dispatcher.ErrNotFound)
	}
	after := *r
	after.Task = t
	return s.commit(r, &after, s.now()), nil
}
