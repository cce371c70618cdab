package calibration

import "time"

// Step is a point of a measured distribution: the share of durations that are no longer than At.
type Step struct {
	At    time.Duration
	Share float64
}

// survival is Kaplan and Meier's estimate of the distribution; where nothing is cut short it is the plain share. The samples
// are in order. It ends below 1 if the longest ones were still going on.
func survival(samples []Sample) []Step {
	var steps []Step
	left := 1.0
	for i := 0; i < len(samples); {
		at, ends, j := samples[i].Value, 0, i
		for ; j < len(samples) && samples[j].Value == at; j++ {
			if !samples[j].AtLeast {
				ends++
			}
		}
		if ends > 0 {
			atRisk := len(samples) - i
			left *= float64(atRisk-ends) / float64(atRisk)
			steps = append(steps, Step{at, 1 - left})
		}
		i = j
	}
	return steps
}

// quantile is the shortest duration that at least the share p does not exceed; false where the estimate ends below.
func quantile(steps []Step, p float64) (time.Duration, bool) {
	const rounding = 1e-9 // shares are products
	for _, s := range steps {
		if s.Share >= p-rounding {
			return s.At, true
		}
	}
	return 0, false
}

// cuts is the distribution of when samples are cut short: survival with the roles turned around.
func cuts(samples []Sample) []Step {
	turned := make([]Sample, len(samples))
	for i, s := range samples {
		s.AtLeast = !s.AtLeast
		turned[i] = s
	}
	return survival(ordered(turned))
}
