//go:build kind

package main

import (
	"context"
	"slices"
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/shared"
	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/faults/chaosmesh"
)

// sharedMesh has Chaos Mesh strike, in a cluster that has one, what nothing there but it can strike as a scenario means it.
type sharedMesh struct{ client chaosmesh.Client }

// findMesh tells whether the cluster has a Chaos Mesh that takes our objects in the namespace, or why not. It changes nothing.
func findMesh(ctx context.Context, site *shared.Site) (*sharedMesh, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	m := &sharedMesh{chaosmesh.NewClient(site.Objects())}
	return m, m.client.Check(ctx, site.Namespace)
}

// adaptShared lets the world do what the cluster's Chaos Mesh can.
func adaptShared(w worldEntry, o worldOptions) worldEntry {
	site, err := shared.Open(o.context, o.namespace)
	if err != nil {
		return w // it is told when the world is begun
	}
	if _, err := findMesh(context.Background(), site); err != nil {
		return w
	}
	w.ability.Cannot = slices.DeleteFunc(slices.Clone(w.ability.Cannot), func(r faults.Refusal) bool { return slices.Contains(meshKinds, r.Kind) })
	return w
}

// wrap is the run with Chaos Mesh's faults; m may be nil.
func (m *sharedMesh) wrap(w *shared.World, c clusters.Config) clusters.Cluster {
	if m == nil {
		return w
	}
	strikes := newMeshStrikes(m.client, w.World, c)
	strikes.only = meshKinds
	return &sharedMeshWorld{World: w, meshStriker: meshStriker{strikes}}
}

// sharedMeshWorld is a run some of whose faults Chaos Mesh strikes.
type sharedMeshWorld struct {
	*shared.World
	meshStriker
}

var _ faults.Striker = (*sharedMeshWorld)(nil)

// Close removes the objects before the pods that they are about.
func (w *sharedMeshWorld) Close() error { return w.end(w.World.Close) }

// checkMesh is the doctor's word on it.
func checkMesh(ctx context.Context, site *shared.Site) finding {
	if _, err := findMesh(ctx, site); err != nil {
		return finding{what: "Chaos Mesh", ok: true, detail: "none that Squall can use, which only container-kill and clock-skew need: " + inOneLine(err)}
	}
	return finding{what: "Chaos Mesh", ok: true, detail: "it strikes container-kill and clock-skew"}
}
