package testbed

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	kind "sigs.k8s.io/kind/pkg/cluster"
	"sigs.k8s.io/kind/pkg/cluster/nodes"
	"sigs.k8s.io/kind/pkg/cluster/nodeutils"
)

// Load puts an image archive into every node that does not hold the reference yet. A node that does not run is left out: it
// gets the image when Load is called again.
func (c *Cluster) Load(ctx context.Context, archive, ref string) error {
	known, err := kind.NewProvider(kind.ProviderWithDocker()).ListNodes(Prefix + c.Name())
	if err != nil {
		return fmt.Errorf("cluster %s: %w", c.Name(), err)
	}
	var todo []func() error
	for _, n := range c.nodes {
		i := slices.IndexFunc(known, func(k nodes.Node) bool { return k.String() == n.name })
		if i < 0 {
			return fmt.Errorf("node %s: its container is gone; make the cluster anew: `squall cluster down %s`", n.name, c.Name())
		}
		todo = append(todo, func() error { return n.load(ctx, known[i], archive, ref) })
	}
	return AtOnce(todo)
}

func (n *Node) load(ctx context.Context, k nodes.Node, archive, ref string) error {
	if state, err := n.state(ctx); err != nil {
		return err
	} else if state != "running" {
		return nil
	}
	if has, err := n.holds(ctx, ref); err != nil || has {
		return err
	}
	file, err := os.Open(archive)
	if err != nil {
		return fmt.Errorf("image %s: %w", ref, err)
	}
	defer func() { _ = file.Close() }()
	if err := nodeutils.LoadImageArchive(k, reader{ctx, file}); err != nil {
		return fmt.Errorf("node %s: image %s from %s: %w", n.name, ref, archive, err)
	}
	has, err := n.holds(ctx, ref)
	if err == nil && !has {
		err = fmt.Errorf("node %s: %s holds no image of the name %s", n.name, archive, ref)
	}
	return err
}

// holds asks containerd for the exact name.
func (n *Node) holds(ctx context.Context, ref string) (bool, error) {
	out, err := n.Exec(ctx, "ctr", "--namespace=k8s.io", "images", "ls", "--quiet")
	return err == nil && slices.Contains(lines(out), ref), err
}

// reader ends with its context, and with it what kind reads from it without one.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.r.Read(p)
}
