// Command reconciler is one replica of the reference reconciler: it campaigns for its lease and, while it leads, compares the tasks
// that should run with the Pods that exist. It shares no process, Pod or lease with what it recovers. Run two or more. What it is
// told, and by which variables, is in package dispatcher/kube/environment.
package main

import (
	"context"
	"os"

	"github.com/squall-chaos/squall/cmd/internal/replica"
	"github.com/squall-chaos/squall/dispatcher"
)

func main() { os.Exit(replica.Main("reconciler", run, os.Args[1:], os.LookupEnv, os.Stderr)) }

func run(ctx context.Context, id dispatcher.InstanceID, s dispatcher.Settings, p dispatcher.Ports, y dispatcher.System) error {
	return dispatcher.RunReconciler(ctx, id, s, p, y.Witness)
}
