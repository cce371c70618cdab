package kubernetes

import (
	"fmt"
	"time"

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
// (kubernetes.io/docs/reference/using-api/api-concepts, resourceVersion). leaseDurationSeconds are whole seconds, at least 1
// (pkg/apis/coordination/validation, ValidateLeaseSpec); renewTime has microseconds (apimachinery, meta/v1, MicroTime).
func (s *Server) PutLease(l dispatcher.Lease) (dispatcher.Lease, error) {
	old, ok := s.leases[l.Name]
	var err error
	switch {
	case l.TTL < time.Second || l.TTL%time.Second != 0 || !subdomain(l.Name):
		err = dispatcher.ErrRejected
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
	l.Version, l.RenewedAt = s.version, l.RenewedAt.Truncate(time.Microsecond)
	s.leases[l.Name] = l
	return l, nil
}
