package testbed

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// healScript undoes in a node what this package can have done to it: cuts, and containers that are frozen, which could not
// even be deleted.
const healScript = `
nft list tables | while read -r _ family table; do
	case $table in squall_api | squall_pods_*) nft delete table "$family" "$table" || exit 1 ;; esac
done
ctr --namespace=k8s.io task ls | while read -r id _ state; do
	if [ "$state" = PAUSED ]; then ctr --namespace=k8s.io task resume "$id" || exit 1; fi
done
`

// Heal brings every node back to what it was in the beginning: running, not frozen, not cut off, none of its containers
// frozen. A run that was killed in mid-fault leaves a kept cluster in need of it.
func (c *Cluster) Heal(ctx context.Context) error {
	if err := c.ControlPlane().heal(ctx); err != nil { // the others need it to come back
		return err
	}
	todo := make([]func() error, 0, len(c.Nodes()))
	for _, n := range c.Nodes() {
		todo = append(todo, func() error { return n.heal(ctx) })
	}
	return AtOnce(todo)
}

func (n *Node) heal(ctx context.Context) error {
	if err := n.revive(ctx); err != nil {
		return err
	}
	if _, err := n.script(ctx, healScript); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, returning, tooLong(returning))
	defer cancel()
	return n.ready(ctx, time.Time{})
}

// revive makes the node run, unless it does.
func (n *Node) revive(ctx context.Context) error {
	state, err := n.state(ctx)
	if err != nil {
		return err
	}
	switch state {
	case "running":
		return nil
	case "paused":
		return n.Unpause(ctx)
	}
	return n.Start(ctx)
}

// reviveControlPlane is for a kept cluster whose control plane was left frozen, or which the machine's restart has ended.
func (c *Cluster) reviveControlPlane(ctx context.Context) error {
	n := c.ControlPlane()
	state, err := n.state(ctx)
	if err != nil {
		return err
	}
	if state == "paused" {
		err = n.Unpause(ctx)
	} else {
		err = n.docker(ctx, "start", n.name)
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, returning, tooLong(returning))
	defer cancel()
	return until(ctx, fmt.Sprintf("the API server of cluster %s", c.Name()), func(ctx context.Context) (string, bool) {
		_, err := c.core.ConfigMaps(metav1.NamespaceSystem).Get(ctx, mark, metav1.GetOptions{})
		return fmt.Sprint(err), err == nil || apierrors.IsNotFound(err)
	})
}
