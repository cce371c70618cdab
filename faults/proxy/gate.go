package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// gate is a listener that can be shut and opened again. While it is shut nobody listens on its address, so that a client is
// refused by the kernel.
type gate struct {
	address string
	opened  chan struct{} // tells Accept of a new listener

	mu       sync.Mutex
	listener net.Listener // nil: shut
	closed   bool
	conns    map[*gated]struct{}
}

// gated is one connection that came through the gate.
type gated struct {
	*net.TCPConn
	gate *gate
	once sync.Once
}

// linger is the socket option by which a connection ends with a RST instead of a FIN (socket(7), SO_LINGER with zero seconds).
const linger = 0

func newGate(ctx context.Context, address string) (*gate, error) {
	l, err := listen(ctx, address)
	if err != nil {
		return nil, err
	}
	return &gate{address: l.Addr().String(), opened: make(chan struct{}, 1), listener: l, conns: map[*gated]struct{}{}}, nil
}

func listen(ctx context.Context, address string) (net.Listener, error) {
	var config net.ListenConfig
	return config.Listen(ctx, "tcp", address)
}

// Accept implements net.Listener. It waits while the gate is shut.
func (g *gate) Accept() (net.Conn, error) {
	for {
		g.mu.Lock()
		l, closed := g.listener, g.closed
		g.mu.Unlock()
		if closed {
			return nil, net.ErrClosed
		}
		if l == nil {
			<-g.opened
			continue
		}
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if through, ok := g.admit(conn.(*net.TCPConn), l); ok {
			return through, nil
		}
	}
}

// admit keeps track of a connection, unless the gate was shut while it came.
func (g *gate) admit(conn *net.TCPConn, l net.Listener) (net.Conn, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.listener != l {
		_ = conn.SetLinger(linger)
		_ = conn.Close()
		return nil, false
	}
	through := &gated{TCPConn: conn, gate: g}
	g.conns[through] = struct{}{}
	return through, true
}

// shut stops listening and resets every connection.
func (g *gate) shut() {
	g.mu.Lock()
	l := g.listener
	g.listener = nil
	var conns []*gated
	for c := range g.conns { // order does not matter: all are cut
		conns = append(conns, c)
	}
	g.mu.Unlock()
	if l != nil {
		_ = l.Close()
	}
	for _, c := range conns {
		c.reset()
	}
}

// open listens again. Somebody's outgoing connection may have taken the port meanwhile, so it tries for a while.
func (g *gate) open(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		done, err := g.reopen(ctx)
		if done {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("listen on %s again: %w", g.address, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (g *gate) reopen(ctx context.Context) (bool, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed || g.listener != nil {
		return true, nil
	}
	l, err := listen(ctx, g.address)
	if err != nil {
		return false, err
	}
	g.listener = l
	g.wake()
	return true, nil
}

func (g *gate) wake() {
	select {
	case g.opened <- struct{}{}:
	default:
	}
}

// Close stops listening for good. Connections live on.
func (g *gate) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	g.wake()
	if g.listener == nil {
		return nil
	}
	l := g.listener
	g.listener = nil
	return l.Close()
}

// Addr implements net.Listener.
func (g *gate) Addr() net.Addr {
	addr, err := net.ResolveTCPAddr("tcp", g.address)
	if err != nil {
		return &net.TCPAddr{}
	}
	return addr
}

// Close ends the connection.
func (c *gated) Close() error {
	err := net.ErrClosed
	c.once.Do(func() {
		err = c.TCPConn.Close()
		c.gate.mu.Lock()
		delete(c.gate.conns, c)
		c.gate.mu.Unlock()
	})
	return err
}

// reset ends the connection as a crash of its other end does.
func (c *gated) reset() {
	_ = c.SetLinger(linger)
	_ = c.Close()
}
