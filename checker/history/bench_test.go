package history_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/checker/synthetic"
)

func perLine(b *testing.B, h *history.History, size int) {
	lines := float64(len(h.Operations) + len(h.Events))
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/lines, "ns/line")
	b.ReportMetric(float64(size)/lines, "B/line")
}

func BenchmarkEncode(b *testing.B) {
	h := synthetic.History(synthetic.Options{Seed: 1, Tasks: 10_000, Lost: 0.1, Unknown: 0.02})
	b.ReportAllocs()
	for b.Loop() {
		if err := history.Encode(io.Discard, h); err != nil {
			b.Fatal(err)
		}
	}
	perLine(b, h, len(encoded(b, h)))
}

func BenchmarkDecode(b *testing.B) {
	h := synthetic.History(synthetic.Options{Seed: 1, Tasks: 10_000, Lost: 0.1, Unknown: 0.02})
	file := encoded(b, h)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := history.Decode(bytes.NewReader(file), "f"); err != nil {
			b.Fatal(err)
		}
	}
	perLine(b, h, len(file))
}
