package testbed

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// Down removes a cluster of ours wholly, whatever is left of it.
func Down(ctx context.Context, name string, progress io.Writer) error {
	return down(ctx, name, progress, false)
}

// DownForced is Down for a cluster without our marks, too.
func DownForced(ctx context.Context, name string, progress io.Writer) error {
	return down(ctx, name, progress, true)
}

func down(ctx context.Context, name string, progress io.Writer, force bool) error {
	name, err := short(name)
	if err != nil {
		return err
	}
	if progress == nil {
		progress = io.Discard
	}
	r, err := one(ctx, name)
	if err != nil {
		return err
	}
	if r == nil {
		return fmt.Errorf("cluster %s: %w; `squall cluster status` lists those there are", name, ErrNotFound)
	}
	if why := r.foreign(); why != "" && !force {
		return fmt.Errorf("cluster %s: %w: %s; if it may go: `squall cluster down --force %s`", name, ErrForeign, why, name)
	}
	unlock, err := lock(name)
	if err != nil {
		return err
	}
	defer unlock()
	fmt.Fprintf(progress, "cluster %s: removing %d containers, network and state\n", name, len(r.containers))
	return remove(ctx, name)
}

// remove takes away containers with their volumes, the network, and the state directory last: as long as something is left,
// List can tell whose it is. The caller holds the lock.
//
// It looks again until a round finds nothing: when the creator was killed, a `docker run` of kind's may still be on its way.
func remove(ctx context.Context, name string) error {
	for {
		containers, err := removeContainers(ctx, name)
		if err != nil {
			return err
		}
		networks, err := removeNetworks(ctx, name)
		if err != nil && !strings.Contains(err.Error(), "active endpoints") { // of a container that has come in between
			return err
		}
		if containers+networks == 0 {
			break
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
	dir, err := stateDir(name)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove the state of cluster %s: %w", name, err)
	}
	return nil
}

// removeContainers returns how many there were.
func removeContainers(ctx context.Context, name string) (int, error) {
	out, err := docker(ctx, "ps", "--all", "--quiet", "--filter", "label="+clusterLabel+"="+Prefix+name)
	if err != nil || len(lines(out)) == 0 {
		return 0, err
	}
	// Without the grace that `docker stop` would give: nothing in them is worth saving. The volumes are anonymous, one per node.
	args := append([]string{"rm", "--force", "--volumes"}, lines(out)...)
	_, err = command{args: args, limit: 2 * time.Minute}.run(ctx)
	if err != nil && !overtaken(err) {
		return 0, err
	}
	return len(lines(out)), nil
}

// removeNetworks returns how many there were.
func removeNetworks(ctx context.Context, name string) (int, error) {
	out, err := docker(ctx, "network", "ls", "--quiet", "--filter", "label="+ownLabel+"="+name)
	if err != nil || len(lines(out)) == 0 {
		return 0, err
	}
	_, err = docker(ctx, append([]string{"network", "rm"}, lines(out)...)...)
	if err != nil && overtaken(err) {
		err = nil
	}
	return len(lines(out)), err
}

// overtaken tells whether a removal failed because somebody else is at it or was quicker.
func overtaken(err error) bool {
	for _, says := range []string{"No such container", "No such network", "not found", "is already in progress"} {
		if strings.Contains(err.Error(), says) {
			return true
		}
	}
	return false
}
