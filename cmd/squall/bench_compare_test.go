package main

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/squall-chaos/squall/dispatcher/planted"
	"github.com/squall-chaos/squall/scenarios"
	"github.com/squall-chaos/squall/scenarios/experiment"
)

// BenchmarkCompare is 20 settings of the standard scenario under one seed after another, on as many workers as GOMAXPROCS allows, with all
// that a comparison measures. The budget is 20 settings x 1,000 seeds in 60 s on two cores: s/20x1000 of -cpu 2.
func BenchmarkCompare(b *testing.B) {
	s := standard(b)
	text, _ := scenarios.LibraryFile(s.Name)
	e := &experiment.Experiment{Workloads: []experiment.Workload{{Scenario: s, Text: text}}, System: planted.Reference(), World: openSim, From: 1, Count: max(b.N, 1),
		Workers: runtime.GOMAXPROCS(0)}
	var cells []experiment.Cell
	for i := range 20 {
		o := scenarios.Override{Name: "recovery_grace", Duration: time.Duration(240+15*i) * time.Second}
		cells = append(cells, experiment.Cell{Name: o.String(), Settings: scenarios.Overrides{o}, SpotShare: 1})
	}
	b.ResetTimer()
	if _, err := experiment.Compare(context.Background(), e, cells, 0, experiment.Prices{OnDemand: 1, Spot: 1}, nil, func(int) {}); err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	runs := float64(20*e.Count) / b.Elapsed().Seconds()
	b.ReportMetric(runs, "runs/s")
	b.ReportMetric(20*1000/runs, "s/20x1000")
}
