package kube

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	core "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/squall-chaos/squall/dispatcher"
)

// calls are all methods of the ports.
var calls = []struct {
	name string
	make func(context.Context, *Workloads, *Leases) error
}{
	{"Create", func(ctx context.Context, w *Workloads, _ *Leases) error {
		_, err := w.Create(ctx, task("a"))
		return err
	}},
	{"Get", func(ctx context.Context, w *Workloads, _ *Leases) error { _, err := w.Get(ctx, "task-a"); return err }},
	{"List", func(ctx context.Context, w *Workloads, _ *Leases) error {
		_, err := w.List(ctx, dispatcher.List{})
		return err
	}},
	{"Delete", func(ctx context.Context, w *Workloads, _ *Leases) error { return w.Delete(ctx, "task-a", "uid", true) }},
	{"Release", func(ctx context.Context, w *Workloads, _ *Leases) error { return w.Release(ctx, "task-a", "uid") }},
	{"NodeExists", func(ctx context.Context, w *Workloads, _ *Leases) error {
		_, err := w.NodeExists(ctx, "node")
		return err
	}},
	{"GetLease", func(ctx context.Context, _ *Workloads, l *Leases) error { _, err := l.GetLease(ctx, "a"); return err }},
	{"PutLease, new", func(ctx context.Context, _ *Workloads, l *Leases) error {
		_, err := l.PutLease(ctx, held(0))
		return err
	}},
	{"PutLease", func(ctx context.Context, _ *Workloads, l *Leases) error {
		_, err := l.PutLease(ctx, held(3))
		return err
	}},
}

func held(version uint64) dispatcher.Lease {
	return dispatcher.Lease{Name: "dispatcher", Holder: "a", TTL: time.Second, Version: version}
}

// client-go sends POST and all else again on 429 and on 5xx with Retry-After, and GET after a lost connection.
func TestEveryRequestIsSentOnce(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		want   error
	}{
		{"429", plain(429, "Retry-After", "0"), dispatcher.ErrThrottled},
		{"500 with Retry-After", plain(500, "Retry-After", "0"), dispatcher.ErrUnknown},
		{"503 with Retry-After", plain(503, "Retry-After", "0"), dispatcher.ErrUnknown},
		{"503 with a status", refuses(503, metav1.StatusReasonServiceUnavailable, "", metav1.StatusDetails{RetryAfterSeconds: 1}), dispatcher.ErrUnknown},
		{"504", refuses(504, metav1.StatusReasonTimeout, "", metav1.StatusDetails{}), dispatcher.ErrUnknown},
		{"reply lost", hangsUp, dispatcher.ErrUnknown},
		{"reply cut short", cutsOff, dispatcher.ErrUnknown},
		{"not the API server's 404", plain(404), dispatcher.ErrUnknown},
		{"not the API server's 409", plain(409), dispatcher.ErrUnknown},
		{"not the API server's 403", plain(403), dispatcher.ErrUnknown},
		{"redirected", plain(307, "Location", "/elsewhere"), dispatcher.ErrUnknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, call := range calls {
				s := newServer(t, c.answer)
				if err := call.make(t.Context(), s.workloads(t), s.leases(t)); !errors.Is(err, c.want) {
					t.Errorf("%s: got error %v, want %v", call.name, err, c.want)
				}
				if seen := s.seen(); len(seen) != 1 {
					t.Errorf("%s was sent %d times", call.name, len(seen))
				}
			}
		})
	}
}

// A plain client of client-go tries what TestEveryRequestIsSentOnce forbids, which would show nothing otherwise: its one create
// arrives eleven times, and each may have been obeyed.
func TestClientGoSendsACreateAgain(t *testing.T) {
	for _, code := range []int{429, 500, 503} {
		s := newServer(t, plain(code, "Retry-After", "0"))
		client, err := core.NewForConfig(&rest.Config{Host: s.URL})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Pods("batch").Create(t.Context(), &corev1.Pod{}, metav1.CreateOptions{}); err == nil {
			t.Errorf("%d: created", code)
		}
		if seen := s.seen(); len(seen) != 11 || seen[10].method != http.MethodPost {
			t.Errorf("%d: sent %d times", code, len(seen))
		}
	}
}

func TestWithoutAConnectionNothingHappened(t *testing.T) {
	s := newServer(t, plain(500))
	s.Close()
	for _, call := range calls {
		if err := call.make(t.Context(), s.workloads(t), s.leases(t)); !errors.Is(err, dispatcher.ErrUnavailable) {
			t.Errorf("%s: got error %v", call.name, err)
		}
	}
}

// A listener that never accepts a TLS handshake: the connection is there for TCP, but no request can be written.
func TestATimeoutDuringTheHandshakeChangedNothing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = workloadsAt(t, "https://"+l.Addr().String()).Create(ctx, task("a"))
	if !errors.Is(err, dispatcher.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got error %v", err)
	}
}

func TestATimeoutAfterTheRequestIsUnknown(t *testing.T) {
	release := make(chan struct{})
	s := newServer(t, func(http.ResponseWriter, *http.Request) { <-release })
	defer close(release)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err := s.workloads(t).Create(ctx, task("a"))
	if !errors.Is(err, dispatcher.ErrUnknown) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got error %v", err)
	}
}

func TestRefusalsOfTheAPIServer(t *testing.T) {
	object := metav1.StatusDetails{Name: "task-a", Kind: "pods"}
	cause := func(c metav1.StatusCause) metav1.StatusDetails {
		return metav1.StatusDetails{Name: "task-a", Kind: "pods", Causes: []metav1.StatusCause{c}}
	}
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		want   error
	}{
		{"absent", refuses(404, metav1.StatusReasonNotFound, "", object), dispatcher.ErrNotFound},
		{"taken", refuses(409, metav1.StatusReasonAlreadyExists, "", object), dispatcher.ErrExists},
		{"changed", refuses(409, metav1.StatusReasonConflict, "", object), dispatcher.ErrConflict},
		{"quota changed", refuses(409, metav1.StatusReasonConflict, "", metav1.StatusDetails{Name: "q", Kind: "resourcequotas"}), dispatcher.ErrThrottled},
		{"token too old", refuses(410, metav1.StatusReasonExpired, "", metav1.StatusDetails{}), dispatcher.ErrExpired},
		{"busy", refuses(429, metav1.StatusReasonTooManyRequests, "", metav1.StatusDetails{}), dispatcher.ErrThrottled},
		{"quota spent", refuses(403, metav1.StatusReasonForbidden, `pods "task-a" is forbidden: exceeded quota: q`, object), dispatcher.ErrThrottled},
		{"quota not counted", refuses(403, metav1.StatusReasonForbidden, `pods "task-a" is forbidden: status unknown for quota: q`, object), dispatcher.ErrThrottled},
		{"policy", refuses(403, metav1.StatusReasonForbidden, `pods "task-a" is forbidden: violates PodSecurity`, object), dispatcher.ErrRejected},
		{"not allowed", refuses(403, metav1.StatusReasonForbidden, `pods is forbidden: User "x" cannot create`, metav1.StatusDetails{Kind: "pods"}), dispatcher.ErrUnavailable},
		{"not known", refuses(401, metav1.StatusReasonUnauthorized, "", metav1.StatusDetails{}), dispatcher.ErrUnavailable},
		{"namespace going", refuses(403, metav1.StatusReasonForbidden, "", cause(metav1.StatusCause{Type: corev1.NamespaceTerminatingCause})), dispatcher.ErrUnavailable},
		{"invalid", refuses(422, metav1.StatusReasonInvalid, "", cause(metav1.StatusCause{Field: "metadata.labels"})), dispatcher.ErrRejected},
		{"another UID", refuses(422, metav1.StatusReasonInvalid, "", cause(metav1.StatusCause{Field: "metadata.uid"})), dispatcher.ErrConflict},
		{"bad request", refuses(400, metav1.StatusReasonBadRequest, "", metav1.StatusDetails{}), dispatcher.ErrRejected},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := newServer(t, c.answer).workloads(t).Create(t.Context(), task("a"))
			if !errors.Is(err, c.want) {
				t.Errorf("got error %v, want %v", err, c.want)
			}
			if !strings.Contains(err.Error(), "task-a") {
				t.Errorf("the error does not name the object: %v", err)
			}
		})
	}
}

func TestANameThatCannotBeIsAbsent(t *testing.T) {
	s := newServer(t, plain(500))
	k := s.workloads(t)
	for _, id := range []dispatcher.TaskID{"A", "a/b", "a..b", "-", "", "../../nodes", "a b", dispatcher.TaskID(strings.Repeat("a", 250))} {
		w := task(id)
		_, create := k.Create(t.Context(), w)
		_, get := k.Get(t.Context(), w.Name)
		for _, c := range []struct {
			what string
			err  error
			want error
		}{
			{"Create", create, dispatcher.ErrRejected},
			{"Get", get, dispatcher.ErrNotFound},
			{"Delete", k.Delete(t.Context(), w.Name, "uid", false), dispatcher.ErrNotFound},
			{"Release", k.Release(t.Context(), w.Name, "uid"), dispatcher.ErrNotFound},
		} {
			if !errors.Is(c.err, c.want) {
				t.Errorf("%s of %q: got error %v, want %v", c.what, id, c.err, c.want)
			}
		}
	}
	if exists, err := k.NodeExists(t.Context(), "a/b"); exists || err != nil {
		t.Errorf("a node a/b: %t, %v", exists, err)
	}
	if seen := s.seen(); len(seen) != 0 {
		t.Errorf("sent %v", seen)
	}
}
