package calibration

import (
	"math"
	"time"

	"github.com/squall-chaos/squall/clusters"
)

// percentiles is the measured distribution with as few points as stay close to it. Of samples that are one value, the middle
// one stands for it, as their rounding has it. The longest one that had not ended stands for the end, if it is longer.
func (r *Result) percentiles() clusters.Curve {
	points := []Step{{r.Curve[0].At, 0}}
	before := 0.0
	for _, s := range r.Curve {
		points = append(points, Step{s.At, (before + s.Share) / 2})
		before = s.Share
	}
	longest := max(r.Samples[len(r.Samples)-1].Value, r.Curve[len(r.Curve)-1].At)
	points = append(points, Step{longest, 1})
	var c clusters.Curve
	for _, p := range thinned(points, 1/float64(r.Ended)) {
		percent, at := math.Round(p.Share*1e4)/100, p.At.Round(time.Microsecond)
		if at > 0 {
			at = seconds(at.Seconds())
		}
		if n := len(c); n > 0 {
			if at = max(at, c[n-1].At); percent <= c[n-1].Percent {
				continue
			}
		}
		c = append(c, clusters.Percentile{Percent: percent, At: at})
	}
	return c
}

// thinned keeps the ends of a line, and recursively the point that is farthest off it, until none is off by more than matters:
// a hundredth, or in the tails a fifth of what lies beyond, but never less than one sample.
func thinned(points []Step, one float64) []Step {
	first, last := points[0], points[len(points)-1]
	worst, at := 0.0, 0
	for i := 1; i < len(points)-1; i++ {
		share := first.Share
		if last.At > first.At {
			share += (last.Share - first.Share) * float64(points[i].At-first.At) / float64(last.At-first.At)
		}
		p := points[i].Share
		allowed := max(min(0.01, 0.2*min(p, 1-p)), one)
		if off := math.Abs(p-share) / allowed; off > worst {
			worst, at = off, i
		}
	}
	if worst <= 1 {
		return []Step{first, last}
	}
	return append(thinned(points[:at+1], one), thinned(points[at:], one)[1:]...)
}
