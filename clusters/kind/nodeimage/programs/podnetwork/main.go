// Command podnetwork is the pod network of a kind cluster, in the place of kindnet: on each node a CNI configuration for the node's range of
// pod addresses, a route to every other node's range, and one rule that hides pod addresses from the world outside. Nodes reach each
// other directly, so nothing more is needed.
//
// All is done anew every few seconds: a node that was killed and started has lost its routes and its rule, and a node may come, go
// and change its address. It needs nothing from kube-proxy, and gets on with whichever rule set kube-proxy uses.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"
)

const (
	every = 3 * time.Second // the nodes are looked up
	// again is when the network is gone over although the nodes are the same. A node that starts anew starts this program anew, too;
	// to ask the kernel more often costs more than all else on small machines.
	again = time.Minute
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		slog.Error("the pod network gives up", "error", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	subnet, err := netip.ParsePrefix(os.Getenv("POD_SUBNET"))
	if err != nil || !subnet.Addr().Is4() {
		return fmt.Errorf("POD_SUBNET is %q: this pod network is for one range of IPv4 addresses", os.Getenv("POD_SUBNET"))
	}
	api, err := newAPI()
	if err != nil {
		return err
	}
	var nodes, settled []node
	var settledAt time.Time
	said := ""
	for {
		// Without the API server the nodes are those that were there last: routes are put back all the same.
		if fresh, err := api.nodes(ctx); err == nil {
			nodes = fresh
		} else {
			slog.Warn("the nodes cannot be listed", "error", err)
		}
		if !slices.Equal(nodes, settled) || time.Since(settledAt) > again {
			err := reconcile(ctx, os.Getenv("NODE_NAME"), subnet, nodes)
			if err == nil && len(nodes) > 0 {
				settled, settledAt = nodes, time.Now()
			}
			said = tell(err, said)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(every):
		}
	}
}

// tell says what is wrong, the same trouble once.
func tell(err error, said string) string {
	if err == nil {
		return ""
	}
	if err.Error() != said {
		slog.Warn("the pod network is not complete", "error", err)
	}
	return err.Error()
}

func reconcile(ctx context.Context, self string, subnet netip.Prefix, nodes []node) error {
	var errs []error
	for _, n := range nodes {
		if n.Name == self && n.Pods.IsValid() {
			errs = append(errs, configure(configuration, n))
		}
	}
	errs = append(errs, masquerade(ctx, command, subnet))
	if len(nodes) > 0 {
		errs = append(errs, route(ctx, command, self, nodes))
	}
	return errors.Join(errs...)
}
