package causes

import (
	"slices"
	"strconv"
	"time"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/scenarios"
)

// settings are all settings, and the quantities to search.
func (x *search) settings() ([]Matter, []quantity) {
	now, err := x.scenario.DispatcherSettings()
	if err != nil {
		return nil, nil
	}
	if change := x.options.System.Settings; change != nil {
		now = change(now)
	}
	overrides := scenarios.OverridesTo(now)
	matters := make([]Matter, len(overrides))
	all := make([]quantity, len(overrides))
	before := errorsIn(now)
	for i, o := range overrides {
		q := quantity{of: &matters[i], now: int64(o.Number), tick: 1, fine: 1, low: 0, high: 8*int64(o.Number) + 10,
			text: func(v int64) string { return strconv.FormatInt(v, 10) }}
		set := func(v int64) scenarios.Override { return scenarios.Override{Name: o.Name, Number: int(v)} }
		if o.IsDuration() {
			q = quantity{of: &matters[i], now: int64(o.Duration), low: 0, high: 8 * int64(max(o.Duration, time.Minute)), text: duration}
			q.tick, q.fine = ticks(o.Duration)
			set = func(v int64) scenarios.Override { return scenarios.Override{Name: o.Name, Duration: time.Duration(v)} }
			if o.Duration > 0 {
				q.low = q.tick
			}
		}
		changed := func(v int64) dispatcher.Settings { return scenarios.Overrides{set(v)}.Apply(now) }
		q.with = func(v int64) (*scenarios.Scenario, faults.Plan, bool) {
			s := *x.scenario
			s.Settings = slices.Clone(overrides)
			s.Settings[i] = set(v)
			return &s, x.plan, !senseless(changed(v))
		}
		q.rules = func(v int64) Rules {
			switch n := errorsIn(changed(v)); {
			case n == 0:
				return Kept
			case n <= before:
				return AsBefore
			}
			return Broken
		}
		matters[i] = Matter{Name: o.Name, Value: q.text(q.now), Verdict: Irrelevant}
		all[i] = q
	}
	return matters, all
}

// ticks are to how much a time is located.
func ticks(d time.Duration) (tick, fine int64) {
	if d > 0 && d < 5*time.Second {
		return int64(100 * time.Millisecond), int64(10 * time.Millisecond)
	}
	return int64(time.Second), int64(time.Second)
}

// errorsIn is how many rules the settings break.
func errorsIn(s dispatcher.Settings) int {
	n := 0
	for _, f := range s.Check() {
		if f.Severity == dispatcher.SeverityError {
			n++
		}
	}
	return n
}

// senseless tells that a setting is out of its range.
func senseless(s dispatcher.Settings) bool {
	return slices.ContainsFunc(s.Check(), func(f dispatcher.Finding) bool { return f.Rule == "range" })
}
