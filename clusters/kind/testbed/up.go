package testbed

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	kind "sigs.k8s.io/kind/pkg/cluster"
	kindexec "sigs.k8s.io/kind/pkg/exec"
)

// removal may take this long after the context of a creation has ended: what was created has to go.
const removal = 3 * time.Minute

// Up creates a cluster and waits until its nodes are ready. What it created is removed again when it fails or ctx ends.
func Up(ctx context.Context, o Options) (*Cluster, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	unlock, err := lock(o.Name)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := vacant(ctx, o.Name); err != nil {
		dropEmpty(o.Name)
		return nil, err
	}
	c, err := create(ctx, o)
	if err == nil {
		return c, nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	fmt.Fprintf(o.Progress, "cluster %s: removing what was created\n", o.Name)
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), removal)
	defer cancel()
	if failed := remove(late, o.Name); failed != nil {
		failed = fmt.Errorf("what was created is left behind: %w; remove it: `squall cluster down %s`", failed, o.Name)
		return nil, errors.Join(fmt.Errorf("create cluster %s: %w", o.Name, err), failed)
	}
	return nil, fmt.Errorf("create cluster %s: %w", o.Name, err)
}

// vacant refuses a name that is taken. Leftovers of ours without a container are no obstacle: they are used again.
func vacant(ctx context.Context, name string) error {
	r, err := one(ctx, name)
	if err != nil || r == nil {
		return err
	}
	r.locked = false // by ourselves
	info := r.info()
	switch {
	case info.State == Foreign:
		return fmt.Errorf("cluster %s: %w: %s; %s", name, ErrForeign, info.Reason, info.Remedy)
	case len(r.containers) > 0:
		if info.State != Running {
			return fmt.Errorf("cluster %s: %w, %s: %s; %s", name, ErrExists, info.State, info.Reason, info.Remedy)
		}
		return fmt.Errorf("cluster %s: %w; use it, or remove it: `squall cluster down %s`", name, ErrExists, name)
	}
	return nil
}

// dropEmpty takes back the directory that the lock made.
func dropEmpty(name string) {
	if dir, err := stateDir(name); err == nil {
		_ = os.Remove(dir) // fails if it holds something, which is meant
	}
}

func create(ctx context.Context, o Options) (*Cluster, error) {
	config := configuration(o)
	r := &record{
		Name: o.Name, ID: rand.Text(), Image: o.Image, Created: time.Now().UTC().Truncate(time.Second), PID: os.Getpid(),
		Nodes: nodeRecords(config),
	}
	if err := r.save(); err != nil {
		return nil, err
	}
	if err := network(ctx, o.Name); err != nil {
		return nil, err
	}
	if err := provision(ctx, o, config); err != nil {
		return nil, err
	}
	c, err := connect(r)
	if err != nil {
		return nil, err
	}
	if err := c.settle(ctx, o.Progress); err != nil {
		return nil, err
	}
	r.Ready = true
	return c, r.save()
}

// network makes the network before kind does, so that it bears our marks and goes away with the cluster: kind's own is
// shared by all clusters and outlives them.
func network(ctx context.Context, name string) error {
	dir, err := stateDir(name)
	if err != nil {
		return err
	}
	out, err := docker(ctx, "network", "ls", "--filter", "name=^"+Prefix+name+"$", "--format", "{{.ID}}")
	if err != nil {
		return err
	}
	if len(lines(out)) > 0 {
		return nil // ours, or vacant would have refused
	}
	_, err = docker(ctx, "network", "create", "--driver", "bridge",
		"--label", ownLabel+"="+name, "--label", stateLabel+"="+dir, Prefix+name)
	return err
}

// provision has kind create the cluster. kind takes no context: when ours ends, the containers are pulled from under it,
// which makes it fail at its next step.
func provision(ctx context.Context, o Options, config *v1alpha4.Cluster) error {
	dir, err := stateDir(o.Name)
	if err != nil {
		return err
	}
	provider := kind.NewProvider(kind.ProviderWithDocker(), kind.ProviderWithLogger(newLogger(o.Progress)))
	done := make(chan error, 1)
	go func() {
		done <- withNetwork(Prefix+o.Name, func() error {
			return provider.Create(config.Name,
				kind.CreateWithV1Alpha4Config(config),
				kind.CreateWithRetain(true), // for its logs; removed by us
				kind.CreateWithKubeconfigPath(kubeconfigPath(dir)),
				kind.CreateWithDisplayUsage(false), kind.CreateWithDisplaySalutation(false))
		})
	}()
	select {
	case err = <-done:
	case <-ctx.Done():
		return abandon(ctx, o.Name, done)
	}
	if err != nil {
		return explain(ctx, o.Name, err)
	}
	return os.Chmod(kubeconfigPath(dir), 0o600)
}

// abandon removes containers until kind has given up: it may be about to create more.
func abandon(ctx context.Context, name string, done <-chan error) error {
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), removal)
	defer cancel()
	for {
		_, _ = removeContainers(late, name) // Up removes what is left, and reports it
		select {
		case <-done:
			return context.Cause(ctx)
		case <-late.Done():
			return fmt.Errorf("kind does not give up: %w", context.Cause(ctx))
		case <-time.After(2 * time.Second):
		}
	}
}

// explain adds to an error of kind what its command and the nodes said, which kind keeps to its debug log.
func explain(ctx context.Context, name string, err error) error {
	said := err.Error()
	if run := kindexec.RunErrorForError(err); run != nil {
		said = tail(withoutStack(string(run.Output)), 8, "\n  ")
	}
	if r, lookErr := one(ctx, name); lookErr == nil && r != nil {
		for _, c := range r.containers {
			if c.state == "running" {
				continue
			}
			log, _ := exec.CommandContext(ctx, "docker", "logs", "--tail", "8", c.name).CombinedOutput()
			said += fmt.Sprintf("\n  node %s is %s: %s", c.name, c.state, tail(string(log), 8, "\n  "))
		}
	}
	if advice := remedy(err, said, name); advice != "" {
		said += "\n  " + advice
	}
	return fmt.Errorf("%s\n  %s", firstLine(err.Error()), said)
}

// withoutStack drops the frames of the stack trace with which kubeadm ends: a function's name, then the place in its source.
func withoutStack(text string) string {
	var kept strings.Builder
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		if !strings.Contains(trimmed, " ") || frame.MatchString(trimmed) {
			continue
		}
		kept.WriteString(line)
	}
	return kept.String()
}

var frame = regexp.MustCompile(`\.(go|s):\d+$`)

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
