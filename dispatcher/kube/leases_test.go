package kube

import (
	"errors"
	"net/http"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/squall-chaos/squall/dispatcher"
)

func stored() *coordinationv1.Lease {
	return &coordinationv1.Lease{
		TypeMeta:   metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1", Kind: "Lease"},
		ObjectMeta: metav1.ObjectMeta{Name: "dispatcher", ResourceVersion: "4"},
	}
}

// A PUT would make a lease that was deleted anew: see doc.go.
func TestALeaseIsUpdatedByAPatch(t *testing.T) {
	s := newServer(t, says(http.StatusOK, stored()))
	l := held(3)
	l.RenewedAt = time.Date(2026, 11, 29, 12, 0, 0, 1999, time.UTC)
	if _, err := s.leases(t).PutLease(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	want := request{"PATCH", "/apis/coordination.k8s.io/v1/namespaces/batch/leases/dispatcher", "",
		`{"metadata":{"resourceVersion":"3"},"spec":{"holderIdentity":"a","leaseDurationSeconds":1,"renewTime":"2026-11-29T12:00:00.000001Z"}}`}
	if got := s.seen()[0]; got != want {
		t.Errorf("sent %+v, want %+v", got, want)
	}
}

func TestALeaseIsGivenUpByAnEmptyHolder(t *testing.T) {
	s := newServer(t, says(http.StatusOK, stored()))
	l := held(3)
	l.Holder = ""
	got, err := s.leases(t).PutLease(t.Context(), l)
	if err != nil || got.Holder != "" || got.Version != 4 {
		t.Errorf("got %+v, %v", got, err)
	}
	want := `{"metadata":{"resourceVersion":"3"},"spec":{"holderIdentity":"","leaseDurationSeconds":1,"renewTime":null}}`
	if body := s.seen()[0].body; body != want {
		t.Errorf("sent %s, want %s", body, want)
	}
}

func TestALeaseLastsWholeSeconds(t *testing.T) {
	s := newServer(t, plain(500))
	for _, d := range []time.Duration{0, -time.Second, time.Millisecond, 1500 * time.Millisecond} {
		l := held(0)
		l.TTL = d
		if _, err := s.leases(t).PutLease(t.Context(), l); !errors.Is(err, dispatcher.ErrRejected) {
			t.Errorf("a lease of %s: %v", d, err)
		}
	}
	if seen := s.seen(); len(seen) != 0 {
		t.Errorf("sent %v", seen)
	}
}

func TestALeaseOfSomebodyElseMayLackEverything(t *testing.T) {
	got, err := newServer(t, says(http.StatusOK, stored())).leases(t).GetLease(t.Context(), "dispatcher")
	if want := (dispatcher.Lease{Name: "dispatcher", Version: 4}); err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
}
