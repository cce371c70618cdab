//go:build !kind

package main

import "github.com/spf13/cobra"

// newClusterCommands are the commands about real clusters. This build has none, and says how to get them.
func newClusterCommands(*console) []*cobra.Command {
	var all []*cobra.Command
	for _, x := range []struct{ use, short string }{
		{"cluster up|status|down|logs", "Make, look at and remove kind clusters"},
		{"node-image build", "Build a node image for kind where no registry can be reached"},
		{"image programs|squall", "Build an image for the manifests, without a Dockerfile or an engine"},
		{"clean", "Remove what runs left in a cluster that Squall did not make"},
		{"scenarios render", "Print the faults of a scenario as objects of Chaos Mesh"},
	} {
		all = append(all, &cobra.Command{
			Use: x.use, Short: x.short + " (not in this build)",
			Long:               x.short + ". This build has no world kind; get one that has it with: make build WITH=kind",
			DisableFlagParsing: true,
			RunE: func(cmd *cobra.Command, args []string) error {
				if len(args) > 0 && (args[0] == "-h" || args[0] == "--help") {
					return cmd.Help()
				}
				return usage("%s needs a build of squall with kind; get it with: make build WITH=kind", cmd.CommandPath())
			},
		})
	}
	return all
}
