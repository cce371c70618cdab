package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/squall-chaos/squall/dispatcher/manifests"
)

func newManifestsCommand(c *console) *cobra.Command {
	var namespace, image, sweep string
	var parallelism int
	cmd := &cobra.Command{
		Use:   "manifests",
		Short: "Print the manifests of the reference dispatcher",
		Long: `Print what runs the reference dispatcher and its reconciler in a cluster, for "kubectl apply -f -": two replicas each, the
rights that they need and no more, disruption budgets. The namespace must be there, and in it a Secret named
squall-database whose key "url" is the URL of the Postgres database.

With --sweep, print instead what runs the shards of a plan (squall sweep plan) in a cluster: an Indexed Job, a volume for the
results, and a Job that merges them.`,
		Args:    none,
		Example: "  squall manifests -n batch --image registry.example.com/squall/programs:v1 | kubectl apply -f -",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if sweep != "" {
				return printSweepManifests(c.out, sweep, namespace, image, parallelism)
			}
			if cmd.Flags().Changed("parallelism") {
				return usage("--parallelism is about the shards of a sweep: name its plan with --sweep")
			}
			text, err := manifests.Render(namespace, image)
			if err != nil {
				return usage("%w", err)
			}
			_, err = fmt.Fprint(c.out, text)
			return err
		},
	}
	cmd.Flags().StringVarP(&namespace, "namespace", "n", "squall", "the namespace to install into")
	cmd.Flags().StringVar(&image, "image", manifests.Image, "the image with the programs /dispatcher, /reconciler and /worker; with --sweep, with /squall")
	cmd.Flags().StringVar(&sweep, "sweep", "", "print what runs the shards of this `plan`")
	cmd.Flags().IntVar(&parallelism, "parallelism", 0, "with --sweep: how many shards run at once (default: all)")
	return cmd
}
