package reports

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/calibration"
	"github.com/squall-chaos/squall/reports/figure"
)

// Metrics of a panel of shares.
const (
	panelHeight = 210.0
	panelGutter = 44.0 // for the shares
	panelTop    = 26.0 // for the title
	panelFoot   = 28.0 // for the times
	tickGap     = 58.0
)

// durations is an axis of durations: even, or by ratios where they span more than one would see.
type durations struct {
	from, to time.Duration
	ratios   bool
}

// axisOf spans all results, so that panels can be compared.
func axisOf(results []calibration.Result) durations {
	a := durations{from: math.MaxInt64}
	known := time.Millisecond
	for _, r := range results {
		for _, s := range r.Samples {
			if s.Rounding != calibration.Exact {
				known = 100 * time.Millisecond // of less, whole seconds tell nothing
			}
		}
		if low, ok := r.Quantile(0.02); ok {
			a.from = min(a.from, low)
		}
		for _, p := range []float64{0.5, 0.9, 0.98} {
			if high, ok := r.Quantile(p); ok {
				a.to = max(a.to, high)
			}
		}
		if r.Usable() {
			a.to = max(a.to, r.TakenQuantile(0.99))
		}
	}
	if a.to == 0 {
		a.to = time.Second
	}
	const wide = 25
	a.from = max(min(a.from, a.to), known)
	a.ratios = a.to/a.from >= wide
	if !a.ratios {
		a.from = 0
	}
	a.to += a.to / 10
	return a
}

// x is where a duration stands between x0 and x1.
func (a durations) x(d time.Duration, x0, x1 float64) float64 {
	part := float64(d-a.from) / float64(a.to-a.from)
	if a.ratios {
		part = math.Log(float64(max(d, 1))/float64(a.from)) / math.Log(float64(a.to)/float64(a.from))
	}
	return x0 + (x1-x0)*min(max(part, 0), 1)
}

// at is the duration that stands at a part of the axis.
func (a durations) at(part float64) time.Duration {
	if a.ratios {
		return time.Duration(float64(a.from) * math.Pow(float64(a.to)/float64(a.from), part))
	}
	return a.from + time.Duration(part*float64(a.to-a.from))
}

func (a durations) ticks(x0, x1 float64) []figure.Tick {
	if !a.ratios {
		return figure.Scale{From: a.from, To: a.to, X0: x0, X1: x1}.Ticks(tickGap)
	}
	var ticks []figure.Tick
	last := math.Inf(-1)
	for decade := time.Millisecond; decade <= a.to; decade *= 10 {
		for _, n := range []time.Duration{1, 2, 5} {
			at := n * decade
			x := a.x(at, x0, x1)
			if at < a.from || at > a.to || x-last < tickGap {
				continue
			}
			ticks, last = append(ticks, figure.Tick{At: at, X: x, Label: seconds(at)}), x
		}
	}
	return ticks
}

// shares draws measured against fitted, one panel per capacity type, beside each other or below.
func shares(f calibration.Finding, narrow bool) *figure.Drawing {
	results := f.Types
	axis := axisOf(results)
	width, columns := 1160.0, len(results)
	id := "shares-" + fileWord(string(f.Measure))
	if narrow {
		width, columns, id = 372, 1, id+"-narrow"
	}
	d := &figure.Drawing{ID: id, Label: "Measured and fitted shares of " + string(f.Measure), Width: figure.Num(width)}
	panel := width / float64(columns)
	rows := (len(results) + columns - 1) / columns
	step := panelTop + panelHeight + panelFoot + 10
	for i, r := range results {
		x, y := panel*float64(i%columns), step*float64(i/columns)
		drawPanel(d, r, axis, x, y, panel)
	}
	d.Height, d.Left, d.Right = figure.Num(step*float64(rows)), figure.Num(panelGutter), figure.Num(width-12)
	return d
}

func drawPanel(d *figure.Drawing, r calibration.Result, axis durations, x, y, width float64) {
	x0, x1 := x+panelGutter, x+width-16
	top, bottom := y+panelTop, y+panelTop+panelHeight
	toY := func(share float64) float64 { return bottom - share*panelHeight }
	d.Add(figure.Label(x0, y+15, fmt.Sprintf("%s, %s", kindWords(r), count(len(r.Samples), "sample", "samples")), "lane-name"))
	for _, percent := range []int{0, 25, 50, 75, 100} {
		at := toY(float64(percent) / 100)
		d.Add(figure.Line(x0, at, x1, at, "grid"), figure.Label(x0-6, at+4, fmt.Sprintf("%d%%", percent), "tick").Anchored("end"))
	}
	for _, t := range axis.ticks(x0, x1) {
		d.Add(figure.Line(t.X, top, t.X, bottom, "grid"))
		if t.X < x1-12 {
			d.Add(figure.Label(t.X, bottom+16, t.Label, "tick").Anchored("middle"))
		}
	}
	d.Add(figure.Path(0, 0, measuredPath(r, axis, x0, x1, toY), "measured").Titled("measured"))
	class := "fitted"
	if r.Status != calibration.Fitted && r.Status != calibration.Measured {
		class = "fitted refused"
	}
	if path := fittedPath(r, axis, x0, x1, toY); path != "" {
		d.Add(figure.Path(0, 0, path, class).Titled("taken as " + taken(r)))
	}
	if r.Usable() {
		p99 := r.TakenQuantile(0.99)
		at := axis.x(p99, x0, x1)
		label := figure.Label(at-6, bottom-10, "p99 "+seconds(p99), "label").Anchored("end")
		const room = 90.0
		if x1-at > room { // the curve is to the left
			label = figure.Label(at+6, bottom-10, "p99 "+seconds(p99), "label")
		}
		d.Add(figure.Line(at, toY(0.99), at, bottom, "guide"), label)
	}
}

// measuredPath is the staircase of what was measured.
func measuredPath(r calibration.Result, axis durations, x0, x1 float64, toY func(float64) float64) string {
	const finest = 0.002 // of the height: more is not seen
	var b strings.Builder
	fmt.Fprintf(&b, "M%s %s", figure.Num(x0), figure.Num(toY(0)))
	share, drawn := 0.0, 0.0
	for i, s := range r.Curve {
		share = s.Share
		if share-drawn < finest && i < len(r.Curve)-1 {
			continue
		}
		fmt.Fprintf(&b, "H%sV%s", figure.Num(axis.x(s.At, x0, x1)), figure.Num(toY(share)))
		drawn = share
	}
	fmt.Fprintf(&b, "H%s", figure.Num(x1))
	return b.String()
}

// fittedPath is the curve of the family, or of the percentiles that are taken.
func fittedPath(r calibration.Result, axis durations, x0, x1 float64, toY func(float64) float64) string {
	var b strings.Builder
	point := func(d time.Duration, share float64) {
		verb := "L"
		if b.Len() == 0 {
			verb = "M"
		}
		fmt.Fprintf(&b, "%s%s %s", verb, figure.Num(axis.x(d, x0, x1)), figure.Num(toY(share)))
	}
	switch {
	case r.Status == calibration.Measured:
		for _, p := range *r.Dist.Curve {
			point(p.At, p.Percent/100)
		}
	case r.Family == "constant" && r.Dist.Shape == clusters.FixedShape:
		point(r.Dist.A, 0)
		point(r.Dist.A, 1)
	default:
		const points = 120
		for i := range points + 1 {
			d := axis.at(float64(i) / points)
			if share, ok := r.Share(d); ok {
				point(d, share)
			}
		}
	}
	return b.String()
}
