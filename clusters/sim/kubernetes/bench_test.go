package kubernetes

import (
	"fmt"
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/sim/kernel"
	"github.com/squall-chaos/squall/dispatcher"
)

// quiet is a Host that keeps nothing.
type quiet struct {
	k            *kernel.Kernel
	tasks, nodes *history.Table
}

func (q *quiet) ContainerStarted(c *Container) { q.k.After(time.Minute, 0, func() { c.Exit(0, "") }) }
func (q *quiet) Terminate(*Container)          {}
func (q *quiet) Killed(*Container)             {}
func (q *quiet) Observe(history.Event)         {}
func (q *quiet) Tasks() *history.Table         { return q.tasks }
func (q *quiet) Nodes() *history.Table         { return q.nodes }

// BenchmarkPods runs pods through their whole life (create, bind, start, end, delete, release) on 6 nodes, n at a time.
func BenchmarkPods(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			specs := make([]dispatcher.Workload, n)
			for i := range specs {
				specs[i] = workload(fmt.Sprintf("%05d", i), held, deadline(4*time.Minute))
			}
			settings, _ := dispatcher.Profile("b0")
			b.ReportAllocs()
			pods := 0
			for b.Loop() {
				k := kernel.New(1)
				s := New(k, clusters.Config{Platform: lively, Settings: settings, Nodes: []clusters.NodeGroup{
					pool("od", clusters.OnDemand, 3, n/6+1), pool("spot", clusters.Spot, 3, n/6+1)}},
					&quiet{k, history.NewTable(), history.NewTable()}, &Memory{})
				s.SetCacheLag(clusters.Fixed(0))
				for i := range specs {
					_, _ = s.Create(specs[i])
				}
				_ = k.Run(10*time.Minute, nil)
				for i := range specs {
					_ = s.Delete(specs[i].Name, "", false)
					_ = s.Release(specs[i].Name, "")
				}
				pods += n
			}
			b.ReportMetric(float64(pods)/b.Elapsed().Seconds(), "pods/s")
		})
	}
}

// BenchmarkIdleHour is an hour of 6 nodes with nothing to do: heartbeats that are on time must cost nothing.
func BenchmarkIdleHour(b *testing.B) {
	settings, _ := dispatcher.Profile("b0")
	k := kernel.New(1)
	New(k, clusters.Config{Platform: lively, Settings: settings, Nodes: []clusters.NodeGroup{pool("od", clusters.OnDemand, 6, 10)}},
		&quiet{k, history.NewTable(), history.NewTable()}, &Memory{})
	b.ReportAllocs()
	for b.Loop() {
		_ = k.Run(k.Now()+time.Hour, nil)
	}
}

// BenchmarkList is a list of 100 pods, live and stale.
func BenchmarkList(b *testing.B) {
	for _, stale := range []bool{false, true} {
		b.Run(fmt.Sprintf("stale=%v", stale), func(b *testing.B) {
			k := kernel.New(1)
			s := New(k, clusters.Config{Platform: lively, Nodes: []clusters.NodeGroup{pool("od", clusters.OnDemand, 6, 20)}},
				&quiet{k, history.NewTable(), history.NewTable()}, &Memory{})
			for i := range 100 {
				_, _ = s.Create(workload(fmt.Sprint(i)))
			}
			_ = k.Run(30*time.Second, nil)
			b.ReportAllocs()
			for b.Loop() {
				if page, _ := s.List(dispatcher.List{Stale: stale}); len(page.Items) != 100 {
					b.Fatal(len(page.Items))
				}
			}
		})
	}
}
