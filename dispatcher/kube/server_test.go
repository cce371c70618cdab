package kube

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/squall-chaos/squall/dispatcher"
)

// server stands for an API server and counts what reaches it.
type server struct {
	*httptest.Server
	mu       sync.Mutex
	requests []request
}

type request struct{ method, path, query, body string }

func newServer(t *testing.T, answer http.HandlerFunc) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.requests = append(s.requests, request{r.Method, r.URL.Path, r.URL.RawQuery, string(body)})
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) seen() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

func (s *server) workloads(t *testing.T) *Workloads {
	t.Helper()
	return workloadsAt(t, s.URL)
}

func workloadsAt(t *testing.T, url string) *Workloads {
	t.Helper()
	k, err := NewWorkloads(&rest.Config{Host: url}, Options{Namespace: "batch", Image: "worker"})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func (s *server) leases(t *testing.T) *Leases {
	t.Helper()
	k, err := NewLeases(&rest.Config{Host: s.URL}, "batch")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// says answers with an object, as the API server does.
func says(code int, object any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(object)
	}
}

// refuses answers with a Status.
func refuses(code int32, reason metav1.StatusReason, message string, details metav1.StatusDetails) http.HandlerFunc {
	return says(int(code), metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
		Code: code, Reason: reason, Message: message, Details: &details,
	})
}

// plain answers with text, as something in between does.
func plain(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		http.Error(w, "<html>sorry</html>", code)
	}
}

// hangsUp ends the connection instead of answering.
func hangsUp(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }

// cutsOff promises more than it sends.
func cutsOff(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", "1000")
	_, _ = io.WriteString(w, `{"kind":"Pod",`)
}

func task(id dispatcher.TaskID) dispatcher.Workload {
	return dispatcher.Workload{Name: dispatcher.WorkloadName(id), Task: id, Attempt: 1, Token: 7}
}
