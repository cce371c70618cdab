package testbed

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// pipeScript connects in the node, says so, and copies both ways. bash is in every node image (kind's entrypoint is written in
// it), socat is not. When either side ends, everything does: bash cannot shut down one direction of a socket, so the end of our
// side is the end of the connection, and what the other side had sent until it ended is delivered before.
const pipeScript = `
exec 3<>"/dev/tcp/$0/$1" || exit 1
exec 4<&0
echo connected
cat <&3 & from=$!
cat <&4 >&3 & to=$!
exec 3>&- 4<&-
wait -n
kill $from $to 2>/dev/null
exit 0
`

// Dial opens a TCP connection from the control plane's node to the address of a pod or service: the host itself has no route
// to them. A name is resolved by the node, which does not know the cluster's DNS: give addresses.
func (c *Cluster) Dial(ctx context.Context, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", address, err)
	}
	node := c.ControlPlane()
	conn, err := node.pipe(ctx, host, port)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: endpoint(address), Err: err}
	}
	return conn, nil
}

func (n *Node) pipe(ctx context.Context, host, port string) (*conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, tooLong(patience))
	defer cancel()
	in, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	theirs, out, err := os.Pipe()
	if err != nil {
		_, _ = in.Close(), ours.Close()
		return nil, err
	}
	args := []string{"exec", "--privileged", "--interactive", n.name, "bash", "-c", pipeScript, host, port}
	cmd := exec.Command("docker", args...)
	said := new(firstWords)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, said
	cmd.WaitDelay = 2 * time.Second
	err = cmd.Start()
	_, _ = in.Close(), out.Close() // the child has its own
	if err != nil {
		_, _ = ours.Close(), theirs.Close()
		return nil, command{args: args, node: n.name}.failure(err, "")
	}
	c := &conn{read: theirs, write: ours, address: net.JoinHostPort(host, port), cmd: cmd, ended: make(chan struct{})}
	go func() {
		c.end = cmd.Wait()
		close(c.ended)
	}()
	stop := context.AfterFunc(ctx, func() { _ = theirs.SetReadDeadline(time.Now()) })
	greeting, err := greet(theirs)
	if err == nil && greeting == "connected\n" && stop() {
		return c, nil
	}
	_ = c.Close()
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case c.end != nil:
		err = c.end
	case err == nil:
		err = fmt.Errorf("unexpected greeting %q", greeting)
	}
	return nil, command{args: args, node: n.name}.failure(err, said.String())
}

// greet reads one line and no byte more.
func greet(f *os.File) (string, error) {
	var line strings.Builder
	b := make([]byte, 1)
	for line.Len() < 64 {
		if _, err := f.Read(b); err != nil {
			return line.String(), err
		}
		line.Write(b)
		if b[0] == '\n' {
			break
		}
	}
	return line.String(), nil
}

// conn is a connection through the standard streams of a process. Pipes have deadlines, so it has them.
type conn struct {
	read, write *os.File
	address     string
	cmd         *exec.Cmd
	once        sync.Once
	ended       chan struct{}
	end         error // once ended is closed
}

func (c *conn) Read(p []byte) (int, error)         { return c.read.Read(p) }
func (c *conn) Write(p []byte) (int, error)        { return c.write.Write(p) }
func (c *conn) LocalAddr() net.Addr                { return endpoint("docker exec") }
func (c *conn) RemoteAddr() net.Addr               { return endpoint(c.address) }
func (c *conn) SetReadDeadline(t time.Time) error  { return c.read.SetReadDeadline(t) }
func (c *conn) SetWriteDeadline(t time.Time) error { return c.write.SetWriteDeadline(t) }
func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// Close ends the process in the node through the end of its input, and the one here at once.
func (c *conn) Close() error {
	c.once.Do(func() {
		_ = c.write.Close()
		_ = c.read.Close()
		select {
		case <-c.ended:
		case <-time.After(time.Second):
			_ = c.cmd.Process.Kill()
			<-c.ended // soon, by its WaitDelay: nobody may look at its end before
		}
	})
	return nil
}

type endpoint string

func (endpoint) Network() string  { return "tcp" }
func (e endpoint) String() string { return string(e) }

// firstWords keeps the beginning of what a process says: the first complaint is the cause.
type firstWords struct {
	mu sync.Mutex
	b  []byte
}

func (t *firstWords) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p[:min(len(p), max(0, 4096-len(t.b)))]...)
	return len(p), nil
}

func (t *firstWords) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}
