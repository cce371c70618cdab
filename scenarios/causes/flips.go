package causes

import (
	"math"
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/scenarios"
)

// quantity is one figure that can be changed while all others are held.
type quantity struct {
	of   *Matter
	what string // the figure of a fault
	now  int64
	// tick is the smallest difference that a flip is located to: Kubernetes keeps times in whole seconds. Where the very next value flips, it is
	// fine, which is no longer than that.
	tick, fine int64
	low, high  int64
	text       func(int64) string
	// with is the run with another value; false: it means nothing.
	with  func(int64) (s *scenarios.Scenario, plan faults.Plan, ok bool)
	rules func(int64) Rules // nil: there are none
}

// factors are how far from the present value is looked, nearest first.
var factors = []float64{1.05, 1.1, 1.25, 1.5, 2, 3, 4, 8}

// probes are the values to try in one direction, nearest first.
func (q quantity) probes(upward bool) []int64 {
	var all []int64
	add := func(v int64) {
		v = min(max(v, q.low), q.high)
		last := q.now
		if n := len(all); n > 0 {
			last = all[n-1]
		}
		if upward && v > last || !upward && v < last {
			all = append(all, v)
		}
	}
	sign := int64(1)
	if !upward {
		sign = -1
	}
	add(q.now + sign*q.tick)
	for _, f := range factors {
		if !upward {
			f = 1 / f
		}
		add(int64(math.Round(float64(q.now)*f/float64(q.tick))) * q.tick)
	}
	if upward {
		for _, ticks := range []int64{5, 30, 120} { // where there is none now
			add(q.now + ticks*q.tick)
		}
		add(q.high)
	} else {
		add(q.low)
	}
	return all
}

// follow looks for the nearest value in one direction at which the failure is averted. chance: only in this interleaving.
func (x *search) follow(q quantity, upward bool) (flip *Flip, chance bool, last int64) {
	fails := q.now
	for _, v := range q.probes(upward) {
		here, holds, ok := x.holdsAt(q, v, &flip)
		chance = chance || here && !holds
		if !ok {
			continue
		}
		last = v
		if !holds {
			fails = v
			continue
		}
		for x.ctx.Err() == nil {
			step := q.tick
			if fails == q.now { // the very next value: more exactly
				step = q.fine
			}
			if max(v-fails, fails-v) <= step {
				break
			}
			middle := (fails + (v-fails)/2) / step * step
			if middle <= min(fails, v) || middle >= max(fails, v) {
				break
			}
			if _, holds, _ := x.holdsAt(q, middle, &flip); holds {
				v = middle
			} else {
				fails = middle
			}
		}
		flip.Edge, flip.Upward = q.text(fails), upward
		flip.Patchy = x.patchy(q, upward, v)
		x.makeSafe(q, flip, v)
		flip.price = distance(q.now, v)
		return flip, chance, v
	}
	return nil, chance, last
}

// patchy tells whether the failure is back at some value beyond the flip.
func (x *search) patchy(q quantity, upward bool, flip int64) bool {
	for _, v := range q.probes(upward) {
		if upward && v <= flip || !upward && v >= flip {
			continue
		}
		if s, plan, ok := q.with(v); ok && x.run(s, plan, clusters.Fork{}).violated {
			return true
		}
	}
	return false
}

// fromNothing is how far anything is from none.
const fromNothing = 10

// distance is how far two values are apart, as the logarithm of their ratio.
func distance(a, b int64) float64 {
	if a <= 0 || b <= 0 {
		return fromNothing
	}
	return math.Abs(math.Log(float64(a) / float64(b)))
}

// mostSteps is how far beyond a flip a value that keeps the rules is looked for.
const mostSteps = 3600

// makeSafe looks further on for a value that keeps the rules as well.
func (x *search) makeSafe(q quantity, flip *Flip, v int64) {
	if flip.Rules == "" || flip.Rules == Kept {
		return
	}
	step := q.tick
	if !flip.Upward {
		step = -step
	}
	for range mostSteps {
		if v += step; v < q.low || v > q.high {
			return
		}
		if q.rules(v) == Kept {
			if _, holds, _ := x.holdsAt(q, v, new(*Flip)); holds {
				flip.Safe = q.text(v)
			}
			return
		}
	}
}

// holdsAt tries one value, and keeps what became of it if the failure is averted.
func (x *search) holdsAt(q quantity, v int64, flip **Flip) (here, everywhere, ok bool) {
	s, plan, ok := q.with(v)
	if !ok {
		return false, false, false
	}
	here, everywhere, o := x.averts(s, plan)
	if everywhere {
		*flip = &Flip{What: q.what, At: q.text(v), Then: o.then}
		if q.rules != nil {
			(*flip).Rules = q.rules(v)
		}
	}
	return here, everywhere, o.ran
}

// followAll follows every quantity in both directions, and writes what it found into what they are of.
func (x *search) followAll(all []quantity) {
	type found struct {
		flip   *Flip
		chance bool
		last   int64
	}
	results := make([]found, 2*len(all))
	x.sideBySide(len(results), func(i int) {
		r := &results[i]
		r.flip, r.chance, r.last = x.follow(all[i/2], i%2 == 1)
	})
	for i, r := range results {
		q := all[i/2]
		m := q.of
		if r.flip != nil {
			m.Flips = append(m.Flips, *r.flip)
			m.Verdict = Flips
		} else if r.chance && m.Verdict == Irrelevant {
			m.Verdict = Chance
		}
		if i%2 == 1 && q.what == "" {
			m.Tried = q.text(min(results[i-1].last, q.now)) + " to " + q.text(max(r.last, q.now))
		}
	}
}

// duration writes a time as people say it: 305s as 5m5s, 6m for 6m0s.
func duration(v int64) string { return scenarios.DurationText(time.Duration(v)) }
