package dispatcher

import (
	"context"
	"errors"
	"time"
)

// liveWitness judges by live reads of the API server: an error is never evidence.
type liveWitness struct {
	ports   Ports
	timeout time.Duration // of each call
}

// Look reads the object under the task's name and, where its life is in doubt, its node.
func (l liveWitness) Look(ctx context.Context, t Task) (Evidence, error) {
	w, err := l.get(ctx, WorkloadName(t.Spec.ID))
	if errors.Is(err, ErrNotFound) {
		return Evidence{Sighting: SightAbsent}, nil
	}
	if err != nil {
		return Evidence{}, err
	}
	bound := t.Attempt.Workload
	if w.Token != t.Attempt.Token || (bound != "" && w.UID != bound) {
		return Evidence{Sighting: SightAbsent, Workload: w, Foreign: true}, nil
	}
	if w.State.Ended() && !w.outlived() {
		return Evidence{Sighting: SightEnded, Workload: w}, nil
	}
	if w.Node != "" && !w.outlived() { // what is outlived may run on another node
		exists, err := l.nodeExists(ctx, w.Node)
		if err != nil {
			return Evidence{}, err
		}
		if !exists {
			return Evidence{Sighting: SightNodeGone, Workload: w}, nil
		}
	}
	if w.State == WorkloadPending {
		return Evidence{Sighting: SightPending, Workload: w}, nil
	}
	return Evidence{Sighting: SightAlive, Workload: w}, nil
}

func (l liveWitness) get(ctx context.Context, name string) (Workload, error) {
	ctx, cancel := l.ports.Clock.WithTimeout(ctx, l.timeout)
	defer cancel()
	return l.ports.Workloads.Get(ctx, name)
}

func (l liveWitness) nodeExists(ctx context.Context, node string) (bool, error) {
	ctx, cancel := l.ports.Clock.WithTimeout(ctx, l.timeout)
	defer cancel()
	return l.ports.Workloads.NodeExists(ctx, node)
}
