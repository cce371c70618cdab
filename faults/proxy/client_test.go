package proxy

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// TestARuleIsArmedAfterAPauseThroughATunnel: control has given the connection up, and the tunnel has not said so yet.
func TestARuleIsArmedAfterAPauseThroughATunnel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		far := make(listener)
		server := &http.Server{IdleTimeout: controlIdle, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"id": "1"}`) })}
		go func() { _ = server.Serve(far) }()
		defer func() { _ = server.Close() }()
		through := Through(func(context.Context) (net.Conn, error) {
			near, other := net.Pipe()
			far <- other
			return tunnel{near}, nil
		})
		defer through.CloseIdleConnections()
		c := &Client{URL: "http://faultproxy", HTTP: through}
		for range 2 {
			if _, err := c.Arm(t.Context(), Rule{}); err != nil {
				t.Error(err)
			}
			time.Sleep(controlIdle + time.Second)
		}
	})
}

// tunnel takes whatever is written, and tells the end of its other side a minute late.
type tunnel struct{ net.Conn }

func (c tunnel) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if errors.Is(err, io.EOF) {
		time.Sleep(time.Minute)
	}
	return n, err
}

func (c tunnel) Write(p []byte) (int, error) {
	_, _ = c.Conn.Write(p)
	return len(p), nil
}

type listener chan net.Conn

func (l listener) Accept() (net.Conn, error) {
	c, ok := <-l
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}

func (l listener) Close() error {
	close(l)
	return nil
}

func (listener) Addr() net.Addr { return &net.TCPAddr{} }
