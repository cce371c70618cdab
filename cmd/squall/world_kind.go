//go:build kind

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/kind"
	"github.com/squall-chaos/squall/clusters/kind/engine"
	"github.com/squall-chaos/squall/clusters/kind/images"
	"github.com/squall-chaos/squall/clusters/kind/nodeimage"
	"github.com/squall-chaos/squall/clusters/kind/testbed"
)

func init() {
	provideWorld("kind", provision{begin: beginKind, check: checkKind, ready: kindReady, fix: engine.Ensure})
}

// kindLanes is how many runs a cluster takes side by side. To start a pod takes a second of a processor or more, and a machine that
// is short of them breaks time-outs that no fault has broken.
func kindLanes() int { return max(1, runtime.NumCPU()/2) }

func beginKind(ctx context.Context, o worldOptions) (*session, error) {
	s, err := openKind(ctx, o)
	if ctx.Err() != nil {
		return s, err // an interruption, whatever it looks like
	}
	return s, kindError(ctx, err)
}

// openKind gets a cluster ready: the kept one of that name, or a new one.
func openKind(ctx context.Context, o worldOptions) (*session, error) {
	if o.context != "" {
		return nil, usage("context %s is a cluster that Squall did not make. World kind kills and cuts off nodes, which it can only do to its own: "+
			"use --world cluster, or --cluster NAME for a kept one", o.context)
	}
	if _, err := engine.Check(ctx); err != nil {
		return nil, usage("a container engine is needed: %w", err)
	}
	bed, made, err := findBed(ctx, o)
	if err != nil {
		return nil, err
	}
	s := &session{lanes: o.lanes, about: "cluster " + bed.Name()}
	if s.lanes == 0 {
		s.lanes = kindLanes()
	}
	var ready *kindRuns
	s.close = func(ctx context.Context) error {
		if o.keep || !made {
			err := ready.settle(ctx)
			fmt.Fprintf(o.progress, "cluster %s is kept; remove it: squall cluster down %s\n", bed.Name(), bed.Name())
			return err
		}
		ready.abandon()
		return testbed.Down(ctx, bed.Name(), o.progress)
	}
	ready, err = loadKind(ctx, bed, o)
	if err != nil {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
		defer cancel()
		return nil, errors.Join(err, s.close(late))
	}
	s.open = ready.open
	return s, nil
}

// findBed opens the cluster that was asked for, or makes it. made tells that it is this command's.
func findBed(ctx context.Context, o worldOptions) (bed *testbed.Cluster, made bool, err error) {
	name := o.cluster
	if name != "" {
		bed, err = testbed.Open(ctx, name)
		if err == nil || !errors.Is(err, testbed.ErrNotFound) {
			return bed, false, err
		}
	} else {
		name = fmt.Sprintf("run-%d", os.Getpid()) // two commands at a time must not meet
	}
	image, err := nodeimage.Find(ctx, nodeimage.Options{Image: o.nodeImage, Progress: o.progress})
	if err != nil {
		return nil, false, err
	}
	machines := kindLimits.Machines
	bed, err = testbed.Up(ctx, testbed.Options{
		Name: name, Image: image, OnDemand: machines[clusters.OnDemand], Spot: machines[clusters.Spot], Progress: o.progress,
	})
	return bed, true, err
}

// kindRuns makes the worlds of one command.
type kindRuns struct {
	bed                *testbed.Cluster
	site               *kind.Site
	mesh               *mesh // nil: Squall strikes all faults itself
	reference, planted images.Image
	number             atomic.Int64
	log                *slog.Logger
	stamp              string
}

// loadKind brings the images to the nodes.
func loadKind(ctx context.Context, bed *testbed.Cluster, o worldOptions) (*kindRuns, error) {
	k := &kindRuns{bed: bed, stamp: time.Now().UTC().Format("150405"), log: kindLog(o.progress)}
	if o.injector == meshInjector {
		var err error
		if k.mesh, err = openMesh(ctx, bed); err != nil {
			return nil, err
		}
	}
	postgres, err := images.Postgres(ctx, images.Options{Progress: o.progress})
	if err != nil {
		return nil, err
	}
	if k.reference, err = images.Programs(ctx, images.Options{Progress: o.progress}); err != nil {
		return nil, err
	}
	programs := []images.Image{k.reference}
	if o.planted {
		if k.planted, err = images.Programs(ctx, images.Options{Planted: true, Progress: o.progress}); err != nil {
			return nil, err
		}
		programs = append(programs, k.planted)
	}
	k.site, err = kind.Prepare(ctx, bed, postgres, programs...)
	return k, err
}

// settle returns when nothing of the runs is left; there may have been none.
func (k *kindRuns) settle(ctx context.Context) error {
	if k == nil || k.site == nil {
		return nil
	}
	return k.site.Settle(ctx)
}

func (k *kindRuns) abandon() {
	if k != nil && k.site != nil {
		k.site.Abandon()
	}
}

// kindLog tells what is done to the cluster when SQUALL_DEBUG is set.
func kindLog(w io.Writer) *slog.Logger {
	if os.Getenv("SQUALL_DEBUG") == "" {
		return nil
	}
	return slog.New(slog.NewTextHandler(w, nil))
}

// open prepares one run, in a namespace of its own.
func (k *kindRuns) open(ctx context.Context, c clusters.Config) (clusters.Cluster, error) {
	programs := k.reference
	if c.System.Name != "reference" {
		programs = k.planted
	}
	w, err := k.site.New(ctx, c, kind.Options{
		Namespace: fmt.Sprintf("squall-%s-%d", k.stamp, k.number.Add(1)), Programs: programs, Log: k.log,
	})
	if err != nil {
		return nil, err // not a typed nil
	}
	return k.mesh.wrap(w, c), nil
}

// kindReady tells in short why nothing can be run in kind now, or not without being asked for.
func kindReady(ctx context.Context) error {
	if _, err := engine.Check(ctx); err != nil {
		return err
	}
	_, err := nodeimage.Find(ctx, nodeimage.Options{})
	return err
}

func checkKind(ctx context.Context, _ worldOptions) []finding {
	f := finding{what: "engine", ok: true}
	status, err := engine.Check(ctx)
	var missing *engine.Unavailable
	switch {
	case errors.As(err, &missing):
		return []finding{{what: "engine", detail: missing.Reason, remedy: missing.Remedy}}
	case err != nil:
		return []finding{{what: "engine", detail: err.Error(), remedy: "squall doctor --fix"}}
	}
	f.detail = status.String()
	found := []finding{f}
	for _, w := range status.Warnings {
		found = append(found, finding{what: "engine", detail: w.Reason, remedy: w.Remedy})
	}
	image, err := nodeimage.Find(ctx, nodeimage.Options{})
	if err != nil {
		return append(found, finding{what: "node image", detail: "there is none, and no registry answers", remedy: "squall node-image build (or make node-image)"})
	}
	return append(found, finding{what: "node image", ok: true, detail: image})
}
