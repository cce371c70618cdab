//go:build kind

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/squall-chaos/squall/clusters/shared"
)

func newCleanCommand(c *console) *cobra.Command {
	var o worldOptions
	cmd := &cobra.Command{
		Use:   "clean",
		Short: "Remove what runs left in a cluster that Squall did not make",
		Long: "Remove what runs of --world cluster left in a namespace because they were killed: everything that carries their label, and the\n" +
			"workloads of their dispatchers. Nothing else is touched. A run that still goes on there is ended by it.",
		Example: "  squall clean --context staging -n chaos",
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.context == "" || o.namespace == "" {
				return usage("squall clean needs --context and --namespace: what of which cluster? Clusters that Squall made go by: squall cluster down")
			}
			ctx := cmd.Context()
			site, err := shared.Open(o.context, o.namespace)
			if err == nil {
				err = site.Allowed(ctx)
			}
			if err != nil {
				return sharedError(ctx, err)
			}
			removed, err := site.Clean(ctx)
			for _, name := range removed {
				fmt.Fprintf(c.out, "removed %s\n", name)
			}
			if err != nil {
				return sharedError(ctx, err)
			}
			if len(removed) == 0 {
				fmt.Fprintf(c.out, "there is nothing of Squall's in namespace %s\n", o.namespace)
			}
			return nil
		},
	}
	namespaceFlags(cmd.Flags(), &o)
	return cmd
}
