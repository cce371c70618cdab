package calibration

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/squall-chaos/squall/clusters"
)

// How many durations must have been seen to their end.
//
// From 20 a family is fitted: the spread of a lognormal one is then known to within a third (1.96/sqrt(2n) = 31%), and with fewer
// the 99th percentile, which timeouts are made of, is anybody's guess. From 59 the percentiles may stand for themselves: with fewer,
// one time in twenty or more none of them lies beyond the 95th (0.95^59 = 0.048).
const (
	LeastFitted   = 20
	LeastMeasured = 59
)

// Limits of what is taken for a fit.
const (
	leastP       = 0.05
	leastTailP   = 0.01
	sameDistance = 0.03 // a difference that no simulation tells
	constant     = 0.01 // of the median: what varies by less is a constant
)

// Status is what became of a measure.
type Status string

// The statuses. Nothing is written for the last four.
const (
	Fitted    Status = "fitted"     // a family
	Measured  Status = "measured"   // the percentiles
	TooFew    Status = "too few"    // below LeastFitted
	TooCoarse Status = "too coarse" // below what whole seconds can tell
	NoFit     Status = "no fit"     // no family fits, and too few for percentiles
	None      Status = "none"       // nothing was seen
)

// Result is what is known of a measure on one capacity type, or on all.
type Result struct {
	Measure Measure
	Type    clusters.CapacityType
	All     bool // of all types together
	Samples []Sample
	Ended   int
	Status  Status
	Dist    clusters.Dist // when the status is Fitted or Measured
	// Family is the one fitted best, whether it was taken or not; empty: none was fitted.
	Family     string
	Candidates []Candidate
	Distance   float64
	P          float64
	Tail       tail
	Median     [2]time.Duration // 95% intervals of the fit
	P99        [2]time.Duration
	Why        string // why this and not another
	Curve      []Step

	model model
}

// Candidate is a family that was tried.
type Candidate struct {
	Family   string        `json:"family"`
	Dist     clusters.Dist `json:"-"`
	AICc     float64       `json:"aicc"`
	Distance float64       `json:"distance"`
}

// Usable tells whether there is a distribution.
func (r *Result) Usable() bool { return r.Status == Fitted || r.Status == Measured }

// Share is what the fitted family says of durations up to d; false if none was fitted.
func (r *Result) Share(d time.Duration) (float64, bool) {
	if r.model == nil {
		return 0, false
	}
	return r.model.CDF(d.Seconds()), true
}

// Quantile is the measured duration that the share p does not exceed; false where it was not seen.
func (r *Result) Quantile(p float64) (time.Duration, bool) { return quantile(r.Curve, p) }

// Judge says what is known of a measure. The samples are in order.
func Judge(m Measure, kind clusters.CapacityType, samples []Sample) Result {
	r := Result{Measure: m, Type: kind, Samples: samples, Ended: ended(samples), Curve: survival(samples)}
	switch {
	case len(samples) == 0:
		r.Status, r.Why = None, "nothing was seen"
	case r.Ended < LeastFitted:
		r.Status, r.Why = TooFew, fmt.Sprintf("%d of the %d that a fit needs", r.Ended, LeastFitted)
	case coarse(samples):
		r.Status, r.Why = TooCoarse, "most are shorter than the whole seconds that they are stamped in"
	case r.isConstant():
		r.Status, r.Family = Fitted, "constant"
		middle, _ := r.Quantile(0.5)
		r.Dist, r.Why = clusters.Fixed(seconds(middle.Seconds())), "it varies by less than 1%"
	default:
		r.choose()
	}
	return r
}

// coarse tells whether rounding hides what is to be measured.
func coarse(samples []Sample) bool {
	n := 0
	for _, s := range samples {
		if s.Rounding != Exact && s.Value < time.Second {
			n++
		}
	}
	return 4*n > 3*len(samples)
}

func (r *Result) isConstant() bool {
	first, _ := r.Quantile(0.01)
	last, ok := r.Quantile(0.99)
	return ok && r.Samples[0].Rounding == Exact && float64(last-first) <= constant*float64(first)
}

// choose fits every family, takes the best, and the percentiles if that is not good enough.
func (r *Result) choose() {
	d := dataOf(r.Samples)
	models := map[string]model{}
	for _, f := range families {
		m, logLikelihood := f.fit(d)
		if math.IsNaN(logLikelihood) || math.IsInf(logLikelihood, 0) {
			continue
		}
		k := float64(len(f.start(d)))
		models[f.name] = m
		r.Candidates = append(r.Candidates, Candidate{f.name, f.dist(m),
			2*k - 2*logLikelihood + 2*k*(k+1)/(d.ends-k-1), distance(r.Samples, m)})
	}
	slices.SortStableFunc(r.Candidates, func(a, b Candidate) int { return cmp.Compare(a.AICc, b.AICc) })
	if len(r.Candidates) > 0 {
		best := r.Candidates[0]
		f := families[slices.IndexFunc(families, func(f family) bool { return f.name == best.Family })]
		r.Family, r.Distance, r.model = best.Family, best.Distance, models[best.Family]
		t := bootstrap(f, r.model, r.Samples, r.Distance)
		r.P, r.Tail = t.p, tailOf(r.Samples, r.model)
		r.Median, r.P99 = t.median.durations(), t.p99.durations()
		if r.fits() {
			r.Status, r.Dist, r.Why = Fitted, best.Dist, fmt.Sprintf("%s has the least AICc", best.Family)
			return
		}
	}
	r.measure()
}

func (i interval) durations() [2]time.Duration {
	return [2]time.Duration{seconds(i[0]), seconds(i[1])}
}

func (r *Result) fits() bool {
	return (r.P >= leastP || r.Distance < sameDistance) && r.Tail.P >= leastTailP
}

// misfit says what is wrong with the best family.
func (r *Result) misfit() string {
	switch {
	case r.Family == "":
		return "no family could be fitted"
	case r.P < leastP && r.Distance >= sameDistance:
		return fmt.Sprintf("no family fits: %s, the best, is off by %.3f (p %.2f)", r.Family, r.Distance, r.P)
	}
	return fmt.Sprintf("no family fits the tail: %d lie beyond the 99th percentile of %s, the best, where %.1f are due", r.Tail.Beyond, r.Family, r.Tail.Due)
}

// measure takes the percentiles as they are.
func (r *Result) measure() {
	if r.Ended < LeastMeasured {
		r.Status, r.Why = NoFit, fmt.Sprintf("%s; for the percentiles alone %d of %d", r.misfit(), r.Ended, LeastMeasured)
		return
	}
	if last := r.Curve[len(r.Curve)-1].Share; last < 0.95 {
		r.Status, r.Why = NoFit, fmt.Sprintf("%s; and of the percentiles only those up to %.0f were seen: the rest had not ended", r.misfit(), 100*last)
		return
	}
	r.Status, r.Dist, r.Why = Measured, clusters.Empirical(r.percentiles()), r.misfit()
}
