package clusters

import (
	"math"
	"math/rand/v2"
	"time"
)

// Dist is a distribution of durations. The zero Dist is not set; Fixed(0) is set and zero.
type Dist struct {
	Shape Shape
	// A and B are the parameters: Fixed A; Uniform from A to B; Exponential mean A, cut at B (0: at
	// 10 A); LogNormal and Weibull median A, 99th percentile B.
	A, B time.Duration
	// Curve is what an Empirical one was measured as.
	Curve *Curve `json:",omitempty"`
}

// Shape is the family of a Dist.
type Shape uint8

// The shapes.
const (
	NotSet Shape = iota
	FixedShape
	UniformShape
	ExponentialShape
	LogNormalShape
	WeibullShape
	EmpiricalShape
)

// Curve is a measured distribution: durations by percentile, from 0 to 100, both rising. What lies between two of them is
// drawn evenly.
type Curve []Percentile

// Percentile is a point of a Curve: Percent of the durations are no longer than At.
type Percentile struct {
	Percent float64
	At      time.Duration
}

// Fixed is always d.
func Fixed(d time.Duration) Dist { return Dist{Shape: FixedShape, A: d} }

// Uniform draws from lo to hi.
func Uniform(lo, hi time.Duration) Dist { return Dist{Shape: UniformShape, A: lo, B: hi} }

// Empirical draws from a measured distribution.
func Empirical(c Curve) Dist { return Dist{Shape: EmpiricalShape, Curve: &c} }

// z99 is the 99th percentile of the standard normal distribution.
const z99 = 2.3263478740408408

// Draw takes one duration, never negative.
func (d Dist) Draw(r *rand.Rand) time.Duration {
	switch d.Shape {
	case UniformShape:
		if d.B <= d.A {
			return d.A
		}
		return d.A + time.Duration(r.Int64N(int64(d.B-d.A)+1))
	case ExponentialShape:
		return min(time.Duration(r.ExpFloat64()*float64(d.A)), d.Max())
	case LogNormalShape:
		sigma := math.Log(float64(d.B)/float64(d.A)) / z99
		return time.Duration(float64(d.A) * math.Exp(sigma*r.NormFloat64()))
	case WeibullShape:
		return d.weibull(r.ExpFloat64())
	case EmpiricalShape:
		return d.Curve.at(100 * r.Float64())
	}
	return d.A
}

// weibull is the duration that as many exceed as exceed hazard in a standard exponential distribution.
func (d Dist) weibull(hazard float64) time.Duration {
	if d.B <= d.A {
		return d.A
	}
	inverse := math.Log(float64(d.B)/float64(d.A)) / math.Log(math.Log(100)/math.Ln2)
	return time.Duration(float64(d.A) * math.Pow(hazard/math.Ln2, inverse))
}

// at is the duration at a percentile.
func (c *Curve) at(percent float64) time.Duration {
	if c == nil || len(*c) == 0 {
		return 0
	}
	before := (*c)[0]
	for _, p := range *c {
		if percent <= p.Percent {
			if p.Percent <= before.Percent {
				return p.At
			}
			part := (percent - before.Percent) / (p.Percent - before.Percent)
			return before.At + time.Duration(part*float64(p.At-before.At))
		}
		before = p
	}
	return before.At
}

// Or returns d, or other when d is not set.
func (d Dist) Or(other Dist) Dist {
	if d.Shape == NotSet {
		return other
	}
	return d
}

// Max is the largest duration that Draw returns, or its 99.9th percentile where there is no largest.
func (d Dist) Max() time.Duration {
	switch d.Shape {
	case UniformShape:
		return max(d.A, d.B)
	case ExponentialShape:
		if d.B > 0 {
			return d.B
		}
		return 10 * d.A
	case LogNormalShape:
		const z999 = 3.090232306167813
		return time.Duration(float64(d.A) * math.Pow(float64(d.B)/float64(d.A), z999/z99))
	case WeibullShape:
		return d.weibull(math.Log(1000))
	case EmpiricalShape:
		return d.Curve.at(100)
	}
	return d.A
}

// Min is the smallest duration that Draw returns; the median where there is none above 0.
func (d Dist) Min() time.Duration {
	if d.Shape == EmpiricalShape {
		return d.Curve.at(0)
	}
	return d.A
}

// Median is the duration that half of the draws do not exceed.
func (d Dist) Median() time.Duration {
	switch d.Shape {
	case UniformShape:
		return d.A + max(0, d.B-d.A)/2
	case ExponentialShape:
		return min(time.Duration(math.Ln2*float64(d.A)), d.Max())
	case EmpiricalShape:
		return d.Curve.at(50)
	}
	return d.A
}

// Each returns the distribution with every duration in it changed: scaled, for example.
func (d Dist) Each(change func(time.Duration) time.Duration) Dist {
	d.A, d.B = change(d.A), change(d.B)
	if d.Curve != nil {
		changed := make(Curve, len(*d.Curve))
		for i, p := range *d.Curve {
			changed[i] = Percentile{p.Percent, change(p.At)}
		}
		d.Curve = &changed
	}
	return d
}

// Typical is the one duration that stands for the distribution: its mean where that is known at once, else its median.
func (d Dist) Typical() time.Duration {
	switch d.Shape {
	case UniformShape:
		return d.A + max(d.B-d.A, 0)/2
	case EmpiricalShape:
		return d.Curve.at(50)
	}
	return d.A
}
