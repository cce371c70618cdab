// Command dispatcher is one replica of the reference dispatcher: it campaigns for the lease and, while it leads, claims tasks and
// launches a Pod for each. Run two or more. What it is told, and by which variables, is in package dispatcher/kube/environment.
package main

import (
	"context"
	"os"

	"github.com/squall-chaos/squall/cmd/internal/replica"
	"github.com/squall-chaos/squall/dispatcher"
)

func main() { os.Exit(replica.Main("dispatcher", run, os.Args[1:], os.LookupEnv, os.Stderr)) }

func run(ctx context.Context, id dispatcher.InstanceID, s dispatcher.Settings, p dispatcher.Ports, _ dispatcher.System) error {
	return dispatcher.RunDispatcher(ctx, id, s, p)
}
