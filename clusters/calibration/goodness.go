package calibration

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"gonum.org/v1/gonum/mathext"
)

// expected is the share of durations that the model, with the data's rounding, puts at or below x, and strictly below.
func expected(m model, x float64, r Rounding) (upTo, below float64) {
	switch r {
	case Once: // the value lies half a second to either side, evenly
		p := m.area(x+0.5) - m.area(x-0.5)
		if x <= 0 { // where all are that would lie below
			return p, 0
		}
		return p, p
	case Twice: // both ends are cut off to whole seconds
		k := math.Floor(x)
		upTo = m.area(k+1) - m.area(k)
		if x == k {
			return upTo, m.area(k) - m.area(k-1)
		}
		return upTo, upTo
	}
	p := m.CDF(x)
	return p, p
}

// distance is Kolmogorov and Smirnov's: the most by which the measured and the expected shares differ.
func distance(samples []Sample, m model) float64 {
	var rounded [3]float64
	for _, s := range samples {
		rounded[s.Rounding] += 1 / float64(len(samples))
	}
	worst, before := 0.0, 0.0
	for _, step := range survival(samples) {
		var upTo, below float64
		for r, weight := range rounded {
			if weight > 0 {
				u, b := expected(m, step.At.Seconds(), Rounding(r))
				upTo, below = upTo+weight*u, below+weight*b
			}
		}
		worst = max(worst, math.Abs(step.Share-upTo), math.Abs(before-below))
		before = step.Share
	}
	return worst
}

// The bootstrap's size. A p-value of 0.05 needs some twenty of a hundred to be told apart; beyond enough samples the distance's
// distribution only shrinks with the root of their number.
const (
	resamples = 99
	enough    = 250
)

// trust is what the bootstrap says of a fit.
type trust struct {
	p           float64 // how often a distance this large comes by chance
	median, p99 interval
}

// interval holds the true value in 95 of 100 cases.
type interval [2]float64

// bootstrap draws data of the same size, rounding and cuts from the model, fits each anew, and looks how far off that is.
func bootstrap(f family, m model, samples []Sample, observed float64) trust {
	r := rand.New(rand.NewPCG(1, uint64(len(samples))))
	n := min(len(samples), enough)
	shrink := math.Sqrt(float64(n) / float64(len(samples)))
	cut := cuts(samples)
	worse := 0
	var medians, tails []float64
	for range resamples {
		drawn := redraw(r, m, samples, cut, n)
		if ended(drawn) < 2 {
			continue
		}
		again, _ := f.fit(dataOf(drawn))
		if distance(drawn, again)*shrink >= observed {
			worse++
		}
		medians, tails = append(medians, again.Quantile(0.5)), append(tails, again.Quantile(0.99))
	}
	return trust{p: float64(worse+1) / (resamples + 1), median: spread(m.Quantile(0.5), medians, shrink), p99: spread(m.Quantile(0.99), tails, shrink)}
}

// redraw makes n samples as the model would have them seen.
func redraw(r *rand.Rand, m model, samples []Sample, cut []Step, n int) []Sample {
	drawn := make([]Sample, n)
	for i := range drawn {
		s := Sample{Rounding: samples[r.IntN(len(samples))].Rounding}
		x := m.Quantile(r.Float64())
		if at, ok := quantile(cut, r.Float64()); ok && at.Seconds() < x {
			s.Value, s.AtLeast, s.Rounding = at, true, Exact
			drawn[i] = s
			continue
		}
		s.Value = rounded(r, x, s.Rounding)
		drawn[i] = s
	}
	return ordered(drawn)
}

// rounded is the duration as two stamps would show it.
func rounded(r *rand.Rand, x float64, by Rounding) time.Duration {
	x = min(x, 1e8)
	switch from := r.Float64(); by {
	case Once:
		x = max(x+from-0.5, 0)
	case Twice:
		x = math.Floor(from + x)
	}
	return time.Duration(x * float64(time.Second))
}

// spread is where 95 of 100 refits lie around the value, had they had as many samples as there are.
func spread(value float64, refits []float64, shrink float64) interval {
	if len(refits) == 0 || value <= 0 {
		return interval{value, value}
	}
	slices.Sort(refits)
	at := func(p float64) float64 {
		refit := refits[min(int(p*float64(len(refits))), len(refits)-1)]
		return value * math.Pow(max(refit, 1e-9)/value, shrink)
	}
	return interval{at(0.025), at(0.975)}
}

// tail compares the samples that ended beyond the model's 99th percentile with the hundredth that belongs there, less those that
// are cut short before they get there.
type tail struct {
	Beyond int     `json:"beyond"`
	Due    float64 `json:"due"`
	P      float64 `json:"p"`
}

func tailOf(samples []Sample, m model) tail {
	p99 := m.Quantile(0.99)
	uncut := 1.0
	for _, c := range cuts(samples) {
		if c.At.Seconds() <= p99 {
			uncut = 1 - c.Share
		}
	}
	t := tail{Due: float64(len(samples)) / 100 * uncut}
	for _, s := range samples {
		if s.Value.Seconds() > p99 && !s.AtLeast {
			t.Beyond++
		}
	}
	n, p := len(samples), 0.01*max(uncut, 1e-9)
	atMost, atLeast := binomial(t.Beyond, n, p), 1.0
	if t.Beyond > 0 {
		atLeast = 1 - binomial(t.Beyond-1, n, p)
	}
	t.P = min(2*min(atMost, atLeast), 1)
	return t
}

// binomial is the chance of at most k of n.
func binomial(k, n int, p float64) float64 {
	if k >= n {
		return 1
	}
	return mathext.RegIncBeta(float64(n-k), float64(k+1), 1-p)
}
