package explore

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/scenarios"
)

// finding is what one run was like.
type finding struct {
	result   scenarios.Result
	accesses []clusters.Access
	calls    []clusters.Called
	hash     uint64
}

// runAll makes runs side by side. What is known does not change meanwhile.
func (x *search) runAll(ctx context.Context, paths []*Path) []finding {
	found := make([]finding, len(paths))
	var next atomic.Int64
	var running sync.WaitGroup
	for range min(max(x.Workers, 1), len(paths)) {
		running.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(paths) || ctx.Err() != nil {
					return
				}
				found[i] = x.make(ctx, paths[i])
			}
		})
	}
	running.Wait()
	for i := range found {
		if found[i].result.Scenario == nil { // it was not begun
			found[i].result.Interrupted = true
		}
	}
	return found
}

// make makes one run, up to a state that is known.
func (x *search) make(ctx context.Context, p *Path) finding {
	o := x.Options
	o.Plan, o.Order = p.Plan, p.Order
	o.Seen = func(index int, state uint64) bool { return index >= p.position && x.knows(p, state) }
	f := finding{result: scenarios.Run(ctx, x.Scenario, o)}
	if world := f.result.Orderly(); world != nil {
		accesses, calls := world.Accesses()
		f.accesses, f.calls = accesses, calls
	}
	if f.result.History != nil {
		f.hash = f.result.History.Meta.TraceHash
	}
	f.result.Forget()
	return f
}
