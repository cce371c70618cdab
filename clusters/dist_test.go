package clusters

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestDrawsKeepTheirPercentiles draws often, and compares with what the distribution says of itself.
func TestDrawsKeepTheirPercentiles(t *testing.T) {
	curve := Curve{{0, time.Second}, {50, 4 * time.Second}, {99, 30 * time.Second}, {100, 60 * time.Second}}
	for name, c := range map[string]struct {
		dist        Dist
		median, p99 time.Duration
	}{
		"lognormal":   {Dist{Shape: LogNormalShape, A: 4 * time.Second, B: 30 * time.Second}, 4 * time.Second, 30 * time.Second},
		"weibull":     {Dist{Shape: WeibullShape, A: 4 * time.Second, B: 30 * time.Second}, 4 * time.Second, 30 * time.Second},
		"percentiles": {Empirical(curve), 4 * time.Second, 30 * time.Second},
		"no spread":   {Dist{Shape: WeibullShape, A: 4 * time.Second, B: 4 * time.Second}, 4 * time.Second, 4 * time.Second},
	} {
		r := rand.New(rand.NewPCG(1, 2))
		draws := make([]time.Duration, 40_000)
		for i := range draws {
			draws[i] = c.dist.Draw(r)
		}
		slices.Sort(draws)
		for percent, want := range map[int]time.Duration{50: c.median, 99: c.p99} {
			if got := draws[len(draws)*percent/100]; math.Abs(float64(got-want)) > 0.05*float64(want) {
				t.Errorf("%s: percentile %d of the draws is %s, want %s", name, percent, got, want)
			}
		}
		if c.dist.Median() != c.median {
			t.Errorf("%s: the median is %s, want %s", name, c.dist.Median(), c.median)
		}
		if most := c.dist.Max(); c.dist.Shape == EmpiricalShape && (draws[len(draws)-1] > most || draws[0] < c.dist.Min()) {
			t.Errorf("%s: draws from %s to %s, out of %s to %s", name, draws[0], draws[len(draws)-1], c.dist.Min(), most)
		}
	}
}

func TestEachChangesEveryDuration(t *testing.T) {
	d := Empirical(Curve{{0, 2 * time.Second}, {100, 4 * time.Second}})
	half := d.Each(func(d time.Duration) time.Duration { return d / 2 })
	if half.Min() != time.Second || half.Max() != 2*time.Second || d.Max() != 4*time.Second {
		t.Errorf("half of 2s to 4s is %s to %s, and the whole %s", half.Min(), half.Max(), d.Max())
	}
}

func TestMachinesDifferByType(t *testing.T) {
	p := Platform{Provisioning: Fixed(time.Minute), ImagePull: Fixed(time.Second), Spot: Machine{Provisioning: Fixed(3 * time.Minute)}}
	if got := p.On(Spot); got.Provisioning.A != 3*time.Minute || got.ImagePull.A != time.Second {
		t.Errorf("on spot: %+v", got)
	}
	if got := p.On(OnDemand); got.Provisioning.A != time.Minute {
		t.Errorf("on demand: %+v", got)
	}
}
