package proxy

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// ControlOptions say where rules are taken, and from whom.
type ControlOptions struct {
	Listen string
	Token  string // whoever has it may do everything
}

const (
	maxRule = 64 << 10         // bytes of a request
	maxWait = 60 * time.Second // of a poll for hits
)

// control takes rules over HTTP.
type control struct {
	listener net.Listener
	server   *http.Server
	proxy    *Proxy
	token    [sha256.Size]byte
	stopping context.Context
}

// hitsAnswer is the body of an answer to GET /hits.
type hitsAnswer struct {
	Hits []Hit `json:"hits"`
	Next int   `json:"next"` // the number to ask for next
}

// problemsAnswer is the body of every refusal.
type problemsAnswer struct {
	Problems Problems `json:"problems"`
}

// controlIdle is how long control keeps a connection on which nobody asks for anything.
const controlIdle = 2 * time.Minute

func newControl(ctx context.Context, o ControlOptions, p *Proxy) (*control, error) {
	if o.Token == "" {
		return nil, errors.New("control needs a token: whoever reaches it could break everything")
	}
	l, err := listen(ctx, o.Listen)
	if err != nil {
		return nil, err
	}
	c := &control{listener: l, proxy: p, token: sha256.Sum256([]byte(o.Token)), stopping: ctx}
	c.server = &http.Server{
		Handler: c.routes(), MaxHeaderBytes: 16 << 10, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
		WriteTimeout: maxWait + 30*time.Second, IdleTimeout: controlIdle,
		ErrorLog: slog.NewLogLogger(p.log.Handler(), slog.LevelDebug),
	}
	return c, nil
}

func (c *control) routes() http.Handler {
	guarded := http.NewServeMux()
	guarded.HandleFunc("POST /rules", c.arm)
	guarded.HandleFunc("GET /rules", c.list)
	guarded.HandleFunc("DELETE /rules", c.disarm)
	guarded.HandleFunc("DELETE /rules/{id}", c.disarm)
	guarded.HandleFunc("GET /hits", c.hits)
	open := http.NewServeMux()
	open.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	open.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if !c.admits(r) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			refuse(w, http.StatusUnauthorized, Problems{{"", "no, or another, bearer token"}})
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxRule)
		guarded.ServeHTTP(w, r)
	})
	return open
}

func (c *control) serve() error {
	if err := c.server.Serve(c.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve control: %w", err)
	}
	return nil
}

func (c *control) shutdown(ctx context.Context) error {
	err := c.server.Shutdown(ctx)
	_ = c.server.Close()
	return err
}

// admits compares sums, which are of equal length, so that the time it takes tells nothing.
func (c *control) admits(r *http.Request) bool {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	sum := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(sum[:], c.token[:]) == 1
}

func (c *control) arm(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		refuse(w, http.StatusRequestEntityTooLarge, Problems{{"", fmt.Sprintf("a rule has at most %d bytes", large.Limit)}})
		return
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, Problems{{"", err.Error()}})
		return
	}
	rule, err := DecodeRule(text)
	var id string
	if err == nil {
		id, err = c.proxy.Arm(rule)
	}
	var problems Problems
	switch {
	case errors.As(err, &problems):
		refuse(w, http.StatusBadRequest, problems)
	case err != nil:
		refuse(w, http.StatusInternalServerError, Problems{{"", err.Error()}})
	default:
		say(w, http.StatusCreated, map[string]string{"id": id})
	}
}

func (c *control) list(w http.ResponseWriter, _ *http.Request) {
	say(w, http.StatusOK, map[string]any{"rules": c.proxy.rules.list()})
}

func (c *control) disarm(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	found, err := c.proxy.Disarm(r.Context(), id)
	switch {
	case err != nil:
		refuse(w, http.StatusInternalServerError, Problems{{"", err.Error()}})
	case id != "" && !found:
		refuse(w, http.StatusNotFound, Problems{{"id", fmt.Sprintf("no rule %q is armed", id)}})
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

func (c *control) hits(w http.ResponseWriter, r *http.Request) {
	var p Problems
	after := number(r, "after", &p)
	wait := time.Duration(min(number(r, "wait", &p), int(maxWait/time.Second))) * time.Second
	if p != nil {
		refuse(w, http.StatusBadRequest, p)
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		hits, next, more := c.proxy.rules.after(after)
		if len(hits) > 0 || next < after {
			say(w, http.StatusOK, hitsAnswer{hits, next})
			return
		}
		select {
		case <-more:
			continue
		case <-timer.C:
		case <-c.stopping.Done():
		case <-r.Context().Done():
		}
		say(w, http.StatusOK, hitsAnswer{[]Hit{}, next})
		return
	}
}

// number reads a number of the query, zero by default.
func number(r *http.Request, name string, p *Problems) int {
	text := r.URL.Query().Get(name)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		p.addf(name, "%q is no whole number", text)
	}
	return int(n)
}

func say(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func refuse(w http.ResponseWriter, status int, p Problems) { say(w, status, problemsAnswer{p}) }
