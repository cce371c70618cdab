package proxy

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/jackc/pgx/v5/pgproto3"
)

// maxFrame is the longest message that is kept in memory: what Postgres itself takes as a limit is 1 GiB.
const maxFrame = 64 << 20

// frameStep is how much of a message is expected at a time, in bytes: its length is only what a stranger says, and memory is for what
// has come.
const frameStep = 64 << 10

// readFrame appends the next message, its header included, to into. See "Message Formats" in the Postgres manual: a letter, and a
// length that counts itself.
func readFrame(from *bufio.Reader, into []byte) (kind byte, out []byte, err error) {
	header, err := from.Peek(5)
	if err != nil {
		return 0, into, err
	}
	kind = header[0]
	size := int64(binary.BigEndian.Uint32(header[1:])) + 1
	if size < 5 || size > maxFrame {
		return 0, into, fmt.Errorf("a message %q of %d bytes", kind, size)
	}
	for left := int(size); left > 0; {
		part := min(left, frameStep)
		into = slices.Grow(into, part)
		n, err := io.ReadFull(from, into[len(into):len(into)+part])
		into = into[:len(into)+n]
		if left -= n; err == io.EOF {
			err = io.ErrUnexpectedEOF // between two steps: the header was there, so the message has begun
		}
		if err != nil {
			return kind, into, err
		}
	}
	return kind, into, nil
}

// body is a frame without its header.
func body(frame []byte) []byte { return frame[5:] }

// The codes in the place of a protocol version that the first message of a connection may have.
const (
	cancelRequest = 80877102
	sslRequest    = 80877103
	gssRequest    = 80877104
)

// maxStartup is MAX_STARTUP_PACKET_LENGTH in Postgres.
const maxStartup = 10000

// readStartup reads a message without a letter and returns it whole, with its code.
func readStartup(from *bufio.Reader) (code uint32, raw []byte, err error) {
	header, err := from.Peek(8)
	if err != nil {
		return 0, nil, err
	}
	size := binary.BigEndian.Uint32(header)
	if size < 8 || size > maxStartup {
		return 0, nil, fmt.Errorf("a first message of %d bytes", size)
	}
	raw = make([]byte, size)
	_, err = io.ReadFull(from, raw)
	return binary.BigEndian.Uint32(header[4:]), raw, err
}

// processOf is the application_name in a startup message.
func processOf(raw []byte) (string, error) {
	var m pgproto3.StartupMessage
	if err := m.Decode(raw[4:]); err != nil {
		return "", err
	}
	return m.Parameters["application_name"], nil
}

// portal is a statement with its arguments.
type portal struct {
	statement
	arguments [][]byte
}

// about returns the call's verb and task, as far as the statement tells.
func (p portal) about() (verb, task string) {
	task = p.task
	if p.param > 0 && p.param <= len(p.arguments) {
		task = string(p.arguments[p.param-1]) // a text is the same in both formats
	}
	return p.verb, task
}

// names are what a connection has prepared.
type names struct {
	prepared map[string]statement
	portals  map[string]portal
}

// note takes a message of the extended protocol in. It returns what is executed, if anything is.
func (n *names) note(kind byte, body []byte) (executed portal, is bool, err error) {
	switch kind {
	case 'P':
		var m pgproto3.Parse
		if err = m.Decode(body); err == nil {
			n.prepared[m.Name] = first(m.Query)
		}
	case 'B':
		var m pgproto3.Bind
		if err = m.Decode(body); err == nil {
			p := portal{statement: n.prepared[m.PreparedStatement]}
			if p.param > 0 && p.param <= len(m.Parameters) {
				p.arguments = [][]byte{m.Parameters[p.param-1]}
				p.param = 1
			}
			n.portals[m.DestinationPortal] = p
		}
	case 'E':
		var m pgproto3.Execute
		if err = m.Decode(body); err == nil {
			return n.portals[m.Portal], true, nil
		}
	case 'C':
		var m pgproto3.Close
		if err = m.Decode(body); err == nil && m.ObjectType == 'S' {
			delete(n.prepared, m.Name)
		} else if err == nil {
			delete(n.portals, m.Name)
		}
	}
	return portal{}, false, err
}
