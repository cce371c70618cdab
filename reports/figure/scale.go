// Package figure is the layout of the report's figures: where marks and their labels go.
// It knows nothing of histories; what comes out are shapes that a template draws as SVG.
package figure

import (
	"math"
	"strconv"
	"time"
)

// Num is a coordinate; it prints with one decimal, which is finer than a screen shows.
type Num float64

// String prints the shortest form of the number rounded to a tenth.
func (n Num) String() string {
	return strconv.FormatFloat(math.Round(float64(n)*10)/10, 'f', -1, 64)
}

// Scale maps time to x.
type Scale struct {
	From, To time.Duration
	X0, X1   float64
}

// X is where t is drawn, clamped to the plot.
func (s Scale) X(t time.Duration) float64 {
	switch {
	case t <= s.From || s.To <= s.From:
		return s.X0
	case t >= s.To:
		return s.X1
	}
	return s.X0 + (s.X1-s.X0)*float64(t-s.From)/float64(s.To-s.From)
}

// Holds tells whether t lies inside the scale.
func (s Scale) Holds(t time.Duration) bool { return t >= s.From && t <= s.To }

// Tick is one position of an axis.
type Tick struct {
	At    time.Duration
	X     float64
	Label string
}

// steps are the distances between ticks that people read without arithmetic.
var steps = []time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// Ticks returns the ticks of the scale at round distances, at least gap apart.
func (s Scale) Ticks(gap float64) []Tick {
	span := s.To - s.From
	if span <= 0 || s.X1 <= s.X0 {
		return nil
	}
	step := steps[len(steps)-1]
	for _, candidate := range steps {
		if float64(candidate)/float64(span)*(s.X1-s.X0) >= gap {
			step = candidate
			break
		}
	}
	first := s.From.Truncate(step)
	if first < s.From {
		first += step
	}
	var ticks []Tick
	for t := first; t <= s.To; t += step {
		ticks = append(ticks, Tick{At: t, X: s.X(t), Label: Seconds(t)})
	}
	return ticks
}

// Seconds writes a moment or a length as people say it: with as many decimals as it needs, three at most.
func Seconds(t time.Duration) string {
	seconds := math.Round(t.Seconds()*1000) / 1000
	switch {
	case math.Abs(seconds) >= 100:
		seconds = math.Round(seconds*10) / 10
	case math.Abs(seconds) >= 10:
		seconds = math.Round(seconds*100) / 100
	}
	if seconds < 0 {
		return "−" + strconv.FormatFloat(-seconds, 'f', -1, 64) + " s"
	}
	return strconv.FormatFloat(seconds, 'f', -1, 64) + " s"
}

// Precise writes a moment with two decimals, so that moments in a column line up.
func Precise(t time.Duration) string {
	return strconv.FormatFloat(t.Seconds(), 'f', 2, 64) + " s"
}
