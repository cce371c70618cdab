package replica

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// apiServer stands for one as far as a dispatcher's loop goes: objects by path, with resourceVersions.
type apiServer struct {
	*httptest.Server
	mu      sync.Mutex
	objects map[string]map[string]any
	version int
	agents  map[string]bool
	slow    time.Duration // how long a create of a Pod takes
	got     chan struct{} // told of each create of a Pod, when it comes in
}

func newAPIServer(t *testing.T) *apiServer {
	t.Helper()
	s := &apiServer{objects: map[string]map[string]any{}, agents: map[string]bool{}, got: make(chan struct{}, 100)}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// ServeHTTP joins the server and its handler.
func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/pods") {
		s.got <- struct{}{}
		s.mu.Lock()
		slow := s.slow
		s.mu.Unlock()
		time.Sleep(slow)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.agents[r.UserAgent()] = true
	code, answer := s.answer(r)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(answer)
}

func (s *apiServer) answer(r *http.Request) (int, any) {
	var body map[string]any
	_ = json.NewDecoder(r.Body).Decode(&body)
	meta, _ := body["metadata"].(map[string]any)
	path := r.URL.Path
	if r.Method == http.MethodPost {
		path += "/" + meta["name"].(string)
	}
	found := s.objects[path]
	switch {
	case r.Method == http.MethodPost && found != nil:
		return status(409, "AlreadyExists")
	case r.Method == http.MethodGet && (strings.HasSuffix(path, "/pods")):
		return 200, map[string]any{"kind": "PodList", "apiVersion": "v1", "metadata": map[string]any{}, "items": []any{}}
	case r.Method != http.MethodPost && found == nil:
		return status(404, "NotFound")
	case r.Method == http.MethodGet:
		return 200, found
	case r.Method == http.MethodPatch && meta["resourceVersion"] != found["metadata"].(map[string]any)["resourceVersion"]:
		return status(409, "Conflict")
	}
	if found != nil {
		meta["name"] = found["metadata"].(map[string]any)["name"]
	}
	s.version++
	meta["resourceVersion"], meta["uid"] = strconv.Itoa(s.version), "uid-"+strconv.Itoa(s.version)
	s.objects[path] = body
	return 200, body
}

func status(code int, reason string) (int, any) {
	return code, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason}
}

const (
	podPath   = "/api/v1/namespaces/batch/pods/task-a"
	leasePath = "/apis/coordination.k8s.io/v1/namespaces/batch/leases/dispatcher"
)

// object is one as JSON; empty when there is none.
func (s *apiServer) object(t *testing.T, path string) string {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects[path] == nil {
		return ""
	}
	text, err := json.Marshal(s.objects[path])
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// callers are the names under which it was called.
func (s *apiServer) callers() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(slices.Sorted(maps.Keys(s.agents)), " ")
}

// with changes it.
func (s *apiServer) with(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// holder is who has the lease.
func (s *apiServer) holder() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	spec, _ := s.objects[leasePath]["spec"].(map[string]any)
	name, _ := spec["holderIdentity"].(string)
	return name
}

// kubeconfig is a file that leads to the server.
func (s *apiServer) kubeconfig(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := "apiVersion: v1\nkind: Config\ncurrent-context: x\ncontexts: [{name: x, context: {cluster: x, user: x}}]\n" +
		"users: [{name: x, user: {}}]\nclusters: [{name: x, cluster: {server: \"" + s.URL + "\"}}]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
