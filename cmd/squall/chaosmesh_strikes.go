//go:build kind

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/deployed"
	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/faults/chaosmesh"
)

const (
	// meshLimit bounds each wait for Chaos Mesh: for two of them there is time within one action of a run.
	meshLimit = 12 * time.Second
	// meshHold is how long an object strikes that nobody removes: longer than any run.
	meshHold = 6 * time.Hour
)

// meshStrikes has Chaos Mesh strike faults of one run.
type meshStrikes struct {
	chaosmesh.Strikes
	run  *deployed.World
	only []faults.Kind // nil: all that Chaos Mesh can
}

// newMeshStrikes strikes what is between the run's pods and the servers: they meet at the fault proxy.
func newMeshStrikes(client chaosmesh.Client, run *deployed.World, c clusters.Config) *meshStrikes {
	api, store := run.Addresses()
	return &meshStrikes{run: run, Strikes: chaosmesh.Strikes{Client: client, Limit: meshLimit, Site: chaosmesh.Site{
		Namespace: run.Namespace(), Name: "squall", Horizon: meshHold, PodGrace: c.Settings.PodGrace,
		Dispatchers: c.Dispatchers, Reconcilers: c.Reconcilers, Nodes: c.Nodes,
		APIServer: []string{api}, Database: chaosmesh.Database{Hosts: []string{store}}, Pods: run.Pod,
	}}}
}

// meshStriker is what a world with meshStrikes is, besides a world.
type meshStriker struct{ strikes *meshStrikes }

var _ faults.Striker = meshStriker{}

// Strikes tells by what a fault is struck.
func (s meshStriker) Strikes(f faults.Fault) (by string, ok bool) {
	if s.strikes.only != nil && !slices.Contains(s.strikes.only, f.Kind) {
		return "", false
	}
	by, why := s.strikes.Takes(f)
	return by, why == ""
}

// Strike has Chaos Mesh strike; its records are what is seen of it.
func (s meshStriker) Strike(index int, f faults.Fault, felt func()) {
	s.strikes.run.Do(fmt.Sprintf("have Chaos Mesh strike fault %d", index+1), func(ctx context.Context) error {
		struck, err := s.strikes.Strikes.Strike(ctx, index, f)
		if err == nil && len(struck.Victims) > 0 {
			felt()
		}
		return err
	})
}

// Heal has Chaos Mesh undo it.
func (s meshStriker) Heal(index int) {
	s.strikes.run.Do(fmt.Sprintf("have Chaos Mesh heal fault %d", index+1), func(ctx context.Context) error {
		return s.strikes.Strikes.Heal(ctx, index)
	})
}

// end removes the objects before the run that they are about.
func (s meshStriker) end(run func() error) error {
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	return errors.Join(s.strikes.Strikes.Close(ctx), run())
}
