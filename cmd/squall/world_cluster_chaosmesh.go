//go:build kind

package main

import (
	"context"
	"errors"
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
	api, store := w.Addresses()
	return &sharedMeshWorld{World: w, strikes: chaosmesh.Strikes{Client: m.client, Limit: 12 * time.Second, Site: chaosmesh.Site{
		Namespace: w.Namespace(), Name: "squall", Horizon: 6 * time.Hour, PodGrace: c.Settings.PodGrace,
		Dispatchers: c.Dispatchers, Reconcilers: c.Reconcilers, Nodes: c.Nodes,
		APIServer: []string{api}, Database: chaosmesh.Database{Hosts: []string{store}}, Pods: w.Pod,
	}}}
}

// sharedMeshWorld is a run some of whose faults Chaos Mesh strikes.
type sharedMeshWorld struct {
	*shared.World
	strikes chaosmesh.Strikes
}

var _ faults.Striker = (*sharedMeshWorld)(nil)

// Strikes tells by what a fault is struck.
func (w *sharedMeshWorld) Strikes(f faults.Fault) (by string, ok bool) {
	if !slices.Contains(meshKinds, f.Kind) {
		return "", false
	}
	by, why := w.strikes.Takes(f)
	return by, why == ""
}

// Strike has Chaos Mesh strike; its records are what is seen of it.
func (w *sharedMeshWorld) Strike(index int, f faults.Fault, felt func()) {
	w.Do(fmt.Sprintf("have Chaos Mesh strike fault %d", index+1), func(ctx context.Context) error {
		struck, err := w.strikes.Strike(ctx, index, f)
		if err == nil && len(struck.Victims) > 0 {
			felt()
		}
		return err
	})
}

// Heal has Chaos Mesh undo it.
func (w *sharedMeshWorld) Heal(index int) {
	w.Do(fmt.Sprintf("have Chaos Mesh heal fault %d", index+1), func(ctx context.Context) error { return w.strikes.Heal(ctx, index) })
}

// Close removes the objects before the pods that they are about.
func (w *sharedMeshWorld) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	return errors.Join(w.strikes.Close(ctx), w.World.Close())
}

// checkMesh is the doctor's word on it.
func checkMesh(ctx context.Context, site *shared.Site) finding {
	if _, err := findMesh(ctx, site); err != nil {
		return finding{what: "Chaos Mesh", ok: true, detail: "none that Squall can use, which only container-kill and clock-skew need: " + inOneLine(err)}
	}
	return finding{what: "Chaos Mesh", ok: true, detail: "it strikes container-kill and clock-skew"}
}
