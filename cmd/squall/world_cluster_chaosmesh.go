//go:build kind

package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/shared"
	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/faults/chaosmesh"
)

// sharedMesh has Chaos Mesh strike, in a cluster that has one, what nothing there but it can strike as a scenario means it.
type sharedMesh struct{ client chaosmesh.Client }

// meshRights are what a run does with objects of Chaos Mesh.
var meshRights = []shared.Right{
	{Group: "chaos-mesh.org", Resource: "podchaos", Verbs: meshVerbs, Why: "the fault container-kill"},
	{Group: "chaos-mesh.org", Resource: "timechaos", Verbs: meshVerbs, Why: "the fault clock-skew"},
}

var meshVerbs = []string{"create", "get", "list", "delete", "patch"}

// findMesh tells whether the cluster has a Chaos Mesh that takes our objects in the namespace, or why not. It changes nothing.
func findMesh(ctx context.Context, site *shared.Site) (*sharedMesh, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	m := &sharedMesh{chaosmesh.NewClient(site.Objects())}
	if err := m.client.Check(ctx, site.Namespace); err != nil {
		return nil, err
	}
	missing, err := site.Missing(ctx, meshRights)
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("it may not be used: %s", missing[0])
	}
	return m, err
}

// adaptShared lets the world do what the cluster's Chaos Mesh can; if that cannot be used, a refusal says why.
func adaptShared(w worldEntry, o worldOptions) worldEntry {
	site, err := shared.Open(o.context, o.namespace)
	if err == nil {
		_, err = findMesh(context.Background(), site)
	}
	var cannot faults.Refusals
	for _, r := range w.ability.Cannot {
		meshed := slices.Contains(meshKinds, r.Kind)
		if meshed && err == nil {
			continue
		}
		if meshed {
			r.Why += " (looked for it: " + inOneLine(err) + ")"
		}
		cannot = append(cannot, r)
	}
	w.ability.Cannot = cannot
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
