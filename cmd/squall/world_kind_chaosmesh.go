//go:build kind

package main

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/kind"
	"github.com/squall-chaos/squall/clusters/kind/testbed"
	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/faults/chaosmesh"
)

// keptByKind are the faults that Squall strikes itself in kind although Chaos Mesh has something for them: there it would be another fault.
var keptByKind = map[faults.Kind]string{
	faults.ProcessCrash:  "replicas in kind are Pods of their own that nobody starts again, which pod-failure relies on",
	faults.StoreCrash:    "Postgres in kind is a Pod of its own that nobody starts again, which pod-failure relies on",
	faults.SpotReclaim:   "its machine would stay",
	faults.NodePartition: "its kubelet would not be cut off",
	faults.RunTime:       "workers in kind only wait, so that they cannot be starved",
}

// mesh has the faults of runs struck by Chaos Mesh, where it can.
type mesh struct {
	client  chaosmesh.Client
	noNetem string
}

// openMesh makes sure that there is a Chaos Mesh which takes what Squall sends.
func openMesh(ctx context.Context, bed *testbed.Cluster) (*mesh, error) {
	client, err := dynamic.NewForConfig(bed.Config())
	if err != nil {
		return nil, err
	}
	m := &mesh{client: chaosmesh.NewClient(client)}
	if err := m.client.Check(ctx, metav1.NamespaceDefault); err != nil {
		return nil, usage("--injector %s: cluster %s: %w. Into a cluster that Squall made, a checkout of Squall brings it: go run ./faults/chaosmesh/installation/install %[2]s",
			meshInjector, bed.Name(), err)
	}
	m.noNetem = missingNetem(ctx, bed.ControlPlane())
	return m, nil
}

// missingNetem tries the queue discipline in a network of its own, and says what the kernel answers if it has none.
func missingNetem(ctx context.Context, n *testbed.Node) string {
	_, err := n.Exec(ctx, "unshare", "--net", "tc", "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1ms")
	if err == nil {
		return ""
	}
	return "the kernel has no sch_netem, with which Chaos Mesh delays and loses packets: " + lastLine(err.Error())
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// wrap is the run with Chaos Mesh's faults; m may be nil.
func (m *mesh) wrap(w *kind.World, c clusters.Config) clusters.Cluster {
	if m == nil {
		return w
	}
	strikes := newMeshStrikes(m.client, w.World, c)
	strikes.Except, strikes.NoNetem = keptByKind, m.noNetem
	return &meshWorld{World: w, meshStriker: meshStriker{strikes}}
}

// meshWorld is a run in kind whose faults are struck by Chaos Mesh, where it can.
type meshWorld struct {
	*kind.World
	meshStriker
}

var _ faults.Striker = (*meshWorld)(nil)

// Close removes the objects before the namespace that they are in.
func (w *meshWorld) Close() error { return w.end(w.World.Close) }
