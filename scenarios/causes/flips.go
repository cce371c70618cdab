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

// factors are how far from the present value is looked, nearest first; where exactly the verdict flips is searched between two of them.
var factors = []float64{1.1, 1.5, 2, 4, 8}

// patience is at how many values in a row that avert the failure in this interleaving only the next ones are still tried: beyond, only the
// outermost is. A rare failure is gone by any change, and every value would take many runs to say no more than that.
const patience = 2

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
		if q.now == 0 {
			for _, ticks := range []int64{5, 30, 120} {
				add(ticks * q.tick)
			}
		}
		add(q.high)
	} else {
		add(q.low)
	}
	return all
}

// found is what became of a quantity in one direction.
type found struct {
	flip   *Flip
	chance bool  // some value averts the failure, in this interleaving only
	last   int64 // the value furthest off that was tried
}

// follow looks for the nearest value in one direction at which the failure is averted.
func (x *search) follow(q quantity, upward bool) found {
	f := found{last: q.now}
	values := q.probes(upward)
	if len(values) == 0 {
		return f
	}
	furthest := values[len(values)-1]
	utmost := x.at(q, furthest)
	if utmost.violated && utmost.trace == x.trace { // nobody asks for it, nor does anybody in between
		f.last = furthest
		return f
	}
	fails, row := q.now, 0
	for _, v := range values {
		if row >= patience && v != furthest {
			continue
		}
		if v == furthest && utmost.violated {
			f.last = v
			break
		}
		here, holds, ok := x.holdsAt(q, v, alternatives, &f.flip)
		if !ok {
			continue
		}
		f.last = v
		if holds {
			return x.locate(q, upward, fails, v, f)
		}
		fails = v
		if row++; !here {
			row = 0
		}
		f.chance = f.chance || here
	}
	return f
}

// at is the run with another value.
func (x *search) at(q quantity, v int64) outcome {
	s, plan, ok := q.with(v)
	if !ok {
		return outcome{}
	}
	return x.run(s, plan, clusters.Fork{})
}

// locate narrows down where between a value that fails and one that holds the verdict flips. On the way few other interleavings are enough;
// in the end all of them are asked, and where they do not agree it is searched with all.
func (x *search) locate(q quantity, upward bool, fails, holds int64, f found) found {
	sure, flip := holds, f.flip
	for _, others := range []int{screened, alternatives} {
		fails, holds, f.flip = x.between(q, fails, sure, others, flip)
		if holds == sure || others == alternatives {
			break
		}
		if _, agreed, _ := x.holdsAt(q, holds, alternatives, &f.flip); agreed {
			break
		}
		fails = holds
	}
	f.flip.Edge, f.flip.Upward = q.text(fails), upward
	f.flip.Patchy = x.patchy(q, upward, holds)
	x.makeSafe(q, f.flip, holds)
	f.flip.price = distance(q.now, holds)
	f.last = holds
	return f
}

// between is bisection: the last value that fails and the first that holds in so many other interleavings.
func (x *search) between(q quantity, fails, holds int64, others int, flip *Flip) (int64, int64, *Flip) {
	for x.ctx.Err() == nil {
		step := q.tick
		if fails == q.now { // the very next value: more exactly
			step = q.fine
		}
		if max(holds-fails, fails-holds) <= step {
			break
		}
		middle := (fails + (holds-fails)/2) / step * step
		if middle <= min(fails, holds) || middle >= max(fails, holds) {
			break
		}
		if _, ok, _ := x.holdsAt(q, middle, others, &flip); ok {
			holds = middle
		} else {
			fails = middle
		}
	}
	return fails, holds, flip
}

// patchy tells whether the failure is back at some value beyond the flip.
func (x *search) patchy(q quantity, upward bool, flip int64) bool {
	for _, v := range q.probes(upward) {
		if upward && v <= flip || !upward && v >= flip {
			continue
		}
		if x.at(q, v).violated {
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
			if _, holds, _ := x.holdsAt(q, v, alternatives, new(*Flip)); holds {
				flip.Safe = q.text(v)
			}
			return
		}
	}
}

// holdsAt tries one value, and keeps what became of it if the failure is averted, in so many other interleavings as well.
func (x *search) holdsAt(q quantity, v int64, others int, flip **Flip) (here, everywhere, ok bool) {
	s, plan, ok := q.with(v)
	if !ok {
		return false, false, false
	}
	here, everywhere, o := x.avertsIn(others, s, plan)
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
	results := make([]found, 2*len(all))
	x.eachSideBySide("settings and figures", len(results), func(i int) { results[i] = x.follow(all[i/2], i%2 == 1) })
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
