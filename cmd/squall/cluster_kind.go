//go:build kind

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/kind/engine"
	"github.com/squall-chaos/squall/clusters/kind/images"
	"github.com/squall-chaos/squall/clusters/kind/nodeimage"
	"github.com/squall-chaos/squall/clusters/kind/testbed"
)

// newClusterCommands are the commands about real clusters.
func newClusterCommands(c *console) []*cobra.Command {
	cluster := &cobra.Command{
		Use:   "cluster",
		Short: "Make, look at and remove kind clusters",
		Long: "Make, look at and remove kind clusters that runs can share: squall run --world kind --cluster NAME uses one and leaves it.\n" +
			"What a run made and could not remove, because it was killed, is listed here and removed here.",
		Example: "  squall cluster up\n  squall run lost-create-reply --world kind --cluster dev\n  squall cluster down",
		Args:    unknownCommand,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cluster.AddCommand(newClusterUp(c), newClusterStatus(c), newClusterDown(c), newClusterLogs(c))
	image := &cobra.Command{
		Use:   "node-image",
		Short: "Build a node image for kind where no registry can be reached",
		Args:  unknownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	image.AddCommand(&cobra.Command{
		Use:     "build",
		Short:   "Build a node image from Go modules and Debian packages",
		Long:    "Build a node image from Go modules and Debian packages, of the Kubernetes version of kind's own. It takes about 14 minutes the\nfirst time on 2 cores, can be interrupted and gone on with, and is kept by version.",
		Example: "  squall node-image build",
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := engine.Check(cmd.Context()); err != nil {
				return kindError(cmd.Context(), err)
			}
			ref, err := nodeimage.Build(cmd.Context(), c.lines(""))
			if err != nil {
				return kindError(cmd.Context(), err)
			}
			_, err = fmt.Fprintln(c.out, ref)
			return err
		},
	})
	return []*cobra.Command{cluster, image, newImageCommand(c), newScenariosCommand(c), newCleanCommand(c)}
}

// clusterName is the name given, or that of the cluster that is made without one.
func clusterName(args []string) string {
	if len(args) > 0 {
		return strings.TrimPrefix(args[0], testbed.Prefix)
	}
	return testbed.DefaultName
}

func atMostOneName(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usage("%s takes one name, but got %d", cmd.CommandPath(), len(args))
	}
	return nil
}

func newClusterUp(c *console) *cobra.Command {
	o := testbed.Options{OnDemand: kindLimits.Machines[clusters.OnDemand], Spot: kindLimits.Machines[clusters.Spot]}
	cmd := &cobra.Command{
		Use:     "up [NAME]",
		Short:   "Make a cluster, and keep it",
		Example: "  squall cluster up",
		Args:    atMostOneName,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			ctx := cmd.Context()
			if _, err := engine.Check(ctx); err != nil {
				return kindError(ctx, err)
			}
			o.Name, o.Progress = clusterName(args), c.lines("")
			if o.Image, err = nodeimage.Find(ctx, nodeimage.Options{Image: o.Image, Progress: o.Progress}); err != nil {
				return kindError(ctx, err)
			}
			bed, err := testbed.Up(ctx, o)
			if err != nil {
				return kindError(ctx, err)
			}
			_, err = fmt.Fprintf(c.out, "cluster %s is up: squall run NAME --world kind --cluster %s\nkubectl: KUBECONFIG=%s\n", bed.Name(), bed.Name(), bed.Kubeconfig())
			return err
		},
	}
	cmd.Flags().StringVar(&o.Image, "node-image", "", "the node `image` to make it of")
	return cmd
}

func newClusterStatus(c *console) *cobra.Command {
	return &cobra.Command{
		Use:     "status",
		Short:   "List the clusters that Squall made, stale ones included",
		Example: "  squall cluster status",
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := engine.Check(cmd.Context()); err != nil {
				return kindError(cmd.Context(), err)
			}
			all, err := testbed.List(cmd.Context())
			if err != nil {
				return kindError(cmd.Context(), err)
			}
			if len(all) == 0 {
				fmt.Fprintln(c.out, "there is no cluster; make one: squall cluster up")
				return nil
			}
			return writeClusters(c, all)
		},
	}
}

func writeClusters(c *console, all []testbed.Info) error {
	t := &tables{w: tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)}
	t.head("CLUSTER", "STATE", "NODES", "MADE", "NODE IMAGE")
	for _, x := range all {
		t.row(x.Name, string(x.State), fmt.Sprint(len(x.Nodes)), madeAt(x.Created), either(x.Image, "-"))
		if x.Reason != "" {
			t.row("  " + x.Reason)
		}
		if x.Remedy != "" {
			t.row("  remedy: " + x.Remedy)
		}
		if c.verbose {
			for _, n := range x.Nodes {
				t.row("  "+n.Name, n.State, either(string(n.Capacity), "control plane"))
			}
		}
	}
	return t.w.Flush()
}

func madeAt(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04")
}

func newClusterDown(c *console) *cobra.Command {
	var all, force bool
	cmd := &cobra.Command{
		Use:     "down [NAME]",
		Short:   "Remove a cluster, or what is left of it",
		Example: "  squall cluster down\n  squall cluster down --all",
		Args:    atMostOneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if _, err := engine.Check(ctx); err != nil {
				return kindError(ctx, err)
			}
			if all && len(args) > 0 {
				return usage("--all removes every cluster of Squall's: leave %s out", args[0])
			}
			remove := testbed.Down
			if force {
				remove = testbed.DownForced
			}
			names, err := namesToRemove(ctx, args, all)
			if err != nil {
				return kindError(ctx, err)
			}
			for _, name := range names {
				if err := remove(ctx, name, c.lines("")); err != nil {
					return kindError(ctx, err)
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "remove all that Squall made")
	cmd.Flags().BoolVar(&force, "force", false, "also one that does not look like Squall's")
	return cmd
}

// namesToRemove are the clusters that the command means. A foreign one is only removed by name.
func namesToRemove(ctx context.Context, args []string, all bool) ([]string, error) {
	if !all {
		return []string{clusterName(args)}, nil
	}
	infos, err := testbed.List(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, x := range infos {
		if x.State != testbed.Foreign && x.State != testbed.Creating {
			names = append(names, x.Name)
		}
	}
	return names, nil
}

func newClusterLogs(c *console) *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:     "logs [NAME]",
		Short:   "Write the logs of a cluster's nodes and containers to a directory",
		Example: "  squall cluster logs --to logs",
		Args:    atMostOneName,
		RunE: func(cmd *cobra.Command, args []string) error {
			name := clusterName(args)
			if to == "" {
				to = filepath.Join(c.dir, "logs", name)
			}
			if err := writable(to); err != nil {
				return usage("--to: %w", err)
			}
			bed, err := testbed.Open(cmd.Context(), name)
			if err == nil {
				err = bed.Logs(cmd.Context(), to)
			}
			if err != nil {
				return kindError(cmd.Context(), err)
			}
			_, err = fmt.Fprintln(c.out, to)
			return err
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "the `directory` (default: logs/NAME in the directory of bundles)")
	return cmd
}

// kindError tells what whoever typed the command can mend (2) from a failure of Squall (4).
func kindError(ctx context.Context, err error) error {
	var unavailable *engine.Unavailable
	var end *ending
	switch {
	case err == nil, errors.As(err, &end):
		return err
	case ctx.Err() != nil:
		return ended(exitInterrupted)
	case errors.As(err, &unavailable), errors.Is(err, nodeimage.ErrNone), errors.Is(err, nodeimage.ErrUnfit), errors.Is(err, images.ErrNoSource), errors.Is(err, os.ErrPermission):
		return usage("%w", err)
	case errors.Is(err, syscall.ENOSPC), strings.Contains(err.Error(), "no space left on device"): // Docker has it as text only
		return usage("%w; make room: docker system prune, or move the engine's data", err)
	case errors.Is(err, testbed.ErrNotFound), errors.Is(err, testbed.ErrExists), errors.Is(err, testbed.ErrForeign),
		errors.Is(err, testbed.ErrNotRunning), errors.Is(err, testbed.ErrBusy), errors.Is(err, testbed.ErrName), errors.Is(err, testbed.ErrKubeconfig):
		return usage("%w", err)
	case strings.Contains(err.Error(), "exec format error"), strings.Contains(err.Error(), "does not match the specified platform"):
		return usage("%w; the node image is of another architecture: leave --node-image out, or build one: squall node-image build", err)
	}
	return broken(err)
}
