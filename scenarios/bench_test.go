package scenarios_test

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/sim"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/scenarios"
)

// BenchmarkStandard is the standard scenario under one seed after another, checking included, on one core.
func BenchmarkStandard(b *testing.B) {
	s := named(b, "swarm-standard")
	var virtual time.Duration
	var events uint64
	var operations int
	b.ReportAllocs()
	for i := range b.N {
		var world *sim.Cluster
		r := scenarios.Run(context.Background(), s, scenarios.Options{System: planted.Reference(), Seed: uint64(i + 1),
			World: func(c clusters.Config) (clusters.Cluster, error) {
				var err error
				world, err = sim.New(c)
				return world, err
			}})
		if r.Err != nil {
			b.Fatal(r.Err)
		}
		virtual += r.Virtual
		events += world.Events()
		operations += len(r.History.Operations)
	}
	seconds := b.Elapsed().Seconds()
	b.ReportMetric(virtual.Seconds()/seconds, "x-realtime")
	b.ReportMetric(float64(events)/seconds, "events/s")
	b.ReportMetric(float64(operations)/float64(b.N), "operations/run")
	b.ReportMetric(float64(b.N)/seconds, "seeds/s")
}

// BenchmarkSeeds is the swarm plan over many seeds on all cores that GOMAXPROCS allows; compare -cpu 1 with -cpu 2.
func BenchmarkSeeds(b *testing.B) {
	s := named(b, "swarm-standard")
	m := many(planted.Reference(), b.N)
	m.Workers = runtime.GOMAXPROCS(0)
	t := scenarios.Seeds(context.Background(), s, m)
	if len(t.Failed) > 0 {
		b.Fatal(t.Failed[0])
	}
	b.ReportMetric(float64(t.Seeds)/b.Elapsed().Seconds(), "seeds/s")
}
