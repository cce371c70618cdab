package main

import (
	"context"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/scenarios"
)

func standard(b *testing.B) *scenarios.Scenario {
	b.Helper()
	s, err := scenarios.Find("swarm-standard")
	if err != nil {
		b.Fatal(err)
	}
	before := debug.SetGCPercent(garbage)
	b.Cleanup(func() { debug.SetGCPercent(before) })
	return s
}

// counting adds up the kernel events of worlds that are over.
type counting struct {
	simWorld
	events *atomic.Uint64
}

func (c counting) Recycle() {
	c.events.Add(c.Events())
	c.simWorld.Recycle()
}

// BenchmarkStandard is the standard scenario under one seed after another, checking included, on as many workers as GOMAXPROCS
// allows: -cpu 1 has the figures per core; compare its seeds/s with those of -cpu 2.
func BenchmarkStandard(b *testing.B) {
	s := standard(b)
	var events atomic.Uint64
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	b.ReportAllocs()
	b.ResetTimer()
	t := scenarios.Seeds(context.Background(), s, scenarios.Many{From: 1, Count: b.N, Workers: runtime.GOMAXPROCS(0), Forget: true,
		Options: scenarios.Options{System: planted.Reference(), World: func(ctx context.Context, c clusters.Config) (clusters.Cluster, error) {
			w, err := openSim(ctx, c)
			if err != nil {
				return nil, err
			}
			return counting{w.(simWorld), &events}, nil
		}}})
	b.StopTimer()
	runtime.ReadMemStats(&after)
	if len(t.Failed) > 0 {
		b.Fatal(t.Failed[0])
	}
	seconds := b.Elapsed().Seconds()
	b.ReportMetric(t.Virtual.Seconds()/seconds, "x-realtime")
	b.ReportMetric(float64(events.Load())/seconds, "events/s")
	b.ReportMetric(float64(events.Load())/float64(b.N), "events/run")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(events.Load()), "allocs/event")
	b.ReportMetric(float64(t.Seeds)/seconds, "seeds/s")
}
