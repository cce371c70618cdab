package shared

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	//lint:ignore SA1019 it is what the dialer of client-go returns
	"k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
)

// forward connects to a port of a pod through the API server and the pod's kubelet, as kubectl port-forward does. Each connection is one
// of its own to the API server, so that none waits for another.
func (s *Site) forward(ctx context.Context, pod, port string) (net.Conn, error) {
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return nil, fmt.Errorf("forward to pod %s: %q is no port", pod, port)
	}
	transport, upgrader, err := spdy.RoundTripperFor(s.config)
	if err != nil {
		return nil, err
	}
	url := s.api.CoreV1().RESTClient().Post().Resource("pods").Namespace(s.Namespace).Name(pod).SubResource("portforward").URL()
	dialed := make(chan error, 1)
	var conn httpstream.Connection
	go func() { // it knows no context
		var err error
		conn, _, err = spdy.NewDialer(upgrader, &http.Client{Transport: transport}, http.MethodPost, url).Dial(portforward.PortForwardProtocolV1Name)
		dialed <- err
	}()
	select {
	case err := <-dialed:
		if err != nil {
			return nil, fmt.Errorf("forward to pod %s: %w", pod, err)
		}
	case <-ctx.Done():
		go func() {
			if <-dialed == nil {
				_ = conn.Close()
			}
		}()
		return nil, fmt.Errorf("forward to pod %s: %w", pod, ctx.Err())
	}
	return open(conn, pod, port)
}

// open makes the two streams of a forwarded connection: one for the data, one by which the kubelet says why there is none.
func open(conn httpstream.Connection, pod, port string) (net.Conn, error) {
	headers := http.Header{}
	headers.Set(corev1.StreamType, corev1.StreamTypeError)
	headers.Set(corev1.PortHeader, port)
	headers.Set(corev1.PortForwardRequestIDHeader, "0")
	problems, err := conn.CreateStream(headers)
	if err == nil {
		_ = problems.Close() // for writing: we have none
		headers.Set(corev1.StreamType, corev1.StreamTypeData)
		var data httpstream.Stream
		if data, err = conn.CreateStream(headers); err == nil {
			return bridge(conn, data, problems, pod), nil
		}
	}
	_ = conn.Close()
	return nil, fmt.Errorf("forward to pod %s: %w", pod, err)
}

// bridge makes a net.Conn of a stream, which has no deadlines: those are of the pipe between the two.
func bridge(conn io.Closer, data, problems io.ReadWriter, pod string) net.Conn {
	near, far := net.Pipe()
	end := func() {
		_ = far.Close()
		_ = conn.Close()
	}
	go func() {
		_, _ = io.Copy(data, far)
		end()
	}()
	go func() {
		_, _ = io.Copy(far, data)
		end()
	}()
	refused := &forwarded{Conn: near, pod: pod}
	go func() {
		text, _ := io.ReadAll(io.LimitReader(problems, 4096))
		if len(text) > 0 {
			refused.tell(string(text))
			end()
		}
	}()
	return refused
}

// forwarded is a connection that knows why it ended.
type forwarded struct {
	net.Conn
	pod string
	why reason
}

func (f *forwarded) tell(why string) { f.why.set(why) }

// Read says why there is nothing to read any more, where the kubelet did.
func (f *forwarded) Read(p []byte) (int, error) {
	n, err := f.Conn.Read(p)
	if why := f.why.get(); err != nil && why != "" {
		return n, errors.Join(err, fmt.Errorf("forward to pod %s: %s", f.pod, why))
	}
	return n, err
}
