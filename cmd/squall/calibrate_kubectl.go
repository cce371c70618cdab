package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	getKubectl  = "https://kubernetes.io/docs/tasks/tools/"
	dumpInstead = "or dump where there is one: kubectl get events,pods,nodes -A -o json > dump.json"
)

// withoutKubectl connects in builds with a client of Kubernetes of their own; nil in others.
var withoutKubectl func(liveOptions) (*connection, error)

// throughKubectl has kubectl speak to the API server, so that whatever way of logging in a kubeconfig names works as it does for
// its user. Its proxy listens on a socket in a directory that nobody else can enter, and lets no writing request through.
func throughKubectl(ctx context.Context, o liveOptions) (*connection, error) {
	program, err := exec.LookPath("kubectl")
	if err != nil && withoutKubectl != nil {
		return withoutKubectl(o)
	}
	if err != nil {
		return nil, usage("--live reads through kubectl, and there is none on the PATH: %s; %s", getKubectl, dumpInstead)
	}
	var where []string
	if o.kubeconfig != "" {
		if _, err := os.Stat(o.kubeconfig); err != nil { // kubectl would speak of an empty one
			return nil, usage("--kubeconfig %s: %w", o.kubeconfig, cause(err))
		}
		where = append(where, "--kubeconfig", o.kubeconfig)
	}
	c := &connection{context: o.context, base: "http://localhost"}
	if c.context == "" {
		name, err := exec.CommandContext(ctx, program, append(where, "config", "current-context")...).Output()
		c.context = nameOr(strings.TrimSpace(string(name)), "of this pod")
		if bad := new(exec.ExitError); errors.As(err, &bad) && o.kubeconfig != "" {
			return nil, usage("--live: kubectl says: %s", firstWords(string(bad.Stderr)))
		}
	} else {
		where = append(where, "--context", o.context)
	}
	dir, err := os.MkdirTemp("", "squall-")
	if err != nil {
		return nil, err
	}
	socket := filepath.Join(dir, "kubectl")
	stop, err := startProxy(ctx, exec.CommandContext(ctx, program, append(where, "proxy", "--unix-socket="+socket, "--reject-methods=^(POST|PUT|PATCH|DELETE)$")...))
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	c.client = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	c.close = func() {
		c.client.CloseIdleConnections()
		stop()
		_ = os.RemoveAll(dir)
	}
	return c, nil
}

// startProxy starts it and waits for its word that it serves.
func startProxy(ctx context.Context, proxy *exec.Cmd) (stop func(), err error) {
	var complaint bytes.Buffer
	proxy.Stderr = &complaint
	out, err := proxy.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := proxy.Start(); err != nil {
		return nil, usage("--live: kubectl: %w", err)
	}
	stop = func() {
		_ = proxy.Process.Kill()
		_ = proxy.Wait()
	}
	said := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(out).ReadString('\n')
		said <- line
		_, _ = io.Copy(io.Discard, out)
	}()
	select {
	case line := <-said:
		if strings.HasPrefix(line, "Starting to serve") {
			return stop, nil
		}
		err := proxy.Wait()
		return nil, usage("--live: kubectl proxy: %s", nameOr(firstWords(complaint.String()), nameOr(firstWords(line), errorText(err))))
	case <-time.After(time.Minute):
		stop()
		return nil, usage("--live: kubectl proxy has not begun to serve within a minute")
	case <-ctx.Done():
		stop()
		return nil, ended(exitInterrupted)
	}
}

func firstWords(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

func errorText(err error) string {
	if err == nil {
		return "it ended and said nothing"
	}
	return err.Error()
}
