package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/squall-chaos/squall/dispatcher/manifests"
)

func newManifestsCommand(c *console) *cobra.Command {
	var namespace, image string
	cmd := &cobra.Command{
		Use:   "manifests",
		Short: "Print the manifests of the reference dispatcher",
		Long: `Print what runs the reference dispatcher and its reconciler in a cluster, for "kubectl apply -f -": two replicas each, the
rights that they need and no more, disruption budgets. The namespace must be there, and in it a Secret named
squall-database whose key "url" is the URL of the Postgres database.`,
		Args:    none,
		Example: "  squall manifests -n batch --image registry.example.com/squall/programs:v1 | kubectl apply -f -",
		RunE: func(*cobra.Command, []string) error {
			text, err := manifests.Render(namespace, image)
			if err != nil {
				return usage("%w", err)
			}
			_, err = fmt.Fprint(c.out, text)
			return err
		},
	}
	cmd.Flags().StringVarP(&namespace, "namespace", "n", "squall", "the namespace to install into")
	cmd.Flags().StringVar(&image, "image", manifests.Image, "the image with the programs /dispatcher, /reconciler and /worker")
	return cmd
}
