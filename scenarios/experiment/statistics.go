package experiment

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mathext"
)

// Of gonum only mathext is used, the special functions: package stat brings linear algebra along, which would take longer to compile
// than the rest of Squall's simulation.

// alpha is what an interval of 95 % leaves out.
const alpha = 0.05

// Interval is an estimate with its 95 % interval.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	N     int     `json:"n"` // runs that it is from
}

// Holds tells whether the interval holds x.
func (i Interval) Holds(x float64) bool { return i.Low <= x && x <= i.High }

// meanOf is the mean with Student's interval. One value says nothing of how values scatter: its interval is everything.
func meanOf(values []float64) Interval {
	n := len(values)
	if n == 0 {
		return Interval{}
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	mean := sum / float64(n)
	if n == 1 {
		return Interval{mean, math.Inf(-1), math.Inf(1), 1}
	}
	squares := 0.0
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	half := 0.0
	if squares > 0 {
		half = studentQuantile(1-alpha/2, n-1) * math.Sqrt(squares/float64(n-1)/float64(n))
	}
	return Interval{mean, mean - half, mean + half, n}
}

// studentQuantile is that of Student's t with so many degrees of freedom, p above a half.
func studentQuantile(p float64, freedom int) float64 {
	nu := float64(freedom)
	x := mathext.InvRegIncBeta(nu/2, 0.5, 2*(1-p))
	return math.Sqrt(nu * (1 - x) / x)
}

// Share is how many of n runs had something, with the exact interval of Clopper and Pearson. Of none in n the interval is one-sided:
// High is the bound that a true share exceeds in no more than 5 % of such samples.
type Share struct {
	Count int     `json:"count"`
	N     int     `json:"n"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// ShareOf is the share of k in n.
func ShareOf(k, n int) Share { return shareOf(k, n) }

// Most is the upper bound in per cent, rounded up to three digits: a bound that is rounded down is none.
func (s Share) Most() string {
	percent := s.High * 100
	if percent <= 0 {
		return "0 %"
	}
	step := math.Pow(10, math.Floor(math.Log10(percent))-2)
	return strconv.FormatFloat(math.Ceil(percent/step)*step, 'g', 3, 64) + " %"
}

func shareOf(k, n int) Share {
	s := Share{Count: k, N: n, Low: 0, High: 1}
	if n == 0 {
		return s
	}
	a, b := float64(k), float64(n-k)
	switch {
	case k == 0:
		s.High = 1 - math.Pow(alpha, 1/float64(n))
		return s
	case k < n:
		s.High = mathext.InvRegIncBeta(a+1, b, 1-alpha/2)
	}
	s.Low = mathext.InvRegIncBeta(a, b+1, alpha/2)
	if k == n {
		s.Low = math.Pow(alpha, 1/float64(n))
	}
	return s
}

// signTest is the exact two-sided probability that so uneven a split comes of a fair coin: of pairs that differ, how many go up. On two
// verdicts of the same runs it is McNemar's exact test.
func signTest(up, down int) float64 {
	n, k := up+down, min(up, down)
	if n == 0 || up == down {
		return 1
	}
	// P(X <= k) of a binomial with one half.
	return min(1, 2*mathext.RegIncBeta(float64(n-k), float64(k+1), 0.5))
}

// holm corrects p-values for there being several of them (Holm's step-down method).
func holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	out, highest := make([]float64, len(p)), 0.0
	for rank, i := range order {
		highest = max(highest, min(1, p[i]*float64(len(p)-rank)))
		out[i] = highest
	}
	return out
}

// resamples is how often the runs are drawn anew for the interval of a percentile.
const resamples = 400

// sample is one recovery, and the run that it is from.
type sample struct {
	value time.Duration
	run   int32
}

// percentiles are those of all samples together. Losses of one run come of the same faults and are not independent, so the interval
// is that of a bootstrap which draws whole runs (Davison and Hinkley, section 3.8). It is seeded: the same runs, the same interval.
func percentiles(runs [][]time.Duration, at []float64) []Interval {
	var all []sample
	for i, values := range runs {
		for _, v := range values {
			all = append(all, sample{v, int32(i)})
		}
	}
	out := make([]Interval, len(at))
	if len(all) == 0 {
		return out
	}
	slices.SortStableFunc(all, func(a, b sample) int { return cmp.Compare(a.value, b.value) })
	one := make([]int32, len(runs))
	for i := range one {
		one[i] = 1
	}
	for i, v := range weighted(all, one, at) {
		out[i] = Interval{Value: v, N: len(all)}
	}
	draws := make([][]float64, len(at))
	random := rand.New(rand.NewPCG(1, uint64(len(all))))
	weights := make([]int32, len(runs))
	for range resamples {
		clear(weights)
		for range runs {
			weights[random.IntN(len(runs))]++
		}
		for i, v := range weighted(all, weights, at) {
			draws[i] = append(draws[i], v)
		}
	}
	for i := range out {
		slices.Sort(draws[i])
		out[i].Low, out[i].High = draws[i][resamples*25/1000], draws[i][resamples*975/1000]
	}
	return out
}

// weighted are percentiles of sorted samples, in seconds, each run counting as often as its weight says.
func weighted(all []sample, weights []int32, at []float64) []float64 {
	total := int64(0)
	for _, s := range all {
		total += int64(weights[s.run])
	}
	out := make([]float64, len(at))
	seen, next := int64(0), 0
	for _, s := range all {
		seen += int64(weights[s.run])
		for next < len(at) && float64(seen) >= at[next]*float64(total) && seen > 0 {
			out[next] = s.value.Seconds()
			next++
		}
	}
	return out
}
