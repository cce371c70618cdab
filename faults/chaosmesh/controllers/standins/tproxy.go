package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	listenPort = "58080"
	mark       = 0x5afe          // of the proxy's own connections
	chain      = "SQUALL_TPROXY" // of iptables
)

// proxy is in a Pod's network: new connections to the ports are led to it.
type proxy struct {
	mu     sync.RWMutex
	active config
}

// tproxy reads configurations as HTTP requests (PUT /, the body is JSON) from its input, and answers each on its output, until the input ends.
func tproxy() error {
	p := &proxy{}
	if err := p.listen(); err != nil {
		return err
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		<-stop
		unlead()
		os.Exit(0)
	}()
	defer unlead()
	for in := bufio.NewReader(os.Stdin); ; {
		req, err := http.ReadRequest(in)
		if err != nil {
			return nil // whoever started it is gone
		}
		err = p.configure(req)
		answer(err)
		if err != nil { // the daemon forgets an instance that answered so, and refuses a second while this one lives
			return err
		}
	}
}

func (p *proxy) configure(req *http.Request) error {
	text, err := io.ReadAll(req.Body)
	if err != nil {
		return err
	}
	c, err := read(text)
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.active = c
	p.mu.Unlock()
	return lead(c.ProxyPorts)
}

func answer(err error) {
	code, text := http.StatusOK, ""
	if err != nil {
		code, text = http.StatusBadRequest, err.Error()
	}
	resp := &http.Response{StatusCode: code, ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(len(text)), Body: io.NopCloser(strings.NewReader(text))}
	_ = resp.Write(os.Stdout)
}

// lead sends what comes in for the ports to the proxy; no ports: nothing.
func lead(ports []uint32) error {
	unlead()
	if len(ports) == 0 {
		return nil
	}
	rules := [][]string{{"-N", chain}, {"-A", chain, "-m", "mark", "--mark", strconv.Itoa(mark), "-j", "RETURN"}}
	for _, port := range ports {
		rules = append(rules, []string{"-A", chain, "-p", "tcp", "--dport", strconv.Itoa(int(port)), "-j", "REDIRECT", "--to-ports", listenPort})
	}
	for _, rule := range append(rules, []string{"-A", "PREROUTING", "-j", chain}) {
		if err := iptables(rule...); err != nil {
			return err
		}
	}
	return nil
}

// unlead takes the rules away; that there are none is no problem.
func unlead() {
	for iptables("-D", "PREROUTING", "-j", chain) == nil {
	}
	_ = iptables("-F", chain)
	_ = iptables("-X", chain)
}

func iptables(args ...string) error {
	out, err := exec.Command("iptables", append([]string{"-w", "-t", "nat"}, args...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("iptables %v: %w: %s", args, err, out)
	}
	return nil
}

type meant struct{}

// listen serves connections, each for the address that it was meant for.
func (p *proxy) listen() error {
	listener, err := net.Listen("tcp4", ":"+listenPort)
	if err != nil {
		return err
	}
	dial := net.Dialer{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_MARK, mark) })
	}}
	onward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "http", r.In.Context().Value(meant{}).(string)
		},
		Transport: &http.Transport{DialContext: dial.DialContext, DisableKeepAlives: true},
		ModifyResponse: func(resp *http.Response) error {
			if p.aborts(resp.Request, resp) {
				return errAbort
			}
			return nil
		},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) {
			panic(http.ErrAbortHandler) // the connection ends without an answer, as if the proxy were not there
		},
	}
	server := &http.Server{
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, meant{}, original(c))
		},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if p.aborts(r, nil) {
				panic(http.ErrAbortHandler)
			}
			onward.ServeHTTP(w, r)
		}),
	}
	go func() { _ = server.Serve(listener) }()
	return nil
}

var errAbort = errors.New("aborted")

func (p *proxy) aborts(req *http.Request, resp *http.Response) bool {
	_, port, _ := net.SplitHostPort(req.Context().Value(meant{}).(string))
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.active.aborts(req, port, resp)
}

// original is the address that a connection was meant for before it was led here. The kernel's answer is a sockaddr_in, which fits into
// the structure of another option of the same size.
func original(c net.Conn) string {
	const soOriginalDst = 80
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		return ""
	}
	var address string
	_ = raw.Control(func(fd uintptr) {
		if a, err := unix.GetsockoptIPv6Mreq(int(fd), unix.IPPROTO_IP, soOriginalDst); err == nil {
			m := a.Multiaddr
			address = net.JoinHostPort(net.IP(m[4:8]).String(), strconv.Itoa(int(m[2])<<8|int(m[3])))
		}
	})
	return address
}
