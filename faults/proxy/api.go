package proxy

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"time"
)

// APIOptions say where the API server is, and how this proxy stands for it.
type APIOptions struct {
	Listen      string
	Upstream    *url.URL
	CA          *x509.CertPool // of the API server; nil: the system's
	Certificate tls.Certificate
}

// patience is how long a call without a deadline is left without an answer, as in the simulation: Linux gives up on an
// unacknowledged segment after about 924.6 s (tcp_retries2, Documentation/networking/ip-sysctl.rst).
const patience = 924_600 * time.Millisecond

// maxBody is the size from which on a body is not kept in memory: the API server takes no more than 3 MiB.
const maxBody = 8 << 20

// api is the proxy in front of an API server.
type api struct {
	gate     *gate
	server   *http.Server
	upstream *url.URL
	to       *http.Transport
	through  *httputil.ReverseProxy
	rules    *rules
	log      *slog.Logger
	stopping context.Context // ends when the proxy stops
	late     *sync.WaitGroup // requests that are still to be sent

	mu      sync.Mutex
	streams map[*stream]struct{}
	unused  map[net.Conn]struct{} // connections that no request came on yet
}

// stream is a watch, or another request whose answer does not end by itself.
type stream struct {
	call *call
	cut  context.CancelFunc
}

func newAPI(ctx context.Context, o APIOptions, r *rules, late *sync.WaitGroup, log *slog.Logger) (*api, error) {
	g, err := newGate(ctx, o.Listen)
	if err != nil {
		return nil, err
	}
	a := &api{gate: g, upstream: o.Upstream, rules: r, log: log, stopping: ctx, late: late,
		streams: map[*stream]struct{}{}, unused: map[net.Conn]struct{}{}}
	a.to = &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: o.CA, MinVersion: tls.VersionTLS12, DynamicRecordSizingDisabled: true},
		ForceAttemptHTTP2:   true,
		HTTP2:               &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second}, // as client-go has it
		DialContext:         (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConnsPerHost: 256,
		IdleConnTimeout:     90 * time.Second,
		DisableCompression:  true, // what the client asked for is what it gets
	}
	a.through = &httputil.ReverseProxy{
		Transport:  a.to, // what has no length, watches above all, is flushed as it comes
		Rewrite:    func(r *httputil.ProxyRequest) { r.SetURL(o.Upstream) },
		ErrorLog:   slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		BufferPool: &buffers{},
		ErrorHandler: func(_ http.ResponseWriter, r *http.Request, err error) {
			log.Warn("the API server did not answer", "method", r.Method, "path", r.URL.Path, "error", err)
			panic(http.ErrAbortHandler) // an answer of our own would be a lie
		},
	}
	var only http.Protocols
	only.SetHTTP1(true) // one request at a time on a connection, so that a connection can be cut for one request
	a.server = &http.Server{
		Handler: a, Protocols: &only, ReadHeaderTimeout: 30 * time.Second, IdleTimeout: 5 * time.Minute,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{o.Certificate}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
			DynamicRecordSizingDisabled: true}, // each record is a write, and the network is a cluster's own
		ConnState: a.note,
		ErrorLog:  slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	return a, nil
}

// buffers are those through which answers are copied.
type buffers struct{ pool sync.Pool }

// Get implements httputil.BufferPool.
func (b *buffers) Get() []byte {
	if kept, ok := b.pool.Get().(*[]byte); ok {
		return *kept
	}
	return make([]byte, 32<<10)
}

// Put implements httputil.BufferPool.
func (b *buffers) Put(kept []byte) { b.pool.Put(&kept) }

// note keeps track of the connections that no request came on yet. A client's pool has some.
func (a *api) note(conn net.Conn, s http.ConnState) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s == http.StateNew {
		a.unused[conn] = struct{}{}
	} else {
		delete(a.unused, conn)
	}
}

func (a *api) serve() error {
	if err := a.server.ServeTLS(a.gate, "", ""); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("serve the API: %w", err)
	}
	return nil
}

// ServeHTTP judges a request and lets the rules have their way.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, whole := a.read(r)
	c := identify(r, func() []byte { return body })
	f := a.rules.judge(c, func(Rule) bool { return true })
	if f.action == "" && !f.waits() {
		a.pass(w, r, c)
		return
	}
	if !whole {
		a.log.Warn("a body too large to be kept is only passed on", "path", r.URL.Path)
		a.pass(w, r, c)
		return
	}
	a.strike(&exchange{w: w, r: r, body: body, call: c}, f)
}

// read takes the body into memory and puts it back. It tells whether that is all of it.
func (a *api) read(r *http.Request) (body []byte, whole bool) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, true
	}
	rest := r.Body
	body, err := io.ReadAll(io.LimitReader(rest, maxBody))
	whole = err == nil && len(body) < maxBody
	if whole {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		if len(body) == 0 {
			r.Body = http.NoBody
		}
		return body, true
	}
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), rest), rest}
	return body, false
}

// pass sends the request on and the answer back, whatever it is.
func (a *api) pass(w http.ResponseWriter, r *http.Request, c *call) {
	if streams(r) {
		ctx, cut := context.WithCancel(r.Context())
		s := &stream{c, cut}
		a.mu.Lock()
		a.streams[s] = struct{}{}
		a.mu.Unlock()
		defer func() {
			cut()
			a.mu.Lock()
			delete(a.streams, s)
			a.mu.Unlock()
		}()
		stop := context.AfterFunc(a.stopping, cut)
		defer stop()
		r = r.WithContext(ctx)
	}
	a.through.ServeHTTP(w, r)
}

// streams tells that the answer does not end by itself.
func streams(r *http.Request) bool { return isWatch(r) || r.Header.Get("Upgrade") != "" }

// sever has a rule that takes everything end the streams that began before it.
func (a *api) sever(r Rule) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for s := range a.streams { // order does not matter: all are cut
		if r.severs(s.call.port, s.call.process) {
			s.cut()
		}
	}
}

func (a *api) shutdown(ctx context.Context) error {
	_ = a.gate.Close()
	a.mu.Lock()
	unused := slices.Collect(maps.Keys(a.unused)) // order does not matter: all are closed
	a.mu.Unlock()
	for _, conn := range unused { // net/http would wait five seconds for each to be used
		_ = conn.Close()
	}
	err := a.server.Shutdown(ctx)
	_ = a.server.Close()
	a.to.CloseIdleConnections()
	return err
}
