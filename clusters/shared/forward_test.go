package shared

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// ends is what a forwarded connection is made of.
type ends struct{ closed chan struct{} }

func (e ends) Close() error {
	select {
	case <-e.closed:
	default:
		close(e.closed)
	}
	return nil
}

// silent has nothing to tell until it is closed.
type silent struct{ until chan struct{} }

func (s silent) Read([]byte) (int, error)    { <-s.until; return 0, io.EOF }
func (s silent) Write(p []byte) (int, error) { return len(p), nil }

func TestAForwardedConnectionHasDeadlinesAndAnEnd(t *testing.T) {
	e := ends{make(chan struct{})}
	near, far := net.Pipe()
	conn := bridge(e, near, silent{e.closed}, "postgres")
	go func() { _, _ = io.Copy(far, far) }() // an echo
	if _, err := conn.Write([]byte("ping")); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 4)
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != "ping" {
		t.Fatalf("read %q, %v", got, err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	if _, err := conn.Read(got); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("nothing came, and the error is %v", err)
	}
	_ = conn.Close()
	<-e.closed // the connection to the API server ends, too
}

func TestWhyAForwardedConnectionIsNone(t *testing.T) {
	e := ends{make(chan struct{})}
	near, _ := net.Pipe()
	const why = "failed to connect to localhost:5432: connection refused"
	conn := bridge(e, near, bytes.NewBufferString(why), "postgres")
	if _, err := io.ReadAll(conn); err == nil || !strings.Contains(err.Error(), "pod postgres: "+why) {
		t.Errorf("the error is %v", err)
	}
}
