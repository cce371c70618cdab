package sim

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/planted"
)

// TestFork: a run is the one of its seed up to the fork, another one after it, and the same each time.
func TestFork(t *testing.T) {
	settings, _ := dispatcher.Profile("b0")
	run := func(fork clusters.Fork) *history.History {
		c, err := New(clusters.Config{Seed: 7, Settings: settings, System: planted.Reference(), Dispatchers: 2, Reconcilers: 2,
			Nodes: []clusters.NodeGroup{{Name: "od", CapacityType: clusters.OnDemand, Count: 2, Pods: 5}},
			Platform: clusters.Platform{APILatency: clusters.Uniform(time.Millisecond, 20*time.Millisecond),
				StoreLatency: clusters.Uniform(time.Millisecond, 8*time.Millisecond)}, Fork: fork})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		if err := c.Run(context.Background(), time.Minute, nil); err != nil {
			t.Fatal(err)
		}
		return c.History()
	}
	const at = 40
	plain, forked, again := run(clusters.Fork{}), run(clusters.Fork{At: at, Seed: 1}), run(clusters.Fork{At: at, Seed: 1})
	if forked.Meta.TraceHash != again.Meta.TraceHash {
		t.Error("the same fork is another run the second time")
	}
	if forked.Meta.TraceHash == plain.Meta.TraceHash {
		t.Error("the fork changed nothing")
	}
	for i, o := range plain.Operations {
		if o.Return != 0 && o.Return < at && !reflect.DeepEqual(o, forked.Operations[i]) {
			t.Errorf("before the fork: %+v, forked %+v", o, forked.Operations[i])
		}
	}
}
