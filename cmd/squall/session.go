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
	flags.StringVar(&o.context, "context", "", "kind: a cluster that Squall did not make, by its kubeconfig `context`; needs --namespace")
	flags.StringVarP(&o.namespace, "namespace", "n", "", "kind: the namespace there, which must carry the label squall/allow-chaos")
	flags.IntVar(&o.lanes, "lanes", 0, "kind: runs side by side (default: what the machine can carry)")
}

var clusterFlagNames = []string{"node-image", "cluster", "keep", "context", "namespace", "lanes"}

// checkCluster refuses flags that the world does not look at, and those that contradict each other.
func (o worldOptions) check(cmd *cobra.Command, w worldEntry) error {
	given := cmd.Flags().Changed
	for _, name := range clusterFlagNames {
		if given(name) && !w.live {
			return usage("--%s is about real clusters, and world %s has none: add --world kind", name, w.name)
		}
	}
	switch {
	case given("lanes") && o.lanes < 1:
		return usage("--lanes %d: at least 1 run must go on", o.lanes)
	case o.context != "" && o.namespace == "":
		return usage("--context %s is a cluster that Squall did not make: name the namespace to break things in with --namespace, and allow it with: "+
			"kubectl --context %s label namespace NAME squall/allow-chaos=true", o.context, o.context)
	case o.namespace != "" && o.context == "":
		return usage("--namespace is for a cluster that Squall did not make, and needs --context; in its own ones Squall makes namespaces itself")
	case o.context != "" && (o.cluster != "" || o.keep || o.nodeImage != ""):
		return usage("--context names a cluster that Squall did not make; --cluster, --keep and --node-image are for those that it makes")
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
