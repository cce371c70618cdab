package experiment

import (
	"time"

	"github.com/squall-chaos/squall/checker"
)

// Prices are what a second of a container costs.
type Prices struct {
	OnDemand float64 `json:"on_demand"`
	Spot     float64 `json:"spot"`
	// Given tells that somebody said so; else both are 1 and a cost is a number of seconds.
	Given bool `json:"given"`
}

// Measure is one thing that is measured in every run.
type Measure struct {
	Key, Name, Unit string
	// More tells that more of it is better.
	More bool
	// Counts tells that it counts something that should not be: in how many runs there was any is told as well.
	Counts bool
	of     func(*Observation, *scale) (float64, bool)
}

// scale is what observations are measured by.
type scale struct {
	prices  Prices
	horizon []time.Duration // of each workload
	seeds   int
	block   int // that is being measured
}

func (s *scale) hours() float64 { return s.horizon[s.block/s.seeds].Hours() }

func whole(of func(*Observation) int) func(*Observation, *scale) (float64, bool) {
	return func(o *Observation, _ *scale) (float64, bool) { return float64(of(o)), true }
}

// measures are in the order of reports.
var measures = []Measure{
	{Key: "overlap", Name: "overlapping executions", Unit: "per run", Counts: true, of: whole(func(o *Observation) int { return o.Overlaps })},
	{Key: "effect", Name: "effects counted twice", Unit: "per run", Counts: true, of: whole(func(o *Observation) int { return o.Effects })},
	{Key: "stranded", Name: "tasks stranded beyond B", Unit: "per run", Counts: true, of: whole(func(o *Observation) int { return o.Stranded })},
	{Key: "stranded_time", Name: "stranded time", Unit: "s per run", of: func(o *Observation, _ *scale) (float64, bool) { return o.StrandedFor.Seconds(), true }},
	{Key: "recovery", Name: "recovery latency", Unit: "s", of: recovery},
	{Key: "wasted", Name: "wasted pod-seconds", Unit: "s per run", of: func(o *Observation, _ *scale) (float64, bool) {
		return (o.OnDemand.Wasted + o.Spot.Wasted).Seconds(), true
	}},
	{Key: "deadline_kills", Name: "deadline kills of healthy work", Unit: "per run", Counts: true, of: whole(func(o *Observation) int { return o.Kills })},
	{Key: "throughput", Name: "throughput", Unit: "tasks/h", More: true, of: func(o *Observation, s *scale) (float64, bool) { return float64(o.InTime) / s.hours(), true }},
	{Key: "start_on_demand", Name: "start delay, on-demand", Unit: "s", of: func(o *Observation, _ *scale) (float64, bool) { return o.OnDemand.delay() }},
	{Key: "start_spot", Name: "start delay, spot", Unit: "s", of: func(o *Observation, _ *scale) (float64, bool) { return o.Spot.delay() }},
	{Key: "api_calls", Name: "API calls", Unit: "per minute", of: func(o *Observation, _ *scale) (float64, bool) {
		return float64(o.Calls) / o.Virtual.Minutes(), o.Virtual > 0
	}},
	{Key: "cost", Name: "cost", Unit: "per run", of: cost},
}

// Measures lists what is measured, in the order of Result.Measures.
func Measures() []Measure { return measures }

func recovery(o *Observation, _ *scale) (float64, bool) {
	sum := time.Duration(0)
	for _, r := range o.Recoveries {
		sum += r
	}
	if len(o.Recoveries) == 0 {
		return 0, false // nothing was lost: there is nothing to say of how long it took
	}
	return sum.Seconds() / float64(len(o.Recoveries)), true
}

func (u Use) delay() (float64, bool) {
	if u.Starts == 0 {
		return 0, false
	}
	return u.Delay.Seconds() / float64(u.Starts), true
}

// cost is of a whole run: all settings do the same tasks in it, and per task that succeeded it would hang on how few did.
func cost(o *Observation, s *scale) (float64, bool) {
	return o.OnDemand.Ran.Seconds()*s.prices.OnDemand + o.Spot.Ran.Seconds()*s.prices.Spot, true
}

// Estimate is one measure of one cell.
type Estimate struct {
	Mean Interval `json:"mean"`
	// Runs is in how many runs there was any, of a measure that counts.
	Runs *Share `json:"runs,omitempty"`
	// Difference is that to the baseline within blocks, and P the sign test's probability, corrected for there being several
	// cells; nil for the baseline itself.
	Difference *Interval `json:"difference,omitempty"`
	P          *float64  `json:"p,omitempty"`
}

// Shown tells whether a difference to the baseline is shown: the interval leaves 0 out, and the test does not put it down to chance.
func (e Estimate) Shown() bool {
	return e.Difference != nil && !e.Difference.Holds(0) && *e.P < alpha
}

// series are a measure's values by block; missing ones are not ok.
type series struct {
	values []float64
	ok     []bool
}

func (m Measure) series(all []Observation, s *scale) series {
	out := series{make([]float64, len(all)), make([]bool, len(all))}
	for i := range all {
		s.block = i
		out.values[i], out.ok[i] = m.of(&all[i], s)
	}
	return out
}

func (s series) estimate(counts bool) Estimate {
	var some []float64
	any := 0
	for i, v := range s.values {
		if s.ok[i] {
			some = append(some, v)
			if v > 0 {
				any++
			}
		}
	}
	e := Estimate{Mean: meanOf(some)}
	if counts {
		share := shareOf(any, len(some))
		e.Runs = &share
	}
	return e
}

// against is the paired difference to another cell's values, with the probability of the sign test.
func (s series) against(base series) (Interval, float64) {
	var differences []float64
	up, down := 0, 0
	for i := range s.values {
		if !s.ok[i] || !base.ok[i] {
			continue
		}
		d := s.values[i] - base.values[i]
		differences = append(differences, d)
		switch {
		case d > 0:
			up++
		case d < 0:
			down++
		}
	}
	return meanOf(differences), signTest(up, down)
}

// verdictOf sums up what the runs of a cell say.
func verdictOf(all []Observation) (v checker.Verdict, invalid, unknown int) {
	v = checker.Valid
	for i := range all {
		switch all[i].Verdict {
		case checker.Invalid:
			invalid++
		case checker.Valid:
		default:
			unknown++
		}
		v = v.Merge(all[i].Verdict)
	}
	return v, invalid, unknown
}
