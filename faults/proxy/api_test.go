package proxy

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
)

func pemOf(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}

// apiCase is an action, what the reference adapter learns of it, and whether the request was applied in the end.
type apiCase struct {
	name    string
	rule    Rule
	want    error // nil: success
	applied bool
	// silent tells that the caller waits until its deadline.
	silent bool
	// unlike the simulation: why the error is another one; see doc.go.
	unlike string
}

var apiCases = []apiCase{
	{name: "refuse", rule: Rule{Action: clusters.Refuse}, want: dispatcher.ErrUnavailable},
	{name: "drop", rule: Rule{Action: clusters.Drop}, want: dispatcher.ErrUnknown, silent: true},
	{name: "lose-reply", rule: Rule{Action: clusters.LoseReply}, want: dispatcher.ErrUnknown, applied: true, silent: true},
	{name: "cut-reply", rule: Rule{Action: clusters.CutReply}, want: dispatcher.ErrUnknown, applied: true},
	{name: "cut-call", rule: Rule{Action: clusters.CutCall}, want: dispatcher.ErrUnknown},
	{name: "late", rule: Rule{Action: clusters.Late, Delay: fixed(700 * time.Millisecond)}, want: dispatcher.ErrUnknown, applied: true, silent: true},
	{name: "slow", rule: Rule{Action: clusters.Slow, Delay: fixed(50 * time.Millisecond)}, applied: true},
	{name: "slower than the caller waits", rule: Rule{Action: clusters.Slow, Delay: fixed(700 * time.Millisecond)}, want: dispatcher.ErrUnknown, applied: true, silent: true},
	{name: "timeout", rule: answer("timeout"), want: dispatcher.ErrUnknown},
	{name: "unavailable", rule: answer("unavailable"), want: dispatcher.ErrUnavailable},
	{name: "not-found", rule: answer("not-found"), want: dispatcher.ErrNotFound},
	{name: "exists", rule: answer("exists"), want: dispatcher.ErrExists},
	{name: "conflict", rule: answer("conflict"), want: dispatcher.ErrConflict},
	{name: "throttled", rule: answer("throttled"), want: dispatcher.ErrThrottled},
	{name: "rejected", rule: answer("rejected"), want: dispatcher.ErrRejected},
	{name: "expired", rule: answer("expired"), want: dispatcher.ErrExpired},
	{name: "internal", rule: answer("internal"), want: dispatcher.ErrUnknown},
	{name: "unavailable, as 503", rule: Rule{Action: clusters.Answer, Code: "unavailable", Status: 503}, want: dispatcher.ErrUnknown},
	{name: "500 with Retry-After, applied", rule: Rule{Action: clusters.Answer, Code: "internal", RetryAfter: fixed(time.Second), Applied: true},
		want: dispatcher.ErrUnknown, applied: true},
	{name: "429, applied", rule: Rule{Port: clusters.API, Action: clusters.Answer, Code: "throttled", RetryAfter: fixed(time.Second), Applied: true},
		want: dispatcher.ErrThrottled, applied: true},
}

// patience is the caller's: short where it waits in vain.
func (c apiCase) patience() time.Duration {
	if c.silent {
		return 400 * time.Millisecond
	}
	return 10 * time.Second
}

func answer(code string) Rule {
	return Rule{Port: clusters.API, Action: clusters.Answer, Code: code}
}

// apiCalls are all methods of the two ports that go to the API server.
var apiCalls = []struct {
	verb, method string
	port         clusters.Port
	task         string
	make         func(ctx context.Context, s *stand) error
}{
	{"create", "POST", clusters.API, "a", func(ctx context.Context, s *stand) error {
		_, err := s.workloads("dispatcher-1").Create(ctx, task("a"))
		return err
	}},
	{"get", "GET", clusters.API, "a", func(ctx context.Context, s *stand) error {
		_, err := s.workloads("dispatcher-1").Get(ctx, "task-a")
		return err
	}},
	{"list", "GET", clusters.API, "", func(ctx context.Context, s *stand) error {
		_, err := s.workloads("dispatcher-1").List(ctx, dispatcher.List{})
		return err
	}},
	{"delete", "DELETE", clusters.API, "a", func(ctx context.Context, s *stand) error {
		return s.workloads("dispatcher-1").Delete(ctx, "task-a", "uid", false)
	}},
	{"release", "PATCH", clusters.API, "a", func(ctx context.Context, s *stand) error {
		return s.workloads("dispatcher-1").Release(ctx, "task-a", "uid")
	}},
	{"node-exists", "GET", clusters.API, "", func(ctx context.Context, s *stand) error {
		_, err := s.workloads("dispatcher-1").NodeExists(ctx, "node")
		return err
	}},
	{"get-lease", "GET", clusters.Lease, "", func(ctx context.Context, s *stand) error {
		_, err := s.leases("dispatcher-1").GetLease(ctx, "dispatcher")
		return err
	}},
	{"put-lease", "PATCH", clusters.Lease, "", func(ctx context.Context, s *stand) error {
		_, err := s.leases("dispatcher-1").PutLease(ctx, dispatcher.Lease{Name: "dispatcher", TTL: time.Second, Version: 3})
		return err
	}},
}

// TestAPIActions is the table of actions over calls, with the reference adapter as the client.
func TestAPIActions(t *testing.T) {
	s := newStand(t)
	if _, err := s.workloads("harness").Create(t.Context(), task("a")); err != nil {
		t.Fatal(err)
	}
	for _, call := range apiCalls {
		for _, c := range apiCases {
			if c.name == "not-found" && call.verb == "node-exists" {
				continue // that is an answer, not an error
			}
			t.Run(call.verb+"/"+c.name, func(t *testing.T) {
				in := s.in(t)
				rule := c.rule
				rule.Port, rule.Process, rule.Verb, rule.Task, rule.Nth = call.port, "dispatcher*", call.verb, call.task, 2
				in.arm(rule)
				if err := call.make(t.Context(), in); err != nil {
					t.Fatalf("the first call was struck too: %v", err)
				}
				before := s.cluster.count(call.method)
				ctx, cancel := context.WithTimeout(t.Context(), c.patience())
				defer cancel()
				err := call.make(ctx, in)
				if !errors.Is(err, c.want) {
					t.Errorf("got error %v, want %v", err, c.want)
				}
				if silent := errors.Is(err, context.DeadlineExceeded); silent != c.silent {
					t.Errorf("it is %t that the caller waited in vain: %v", silent, err)
				}
				if c.applied {
					in.await("applied", func() bool { return s.cluster.count(call.method) == before+1 })
				} else if n := s.cluster.count(call.method); n != before {
					t.Errorf("applied %d times", n-before)
				}
				hits, _, _ := s.rules.after(0)
				if last := hits[len(hits)-1]; last.Verb != call.verb || last.Process != "dispatcher-1" || last.Task != call.task || last.Port != call.port {
					t.Errorf("the hit says %+v", last)
				}
			})
		}
	}
}

func TestCrashCallerHoldsTheReplyBack(t *testing.T) {
	s := newStand(t)
	id := s.arm(Rule{Port: clusters.API, Verb: "create", Nth: 1, Action: clusters.CrashCaller})
	done := make(chan error, 1)
	go func() {
		_, err := s.workloads("dispatcher-1").Create(context.Background(), task("a"))
		done <- err
	}()
	hits, next, err := s.client.Hits(t.Context(), 0)
	if err != nil || len(hits) != 1 || next != 1 || hits[0].Rule != id || hits[0].Process != "dispatcher-1" {
		t.Fatalf("got hits %+v, %d, error %v", hits, next, err)
	}
	if s.cluster.count("POST") != 1 {
		t.Error("the hit came before the effect")
	}
	select {
	case err := <-done:
		t.Fatalf("the caller has its reply: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	if err := s.client.Disarm(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("after disarming the reply is %v", err)
	}
}

// An outage refuses connections and ends watches; afterwards the same address serves again.
func TestOutageOfTheAPI(t *testing.T) {
	s := newStand(t)
	watch := s.watch("dispatcher-1")
	id := s.arm(Rule{Port: clusters.API, Action: clusters.Refuse})
	if _, err := io.ReadAll(watch); err == nil {
		t.Error("the watch ended as if it were complete")
	}
	if listens(s.APIAddr()) {
		t.Error("somebody listens")
	}
	if _, err := s.workloads("dispatcher-1").Create(t.Context(), task("a")); !errors.Is(err, dispatcher.ErrUnavailable) {
		t.Errorf("got error %v", err)
	}
	if err := s.client.Disarm(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if _, err := s.workloads("dispatcher-1").Create(t.Context(), task("a")); err != nil {
		t.Errorf("after the outage: %v", err)
	}
	if n := s.cluster.count("POST"); n != 1 {
		t.Errorf("%d creates were applied", n)
	}
}

// An outage for one process leaves the others alone, their watches included.
func TestOutageForOneProcess(t *testing.T) {
	s := newStand(t)
	cut, kept := s.watch("dispatcher-1"), s.watch("dispatcher-2")
	s.arm(Rule{Port: clusters.API, Process: "dispatcher-1", Action: clusters.Drop})
	if _, err := io.ReadAll(cut); err == nil {
		t.Error("the watch ended as if it were complete")
	}
	if _, err := s.workloads("dispatcher-2").Create(t.Context(), task("a")); err != nil {
		t.Errorf("the other process got %v", err)
	}
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := s.leases("dispatcher-1").GetLease(short, "dispatcher"); !errors.Is(err, dispatcher.ErrUnknown) {
		t.Errorf("a rule for the API does not take the leases along: %v", err)
	}
	if s.cluster.count("GET /apis/coordination") != 0 {
		t.Error("the lease was read")
	}
	_ = kept
}

// watch begins a watch and waits until its first event is there.
func (s *stand) watch(process string) *bufio.Reader {
	s.Helper()
	r, _ := http.NewRequestWithContext(s.Context(), http.MethodGet, "https://"+s.APIAddr().String()+"/api/v1/namespaces/batch/pods?watch=true", nil)
	r.Header.Set("User-Agent", process)
	answer, err := s.plain().Do(r)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = answer.Body.Close() })
	lines := bufio.NewReader(answer.Body)
	if line, err := lines.ReadString('\n'); err != nil || !strings.Contains(line, "ADDED") {
		s.Fatalf("the watch begins with %q, error %v", line, err)
	}
	return lines
}

// plain is a client without anything of Kubernetes.
func (s *stand) plain() *http.Client {
	roots := x509.NewCertPool()
	roots.AddCert(s.cluster.Certificate())
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
	s.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// TestPlainHTTP is for a dispatcher in any language: the process in the path, a Job in place of a Pod.
func TestPlainHTTP(t *testing.T) {
	s := newStand(t)
	s.arm(Rule{Process: "python-*", Verb: "create", Task: "x", Action: clusters.Answer, Code: "throttled", Port: clusters.API})
	create := func(name string) *http.Response {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+s.APIAddr().String()+"/as/python-1/apis/batch/v1/namespaces/batch/jobs",
			strings.NewReader(`{"metadata": {"name": "`+name+`"}}`))
		r.Header.Set("Content-Type", "application/json")
		answer, err := s.plain().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		return answer
	}
	if a := create("task-x"); a.StatusCode != 429 || a.Header.Get("Retry-After") != "1" {
		t.Errorf("got %s, Retry-After %q", a.Status, a.Header.Get("Retry-After"))
	}
	if a := create("task-y"); a.StatusCode != 200 || a.ProtoMajor != 1 {
		t.Errorf("got %s %s", a.Proto, a.Status)
	}
	if n := s.cluster.count("POST /apis/batch/v1/namespaces/batch/jobs"); n != 1 {
		t.Errorf("%d creates reached the API server under its own path", n)
	}
}

// TestCloseIsNotHeldUpByAClientThatSaysNothing, such as a probe of the port; Postgres' own patience with one is a minute.
func TestCloseIsNotHeldUpByAClientThatSaysNothing(t *testing.T) {
	s := newStand(t)
	conn, err := net.Dial("tcp", s.StoreAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	s.await("the connection is known", func() bool {
		s.store.gate.mu.Lock()
		defer s.store.gate.mu.Unlock()
		return len(s.store.gate.conns) == 1
	})
	from := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := s.Close(ctx); err != nil || time.Since(from) > 15*time.Second {
		t.Errorf("closed after %s, %v", time.Since(from), err)
	}
}

// TestCloseIsNotHeldUpByUnusedConnections: a client's pool has connections that no request came on yet, and net/http gives each five seconds.
func TestCloseIsNotHeldUpByUnusedConnections(t *testing.T) {
	s := newStand(t)
	roots := x509.NewCertPool()
	roots.AddCert(s.cluster.Certificate())
	conn, err := tls.Dial("tcp", s.APIAddr().String(), &tls.Config{RootCAs: roots, ServerName: "example.com"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	s.await("the connection is known", func() bool {
		s.api.mu.Lock()
		defer s.api.mu.Unlock()
		return len(s.api.unused) == 1
	})
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	if err := s.Close(ctx); err != nil {
		t.Error(err)
	}
}
