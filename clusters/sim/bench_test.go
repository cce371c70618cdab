package sim

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
)

// platform is a quick and steady one.
func platform() clusters.Platform {
	return clusters.Platform{
		APILatency:   clusters.Uniform(2*time.Millisecond, 20*time.Millisecond),
		StoreLatency: clusters.Uniform(time.Millisecond, 10*time.Millisecond),
		Scheduling:   clusters.Uniform(10*time.Millisecond, 100*time.Millisecond),
		ImagePull:    clusters.Uniform(time.Second, 10*time.Second),
		Startup:      clusters.Uniform(500*time.Millisecond, 2*time.Second),
		Shutdown:     clusters.Uniform(100*time.Millisecond, 2*time.Second),
		Provisioning: clusters.Uniform(30*time.Second, 90*time.Second),
		CacheLag:     clusters.Uniform(0, 2*time.Second),
		ReplicaLag:   clusters.Uniform(0, time.Second),
	}
}

func standard(seed uint64, profile string) clusters.Config {
	s, ok := dispatcher.Profile(profile)
	if !ok {
		panic("no profile " + profile)
	}
	return clusters.Config{
		Seed: seed, Settings: s, Dispatchers: 2, Reconcilers: 2, Platform: platform(),
		Nodes: []clusters.NodeGroup{
			{Name: "od", CapacityType: clusters.OnDemand, Count: 3, Pods: 30},
			{Name: "spot", CapacityType: clusters.Spot, Count: 3, Pods: 30},
		},
	}
}

// submit hands in n tasks over a while.
func submit(w *Cluster, n int, spread time.Duration) {
	r := w.kernel.Stream("workload")
	w.Go("client-1", func(ctx context.Context, p dispatcher.Ports) {
		for i := range n {
			spec := dispatcher.Spec{ID: dispatcher.TaskID(fmt.Sprintf("t%d", i+1)),
				Work: dispatcher.Work{Run: time.Duration(20+r.IntN(100)) * time.Second}}
			for {
				call, cancel := p.Clock.WithTimeout(ctx, 5*time.Second)
				_, err := p.Store.Submit(call, spec)
				if cancel(); err == nil {
					break
				}
				p.Clock.Sleep(ctx, time.Second)
			}
			p.Clock.Sleep(ctx, spread/time.Duration(n))
		}
	})
}

// BenchmarkSimulation is the standard scenario without faults.
func BenchmarkSimulation(b *testing.B) {
	for _, profile := range []string{"tick-300s", "b0"} {
		b.Run(profile, func(b *testing.B) {
			b.ReportAllocs()
			var events, operations uint64
			var virtual time.Duration
			var memory Memory
			for i := range b.N {
				w, err := memory.New(standard(uint64(i), profile))
				if err != nil {
					b.Fatal(err)
				}
				submit(w, 100, 10*time.Minute)
				if err := w.Run(context.Background(), 30*time.Minute, nil); err != nil {
					b.Fatal(err)
				}
				events += w.Events()
				operations += uint64(len(w.History().Operations))
				virtual += w.Now()
				if !w.Quiet() && w.config.Settings.TTLAfterFinished == 0 {
					b.Errorf("seed %d: not quiet at the end", i)
				}
				memory.Recycle(w)
			}
			b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
			b.ReportMetric(float64(events)/float64(b.N), "events/run")
			b.ReportMetric(float64(operations)/float64(b.N), "operations/run")
			b.ReportMetric(virtual.Seconds()/b.Elapsed().Seconds(), "x-real-time")
		})
	}
}
