// Command install puts Chaos Mesh into a cluster that `squall cluster up NAME` has made. With --build it only builds what that takes.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/squall-chaos/squall/clusters/kind/testbed"
	"github.com/squall-chaos/squall/faults/chaosmesh/installation"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "install:", err)
		os.Exit(3)
	}
}

func run(ctx context.Context) error {
	if len(os.Args) > 2 {
		return fmt.Errorf("expected the name of a cluster, as `squall cluster status` has it, none for %s, or --build", testbed.DefaultName)
	}
	if len(os.Args) == 2 && os.Args[1] == "--build" {
		return installation.Build(ctx, os.Stderr)
	}
	name := testbed.DefaultName
	if len(os.Args) == 2 {
		name = os.Args[1]
	}
	bed, err := testbed.Open(ctx, name)
	if err != nil {
		return err
	}
	return installation.Install(ctx, bed, os.Stderr)
}
