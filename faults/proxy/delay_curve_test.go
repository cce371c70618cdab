package proxy

import (
	"testing"
	"time"

	"github.com/squall-chaos/squall/clusters"
)

// TestDelaysSurviveTheWire sends every shape there and back.
func TestDelaysSurviveTheWire(t *testing.T) {
	curve := clusters.Empirical(clusters.Curve{{Percent: 0, At: time.Second}, {Percent: 99.9, At: 2 * time.Second}, {Percent: 100, At: 9 * time.Second}})
	for _, d := range []clusters.Dist{
		clusters.Fixed(time.Second), clusters.Uniform(1, time.Second), curve,
		{Shape: clusters.WeibullShape, A: time.Second, B: 3 * time.Second},
		{Shape: clusters.LogNormalShape, A: time.Second, B: 3 * time.Second},
	} {
		text, err := Delay(d).MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var back Delay
		if err := back.UnmarshalText(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if got := clusters.Dist(back); got.Max() != d.Max() || got.Shape != d.Shape || got.Min() != d.Min() {
			t.Errorf("%s comes back as %+v", text, got)
		}
	}
	for _, wrong := range []string{"percentiles", "percentiles 0 1s", "percentiles 0 1s 50 2s", "percentiles 0 2s 100 1s", "percentiles a 1s 100 2s",
		"percentiles 0 1s 100 -2s", "percentiles 50 1s 0 2s 100 3s", "weibull 2s 1s"} {
		var d Delay
		if err := d.UnmarshalText([]byte(wrong)); err == nil {
			t.Errorf("%q is taken for %+v", wrong, d)
		}
	}
}
