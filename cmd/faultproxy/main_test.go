package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// environment is what the process is given.
type environment map[string]string

func (e environment) lookup(name string) (string, bool) {
	v, ok := e[name]
	return v, ok
}

func TestEveryProblemIsToldAtOnce(t *testing.T) {
	short := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(short, []byte("abc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []string
		env  environment
		want []string
	}{
		{"nothing", nil, nil, []string{"nothing to stand in front of", "--control-token-file"}},
		{"all wrong", []string{"--api-listen=6443", "--api-upstream=http://api", "--api-ca=/nowhere", "--store-listen=5432", "--store-upstream=db",
			"--control-listen=x", "--control-token-file=" + short, "--log-level=loud"}, nil,
			[]string{"--api-listen: \"6443\"", "--api-upstream: \"http://api\"", "--api-ca: ", "--tls-cert and --tls-key", "--store-listen", "--store-upstream",
				"--control-listen", "fewer than 16 bytes", "--log-level: \"loud\""}},
		{"by environment", nil, environment{"SQUALL_PROXY_STORE_LISTEN": "5432"}, []string{"--store-listen: \"5432\""}},
		{"unknown flag", []string{"--api-listne=:1"}, nil, []string{"unknown flag"}},
		{"an argument", []string{"start"}, nil, []string{"takes flags only"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			if code := run(t.Context(), c.args, c.env.lookup, &out); code != exitUsage {
				t.Errorf("exit %d", code)
			}
			for _, want := range c.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("does not say %q:\n%s", want, out.String())
				}
			}
		})
	}
}

func TestStartsAndStops(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("0123456789abcdef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"--store-listen=127.0.0.1:0", "--store-upstream=127.0.0.1:1", "--control-listen=127.0.0.1:0", "--control-token-file=" + token}
	ctx, stop := context.WithCancel(t.Context())
	var out record
	done := make(chan int, 1)
	go func() { done <- run(ctx, args, environment{}.lookup, &out) }()
	for end := time.Now().Add(10 * time.Second); !strings.Contains(out.String(), `"started"`); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not started:\n%s", out.String())
		}
	}
	stop()
	if code := <-done; code != 0 {
		t.Errorf("exit %d", code)
	}
	for line := range strings.Lines(out.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %s", line)
		}
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	args[0] = "--store-listen=" + taken.Addr().String()
	if code := run(t.Context(), args, environment{}.lookup, &out); code != exitFailed || !strings.Contains(out.String(), "address already in use") {
		t.Errorf("a taken port: exit %d\n%s", code, out.String())
	}
}

// record is a log that can be read while it is written.
type record struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.buf.Write(p)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.buf.String()
}
