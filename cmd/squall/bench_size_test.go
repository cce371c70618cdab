package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker"
	"github.com/squall-chaos/squall/checker/synthetic"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/scenarios"
)

// sized is half an hour on the base profile, with batches and machines for that many tasks.
func sized(b *testing.B, tasks, replicas int) *scenarios.Scenario {
	b.Helper()
	batch := max(10, tasks/180) // twice what comes in a tick of five seconds
	text := fmt.Sprintf(`apiVersion: squall/v1alpha1
kind: Scenario
name: sized
summary: Cost against size.
profile: b0
settings: {claim_batch: %d, recover_batch: %d, launch_rate: 0}
replicas: {dispatchers: %d, reconcilers: %d}
nodes: [{name: od, capacity_type: on-demand, count: %d, pods: 100}]
platform: {api_latency: 2ms, store_latency: 1ms, scheduling: 10ms, image_pull: 1s, startup: 500ms}
tasks: [{name: task, count: %d, arrive: {every: %dus}, run: {uniform: [20s, 60s]}}]
horizon: 30m
expect: {tolerate: [I5-rate]} # a limit for small clusters
`, batch, max(50, 6*batch), replicas, replicas, 2+tasks/1500, tasks, 1_800_000_000/tasks/2)
	s, err := scenarios.Parse("sized.yaml", []byte(text))
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// processor is how much processor time the process has had: on a shared machine the clock on the wall tells of the others.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// cost reports what one of b.N took.
func cost(b *testing.B, things float64, what string, one func()) {
	before := debug.SetGCPercent(garbage)
	defer debug.SetGCPercent(before)
	runtime.GC()
	var first, last runtime.MemStats
	runtime.ReadMemStats(&first)
	began := processor()
	for range b.N {
		one()
	}
	took := processor() - began
	runtime.ReadMemStats(&last)
	n := float64(b.N)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(took.Seconds()*1000/n, "cpu-ms")
	b.ReportMetric(float64(last.TotalAlloc-first.TotalAlloc)/n/1e6, "MB-allocated")
	b.ReportMetric(things, what)
	if things > 0 {
		b.ReportMetric(float64(took.Nanoseconds())/n/things, "cpu-ns/"+what)
	}
}

// BenchmarkTasks is a whole run, checking included, against the number of tasks.
func BenchmarkTasks(b *testing.B) {
	for _, tasks := range []int{10, 100, 1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(tasks), func(b *testing.B) { benchmarkSized(b, sized(b, tasks, 2)) })
	}
}

// BenchmarkReplicas is the same with 1,000 tasks against the number of dispatchers and of reconcilers.
func BenchmarkReplicas(b *testing.B) {
	for _, replicas := range []int{2, 10, 50} {
		b.Run(fmt.Sprint(replicas), func(b *testing.B) { benchmarkSized(b, sized(b, 1000, replicas)) })
	}
}

func benchmarkSized(b *testing.B, s *scenarios.Scenario) {
	run := func() (int, int) {
		events := 0
		r := scenarios.Run(context.Background(), s, scenarios.Options{Seed: 1, System: planted.Reference(),
			World: func(ctx context.Context, c clusters.Config) (clusters.Cluster, error) {
				w, err := openSim(ctx, c)
				if err == nil {
					w = watched{w.(simWorld), &events}
				}
				return w, err
			}})
		if r.Err != nil || r.Verdict != checker.Valid {
			b.Fatalf("%s: %v %+v", r.Verdict, r.Err, r.Report.First())
		}
		operations := len(r.History.Operations)
		r.Forget()
		return events, operations
	}
	events, operations := run()
	cost(b, float64(events), "events", func() { run() })
	b.ReportMetric(float64(operations), "operations")
}

// watched tells how many events its run took.
type watched struct {
	simWorld
	events *int
}

func (w watched) Recycle() {
	*w.events = int(w.Events())
	w.simWorld.Recycle()
}

// BenchmarkOperations is the checker, everything on, against the number of operations.
func BenchmarkOperations(b *testing.B) {
	for _, operations := range []int{1_000, 10_000, 100_000, 1_000_000, 10_000_000} {
		b.Run(fmt.Sprint(operations), func(b *testing.B) {
			h := synthetic.History(synthetic.Options{Seed: 1, Tasks: operations / synthetic.OperationsPerTask, Lost: 0.1, Unknown: 0.02})
			var memory runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&memory)
			cost(b, float64(len(h.Operations)), "operations", func() {
				if r := checker.Check(h, checker.Options{}); r.Verdict != checker.Valid {
					b.Fatalf("%+v", r.First())
				}
			})
			b.ReportMetric(float64(memory.HeapAlloc)/1e6, "MB-history")
		})
	}
}
