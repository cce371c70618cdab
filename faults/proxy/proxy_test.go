package proxy

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/kube"
)

const secret = "0123456789abcdef"

// cluster stands for an API server and remembers what it applied.
type cluster struct {
	*httptest.Server
	mu      sync.Mutex
	applied []string       // method and path
	pod     map[string]any // the last one that was created
	watched chan struct{}
}

func newCluster(t testing.TB) *cluster {
	c := &cluster{watched: make(chan struct{}, 10)}
	c.Server = httptest.NewUnstartedServer(http.HandlerFunc(c.serve))
	c.EnableHTTP2 = true
	c.StartTLS()
	t.Cleanup(c.Close)
	return c
}

func (c *cluster) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c.mu.Lock()
	c.applied = append(c.applied, r.Method+" "+r.URL.Path)
	c.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.URL.Query().Get("watch") != "":
		_, _ = io.WriteString(w, `{"type":"ADDED"}`+"\n")
		w.(http.Flusher).Flush()
		c.watched <- struct{}{}
		<-r.Context().Done()
	case r.Method == http.MethodPost || strings.Contains(r.URL.Path, "/leases"):
		object := map[string]any{}
		_ = json.Unmarshal(body, &object)
		meta, _ := object["metadata"].(map[string]any)
		if meta == nil {
			meta = map[string]any{}
		}
		meta["uid"], meta["resourceVersion"] = "uid", "7"
		object["metadata"] = meta
		c.remember(r, object)
		_ = json.NewEncoder(w).Encode(object)
	default:
		c.mu.Lock()
		defer c.mu.Unlock()
		_ = json.NewEncoder(w).Encode(c.pod)
	}
}

func (c *cluster) remember(r *http.Request, object map[string]any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if strings.HasSuffix(r.URL.Path, "/pods") {
		c.pod = object
	}
}

// count tells how often something was applied.
func (c *cluster) count(what string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, one := range c.applied {
		if strings.HasPrefix(one, what) {
			n++
		}
	}
	return n
}

// stand is a proxy with a stand-in for the API server behind it, and the client that arms its rules.
type stand struct {
	*Proxy
	testing.TB
	cluster *cluster
	client  *Client
	// adapters by process, so that connections are used again
	pods  map[string]*kube.Workloads
	locks map[string]*kube.Leases
}

// in is the stand for a part of the test.
func (s *stand) in(t *testing.T) *stand {
	part := *s
	part.TB = t
	return &part
}

func newStand(t testing.TB) *stand {
	t.Helper()
	c := newCluster(t)
	upstream, _ := url.Parse(c.URL)
	o := Options{
		API: &APIOptions{Listen: "127.0.0.1:0", Upstream: upstream, CA: c.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs,
			Certificate: c.TLS.Certificates[0]},
		Control: ControlOptions{Listen: "127.0.0.1:0", Token: secret},
		Log:     slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	if database != "" {
		u, err := url.Parse(database)
		if err != nil {
			t.Fatal(err)
		}
		o.Store = &StoreOptions{Listen: "127.0.0.1:0", Upstream: u.Host}
	}
	p, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
		defer cancel()
		if err := p.Close(ctx); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return &stand{Proxy: p, TB: t, cluster: c, pods: map[string]*kube.Workloads{}, locks: map[string]*kube.Leases{},
		client: &Client{URL: "http://" + p.ControlAddr().String(), Token: secret}}
}

// config leads a client of the API server through the proxy.
func (s *stand) config(process string) *rest.Config {
	// httptest's certificate is for example.com, among others.
	return &rest.Config{Host: "https://" + s.APIAddr().String(), UserAgent: process + "/v1 (linux)",
		TLSClientConfig: rest.TLSClientConfig{CAData: pemOf(s.cluster.Certificate())}}
}

func (s *stand) workloads(process string) *kube.Workloads {
	s.Helper()
	if k := s.pods[process]; k != nil {
		return k
	}
	k, err := kube.NewWorkloads(s.config(process), kube.Options{Namespace: "batch", Image: "worker"})
	if err != nil {
		s.Fatal(err)
	}
	s.pods[process] = k
	return k
}

func (s *stand) leases(process string) *kube.Leases {
	s.Helper()
	if k := s.locks[process]; k != nil {
		return k
	}
	k, err := kube.NewLeases(s.config(process), "batch")
	if err != nil {
		s.Fatal(err)
	}
	s.locks[process] = k
	return k
}

// arm arms a rule over HTTP and disarms it after the test.
func (s *stand) arm(r Rule) string {
	s.Helper()
	id, err := s.client.Arm(s.Context(), r)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _, _ = s.Disarm(context.Background(), id) })
	return id
}

// await waits for something that is about to be so.
func (s *stand) await(what string, so func() bool) {
	s.Helper()
	for end := time.Now().Add(3 * time.Second); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			s.Fatalf("not in time: %s", what)
		}
	}
}

func task(id dispatcher.TaskID) dispatcher.Workload {
	return dispatcher.Workload{Name: dispatcher.WorkloadName(id), Task: id, Attempt: 1, Token: 7}
}

func fixed(d time.Duration) Delay { return Delay(clusters.Fixed(d)) }

func listens(addr net.Addr) bool {
	conn, err := net.Dial("tcp", addr.String())
	if err == nil {
		_ = conn.Close()
	}
	return err == nil
}
