package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/rest"
)

// Options say what a control plane consists of.
type Options struct {
	// Binary is the path that Build returned.
	Binary string
	// ControllerManager and Scheduler are started as well when set.
	ControllerManager, Scheduler bool
	// Flags are added to a program's own; a later flag wins.
	Flags map[Program][]string
	// Durable has etcd wait for the disk, so that it survives a crash of the machine. A crash of etcd alone it survives anyway.
	Durable bool
}

// ControlPlane is a running control plane with nothing in it but what Kubernetes itself creates.
type ControlPlane struct {
	dir         string
	address     string
	credentials credentials
	processes   []*Process // complete when Start returns

	mu      sync.Mutex
	unwatch func() bool // the context
	keep    bool        // the logs
	once    sync.Once
	err     error // of closing
}

// startTimeout is long for machines that are busy; two seconds are usual.
const startTimeout = 60 * time.Second

// Start runs a control plane and returns when its API server is ready. It lives until Close, or until ctx ends.
func Start(ctx context.Context, o Options) (*ControlPlane, error) {
	dir, err := os.MkdirTemp("", "squall-local-")
	if err != nil {
		return nil, fmt.Errorf("start a control plane: %w", err)
	}
	c := &ControlPlane{dir: dir}
	if err := c.start(ctx, o); err != nil {
		if ctx.Err() == nil {
			c.KeepLogs()
		}
		return nil, errors.Join(fmt.Errorf("start a control plane: %w", err), c.Close())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unwatch = context.AfterFunc(ctx, func() { _ = c.Close() })
	return c, nil
}

func (c *ControlPlane) start(ctx context.Context, o Options) error {
	for _, name := range []string{"logs", "etcd"} {
		if err := os.Mkdir(filepath.Join(c.dir, name), 0o700); err != nil {
			return err
		}
	}
	var err error
	if c.address, err = freeAddress(); err != nil {
		return err
	}
	if c.credentials, err = newCredentials(c.dir); err != nil {
		return err
	}
	if err := c.credentials.kubeconfig(c.address); err != nil {
		return err
	}
	for _, program := range o.programs() {
		if err := c.run(ctx, o, program); err != nil {
			return err
		}
	}
	return nil
}

func (o Options) programs() []Program {
	programs := []Program{Etcd, APIServer}
	if o.ControllerManager {
		programs = append(programs, ControllerManager)
	}
	if o.Scheduler {
		programs = append(programs, Scheduler)
	}
	return programs
}

// run starts one program. The API server waits for etcd by itself; what comes after it wants to find it ready.
func (c *ControlPlane) run(ctx context.Context, o Options, program Program) error {
	p := &Process{
		program: program, binary: o.Binary,
		args: append(c.flags(program, o.Durable), o.Flags[program]...),
		dir:  c.dir,
		log:  filepath.Join(c.dir, "logs", string(program)+".log"),
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	c.processes = append(c.processes, p)
	if err := p.Start(); err != nil {
		return err
	}
	if program == APIServer {
		return c.Ready(ctx)
	}
	return nil
}

// Ready waits until the API server says that it is ready to serve. A program that has ended meanwhile, and was not
// started again, is an error.
func (c *ControlPlane) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	client, err := rest.HTTPClientFor(c.Config())
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	for {
		if ready(ctx, client, "https://"+c.address+"/readyz") {
			return nil
		}
		for _, p := range c.processes {
			if !p.Alive() {
				return p.failure()
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the API server is not ready after %s; see %s: %w", startTimeout, filepath.Join(c.dir, "logs"), ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func ready(ctx context.Context, client *http.Client, url string) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	answer, err := client.Do(request)
	if err != nil {
		return false
	}
	defer func() { _ = answer.Body.Close() }()
	return answer.StatusCode == http.StatusOK
}

// Config is the administrator's access to the API server.
func (c *ControlPlane) Config() *rest.Config { return c.credentials.config(c.address) }

// Kubeconfig is the path of a file with the administrator's access. It is gone after Close.
func (c *ControlPlane) Kubeconfig() string { return c.credentials.file("kubeconfig") }

// Process returns a program of the control plane, nil if it has none such.
func (c *ControlPlane) Process(program Program) *Process {
	for _, p := range c.processes {
		if p.program == program {
			return p
		}
	}
	return nil
}

// KeepLogs has Close leave the logs behind, and nothing else. It returns their directory.
func (c *ControlPlane) KeepLogs() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep = true
	return filepath.Join(c.dir, "logs")
}

// Close kills every program and removes all that was made, unless KeepLogs spared the logs. It may be called again, and waits
// for a Close under way.
func (c *ControlPlane) Close() error {
	c.once.Do(func() {
		c.mu.Lock()
		unwatch := c.unwatch
		c.mu.Unlock()
		if unwatch != nil {
			unwatch()
		}
		for _, p := range slices.Backward(c.processes) {
			c.err = errors.Join(c.err, p.retire())
		}
		c.err = errors.Join(c.err, c.remove())
	})
	return c.err
}

func (c *ControlPlane) remove() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.keep {
		return os.RemoveAll(c.dir)
	}
	entries, err := os.ReadDir(c.dir)
	for _, e := range entries {
		if e.Name() != "logs" {
			err = errors.Join(err, os.RemoveAll(filepath.Join(c.dir, e.Name())))
		}
	}
	return err
}

// freeAddress finds a port that is free now; nobody else is expected to take it before the API server does.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String(), nil
}
