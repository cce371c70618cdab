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
	// 10 A); LogNormal median A, 99th percentile B.
	A, B time.Duration
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
)

// Fixed is always d.
func Fixed(d time.Duration) Dist { return Dist{Shape: FixedShape, A: d} }

// Uniform draws from lo to hi.
func Uniform(lo, hi time.Duration) Dist { return Dist{Shape: UniformShape, A: lo, B: hi} }

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
		limit := d.B
		if limit == 0 {
			limit = 10 * d.A
		}
		return min(time.Duration(r.ExpFloat64()*float64(d.A)), limit)
	case LogNormalShape:
		sigma := math.Log(float64(d.B)/float64(d.A)) / z99
		return time.Duration(float64(d.A) * math.Exp(sigma*r.NormFloat64()))
	}
	return d.A
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
	}
	return d.A
}
