package proxy

import (
	"bufio"
	"errors"
	"io"
	"net"
	"sync"

	"github.com/squall-chaos/squall/clusters"
)

// session is one connection of a client, and the one to the server that belongs to it.
type session struct {
	store   *store
	client  *gated
	in      *bufio.Reader
	server  *net.TCPConn
	process string

	names  names
	held   []byte   // messages that are not sent on yet
	runs   []portal // what they execute
	worked bool     // something was executed since the last Sync, sent on by a Flush
	open   bool     // in a transaction, as far as the client's statements tell
	call   *call    // under way
	more   bool     // the call goes on after a statement that was a transaction by itself
	skip   bool     // messages are dropped until Sync: an answer of our own stands for them

	replies replies
}

// replies are what comes from the server.
type replies struct {
	mu      sync.Mutex
	pending int   // answers that are still to come, each ends with ReadyForQuery
	status  byte  // of the last one
	kept    *kept // when set, answers are kept from the client
	changed chan struct{}
	ended   bool
}

// kept are answers that the client does not get, or not yet.
type kept struct{ bytes []byte }

func newSession(s *store, client *gated, in *bufio.Reader, server *net.TCPConn, process string) *session {
	return &session{store: s, client: client, in: in, server: server, process: process,
		names:   names{map[string]statement{}, map[string]portal{}},
		replies: replies{pending: 1, status: 'I', changed: make(chan struct{})}}
}

// run sends the startup message on, and then carries messages both ways until one end hangs up.
func (c *session) run(startup []byte) {
	if _, err := c.server.Write(startup); err != nil {
		_ = c.server.Close()
		return
	}
	answers := make(chan struct{})
	go func() {
		defer close(answers)
		if c.pump(); !c.replies.keep(nil) { // else the client is to hear nothing, not even that
			_ = c.client.Close()
		}
	}()
	err := c.read()
	if errors.Is(err, errTaken) {
		return // what is late has the server's end, and closes it
	}
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
		c.store.log.Debug("a client is gone", "process", c.process, "error", err)
	}
	_ = c.server.Close()
	<-answers
}

// pump carries the server's messages to the client.
func (c *session) pump() {
	r := &c.replies
	defer func() {
		r.mu.Lock()
		r.ended = true
		r.signal()
		r.mu.Unlock()
	}()
	from := bufio.NewReaderSize(c.server, 32<<10)
	var out []byte
	for {
		start := len(out)
		kind, with, err := readFrame(from, out)
		if err != nil {
			if len(out) > 0 {
				_, _ = c.client.Write(out)
			}
			return
		}
		out = with
		if r.keep(out[start:]) {
			out = out[:start]
		}
		ready := kind == 'Z' && len(with)-start == 6
		if len(out) > 0 && (from.Buffered() == 0 || len(out) > 64<<10 || ready) {
			if _, err := c.client.Write(out); err != nil {
				c.store.log.Debug("a client is gone", "process", c.process, "error", err) // its reader ends the session
			}
			out = out[:0]
		}
		if ready { // counts as given only now
			r.mu.Lock()
			r.pending, r.status = max(0, r.pending-1), with[start+5]
			r.signal()
			r.mu.Unlock()
		}
		if cap(out) > 1<<20 {
			out = nil
		}
	}
}

// keep tells whether an answer is kept from the client.
func (r *replies) keep(answer []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept != nil {
		r.kept.bytes = append(r.kept.bytes, answer...)
	}
	return r.kept != nil
}

// keeping has answers kept from now on, or with nil no longer.
func (r *replies) keeping(k *kept) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept = k
}

// signal tells those who wait. The lock is held.
func (r *replies) signal() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// idle tells that the client has no transaction under way that it will hear of.
func (c *session) idle() bool {
	c.replies.mu.Lock()
	defer c.replies.mu.Unlock()
	return c.replies.kept != nil || c.replies.pending == 0 && c.replies.status == 'I'
}

// read takes the client's messages, and sends them on in units that end where the client waits for an answer.
func (c *session) read() error {
	for {
		start := len(c.held)
		kind, held, err := readFrame(c.in, c.held)
		if err != nil {
			return err
		}
		if c.held = held; len(held) > maxFrame {
			return errors.New("a pipeline without a Sync that does not fit into memory")
		}
		if err := c.take(kind, body(held[start:])); err != nil {
			return err
		}
	}
}

// take deals with the last message of the unit.
func (c *session) take(kind byte, body []byte) error {
	switch kind {
	case 'P', 'B', 'E', 'C':
		executed, is, err := c.names.note(kind, body)
		if err != nil {
			return err
		}
		if is && executed.keyword != "" {
			c.runs = append(c.runs, executed)
		}
		return nil
	case 'D':
		return nil
	case 'Q':
		text := body
		if n := len(text); n > 0 {
			text = text[:n-1]
		}
		for _, s := range statements(string(text)) {
			c.runs = append(c.runs, portal{statement: s})
		}
		return c.flush(kind)
	case 'S', 'H', 'F':
		return c.flush(kind)
	}
	return c.send(0) // COPY data, passwords, Terminate
}

// flush judges the unit and sends it on.
func (c *session) flush(kind byte) error {
	if c.skip {
		return c.skipped(kind)
	}
	actual := c.settled()
	u := c.summarise(kind, actual)
	if u.call == nil {
		return c.send(kind)
	}
	if u.works {
		f := c.store.rules.judge(u.call, func(r Rule) bool { return early(r) })
		if f.action != "" {
			return c.refuse(u, f)
		}
	}
	if u.effect {
		f := c.store.rules.judge(u.call, func(r Rule) bool { return !early(r) })
		if f.action != "" || f.waits() {
			return c.strike(u, f)
		}
	}
	return c.send(kind)
}

// early tells that a rule strikes the first statement of a transaction, and not its COMMIT.
func early(r Rule) bool {
	return r.Action == clusters.Refuse || r.Action == clusters.Answer && !answerOf(r).commit
}

// settled takes the state of the transaction from the server, when nothing is outstanding, and returns it.
func (c *session) settled() (status byte) {
	c.replies.mu.Lock()
	defer c.replies.mu.Unlock()
	if c.replies.pending > 0 {
		return 0
	}
	c.open = c.replies.status != 'I'
	return c.replies.status
}

// unit is what a client sends before it waits for an answer.
type unit struct {
	kind   byte // of its last message
	call   *call
	works  bool // it executes something of a call
	effect bool // the call takes effect with it
	inside bool // the transaction began before it
}

// summarise says what the unit is, and moves the session's state past it.
func (c *session) summarise(kind byte, actual byte) unit {
	u := unit{kind: kind, inside: c.open}
	begins, commits, rolls, writes, more := false, false, false, false, false
	for _, p := range c.runs {
		switch {
		case p.begins():
			begins, c.open = true, true
		case p.commits():
			if commits, c.open = true, false; u.inside {
				c.begin(p) // whatever was done, it is a commit
			}
		case p.rollsBack():
			rolls, c.open = true, false
		case p.works():
			u.works = true
			writes = writes || p.writes()
			c.begin(p)
			more = p.more
		}
	}
	c.runs = c.runs[:0]
	u.call = c.call
	if c.call == nil {
		return u
	}
	alone := !u.inside && !begins && (u.works || c.worked) // a transaction by itself, over with the Sync
	c.worked = kind == 'H' && (c.worked || u.works)
	if kind != 'H' {
		u.effect = commits && actual != 'E' || alone && !commits
	}
	c.call.commits = commits || alone && writes
	c.more = more && u.effect
	if commits || rolls || u.effect && !more {
		c.call = nil
	}
	return u
}

// begin says what is known of the call that a statement belongs to.
func (c *session) begin(p portal) {
	verb, task := p.about()
	if c.call == nil || c.more && verb != c.call.verb { // the rest of the last call never came
		c.call = &call{port: clusters.Store, process: c.process}
	}
	c.more = false
	if verb != "" && c.call.verb == "" {
		c.call.verb, c.call.task = verb, task
	}
}

// send passes the unit on.
func (c *session) send(kind byte) error {
	if kind == 'S' || kind == 'Q' || kind == 'F' {
		c.replies.mu.Lock()
		c.replies.pending++
		c.replies.mu.Unlock()
	}
	_, err := c.server.Write(c.held)
	c.forget()
	return err
}

// forget drops the unit.
func (c *session) forget() {
	if c.held = c.held[:0]; cap(c.held) > 1<<20 {
		c.held = nil
	}
}
