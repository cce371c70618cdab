package calibration

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/squall-chaos/squall/clusters"
)

var truths = map[string]clusters.Dist{
	"exponential": {Shape: clusters.ExponentialShape, A: 20 * time.Second},
	"lognormal":   {Shape: clusters.LogNormalShape, A: 8 * time.Second, B: 40 * time.Second},
	"weibull":     {Shape: clusters.WeibullShape, A: 60 * time.Second, B: 120 * time.Second},
	"uniform":     clusters.Uniform(60*time.Second, 110*time.Second),
}

// seen are n draws as a cluster would show them; stop is the mean time after which one is cut short, 0: none is.
func seen(d clusters.Dist, n int, by Rounding, stop time.Duration) []Sample {
	r := rand.New(rand.NewPCG(7, uint64(n)))
	samples := make([]Sample, n)
	for i := range samples {
		x := d.Draw(r)
		if cut := time.Duration(r.ExpFloat64() * float64(stop)); stop > 0 && cut < x {
			samples[i] = Sample{Value: cut, AtLeast: true}
			continue
		}
		samples[i] = Sample{Value: rounded(r, x.Seconds(), by), Rounding: by}
	}
	return ordered(samples)
}

// TestFitsFindTheTruth: out of exact, rounded and cut-short samples the family is found again, and its numbers.
func TestFitsFindTheTruth(t *testing.T) {
	for name, truth := range truths {
		for _, by := range []Rounding{Exact, Once, Twice} {
			for _, stop := range []time.Duration{0, 5 * truth.Max()} {
				t.Run(fmt.Sprintf("%s-%d-%s", name, by, stop), func(t *testing.T) {
					r := Judge(Run, clusters.Spot, seen(truth, 600, by, stop))
					if r.Status != Fitted || r.Family != name {
						t.Fatalf("%s %s: %s; %+v", r.Status, r.Family, r.Why, r.Candidates)
					}
					for what, pair := range map[string][2]time.Duration{"A": {r.Dist.A, truth.A}, "B": {r.Dist.B, truth.B}} {
						if off := math.Abs(float64(pair[0]-pair[1])) / float64(max(pair[1], 1)); off > 0.12 {
							t.Errorf("%s is %s, in truth %s", what, pair[0], pair[1])
						}
					}
				})
			}
		}
	}
}

// TestCutShortSamplesCount: half of the work was stopped. To leave that out, or to take it for ended, would halve the median.
func TestCutShortSamplesCount(t *testing.T) {
	truth := truths["lognormal"]
	samples := seen(truth, 800, Twice, 12*time.Second)
	if cut := len(samples) - ended(samples); cut < 300 {
		t.Fatalf("only %d are cut short", cut)
	}
	r := Judge(Run, clusters.Spot, samples)
	if r.Status != Fitted || math.Abs(r.Dist.A.Seconds()-8) > 0.8 {
		t.Errorf("%s: median %s, in truth 8s", r.Status, r.Dist.A)
	}
	var naive []Sample
	for _, s := range samples {
		s.AtLeast = false
		naive = append(naive, s)
	}
	if wrong := Judge(Run, clusters.Spot, naive); wrong.Dist.A > 6500*time.Millisecond {
		t.Errorf("the test shows nothing: taken for ended they give %s", wrong.Dist.A)
	}
}

// TestNoFamilyIsForced: two kinds of work in one, or a tail of its own, is no family, and the percentiles are taken.
func TestNoFamilyIsForced(t *testing.T) {
	mixed := append(seen(clusters.Uniform(2*time.Second, 4*time.Second), 200, Exact, 0), seen(clusters.Uniform(90*time.Second, 95*time.Second), 200, Exact, 0)...)
	heavy := seen(truths["lognormal"], 970, Exact, 0)
	for i := range 30 {
		heavy = append(heavy, Sample{Value: time.Duration(300+i) * time.Second})
	}
	for name, samples := range map[string][]Sample{"mixed": mixed, "heavy tail": heavy} {
		r := Judge(ImagePull, clusters.Spot, ordered(samples))
		if r.Status != Measured || r.Dist.Shape != clusters.EmpiricalShape {
			t.Errorf("%s: %s %s p %.2f distance %.3f tail %+v", name, r.Status, r.Family, r.P, r.Distance, r.Tail)
			continue
		}
		draws := rand.New(rand.NewPCG(3, 4))
		long := 0
		for range 10_000 {
			if r.Dist.Draw(draws) > 80*time.Second {
				long++
			}
		}
		if want := map[string]int{"mixed": 5000, "heavy tail": 330}[name]; math.Abs(float64(long-want)) > 300 {
			t.Errorf("%s: %d of 10000 draws are above 80 s, want about %d", name, long, want)
		}
	}
}

func TestTooLittleIsSaid(t *testing.T) {
	truth := truths["lognormal"]
	mixed := append(seen(clusters.Uniform(2*time.Second, 3*time.Second), 25, Exact, 0), seen(clusters.Uniform(90*time.Second, 91*time.Second), 25, Exact, 0)...)
	for name, c := range map[string]struct {
		samples []Sample
		want    Status
	}{
		"nothing":           {nil, None},
		"nineteen":          {seen(truth, LeastFitted-1, Exact, 0), TooFew},
		"twenty":            {seen(truth, LeastFitted, Exact, 0), Fitted},
		"mostly unfinished": {seen(truth, 40, Exact, time.Second), TooFew},
		"below a second":    {seen(clusters.Uniform(50*time.Millisecond, 300*time.Millisecond), 400, Twice, 0), TooCoarse},
		"no family and few": {ordered(mixed), NoFit},
		"always the same":   {seen(clusters.Fixed(40*time.Second), 30, Exact, 0), Fitted},
	} {
		if r := Judge(Run, clusters.OnDemand, c.samples); r.Status != c.want {
			t.Errorf("%s: %s (%s), want %s", name, r.Status, r.Why, c.want)
		}
	}
}

// TestSurvivalIsKaplanMeier has the textbook's example by hand: 3, 5+, 7, 7, 9+.
func TestSurvivalIsKaplanMeier(t *testing.T) {
	s := func(x int, more bool) Sample { return Sample{Value: time.Duration(x) * time.Second, AtLeast: more} }
	steps := survival([]Sample{s(3, false), s(5, true), s(7, false), s(7, false), s(9, true)})
	want := []Step{{3 * time.Second, 0.2}, {7 * time.Second, 1 - 0.8/3}}
	if len(steps) != 2 || math.Abs(steps[0].Share-want[0].Share) > 1e-9 || math.Abs(steps[1].Share-want[1].Share) > 1e-9 {
		t.Errorf("%v, want %v", steps, want)
	}
}

// TestAreasAreIntegrals: by them goes all that is known of rounding.
func TestAreasAreIntegrals(t *testing.T) {
	for _, f := range families {
		d := dataOf(seen(truths[f.name], 200, Exact, 0))
		m, _ := f.fit(d)
		sum, step := 0.0, 0.01
		for x := 0.0; x < 130; x += step {
			sum += m.CDF(x+step/2) * step
		}
		if got := m.area(130); math.Abs(got-sum) > 0.01*sum {
			t.Errorf("%s: area %f, by hand %f", f.name, got, sum)
		}
	}
}

func TestTheSameDataGivesTheSameFit(t *testing.T) {
	samples := seen(truths["weibull"], 300, Twice, 0)
	a, b := Judge(Run, "", samples), Judge(Run, "", samples)
	if a.Dist != b.Dist || a.P != b.P || a.P99 != b.P99 {
		t.Errorf("%+v and %+v", a.Dist, b.Dist)
	}
}

// TestTheTestKeepsItsLevel: of true families about one in twenty is refused by chance, whatever the rounding and the cuts.
func TestTheTestKeepsItsLevel(t *testing.T) {
	for _, by := range []Rounding{Exact, Once, Twice} {
		refused := 0
		const runs = 20
		for n := range runs {
			samples := seen(truths["lognormal"], 100+n, by, 60*time.Second)
			d := dataOf(samples)
			m, _ := families[1].fit(d)
			if bootstrap(families[1], m, samples, distance(samples, m)).p < leastP {
				refused++
			}
		}
		if refused > 4 { // of 20; the chance of more is 0.3%
			t.Errorf("rounding %d: %d of %d true fits are refused", by, refused, runs)
		}
	}
}
