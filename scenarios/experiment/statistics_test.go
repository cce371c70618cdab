package experiment

import (
	"math"
	"testing"
	"time"
)

func near(got, want float64) bool { return math.Abs(got-want) <= 5e-4*max(1, math.Abs(want)) }

// The values are those of R: qt, binom.test, p.adjust.
func TestStatistics(t *testing.T) {
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"qt(.975, 1)", studentQuantile(0.975, 1), 12.7062},
		{"qt(.975, 9)", studentQuantile(0.975, 9), 2.26216},
		{"qt(.975, 999)", studentQuantile(0.975, 999), 1.96234},
		{"0 of 1000, upper", shareOf(0, 1000).High, 0.0029912},
		{"0 of 20, upper", shareOf(0, 20).High, 0.139108},
		{"3 of 20, lower", shareOf(3, 20).Low, 0.0320709},
		{"3 of 20, upper", shareOf(3, 20).High, 0.378927},
		{"20 of 20, lower", shareOf(20, 20).Low, 0.860892},
		{"binom.test(0, 6)", signTest(0, 6), 0.03125},
		{"binom.test(2, 10)", signTest(8, 2), 0.109375},
		{"binom.test(5, 10)", signTest(5, 5), 1},
		{"no pair differs", signTest(0, 0), 1},
		{"mean", meanOf([]float64{1, 2, 3, 4}).Value, 2.5},
		{"lower", meanOf([]float64{1, 2, 3, 4}).Low, 0.445739},
		{"holm", holm([]float64{0.01, 0.04, 0.03})[1], 0.06},
		{"holm, smallest", holm([]float64{0.01, 0.04, 0.03})[0], 0.03},
	} {
		if !near(c.got, c.want) {
			t.Errorf("%s: got %v, want %v", c.what, c.got, c.want)
		}
	}
	if i := meanOf([]float64{7, 7, 7}); i.Low != 7 || i.High != 7 {
		t.Errorf("what does not scatter has no width: %+v", i)
	}
	if i := meanOf([]float64{7}); !i.Holds(1e9) {
		t.Errorf("one run says nothing of how they scatter: %+v", i)
	}
}

func TestPercentiles(t *testing.T) {
	runs := make([][]time.Duration, 100)
	for i := range runs {
		runs[i] = []time.Duration{time.Duration(i+1) * time.Second}
	}
	got := percentiles(runs, []float64{0.5, 0.95, 0.99})
	if got[0].Value != 50 || got[1].Value != 95 || got[2].Value != 99 {
		t.Errorf("%+v", got)
	}
	// The median's interval from order statistics is about 40 to 61.
	if got[0].Low < 36 || got[0].Low > 44 || got[0].High < 57 || got[0].High > 65 {
		t.Errorf("the median's interval is %+v", got[0])
	}
	// Ten losses of one run say no more than one.
	for i := range runs {
		for range 9 {
			runs[i] = append(runs[i], runs[i][0])
		}
	}
	if again := percentiles(runs, []float64{0.5}); again[0].High-again[0].Low < 0.7*(got[0].High-got[0].Low) {
		t.Errorf("clusters of losses are taken for independent: %+v after %+v", again[0], got[0])
	}
	if none := percentiles(make([][]time.Duration, 3), []float64{0.5}); none[0].N != 0 {
		t.Errorf("of nothing: %+v", none)
	}
}
