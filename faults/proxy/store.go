package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/squall-chaos/squall/clusters"
)

// StoreOptions say where the Postgres server is.
type StoreOptions struct {
	Listen   string
	Upstream string // host:port
}

// store is the proxy in front of a Postgres server.
type store struct {
	gate     *gate
	upstream string
	rules    *rules
	log      *slog.Logger
	stopping context.Context
	late     *sync.WaitGroup // commits that are still to be sent

	mu       sync.Mutex
	sessions map[*session]struct{}
	running  sync.WaitGroup
}

func newStore(ctx context.Context, o StoreOptions, r *rules, late *sync.WaitGroup, log *slog.Logger) (*store, error) {
	g, err := newGate(ctx, o.Listen)
	if err != nil {
		return nil, err
	}
	return &store{gate: g, upstream: o.Upstream, rules: r, log: log, stopping: ctx, late: late, sessions: map[*session]struct{}{}}, nil
}

func (s *store) serve() error {
	for {
		conn, err := s.gate.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("serve the store: %w", err)
		}
		s.running.Go(func() { s.handle(conn.(*gated)) })
	}
}

// handle carries one connection.
func (s *store) handle(client *gated) {
	defer func() { _ = client.Close() }()
	in := bufio.NewReaderSize(client, 16<<10)
	_ = client.SetReadDeadline(time.Now().Add(time.Minute)) // as Postgres' authentication_timeout
	hurry := context.AfterFunc(s.stopping, func() { _ = client.SetReadDeadline(time.Now()) })
	code, raw, err := s.greet(client, in)
	if !hurry() || err != nil {
		s.log.Debug("no startup", "error", err)
		return
	}
	_ = client.SetReadDeadline(time.Time{})
	if code == cancelRequest {
		s.cancel(raw)
		return
	}
	process, err := processOf(raw)
	if err != nil {
		s.log.Debug("startup message", "error", err)
		return
	}
	refuses := func(r Rule) bool { return r.Action == clusters.Refuse && r.severs(clusters.Store, process) }
	if s.rules.any(refuses) {
		client.reset()
		return
	}
	server, err := s.dial()
	if err != nil {
		s.log.Warn("Postgres did not answer", "error", err)
		client.reset()
		return
	}
	c := newSession(s, client, in, server.(*net.TCPConn), process)
	s.track(c, true)
	defer s.track(c, false)
	if s.rules.any(refuses) { // armed in between
		client.reset()
	}
	c.run(raw)
}

// dial connects to Postgres, and gives up when the proxy stops.
func (s *store) dial() (net.Conn, error) {
	return (&net.Dialer{Timeout: 10 * time.Second}).DialContext(s.stopping, "tcp", s.upstream)
}

// greet answers requests for encryption with no and returns the message that follows.
func (s *store) greet(client net.Conn, in *bufio.Reader) (code uint32, raw []byte, err error) {
	for range 3 {
		code, raw, err = readStartup(in)
		if err != nil || code != sslRequest && code != gssRequest {
			return code, raw, err
		}
		if _, err := client.Write([]byte{'N'}); err != nil {
			return 0, nil, err
		}
	}
	return 0, nil, errors.New("nothing but requests for encryption")
}

// cancel sends a request to cancel a statement on.
func (s *store) cancel(raw []byte) {
	server, err := s.dial()
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	if _, err := server.Write(raw); err == nil {
		_ = server.SetReadDeadline(time.Now().Add(10 * time.Second))
		_, _ = io.Copy(io.Discard, server) // the server hangs up when it has done so
	}
}

func (s *store) track(c *session, on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if on {
		s.sessions[c] = struct{}{}
	} else {
		delete(s.sessions, c)
	}
}

// sever has a rule that refuses everything cut the connections that it is about.
func (s *store) sever(r Rule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.sessions { // order does not matter: all are cut
		if r.Action == clusters.Refuse && r.severs(clusters.Store, c.process) {
			c.client.reset()
		}
	}
}

// shutdown ends idle sessions at once, and waits for transactions under way until ctx ends.
func (s *store) shutdown(ctx context.Context) error {
	_ = s.gate.Close()
	done := make(chan struct{})
	go func() { s.running.Wait(); close(done) }()
	for {
		s.mu.Lock()
		for c := range s.sessions { // order does not matter: each is asked
			if c.idle() || ctx.Err() != nil {
				_ = c.client.Close()
			}
		}
		s.mu.Unlock()
		select {
		case <-done:
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}
