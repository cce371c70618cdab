package testbed

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

// dialler reaches this machine's loopback through the same script that runs in a node.
func dialler(t *testing.T) *Cluster {
	t.Helper()
	fakeDocker(t, inPlace)
	return &Cluster{nodes: []*Node{{name: "n-control-plane"}}}
}

func served(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serve(c)
		}
	}()
	return l.Addr().String()
}

func TestDialCarriesBytesBothWays(t *testing.T) {
	address := served(t, func(c net.Conn) { _, _ = io.Copy(c, c) })
	conn, err := dialler(t).Dial(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	sent := bytes.Repeat([]byte("squall\x00\xff\n"), 100_000)
	go func() { _, _ = conn.Write(sent) }()
	got := make([]byte, len(sent))
	if _, err := io.ReadFull(conn, got); err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%v; equal: %t", err, bytes.Equal(got, sent))
	}
	if conn.RemoteAddr().String() != address {
		t.Errorf("remote address %s", conn.RemoteAddr())
	}
}

func TestDialKeepsHTTPConnectionsAlive(t *testing.T) {
	peers := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		peers <- r.RemoteAddr
		_, _ = io.Copy(w, r.Body)
	}))
	defer server.Close()
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
		return dialler(t).Dial(ctx, address)
	}}}
	for range 3 {
		answer, err := client.Post(server.URL, "text/plain", strings.NewReader("hello"))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || string(body) != "hello" {
			t.Fatalf("%q, %v", body, err)
		}
	}
	first := <-peers
	for range 2 {
		if first != <-peers {
			t.Error("a connection was opened anew")
		}
	}
	client.CloseIdleConnections()
}

func TestWhatTheServerSentBeforeItsEndArrives(t *testing.T) {
	const all = 3 << 20
	address := served(t, func(c net.Conn) {
		_, _ = c.Write(make([]byte, all))
		_ = c.Close()
	})
	conn, err := dialler(t).Dial(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if n, err := io.Copy(io.Discard, conn); err != nil || n != all {
		t.Errorf("%d of %d bytes, %v", n, all, err)
	}
}

func TestCloseEndsTheConnectionAtTheServer(t *testing.T) {
	ended := make(chan error, 1)
	address := served(t, func(c net.Conn) {
		_, err := io.Copy(io.Discard, c)
		ended <- err
	})
	conn, err := dialler(t).Dial(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("the server still holds the connection")
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("a closed connection can be read")
	}
	if err := conn.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}

func TestDeadlinesOfADialledConnection(t *testing.T) {
	address := served(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	conn, err := dialler(t).Dial(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestDialRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	_, err = dialler(t).Dial(t.Context(), address)
	if err == nil || !strings.Contains(err.Error(), "Connection refused") || !strings.Contains(err.Error(), "n-control-plane") {
		t.Errorf("got %v", err)
	}
}

func TestDialEndsWithItsContext(t *testing.T) {
	fakeDocker(t, `exec sleep 60`)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	from := time.Now()
	_, err := (&Cluster{nodes: []*Node{{name: "n"}}}).Dial(ctx, "10.0.0.1:1")
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(from) > 20*time.Second {
		t.Errorf("%v after %s", err, time.Since(from))
	}
}
