package calibration

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/optimize"
	"gonum.org/v1/gonum/stat/distuv"
)

// TestModelsAreGonums compares with the library that is too heavy for the first verdict.
func TestModelsAreGonums(t *testing.T) {
	type reference interface {
		CDF(x float64) float64
		LogProb(x float64) float64
		Quantile(p float64) float64
	}
	for name, pair := range map[string]struct {
		own   model
		gonum reference
	}{
		"exponential": {exponential{0.25}, distuv.Exponential{Rate: 0.25}},
		"lognormal":   {lognormal{1.5, 0.8}, distuv.LogNormal{Mu: 1.5, Sigma: 0.8}},
		"weibull":     {weibull{1.7, 9}, distuv.Weibull{K: 1.7, Lambda: 9}},
		"uniform":     {uniform{2, 7}, distuv.Uniform{Min: 2, Max: 7}},
	} {
		for _, x := range []float64{0.01, 0.7, 2.5, 6.9, 30} {
			if a, b := pair.own.CDF(x), pair.gonum.CDF(x); math.Abs(a-b) > 1e-9 {
				t.Errorf("%s: CDF(%v) is %v, gonum's %v", name, x, a, b)
			}
			if a, b := pair.own.LogProb(x), pair.gonum.LogProb(x); math.Abs(a-b) > 1e-9 {
				t.Errorf("%s: LogProb(%v) is %v, gonum's %v", name, x, a, b)
			}
		}
		for _, p := range []float64{0.001, 0.5, 0.99} {
			if a, b := pair.own.Quantile(p), pair.gonum.Quantile(p); math.Abs(a-b) > 1e-6*b {
				t.Errorf("%s: Quantile(%v) is %v, gonum's %v", name, p, a, b)
			}
		}
	}
	if a, b := binomial(3, 200, 0.01), (distuv.Binomial{N: 200, P: 0.01}).CDF(3); math.Abs(a-b) > 1e-9 {
		t.Errorf("binomial is %v, gonum's %v", a, b)
	}
}

// TestTheSimplexFindsGonumsMinimum, on the likelihood that it is made for.
func TestTheSimplexFindsGonumsMinimum(t *testing.T) {
	for _, by := range []Rounding{Exact, Twice} {
		d := dataOf(seen(truths["weibull"], 300, by, 0))
		for _, f := range families[1:3] {
			lost := func(p []float64) float64 { return -d.logLikelihood(f.model(p)) }
			result, err := optimize.Minimize(optimize.Problem{Func: lost}, f.start(d), nil, &optimize.NelderMead{})
			if err != nil {
				t.Fatal(err)
			}
			if own := lost(d.climb(f, f.start(d))); own > result.F+1e-3 {
				t.Errorf("%s: %v, gonum finds %v", f.name, own, result.F)
			}
		}
	}
}
