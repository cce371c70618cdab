package kernel

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkKernelYield is the budget of the design: coroutines that only yield.
func BenchmarkKernelYield(b *testing.B) {
	for _, processes := range []int{50, 500, 5000} {
		b.Run(fmt.Sprint(processes), func(b *testing.B) {
			k := New(1)
			yield := k.Label("yield")
			for i := range processes {
				d := time.Duration(1000 + i)
				k.Spawn("p", func(p *Process) {
					for {
						p.Sleep(d, yield)
					}
				})
			}
			measure(b, k)
			k.Close()
		})
	}
}

// BenchmarkKernelCallback is models: timers that set the next one.
func BenchmarkKernelCallback(b *testing.B) {
	for _, timers := range []int{50, 5000} {
		b.Run(fmt.Sprint(timers), func(b *testing.B) {
			k := New(1)
			label := k.Label("tick")
			for i := range timers {
				d := time.Duration(1000 + i)
				var tick func()
				tick = func() { k.After(d, label, tick) }
				tick()
			}
			measure(b, k)
		})
	}
}

// BenchmarkKernelStop is timeouts that are set and taken back.
func BenchmarkKernelStop(b *testing.B) {
	k := New(1)
	label, never := k.Label("tick"), func() {}
	var tick func()
	tick = func() {
		k.After(time.Hour, label, never).Stop()
		k.After(10, label, tick)
	}
	tick()
	measure(b, k)
}

func measure(b *testing.B, k *Kernel) {
	if err := k.Run(10_000, nil); err != nil { // past the first growth of every slice
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	first, limit := k.Events(), k.Events()+uint64(b.N)
	for k.Events() < limit {
		if err := k.Run(k.Now()+time.Duration(limit-k.Events()), nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(k.Events()-first)/b.Elapsed().Seconds(), "events/s")
}
