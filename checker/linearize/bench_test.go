package linearize

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/squall-chaos/squall/checker/history"
)

// The budgets are 0.3 s for 100,000 operations and 3 s for 1,000,000, the goals a tenth of that in 250 MB, on one core.
func BenchmarkCheck(b *testing.B) {
	for _, tasks := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("operations=%d/legal", 10*tasks), func(b *testing.B) {
			benchmark(b, (&synthetic{tasks: tasks}).history(), Ok)
		})
		b.Run(fmt.Sprintf("operations=%d/illegal", 10*tasks), func(b *testing.B) {
			benchmark(b, (&synthetic{tasks: tasks, illegal: tasks / 2}).history(), Illegal)
		})
	}
}

// benchmark reports, beside the time, an upper bound of the peak memory: the history, and all that the check allocates.
func benchmark(b *testing.B, h *history.History, want Verdict) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for b.Loop() {
		got := Check(h, Options{Narrow: true})
		if got.Ledger.Verdict != want || got.Leadership.Verdict != Ok {
			b.Fatal(got)
		}
	}
	runtime.ReadMemStats(&after)
	allocated := float64(after.TotalAlloc-before.TotalAlloc) / float64(b.N)
	b.ReportMetric(float64(len(h.Operations))*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mops/s")
	b.ReportMetric((float64(before.HeapAlloc)+allocated)/1e6, "MB-peak")
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/check")
}

// BenchmarkPorcupine is the reference on a tenth of it, for comparison.
func BenchmarkPorcupine(b *testing.B) {
	h := (&synthetic{tasks: 10_000}).history()
	b.ReportAllocs()
	for b.Loop() {
		if referenceVerdict(h, Options{Narrow: true}) != Ok {
			b.Fatal("not ok")
		}
	}
}

// BenchmarkTwoLostClaims is 10,000 tasks with two lost claims each, which nobody can narrow.
func BenchmarkTwoLostClaims(b *testing.B) {
	one := lostClaims(2, true)
	h := &history.History{Processes: one.Processes}
	for task := range 10_000 {
		h.Tasks = append(h.Tasks, fmt.Sprint(task))
		for _, o := range one.Operations[:10] {
			o.Task = history.ID(task + 1)
			h.Operations = append(h.Operations, o)
		}
	}
	benchmark(b, h, Ok)
}
