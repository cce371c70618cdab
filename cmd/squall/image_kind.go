//go:build kind

package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/spf13/cobra"

	"github.com/squall-chaos/squall/clusters/kind/images"
	"github.com/squall-chaos/squall/clusters/kind/testbed"
)

// imageKinds are the images that there are to build, by name.
var imageKinds = map[string]func(context.Context, images.Options) (images.Image, error){
	"programs": images.Programs,
	"squall":   images.Harness,
}

// destinations are where an image goes besides the cache.
type destinations struct{ registry, file, cluster string }

func newImageCommand(c *console) *cobra.Command {
	var to destinations
	var planted bool
	cmd := &cobra.Command{
		Use:   "image programs|squall",
		Short: "Build an image for the manifests, without a Dockerfile or an engine",
		Long: `Build an image from the source of this checkout, and print its name: "programs" has the reference dispatcher, its reconciler,
its worker and the fault proxy; "squall" has squall itself, which runs the shards of a sweep. squall manifests prints what
runs them. Neither Docker nor a Dockerfile is needed; an image that is up to date is not built again.`,
		Example: "  squall image programs --push registry.example.com/batch/programs:v1\n  squall image squall --cluster dev",
		Args:    exactly("image", "it is programs or squall"),
		RunE: func(cmd *cobra.Command, args []string) error {
			build, ok := imageKinds[args[0]]
			if !ok {
				return unknownName("image", args[0], []string{"programs", "squall"}, "it is programs or squall")
			}
			if to.registry != "" {
				if _, err := name.NewTag(to.registry); err != nil {
					return usage("--push: %w; expected a name like registry.example.com/batch/programs:v1", err)
				}
			}
			ctx := cmd.Context()
			image, err := build(ctx, images.Options{Planted: planted, Progress: c.lines("")})
			if err != nil {
				return kindError(ctx, err)
			}
			return to.deliver(ctx, c, image)
		},
	}
	cmd.Flags().StringVar(&to.registry, "push", "", "push it under this `name`, with the logins of docker")
	cmd.Flags().BoolVar(&planted, "planted", false, "programs: with the deliberate defects of squall list dispatchers; never for production")
	cmd.Flags().StringVar(&to.file, "save", "", "write it to a `file`, for docker load or ctr images import")
	cmd.Flags().StringVar(&to.cluster, "cluster", "", "load it into the nodes of this kind `cluster` of Squall's")
	return cmd
}

// deliver brings an image to where it was asked for, and prints the name that manifests use for it.
func (d destinations) deliver(ctx context.Context, c *console, image images.Image) error {
	ref := image.Ref
	if d.file != "" {
		if err := writeFile(d.file, func(f *os.File) error { return copyArchive(f, image.Archive) }); err != nil {
			return usage("--save: %w", err)
		}
	}
	if d.cluster != "" {
		bed, err := testbed.Open(ctx, clusterName([]string{d.cluster}))
		if err == nil {
			err = bed.Load(ctx, image.Archive, image.Ref)
		}
		if err != nil {
			return kindError(ctx, err)
		}
	}
	if d.registry != "" {
		if err := image.Push(ctx, d.registry); err != nil {
			if ctx.Err() != nil {
				return ended(exitInterrupted)
			}
			return usage("--push: %w", err)
		}
		ref = d.registry
	}
	_, err := fmt.Fprintln(c.out, ref)
	return err
}

func copyArchive(to io.Writer, archive string) error {
	from, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer from.Close()
	_, err = io.Copy(to, from)
	return err
}
