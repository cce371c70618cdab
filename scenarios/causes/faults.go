package causes

import (
	"slices"
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/scenarios"
)

// leftOut is the change of a fault that does not come.
const leftOut = "left out"

// withoutEach leaves out one fault at a time.
func (x *search) withoutEach() []Matter {
	matters := make([]Matter, len(x.plan))
	x.eachSideBySide("faults", len(matters), func(i int) {
		f := x.plan[i]
		matters[i] = Matter{Name: f.String(), Value: "at " + duration(int64(f.At)), Verdict: Irrelevant}
		here, everywhere, o := x.averts(x.scenario, without(x.plan, i))
		switch {
		case everywhere:
			matters[i].Verdict = Flips
			matters[i].Flips = []Flip{{At: leftOut, Then: o.then}}
		case here:
			matters[i].Verdict = Chance
		}
	})
	return matters
}

func without(plan faults.Plan, i int) faults.Plan { return slices.Concat(plan[:i], plan[i+1:]) }

// needsFaults tells that without any fault the invariant holds.
func (x *search) needsFaults() bool {
	if len(x.plan) == 0 {
		return false
	}
	_, everywhere, _ := x.averts(x.scenario, nil)
	return everywhere
}

// enough are the numbers, from 1, of faults that suffice and of which none can go: the last ones that do.
func (x *search) enough() []int {
	left := make([]int, len(x.plan))
	for i := range left {
		left[i] = i + 1
	}
	pick := func(numbers []int) faults.Plan {
		plan := faults.Plan{}
		for _, n := range numbers {
			plan = append(plan, x.plan[n-1])
		}
		return plan
	}
	for i := 0; i < len(left); {
		fewer := slices.Delete(slices.Clone(left), i, i+1)
		if o := x.run(x.scenario, pick(fewer), clusters.Fork{}); o.violated {
			left = fewer
		} else {
			i++
		}
	}
	return left
}

// figuresOf are the figures of the faults that matter.
func (x *search) figuresOf(matters []Matter) []quantity {
	var all []quantity
	for i := range matters {
		if matters[i].Verdict != Flips {
			continue
		}
		for _, field := range figures {
			now := *field.of(&x.plan[i])
			if now < 0 || now == 0 && field.what != "at" {
				continue
			}
			q := quantity{of: &matters[i], what: field.what, now: int64(now), high: int64(max(8*now, x.scenario.Horizon)), text: duration}
			if q.tick, q.fine = ticks(now); field.what == "at" {
				q.tick, q.fine, q.high = int64(time.Second), int64(10*time.Millisecond), int64(x.scenario.Horizon)
			}
			q.with = func(v int64) (*scenarios.Scenario, faults.Plan, bool) {
				plan := slices.Clone(x.plan)
				*field.of(&plan[i]) = time.Duration(v)
				return x.scenario, plan, v > 0 || field.what == "at"
			}
			all = append(all, q)
		}
	}
	return all
}

// figures are the times that a fault has.
var figures = []struct {
	what string
	of   func(*faults.Fault) *time.Duration
}{
	{"at", func(f *faults.Fault) *time.Duration { return &f.At }},
	{"for", func(f *faults.Fault) *time.Duration { return &f.For }},
	{"notice", func(f *faults.Fault) *time.Duration { return &f.Notice }},
	{"run", func(f *faults.Fault) *time.Duration { return &f.Run }},
	{"by", func(f *faults.Fault) *time.Duration { return &f.By }},
	{"lag", func(f *faults.Fault) *time.Duration { return &f.Lag }},
	{"lost", func(f *faults.Fault) *time.Duration { return &f.Lost }},
}
