package calibration

import "math"

// observation is a sample in seconds, with how often it was seen.
type observation struct {
	x        float64
	rounding Rounding
	atLeast  bool
	weight   float64
}

// data is what a family is fitted to.
type data struct {
	observations          []observation
	samples, ends         float64
	mean                  float64 // of all the time seen per end
	logMean, logDeviation float64 // of what ended
	least, most           float64
	exact                 bool // nothing is rounded or cut short
}

// shortest is what stands for durations that were stamped as none.
const shortest = 1e-4

// dataOf takes ordered samples; equal ones are one observation.
func dataOf(samples []Sample) data {
	d := data{exact: true, least: math.Inf(1)}
	var total, logs, squares float64
	for _, s := range samples {
		o := observation{s.Value.Seconds(), s.Rounding, s.AtLeast, 1}
		d.samples++
		total += o.x
		d.exact = d.exact && o.rounding == Exact && !o.atLeast
		if !o.atLeast {
			d.ends++
			l := math.Log(max(o.x, floor(o.rounding)))
			logs, squares = logs+l, squares+l*l
			d.least, d.most = min(d.least, o.x), max(d.most, o.x)
		}
		if i := len(d.observations) - 1; i >= 0 && d.observations[i].x == o.x && d.observations[i].rounding == o.rounding && d.observations[i].atLeast == o.atLeast {
			d.observations[i].weight++
			continue
		}
		d.observations = append(d.observations, o)
	}
	if d.ends == 0 {
		return d
	}
	d.mean = max(total/d.ends, shortest)
	d.logMean = logs / d.ends
	d.logDeviation = max(math.Sqrt(max(squares/d.ends-d.logMean*d.logMean, 0)), 1e-3)
	if d.most <= d.least {
		d.most = d.least + 1e-3
	}
	return d
}

// floor stands for 0 where logarithms are taken: a quarter of the second in which it lies.
func floor(r Rounding) float64 {
	if r == Exact {
		return shortest
	}
	return 0.25
}

// probability is the chance of the observation; for an exact one, its density.
func (o observation) logProbability(m model) float64 {
	const far = 200 // seconds from which on a second's rounding moves nothing
	switch {
	case o.atLeast:
		return math.Log(max(1-m.CDF(o.x), math.SmallestNonzeroFloat64))
	case o.rounding == Exact || o.x > far:
		return m.LogProb(max(o.x, shortest))
	case o.rounding == Once && o.x <= 0: // there or below
		return math.Log(max(m.area(0.5), math.SmallestNonzeroFloat64))
	case o.rounding == Once:
		return math.Log(max(m.CDF(o.x+0.5)-m.CDF(o.x-0.5), math.SmallestNonzeroFloat64))
	}
	p := m.area(o.x+1) - 2*m.area(o.x) + m.area(o.x-1)
	if p < 1e-10 { // below that it is what subtraction left over
		return m.LogProb(max(o.x, shortest))
	}
	return math.Log(p)
}

func (d data) logLikelihood(m model) float64 {
	sum := 0.0
	for _, o := range d.observations {
		sum += o.weight * o.logProbability(m)
	}
	return sum
}

// fit finds the parameters that make the data most likely. Exact data has an answer on paper for all but Weibull.
func (f family) fit(d data) (model, float64) {
	params := f.start(d)
	if !d.exact || f.name == "weibull" {
		params = d.climb(f, params)
	}
	m := f.model(params)
	return m, d.logLikelihood(m)
}

// climb searches around the start, within what exponents can hold.
func (d data) climb(f family, start []float64) []float64 {
	return simplex(start, func(p []float64) float64 {
		for _, x := range p {
			if math.Abs(x) > 50 && f.name != "uniform" {
				return math.Inf(1)
			}
		}
		if v := -d.logLikelihood(f.model(p)); !math.IsNaN(v) {
			return v
		}
		return math.Inf(1)
	})
}
