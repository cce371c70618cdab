package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// closing is how long the end of a world may take.
const closing = 2 * time.Minute

func closeSessions(open map[string]*session) error {
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	var failed error
	for _, name := range slices.Sorted(maps.Keys(open)) {
		if s := open[name]; s.close != nil {
			if err := s.close(ctx); err != nil {
				failed = errors.Join(failed, fmt.Errorf("end world %s: %w", name, err))
			}
		}
	}
	clear(open)
	return failed
}

// clusterFlags are the flags that only a world with a real cluster looks at.
func clusterFlags(flags *pflag.FlagSet, o *worldOptions) {
	flags.StringVar(&o.nodeImage, "node-image", "", "kind: the node `image` to make a cluster of")
	flags.StringVar(&o.cluster, "cluster", "", "kind: the `name` of the cluster to use, made when there is none")
	flags.BoolVar(&o.keep, "keep", false, "kind: keep the cluster for the next run")
	flags.StringVar(&o.injector, "injector", ownInjector, "kind: `what` strikes the faults: squall, or chaosmesh where that can, which must be installed in the cluster")
	namespaceFlags(flags, o)
	flags.StringVar(&o.image, "image", "", "cluster: the `image` of the programs that it can pull (default: loaded into a kind cluster)")
	flags.StringVar(&o.postgres, "postgres-image", "", "cluster: the `image` of Postgres 17 (default: likewise, else the official one)")
	flags.IntVar(&o.lanes, "lanes", 0, "kind: runs side by side (default: what the machine can carry)")
}

// namespaceFlags name a namespace of a cluster that Squall did not make.
func namespaceFlags(flags *pflag.FlagSet, o *worldOptions) {
	flags.StringVar(&o.context, "context", "", "cluster: a cluster that Squall did not make, by its kubeconfig `context`; needs --namespace")
	flags.StringVarP(&o.namespace, "namespace", "n", "", "cluster: the namespace there, which must carry the label squall/allow-chaos=true")
}

// The flags by the world that looks at them.
var (
	kindFlagNames   = []string{"node-image", "cluster", "keep", "injector", "lanes"}
	sharedFlagNames = []string{"context", "namespace", "image", "postgres-image"}
)

// sharedWorld is the world in a cluster that Squall did not make.
const sharedWorld = "cluster"

// check refuses flags that the world does not look at, and those that contradict each other.
func (o worldOptions) check(cmd *cobra.Command, w worldEntry) error {
	given := cmd.Flags().Changed
	for _, name := range slices.Concat(kindFlagNames, sharedFlagNames) {
		if given(name) && !w.live {
			return usage("--%s is about real clusters, and world %s has none: add --world %s", name, w.name, worldOf(name))
		}
	}
	if err := checkInjector(o.injector); err != nil {
		return err
	}
	if given("lanes") && o.lanes < 1 {
		return usage("--lanes %d: at least 1 run must go on", o.lanes)
	}
	if w.name == sharedWorld {
		return o.checkShared(given)
	}
	if o.context != "" || o.namespace != "" {
		return usage("--context and --namespace are for a cluster that Squall did not make, and world %s makes its own: add --world %s", w.name, sharedWorld)
	}
	if o.image != "" || o.postgres != "" {
		return usage("--image and --postgres-image are for a cluster that Squall did not make: add --world %s; world %s gets what it needs by itself", sharedWorld, w.name)
	}
	return nil
}

func worldOf(flag string) string {
	if slices.Contains(sharedFlagNames, flag) {
		return sharedWorld
	}
	return "kind"
}

// checkShared is of a cluster that Squall did not make.
func (o worldOptions) checkShared(given func(string) bool) error {
	for _, name := range kindFlagNames {
		if given(name) {
			return usage("--%s is for clusters that Squall makes (--world kind); --context names one that it did not make", name)
		}
	}
	switch {
	case o.context == "":
		return usage("world %s is a cluster that Squall did not make: name it with --context and the namespace to break things in with --namespace", sharedWorld)
	case o.namespace == "":
		return usage("--context %s is a cluster that Squall did not make: name the namespace to break things in with --namespace, and allow it with: "+
			"kubectl --context %s label namespace NAME squall/allow-chaos=true", o.context, o.context)
	}
	return nil
}

// lineLock keeps lines of several goroutines apart.
var lineLock sync.Mutex

// lineWriter writes whole lines, each with a prefix, from any goroutine.
type lineWriter struct {
	to     io.Writer
	prefix string
	rest   []byte
}

// lines is where progress goes line by line; nowhere when squall is to be quiet.
func (c *console) lines(prefix string) io.Writer {
	if c.quiet {
		return io.Discard
	}
	return &lineWriter{to: c.err, prefix: prefix}
}

func (w *lineWriter) Write(p []byte) (int, error) {
	lineLock.Lock()
	defer lineLock.Unlock()
	w.rest = append(w.rest, p...)
	for {
		line, rest, found := bytes.Cut(w.rest, []byte("\n"))
		if !found {
			return len(p), nil
		}
		if _, err := fmt.Fprintf(w.to, "%s%s\n", w.prefix, line); err != nil {
			return 0, err
		}
		w.rest = rest
	}
}
