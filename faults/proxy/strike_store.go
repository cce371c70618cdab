package proxy

import (
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
)

// storeAnswer is the error that Postgres says a code with, see the appendix on error codes of its manual.
type storeAnswer struct {
	sqlstate string
	severity string
	commit   bool // it answers the COMMIT; the others answer the first statement
}

var storeAnswers = map[history.Code]storeAnswer{
	history.Unavailable: {"53000", "ERROR", false}, // insufficient_resources
	history.Throttled:   {"53300", "ERROR", false}, // too_many_connections
	history.Rejected:    {"22023", "ERROR", false}, // invalid_parameter_value
	history.Exists:      {"23505", "ERROR", false}, // unique_violation
	history.Conflict:    {"40001", "ERROR", false}, // serialization_failure
	history.Timeout:     {"40003", "ERROR", true},  // statement_completion_unknown
	history.Reset:       {"08006", "FATAL", true},  // connection_failure
	history.Internal:    {"XX000", "FATAL", true},  // internal_error
}

func answerOf(r Rule) storeAnswer {
	code, _ := history.ParseCode(r.Code) // checked when it was armed
	return storeAnswers[code]
}

// errTaken ends a session whose connection to the server lives on.
var errTaken = errors.New("the server's end is taken")

// errCut ends a session by a fault.
var errCut = errors.New("cut by a fault")

// refuse strikes the first statement of a call: nothing of it reaches the server.
func (c *session) refuse(u unit, f fate) error {
	c.store.rules.hit(u.call, f.rule)
	if f.action == clusters.Refuse {
		c.client.reset()
		return errCut
	}
	return c.answer(u, answerOf(f.rule.Rule))
}

// strike strikes a call where it takes effect: at its COMMIT, or at a statement that is a transaction of its own.
func (c *session) strike(u unit, f fate) error {
	hit := c.store.rules.hit
	hit(u.call, f.slowed...)
	c.drain()
	f.wait(c.store.stopping)
	switch f.action {
	case "":
		return c.sendSlowly(u.kind)
	case clusters.Drop:
		hit(u.call, f.rule)
		c.replies.keeping(&kept{})
		_ = c.server.Close() // and so it is rolled back
		return c.hang()
	case clusters.CutCall:
		hit(u.call, f.rule)
		_ = c.server.Close()
		c.client.reset()
		return errCut
	case clusters.Late:
		hit(u.call, f.rule)
		return c.deliverLate(u, f.delay)
	case clusters.Answer:
		hit(u.call, f.rule)
		return c.answer(u, answerOf(f.rule.Rule))
	}
	k := c.apply(u.kind)
	hit(u.call, f.rule)
	switch f.action {
	case clusters.LoseReply:
		return c.hang()
	case clusters.CutReply:
		c.client.reset()
		return errCut
	}
	return c.holdBack(k, f.rule) // crash-caller
}

// sendSlowly sends what was delayed on, and lets the server act on it even if the client has hung up.
func (c *session) sendSlowly(kind byte) error {
	err := c.send(kind)
	c.drain()
	return err
}

// drain waits until the server has answered everything that it was sent.
func (c *session) drain() {
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		c.replies.mu.Lock()
		over, changed := c.replies.pending == 0 || c.replies.ended, c.replies.changed
		c.replies.mu.Unlock()
		if over {
			return
		}
		select {
		case <-changed:
		case <-limit.C:
			return
		case <-c.store.stopping.Done():
			return
		}
	}
}

// apply sends the unit, waits for its effect, and keeps the answer.
func (c *session) apply(kind byte) *kept {
	k := &kept{}
	c.replies.keeping(k)
	if err := c.send(kind); err != nil {
		c.store.log.Warn("Postgres did not answer", "process", c.process, "error", err)
	}
	c.drain()
	return k
}

// hang leaves the client without an answer until it gives up. One that says goodbye waits for the connection to end (pgx 15 s, and
// its pool counts the connection until then), which tells it nothing about the call.
func (c *session) hang() error {
	_ = c.client.SetReadDeadline(time.Now().Add(patience))
	for {
		kind, _, err := readFrame(c.in, nil)
		if err != nil || kind == 'X' {
			return errors.Join(errCut, err)
		}
	}
}

// deliverLate sends the unit after the delay, whether or not the client is still there.
func (c *session) deliverLate(u unit, delay time.Duration) error {
	c.replies.keeping(&kept{})
	c.store.late.Go(func() {
		defer func() { _ = c.server.Close() }()
		if sleep(c.store.stopping, delay) {
			_ = c.send(u.kind)
			c.drain()
		}
	})
	_ = c.hang()
	return errTaken
}

// holdBack keeps the answer until the rule is disarmed or the client is dead.
func (c *session) holdBack(k *kept, by *armed) error {
	dead := make(chan struct{})
	go func() {
		defer close(dead)
		_, _ = c.in.Peek(1) // a client that waits says nothing, or that it leaves
	}()
	select {
	case <-dead:
		return errCut
	case <-c.store.stopping.Done():
		return errCut
	case <-by.done:
	}
	c.replies.keeping(nil)
	_, err := c.client.Write(k.bytes)
	<-dead // the reader is one goroutine at a time
	return err
}

// answer answers the unit in the server's stead.
func (c *session) answer(u unit, a storeAnswer) error {
	c.drain()
	m := &pgproto3.ErrorResponse{Severity: a.severity, SeverityUnlocalized: a.severity, Code: a.sqlstate,
		Message: "answered by a fault of Squall"}
	out, err := m.Encode(nil)
	if err != nil {
		return err
	}
	if a.severity == "FATAL" {
		_, _ = c.client.Write(out)
		return errCut
	}
	if u.inside {
		// The server has the transaction, so it has to know that it failed, or is over.
		c.held, _ = (&pgproto3.Query{String: after(a)}).Encode(c.held[:0])
		c.apply('Q')
		c.replies.keeping(nil)
	}
	c.forget()
	c.open = u.inside && !a.commit
	if _, err := c.client.Write(out); err != nil {
		return err
	}
	if u.kind == 'H' {
		c.skip = true
		return nil
	}
	return c.ready()
}

// after is a statement that leaves the server's transaction as the answer says.
func after(a storeAnswer) string {
	if a.commit {
		return "ROLLBACK"
	}
	return "squall fault" // a syntax error
}

// ready tells the client that the server waits.
func (c *session) ready() error {
	status := byte('I')
	if c.open {
		status = 'E'
	}
	out, err := (&pgproto3.ReadyForQuery{TxStatus: status}).Encode(nil)
	if err != nil {
		return err
	}
	_, err = c.client.Write(out)
	return err
}

// skipped drops what a client sent before it knew of an error, up to its Sync.
func (c *session) skipped(kind byte) error {
	c.forget()
	c.runs = c.runs[:0]
	if kind != 'S' {
		return nil
	}
	c.skip = false
	return c.ready()
}
