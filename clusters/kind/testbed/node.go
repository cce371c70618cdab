package testbed

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/squall-chaos/squall/clusters"
)

// Node is a node of the cluster, which is a container of the Docker engine.
type Node struct {
	cluster  *Cluster
	name     string
	capacity clusters.CapacityType

	mu   sync.Mutex
	pods string // what podCIDR has found
}

// Name is the name of the Kubernetes node and of its container.
func (n *Node) Name() string { return n.name }

// CapacityType is "" for the control plane.
func (n *Node) CapacityType() clusters.CapacityType { return n.capacity }

// returning bounds the way back of a node: systemd, containerd, kubelet and the network.
const returning = 3 * time.Minute

// Kill ends everything on the node at once, as a loss of power would. Docker's restart policy does not bring it back: that
// is for containers that end by themselves.
func (n *Node) Kill(ctx context.Context) error {
	err := n.docker(ctx, "kill", n.name)
	if err == nil {
		return nil
	}
	if state, inspect := n.state(ctx); inspect == nil && (state == "exited" || state == "dead") {
		return nil // by itself, or killed before
	}
	return err
}

// Pause freezes the node: its connections stay open, and nothing answers.
func (n *Node) Pause(ctx context.Context) error {
	return n.unless(ctx, "paused", "pause", n.name)
}

// Unpause lets a frozen node go on.
func (n *Node) Unpause(ctx context.Context) error {
	return n.unless(ctx, "running", "unpause", n.name)
}

// unless runs a docker command that fails on a node which is in the wanted state already.
func (n *Node) unless(ctx context.Context, wanted string, args ...string) error {
	err := n.docker(ctx, args...)
	if err == nil {
		return nil
	}
	if state, inspect := n.state(ctx); inspect == nil && state == wanted {
		return nil
	}
	return err
}

// Start brings a killed node back and waits until it takes part again: its kubelet reports, and its network reaches
// services and the pods of the others. Cuts do not outlive the death of a node.
func (n *Node) Start(ctx context.Context) error {
	from := time.Now()
	if err := n.docker(ctx, "start", n.name); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, returning, tooLong(returning))
	defer cancel()
	if err := n.ready(ctx, from); err != nil {
		return err
	}
	if err := n.cluster.restoreRoutes(ctx, n); err != nil {
		return err
	}
	return n.reachesServices(ctx)
}

// ready waits until the API server believes the node ready by a sign of life later than the given time.
func (n *Node) ready(ctx context.Context, after time.Time) error {
	return until(ctx, "node "+n.name, func(ctx context.Context) (string, bool) {
		node, err := n.cluster.core.Nodes().Get(ctx, n.name, metav1.GetOptions{})
		if err != nil {
			return err.Error(), false
		}
		for _, c := range node.Status.Conditions {
			if c.Type != corev1.NodeReady {
				continue
			}
			if c.Status != corev1.ConditionTrue {
				return fmt.Sprintf("Ready is %s: %s", c.Status, c.Message), false
			}
			// A node that comes back within the grace was never seen to be away. Its stamps have whole seconds.
			if !after.IsZero() && c.LastHeartbeatTime.Time.Before(after.Truncate(time.Second)) {
				return fmt.Sprintf("no sign of life since %s", c.LastHeartbeatTime.Format(time.TimeOnly)), false
			}
			return "", true
		}
		return "no condition Ready yet", false
	})
}

// Exec runs a program in the node.
func (n *Node) Exec(ctx context.Context, args ...string) ([]byte, error) {
	return command{args: n.exec(args...), node: n.name}.run(ctx)
}

// Script runs a script of bash in the node, which reads input; its arguments are $0, $1 and so on.
func (n *Node) Script(ctx context.Context, text, input string, args ...string) ([]byte, error) {
	all := append([]string{"exec", "--privileged", "--interactive", n.name, "bash", "-c", text}, args...)
	return command{args: all, node: n.name, stdin: strings.NewReader(input)}.run(ctx)
}

// script runs a script in the node; its arguments are $0, $1 and so on.
func (n *Node) script(ctx context.Context, text string, args ...string) ([]byte, error) {
	return n.Exec(ctx, append([]string{"bash", "-c", text}, args...)...)
}

// exec is the way in which kind itself runs programs in nodes.
func (n *Node) exec(args ...string) []string {
	return append([]string{"exec", "--privileged", n.name}, args...)
}

func (n *Node) docker(ctx context.Context, args ...string) error {
	_, err := command{args: args, node: n.name}.run(ctx)
	return err
}

// state is the state of the container, in Docker's words.
func (n *Node) state(ctx context.Context) (string, error) {
	out, err := command{args: []string{"inspect", "--type", "container", "--format", "{{.State.Status}}", n.name}, node: n.name}.run(ctx)
	return strings.TrimSpace(string(out)), err
}
