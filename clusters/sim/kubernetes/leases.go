package kubernetes

import (
	"fmt"

	"github.com/squall-chaos/squall/dispatcher"
)

// GetLease returns the lease as it is now.
func (s *Server) GetLease(name string) (dispatcher.Lease, error) {
	l, ok := s.leases[name]
	if !ok {
		return dispatcher.Lease{}, fmt.Errorf("get lease %s: %w", name, dispatcher.ErrNotFound)
	}
	return l, nil
}

// PutLease creates the lease when Version is 0, and else updates it on condition of its version
// (kubernetes.io/docs/reference/using-api/api-concepts, resourceVersion).
func (s *Server) PutLease(l dispatcher.Lease) (dispatcher.Lease, error) {
	old, ok := s.leases[l.Name]
	var err error
	switch {
	case l.Version == 0 && ok:
		err = dispatcher.ErrExists
	case l.Version == 0:
	case !ok:
		err = dispatcher.ErrNotFound
	case l.Version != old.Version:
		err = dispatcher.ErrConflict
	}
	if err != nil {
		return dispatcher.Lease{}, fmt.Errorf("put lease %s at version %d: %w", l.Name, l.Version, err)
	}
	s.version++
	l.Version = s.version
	s.leases[l.Name] = l
	return l, nil
}
