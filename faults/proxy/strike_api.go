package proxy

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
)

// exchange is one request that a rule strikes.
type exchange struct {
	w    http.ResponseWriter
	r    *http.Request
	body []byte
	call *call
}

// strike does with a request what the rules have decided.
func (a *api) strike(x *exchange, f fate) {
	a.rules.hit(x.call, f.slowed...)
	f.wait(a.stopping)
	switch f.action {
	case "":
		if streams(x.r) {
			a.pass(x.w, x.r, x.call)
		} else {
			a.apply(x).write(x.w) // it is on its way, whether or not the caller still waits
		}
		return
	case clusters.LoseReply, clusters.CutReply, clusters.CrashCaller:
	default:
		a.rules.hit(x.call, f.rule)
	}
	switch f.action {
	case clusters.Refuse:
		// The connection is there already, so the caller cannot be told by its absence: 401 is what says of every request that
		// nothing happened and nothing is wrong with the object.
		writeStatus(x.w, x.r, x.call, apiAnswers[history.Unavailable], history.Unavailable)
	case clusters.Answer:
		if f.rule.Rule.Applied {
			a.apply(x)
		}
		writeAnswer(x.w, x.r, x.call, f.rule.Rule)
	case clusters.Drop:
		a.hang(x)
	case clusters.CutCall:
		a.cut(x)
	case clusters.Late:
		a.late.Go(func() {
			if sleep(a.stopping, f.delay) {
				a.apply(x)
			}
		})
		a.hang(x)
	default:
		a.strikeReply(x, f)
	}
}

// strikeReply does what is to be done after the effect.
func (a *api) strikeReply(x *exchange, f fate) {
	reply := a.apply(x)
	a.rules.hit(x.call, f.rule)
	switch f.action {
	case clusters.LoseReply:
		a.hang(x)
	case clusters.CutReply:
		a.cut(x)
	case clusters.CrashCaller:
		select {
		case <-f.rule.done:
		case <-x.r.Context().Done():
			panic(http.ErrAbortHandler)
		case <-a.stopping.Done():
		}
		reply.write(x.w)
	}
}

// reply is an answer of the API server that is kept.
type reply struct {
	status int
	header http.Header
	body   []byte
}

func (r *reply) write(w http.ResponseWriter) {
	if r == nil {
		panic(http.ErrAbortHandler)
	}
	r.header.Del("Connection")
	for name, values := range r.header { // order does not matter: headers
		w.Header()[name] = values
	}
	w.WriteHeader(r.status)
	_, _ = w.Write(r.body)
}

// apply has the API server do what the request asks for, whatever its caller does meanwhile. It returns nil when there is no
// answer.
func (a *api) apply(x *exchange) *reply {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(x.r.Context()), patience)
	defer cancel()
	out := x.r.Clone(ctx)
	out.RequestURI, out.Host = "", ""
	out.URL.Scheme, out.URL.Host = a.upstream.Scheme, a.upstream.Host
	base := strings.TrimSuffix(a.upstream.Path, "/")
	if out.URL.Path = base + out.URL.Path; out.URL.RawPath != "" {
		out.URL.RawPath = base + out.URL.RawPath
	}
	out.Header.Del("Connection")
	out.Body = http.NoBody
	if len(x.body) > 0 {
		out.Body = io.NopCloser(bytes.NewReader(x.body))
	}
	answer, err := a.to.RoundTrip(out)
	if err != nil {
		a.log.Warn("the API server did not answer", "method", out.Method, "path", out.URL.Path, "error", err)
		return nil
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		a.log.Warn("the answer of the API server broke off", "method", out.Method, "path", out.URL.Path, "error", err)
		return nil
	}
	return &reply{answer.StatusCode, answer.Header, body}
}

// hang leaves the caller without an answer until it gives up.
func (a *api) hang(x *exchange) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-x.r.Context().Done():
	case <-timer.C:
	case <-a.stopping.Done():
	}
	panic(http.ErrAbortHandler)
}

// cut ends the connection at once. net/http sends a GET again by itself when a connection that was used before ends without a byte
// of an answer (persistConn.shouldRetryRequest), so such a request gets the beginning of one.
func (a *api) cut(x *exchange) {
	conn, _, err := http.NewResponseController(x.w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	secure := conn.(*tls.Conn) // nothing else is served
	raw := secure.NetConn().(*gated)
	if !replayable(x.r) {
		raw.reset()
		return
	}
	_ = secure.SetWriteDeadline(time.Now().Add(time.Second))
	_, _ = io.WriteString(secure, "HTTP/1.1 ")
	_ = raw.Close() // a reset could overtake what was written
}

// replayable is net/http's Request.isReplayable.
func replayable(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return r.Header.Get("Idempotency-Key") != "" || r.Header.Get("X-Idempotency-Key") != ""
}

// sleep waits, but not for a proxy that stops: then it says false.
func sleep(stopping context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-stopping.Done():
		return false
	}
}
