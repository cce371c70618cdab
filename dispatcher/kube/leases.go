package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/squall-chaos/squall/dispatcher"
)

// Leases are the Lease objects of one namespace. It is safe for concurrent use.
type Leases struct {
	namespace string
	api       rest.Interface
}

var _ dispatcher.Leases = (*Leases)(nil)

// NewLeases prepares the adapter; nothing is sent.
func NewLeases(config *rest.Config, namespace string) (*Leases, error) {
	if namespace == "" {
		return nil, errors.New("leases need a namespace")
	}
	_, api, err := connect(config)
	if err != nil {
		return nil, err
	}
	return &Leases{namespace: namespace, api: api}, nil
}

// GetLease reads the Lease from etcd.
func (k *Leases) GetLease(ctx context.Context, name string) (dispatcher.Lease, error) {
	var found coordinationv1.Lease
	if err := send(ctx, k.leases(k.api.Get()).Name(name), &found); err != nil {
		return dispatcher.Lease{}, fmt.Errorf("get lease %s: %w", name, err)
	}
	return lease(&found)
}

// PutLease creates the Lease, or updates the version that was read.
func (k *Leases) PutLease(ctx context.Context, l dispatcher.Lease) (dispatcher.Lease, error) {
	put, err := k.put(ctx, l)
	if err != nil {
		return dispatcher.Lease{}, fmt.Errorf("put lease %s at version %d: %w", l.Name, l.Version, err)
	}
	return put, nil
}

func (k *Leases) put(ctx context.Context, l dispatcher.Lease) (dispatcher.Lease, error) {
	// The API server keeps whole seconds; a lease that lapses earlier or later than its holder thinks is none.
	if l.TTL < time.Second || l.TTL%time.Second != 0 {
		return dispatcher.Lease{}, fmt.Errorf("%w: a lease of %s: leaseDurationSeconds are whole seconds, at least 1", dispatcher.ErrRejected, l.TTL)
	}
	if err := checkName(l.Name); err != nil {
		return dispatcher.Lease{}, fmt.Errorf("%w: %w", dispatcher.ErrRejected, err)
	}
	request, err := k.write(l)
	if err != nil {
		return dispatcher.Lease{}, err
	}
	var stored coordinationv1.Lease
	if err := send(ctx, request, &stored); err != nil {
		return dispatcher.Lease{}, err
	}
	return lease(&stored)
}

// write is the one request that stores the lease; see doc.go for why an update is no PUT.
func (k *Leases) write(l dispatcher.Lease) (*rest.Request, error) {
	spec := coordinationv1.LeaseSpec{
		HolderIdentity:       new(string(l.Holder)),
		LeaseDurationSeconds: new(int32(l.TTL / time.Second)),
		RenewTime:            new(metav1.NewMicroTime(l.RenewedAt)),
	}
	if l.Version == 0 {
		meta := metav1.ObjectMeta{Name: l.Name, Namespace: k.namespace}
		return k.leases(k.api.Post()).Body(&coordinationv1.Lease{ObjectMeta: meta, Spec: spec}), nil
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": strconv.FormatUint(l.Version, 10)},
		"spec":     spec,
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", dispatcher.ErrRejected, err)
	}
	return k.leases(k.api.Patch(types.MergePatchType)).Name(l.Name).Body(patch), nil
}

func (k *Leases) leases(r *rest.Request) *rest.Request {
	return r.Namespace(k.namespace).Resource("leases")
}

// lease is a Lease object as the dispatcher sees it. What is not set is zero: a lease that somebody else made without a
// stamp has lapsed.
func lease(o *coordinationv1.Lease) (dispatcher.Lease, error) {
	version, err := number(o.ResourceVersion)
	if err != nil {
		return dispatcher.Lease{}, fmt.Errorf("lease %s: %w", o.Name, err)
	}
	l := dispatcher.Lease{Name: o.Name, Version: version}
	if o.Spec.HolderIdentity != nil {
		l.Holder = dispatcher.InstanceID(*o.Spec.HolderIdentity)
	}
	if o.Spec.LeaseDurationSeconds != nil {
		l.TTL = time.Duration(*o.Spec.LeaseDurationSeconds) * time.Second
	}
	if o.Spec.RenewTime != nil {
		l.RenewedAt = o.Spec.RenewTime.Time
	}
	return l, nil
}
