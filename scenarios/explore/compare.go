package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/scenarios"
)

// Comparison is how long three ways of looking take until they see a defect: the seeds of swarms with ties and latencies at random, the
// same with probabilistic concurrency testing, and a search of small worlds.
type Comparison struct {
	Systems []dispatcher.System
	World   scenarios.World
	// Swarms are scenarios whose seeds are taken in turn, from 1; Most is how many runs of them there are at most.
	Swarms []*scenarios.Scenario
	Most   int
	// PCT is how events are ordered by it; its Choices are measured.
	PCT clusters.Order
	// Small are scenarios that are searched, one after the other, within the Bounds.
	Small  []*scenarios.Scenario
	Bounds Bounds
	// MostEach is how many runs there are of each of them at most, rounded up to whole batches.
	MostEach int
	Workers  int // systems side by side; the result does not depend on it
	// Known are detections of an earlier comparison of the same. One whose system does as it did then is not made again.
	Known []Detection
	// Until, when set, is the moment after which no further system is begun.
	Until time.Time
	// Each is told of every system, in order. May be nil.
	Each func(Detection)
}

// Detection is what it took to see one system fail.
type Detection struct {
	System string
	// Trace tells what the system did under the first seed of each scenario: another program does something else.
	Trace   uint64 `json:",string"`
	Random  Sight
	PCT     Sight
	Explore Sight
}

// Sight is what one way took.
type Sight struct {
	// Runs, the last of them failing; 0: none failed of all that there were.
	Runs int
	// Tried is how many runs there were.
	Tried int
	// Calls that processes and workers made in all of these runs: what they cost, on any machine.
	Calls int
	// Where that was: a scenario, and which of its seeds or runs. Violated names the invariants that the failing run violated.
	Where    string
	Violated []string
	Err      error `json:"-"`
}

// Failed is the first failure of the harness.
func (d *Detection) Failed() error {
	return errors.Join(d.Random.Err, d.PCT.Err, d.Explore.Err)
}

// Compare compares. When ctx ends, or the time, before all systems were tried, it returns those that were, up to the first that was not.
func Compare(ctx context.Context, c Comparison) []Detection {
	found := make([]Detection, len(c.Systems))
	finished := make([]bool, len(c.Systems))
	told := 0
	var lock sync.Mutex
	var next atomic.Int64
	var working sync.WaitGroup
	for range min(max(c.Workers, 1), len(c.Systems)) {
		working.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(c.Systems) || ctx.Err() != nil || !c.Until.IsZero() && time.Now().After(c.Until) {
					return
				}
				d := c.detect(ctx, c.Systems[i])
				lock.Lock()
				found[i], finished[i] = d, ctx.Err() == nil
				for told < len(finished) && finished[told] {
					if c.Each != nil {
						c.Each(found[told])
					}
					told++
				}
				lock.Unlock()
			}
		})
	}
	working.Wait()
	return found[:told]
}

func (c *Comparison) detect(ctx context.Context, system dispatcher.System) Detection {
	trace := c.trace(ctx, system)
	for i := range c.Known {
		if k := &c.Known[i]; k.System == system.Name && k.Trace == trace {
			return *k
		}
	}
	return Detection{System: system.Name, Trace: trace, Random: c.sample(ctx, system, clusters.Order{}), PCT: c.sample(ctx, system, c.PCT),
		Explore: c.search(ctx, system)}
}

// trace folds those of the first seed of each scenario.
func (c *Comparison) trace(ctx context.Context, system dispatcher.System) uint64 {
	var folded uint64
	for _, s := range slices.Concat(c.Swarms, c.Small) {
		r := scenarios.Run(ctx, s, scenarios.Options{System: system, Seed: 1, World: c.World})
		if r.History != nil {
			folded = folded*0x9e3779b97f4a7c15 + r.History.Meta.TraceHash
		}
		r.Forget()
	}
	return folded
}

// sample runs seeds of the swarms until one is invalid.
func (c *Comparison) sample(ctx context.Context, system dispatcher.System, order clusters.Order) Sight {
	var sight Sight
	orders := make([]clusters.Order, len(c.Swarms))
	for n := 0; n < c.Most && ctx.Err() == nil; n++ {
		which := n % len(c.Swarms)
		o := scenarios.Options{System: system, Seed: uint64(n/len(c.Swarms) + 1), World: c.World, Order: order}
		if n < len(c.Swarms) {
			orders[which] = Measured(ctx, c.Swarms[which], o)
		}
		o.Order = orders[which]
		r := scenarios.Run(ctx, c.Swarms[which], o)
		sight.Tried++
		if r.History != nil {
			sight.Calls += len(r.History.Operations)
		}
		failed := r.Verdict == checker.Invalid
		if sight.Err = r.Err; failed {
			sight.Runs, sight.Violated = sight.Tried, violated(&r)
			sight.Where = fmt.Sprintf("%s, seed %d", c.Swarms[which].Name, o.Seed)
		}
		r.Forget()
		if failed || sight.Err != nil {
			break
		}
	}
	return sight
}

// search explores the small worlds until a run fails.
func (c *Comparison) search(ctx context.Context, system dispatcher.System) Sight {
	var sight Sight
	for _, s := range c.Small {
		o := Run(ctx, Search{Scenario: s, Options: scenarios.Options{System: system, Seed: 1, World: c.World}, Bounds: c.Bounds, Workers: 1, Most: c.MostEach})
		before := sight.Tried
		sight.Tried += o.Runs
		if sight.Err = o.Failed; sight.Err != nil {
			return sight
		}
		if f := o.First; f != nil {
			sight.Runs, sight.Tried, sight.Violated = before+f.Number, before+f.Number, f.Violated()
			sight.Where = fmt.Sprintf("%s, run %d", s.Name, f.Number)
			sight.Calls += f.Calls
			return sight
		}
		sight.Calls += o.Calls
	}
	return sight
}

// Measured is the order with the length of runs, which is what the change points of PCT are drawn from: that of a run without any. Other
// orders are returned as they are.
func Measured(ctx context.Context, s *scenarios.Scenario, o scenarios.Options) clusters.Order {
	order := o.Order
	if order.Strategy != clusters.PCT || order.Choices > 0 {
		return order
	}
	o.Order.Depth = 1
	r := scenarios.Run(ctx, s, o)
	if world := r.Orderly(); world != nil {
		order.Choices, _ = world.Choices()
	}
	r.Forget()
	order.Choices = max(order.Choices, 1)
	return order
}

func violated(r *scenarios.Result) []string {
	var names []string
	for _, inv := range r.Report.Invariants {
		if inv.Verdict == checker.Invalid {
			names = append(names, inv.Name)
		}
	}
	return names
}

// Window is how long an event may be passed over when nobody says otherwise: ten times what a call takes in a healthy cluster, and far below
// what any timeout of a profile allows for.
const Window = 250 * time.Millisecond
