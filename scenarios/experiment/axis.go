package experiment

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/squall-chaos/squall/scenarios"
)

// SpotShareAxis is the name of the one axis that is no setting.
const SpotShareAxis = "spot_share"

// MostAxes is how many settings a sweep may vary.
const MostAxes = 4

// Axis is one setting that is swept over a range. Its values are whole numbers: nanoseconds, counts, or millionths of a share.
type Axis struct {
	Name           string
	From, To, Step int64
	kind           kind
}

type kind uint8

const (
	count kind = iota
	duration
	share
)

const millionths = 1_000_000

// ParseAxis reads NAME=FROM..TO:STEP.
func ParseAxis(text string) (Axis, error) {
	name, values, ok := strings.Cut(text, "=")
	from, rest, ok2 := strings.Cut(values, "..")
	to, step, ok3 := strings.Cut(rest, ":")
	if !ok || !ok2 || !ok3 || name == "" {
		return Axis{}, fmt.Errorf("%q is not NAME=FROM..TO:STEP, as in recovery_grace=240s..600s:30s", text)
	}
	a := Axis{Name: name}
	for _, part := range []struct {
		what, text string
		to         *int64
	}{{"begins at", from, &a.From}, {"ends at", to, &a.To}, {"goes in steps of", step, &a.Step}} {
		v, k, err := value(name, part.text)
		if err != nil {
			return Axis{}, fmt.Errorf("the range %s %q: %w", part.what, part.text, err)
		}
		*part.to, a.kind = v, k
	}
	switch {
	case a.Step <= 0:
		return Axis{}, fmt.Errorf("the range goes in steps of %s: a step is more than nothing", a.Text(a.Step))
	case a.To < a.From:
		return Axis{}, fmt.Errorf("the range is empty: it ends at %s, before it begins at %s; swap the two", a.Text(a.To), a.Text(a.From))
	case a.To == a.From:
		return Axis{}, fmt.Errorf("the range is empty: it begins and ends at %s", a.Text(a.From))
	case a.Step > a.To-a.From:
		return Axis{}, fmt.Errorf("a step of %s is longer than the range from %s to %s", a.Text(a.Step), a.Text(a.From), a.Text(a.To))
	case (a.To-a.From)/a.Step >= mostSteps:
		return Axis{}, fmt.Errorf("%d steps from %s to %s: a range has at most %d", (a.To-a.From)/a.Step, a.Text(a.From), a.Text(a.To), mostSteps)
	}
	return a, nil
}

const mostSteps = 10_000

// value reads one value of a setting.
func value(name, text string) (int64, kind, error) {
	if name == SpotShareAxis {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || !(f >= 0 && f <= 1) {
			return 0, share, fmt.Errorf("expected a share from 0 to 1, such as 0.5")
		}
		return int64(math.Round(f * millionths)), share, nil
	}
	o, err := scenarios.ParseOverride(name + "=" + text)
	switch {
	case err != nil:
		return 0, count, err
	case isDuration(name):
		return int64(o.Duration), duration, nil
	}
	return int64(o.Number), count, nil
}

func isDuration(name string) bool {
	_, err := scenarios.ParseOverride(name + "=1s")
	return err == nil
}

// Text writes a value of the axis.
func (a Axis) Text(v int64) string {
	switch a.kind {
	case duration:
		return Short(time.Duration(v))
	case share:
		return strconv.FormatFloat(float64(v)/millionths, 'f', -1, 64)
	}
	return strconv.FormatInt(v, 10)
}

// Float is a value of the axis in seconds, or as it is.
func (a Axis) Float(v int64) float64 {
	switch a.kind {
	case duration:
		return time.Duration(v).Seconds()
	case share:
		return float64(v) / millionths
	}
	return float64(v)
}

// Unit is the unit of Float.
func (a Axis) Unit() string {
	if a.kind == duration {
		return "s"
	}
	return ""
}

// Short is a duration in whole seconds if it is one: 240s, the way in which chains of timeouts are spoken of.
func Short(d time.Duration) string {
	if d%time.Second == 0 {
		return strconv.FormatInt(int64(d/time.Second), 10) + "s"
	}
	return d.String()
}

// Tick is the smallest difference that a cliff is located to: a second, which is what Kubernetes keeps times in, or one.
func (a Axis) Tick() int64 {
	switch {
	case a.kind == duration && a.Step%int64(time.Second) == 0 && a.From%int64(time.Second) == 0:
		return int64(time.Second)
	case a.kind == count:
		return 1
	}
	return a.Step
}

// steps is how many values the axis has.
func (a Axis) steps() int { return int((a.To-a.From)/a.Step) + 1 }

// last is the largest value in steps from the first.
func (a Axis) last() int64 { return a.From + int64(a.steps()-1)*a.Step }

// snap is the nearest value in whole steps, or ticks where those are asked for.
func (a Axis) snap(v, step int64) int64 {
	n := (v - a.From + step/2) / step
	return min(max(a.From+n*step, a.From), a.last())
}

// set gives the cell a value of the axis.
func (a Axis) set(c *Cell, v int64) {
	switch a.kind {
	case share:
		c.SpotShare = float64(v) / millionths
	case duration:
		c.Settings = append(c.Settings[:len(c.Settings):len(c.Settings)], scenarios.Override{Name: a.Name, Duration: time.Duration(v)})
	default:
		c.Settings = append(c.Settings[:len(c.Settings):len(c.Settings)], scenarios.Override{Name: a.Name, Number: int(v)})
	}
}

// of is the value of the axis in a cell.
func (a Axis) of(c Cell, s *scenarios.Scenario) int64 {
	if a.kind == share {
		return int64(math.Round(c.SpotShare * millionths))
	}
	settings, err := c.Scenario(s).DispatcherSettings()
	if err != nil {
		return a.From
	}
	for _, o := range scenarios.OverridesTo(settings) {
		if o.Name == a.Name {
			return max(int64(o.Duration), int64(o.Number))
		}
	}
	return a.From
}
