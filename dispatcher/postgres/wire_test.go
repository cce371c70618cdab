package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"sync"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// loss is what becomes of the next message that is not spared.
type loss int

const (
	nothing     loss = iota
	beforeAll        // the statements reach the server, their answer does not reach us, COMMIT is never sent
	unsent           // COMMIT cannot be sent, and we know
	notApplied       // COMMIT is lost on its way to the server
	withoutWord      // COMMIT is applied, its answer is lost
)

// wire is the network between a store and its server.
type wire struct {
	mu   sync.Mutex
	next loss
	// edit changes statements on their way.
	edit func(sql string) string
}

// lose arms the wire: once, for the next transaction.
func (w *wire) lose(l loss) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next = l
}

// struck tells what strikes a message, and disarms the wire if something does.
func (w *wire) struck(message []byte) loss {
	w.mu.Lock()
	defer w.mu.Unlock()
	isCommit := bytes.Equal(message, commitMessage)
	if w.next == nothing || isCommit == (w.next == beforeAll) {
		return nothing
	}
	struck := w.next
	w.next = nothing
	return struck
}

func (w *wire) install(c *pgxpool.Config) {
	c.ConnConfig.AfterNetConnect = func(_ context.Context, _ *pgconn.Config, conn net.Conn) (net.Conn, error) {
		return &wiredConn{Conn: conn, wire: w}, nil
	}
}

// commitMessage is a Query message, readyMessage what the server says last when it is outside of any transaction.
var (
	commitMessage = []byte("Q\x00\x00\x00\x0bcommit\x00")
	readyMessage  = []byte("Z\x00\x00\x00\x05I")
)

// wiredConn is one connection. It is used by one goroutine at a time, but for deadlines.
type wiredConn struct {
	net.Conn
	wire *wire
	dead bool
}

func (c *wiredConn) Write(p []byte) (int, error) {
	switch c.wire.struck(p) {
	case unsent:
		c.die()
		return 0, syscall.ECONNRESET
	case notApplied:
		c.die()
		return len(p), nil
	case withoutWord:
		if _, err := c.Conn.Write(p); err != nil {
			return 0, err
		}
		return len(p), c.swallow()
	case beforeAll:
		n, err := c.Conn.Write(p)
		c.die()
		return n, err
	}
	if c.wire.edit == nil {
		return c.Conn.Write(p)
	}
	_, err := c.Conn.Write(edited(p, c.wire.edit))
	return len(p), err
}

func (c *wiredConn) Read(p []byte) (int, error) {
	if c.dead {
		return 0, syscall.ECONNRESET
	}
	return c.Conn.Read(p)
}

func (c *wiredConn) die() {
	c.dead = true
	_ = c.Conn.Close()
}

// swallow waits for the server's answer and loses it.
func (c *wiredConn) swallow() error {
	var answer []byte
	for part := make([]byte, 512); !bytes.HasSuffix(answer, readyMessage); {
		n, err := c.Conn.Read(part)
		if err != nil {
			return err
		}
		answer = append(answer, part[:n]...)
	}
	c.die()
	return nil
}

// edited changes the statements in the Parse messages of what is written, see "Message Formats" in the Postgres manual: a
// letter, a length that counts itself, the statement's name and text.
func edited(p []byte, edit func(string) string) []byte {
	if p[0] == 0 {
		return p // the startup message, the only one without a letter
	}
	var out []byte
	for len(p) > 0 {
		end := 1 + int(binary.BigEndian.Uint32(p[1:]))
		message := p[:end]
		p = p[end:]
		if message[0] != 'P' {
			out = append(out, message...)
			continue
		}
		name, rest, _ := bytes.Cut(message[5:], []byte{0})
		sql, types, _ := bytes.Cut(rest, []byte{0})
		body := append(append(append([]byte{}, name...), 0), edit(string(sql))...)
		body = append(append(body, 0), types...)
		out = append(out, 'P')
		out = binary.BigEndian.AppendUint32(out, uint32(4+len(body)))
		out = append(out, body...)
	}
	return out
}
