package calibration

import (
	"math"
	"time"

	"gonum.org/v1/gonum/mathext"

	"github.com/squall-chaos/squall/clusters"
)

// model is a distribution of seconds with its parameters. Of gonum only the special functions are used: its distributions and its
// optimisers bring linear algebra along, for which the first verdict would have to wait. A test compares with them.
type model interface {
	CDF(x float64) float64
	LogProb(x float64) float64
	Quantile(p float64) float64
	// area is the integral of the CDF from 0 to x: by it goes what rounding does to a duration.
	area(x float64) float64
}

// family is a kind of distribution that may be fitted, by parameters without limits.
type family struct {
	name string
	// start is a first guess.
	start func(d data) []float64
	model func(params []float64) model
	// dist is the model as scenarios write it.
	dist func(m model) clusters.Dist
}

var families = []family{
	{"exponential", func(d data) []float64 { return []float64{math.Log(d.mean)} },
		func(p []float64) model { return exponential{math.Exp(-p[0])} },
		func(m model) clusters.Dist {
			return clusters.Dist{Shape: clusters.ExponentialShape, A: seconds(1 / m.(exponential).rate)}
		}},
	{"lognormal", func(d data) []float64 { return []float64{d.logMean, math.Log(d.logDeviation)} },
		func(p []float64) model {
			return lognormal{p[0], math.Exp(p[1])}
		},
		func(m model) clusters.Dist { return skewed(clusters.LogNormalShape, m) }},
	{"weibull", func(d data) []float64 {
		return []float64{math.Log(1.28 / d.logDeviation), d.logMean + 0.45*d.logDeviation}
	},
		func(p []float64) model {
			return weibull{math.Exp(p[0]), math.Exp(p[1])}
		},
		func(m model) clusters.Dist { return skewed(clusters.WeibullShape, m) }},
	{"uniform", func(d data) []float64 { return []float64{d.least, math.Log((d.most - d.least) * (1 + 1e-9))} },
		func(p []float64) model {
			low := max(p[0], 0)
			return uniform{low, low + math.Exp(p[1])}
		},
		func(m model) clusters.Dist { return clusters.Uniform(seconds(m.Quantile(0)), seconds(m.Quantile(1))) }},
}

func skewed(shape clusters.Shape, m model) clusters.Dist {
	return clusters.Dist{Shape: shape, A: seconds(m.Quantile(0.5)), B: seconds(m.Quantile(0.99))}
}

// seconds makes a duration of a number, of no more digits than can be measured.
func seconds(x float64) time.Duration {
	switch {
	case math.IsNaN(x) || x <= 0:
		return 0
	case x > 1e8:
		x = 1e8
	}
	step := time.Microsecond
	for _, s := range []time.Duration{10 * time.Microsecond, 100 * time.Microsecond, time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond, time.Second} {
		if x > 1000*s.Seconds() {
			step = s
		}
	}
	return max(time.Duration(x*float64(time.Second)).Round(step), step)
}

type exponential struct{ rate float64 }

func (m exponential) CDF(x float64) float64      { return -math.Expm1(-m.rate * max(x, 0)) }
func (m exponential) LogProb(x float64) float64  { return math.Log(m.rate) - m.rate*x }
func (m exponential) Quantile(p float64) float64 { return -math.Log1p(-p) / m.rate }

func (m exponential) area(x float64) float64 {
	if x <= 0 {
		return 0
	}
	return x + math.Expm1(-m.rate*x)/m.rate
}

// lognormal is by the mean and the deviation of the logarithm.
type lognormal struct{ mu, sigma float64 }

// normal is the standard normal distribution's share up to z.
func normal(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

func (m lognormal) CDF(x float64) float64 {
	if x <= 0 {
		return 0
	}
	return normal((math.Log(x) - m.mu) / m.sigma)
}

func (m lognormal) LogProb(x float64) float64 {
	z := (math.Log(x) - m.mu) / m.sigma
	return -z*z/2 - math.Log(x*m.sigma) - math.Log(2*math.Pi)/2
}

func (m lognormal) Quantile(p float64) float64 {
	return math.Exp(m.mu + m.sigma*mathext.NormalQuantile(p))
}

// area goes by the partial mean, which a lognormal distribution has in closed form.
func (m lognormal) area(x float64) float64 {
	if x <= 0 {
		return 0
	}
	part := normal((math.Log(x) - m.mu - m.sigma*m.sigma) / m.sigma)
	if part == 0 {
		return x * m.CDF(x)
	}
	return x*m.CDF(x) - math.Exp(m.mu+m.sigma*m.sigma/2)*part
}

type weibull struct{ shape, scale float64 }

// hazard is what has gathered by x.
func (m weibull) hazard(x float64) float64 {
	return min(math.Pow(max(x, 0)/m.scale, m.shape), math.MaxFloat64)
}

func (m weibull) CDF(x float64) float64 { return -math.Expm1(-m.hazard(x)) }

func (m weibull) LogProb(x float64) float64 {
	return math.Log(m.shape/m.scale) + (m.shape-1)*math.Log(x/m.scale) - m.hazard(x)
}

func (m weibull) Quantile(p float64) float64 {
	return m.scale * math.Pow(-math.Log1p(-p), 1/m.shape)
}

func (m weibull) area(x float64) float64 {
	if x <= 0 {
		return 0
	}
	return x*m.CDF(x) - m.scale*math.Gamma(1+1/m.shape)*mathext.GammaIncReg(1+1/m.shape, m.hazard(x))
}

type uniform struct{ low, high float64 }

func (m uniform) CDF(x float64) float64      { return min(max((x-m.low)/(m.high-m.low), 0), 1) }
func (m uniform) Quantile(p float64) float64 { return m.low + p*(m.high-m.low) }

func (m uniform) LogProb(x float64) float64 {
	if x < m.low || x > m.high {
		return math.Inf(-1)
	}
	return -math.Log(m.high - m.low)
}

func (m uniform) area(x float64) float64 {
	switch {
	case x <= m.low:
		return 0
	case x >= m.high:
		return x - (m.low+m.high)/2
	}
	return (x - m.low) * (x - m.low) / (2 * (m.high - m.low))
}
