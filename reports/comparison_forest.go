package reports

import (
	"math"

	"github.com/squall-chaos/squall/reports/figure"
	"github.com/squall-chaos/squall/scenarios/experiment"
)

// forestPlot is one measure of the settings against the baseline.
type forestPlot struct {
	Measure experiment.Measure
	ID      string
	Figure  *figure.Drawing
	Rows    []forestRow
	Left    int
}

// forestRow is one setting in it.
type forestRow struct {
	Name, Mean, Difference, Runs string
	Shown                        bool
}

// mostForest is how many settings a forest plot has.
const mostForest = 24

// forest has a plot for each measure in which some setting differs from the baseline, and the names of the others.
func (c *Comparison) forest() (plots []forestPlot, same []string) {
	if len(c.Cells) < 2 {
		return nil, nil
	}
	shown := c.picked(mostForest)
	for k, m := range experiment.Measures() {
		differs := false
		for _, cell := range c.Cells {
			differs = differs || cell.Estimates[k].Shown()
		}
		if !differs {
			same = append(same, m.Name+c.bound(k, m))
			continue
		}
		plots = append(plots, c.forestOf(k, m, shown))
	}
	return plots, same
}

// bound is the upper bound of a measure that counts and was never seen.
func (c *Comparison) bound(k int, m experiment.Measure) string {
	if !m.Counts {
		return ""
	}
	highest := 0.0
	for _, cell := range c.Cells {
		if cell.Estimates[k].Runs.Count > 0 {
			return ""
		}
		highest = max(highest, cell.Estimates[k].Runs.High)
	}
	return " (none in any run: fewer than " + percent(highest) + " of them)"
}

func (c *Comparison) forestOf(k int, m experiment.Measure, shown []int) forestPlot {
	const (
		width, gutter, right = 1160.0, 270.0, 300.0
		step, top            = 24.0, 34.0
	)
	p := forestPlot{Measure: m, ID: "forest-" + m.Key, Left: len(c.Cells) - len(shown)}
	from, to := 0.0, 0.0
	for _, i := range shown {
		if d := c.Cells[i].Estimates[k].Difference; d != nil && d.N > 1 {
			from, to = min(from, d.Low), max(to, d.High)
		}
	}
	room := max((to-from)*0.05, 1e-9)
	axis := figure.Linear{From: from - room, To: to + room, X0: gutter, X1: width - right}
	height := top + step*float64(len(shown)) + 8
	d := &figure.Drawing{ID: p.ID, Label: m.Name + ": difference to " + c.name(c.Baseline) + " with 95 % intervals", Width: width, Height: figure.Num(height), Left: gutter, Right: width - right}
	for _, mark := range axis.Marks(80) {
		d.Add(figure.Line(mark.X, top-8, mark.X, height-8, "grid"), figure.Label(mark.X, top-14, mark.Label, "tick").Anchored("middle"))
	}
	d.Add(figure.Line(axis.X(0), top-8, axis.X(0), height-8, "zero"))
	for n, i := range shown {
		y := top + step*float64(n) + step/2
		cell := c.Cells[i]
		e := cell.Estimates[k]
		row := forestRow{Name: c.marked(i), Mean: intervalWords(e.Mean), Difference: "baseline", Shown: e.Shown()}
		if e.Runs != nil {
			row.Runs = shareWords(*e.Runs)
		}
		d.Add(figure.Label(12, y+4, signOf(cell)+" "+clip(c.marked(i), gutter-40), "lane-name"))
		if e.Difference != nil {
			row.Difference = differenceWords(*e.Difference, e.Shown())
			d.Add(interval(axis, *e.Difference, y, e.Shown(), c.name(i)+": "+row.Difference)...)
		} else {
			d.Add(figure.Path(axis.X(0), y, "M0 -5L5 0L0 5L-5 0Z", "point baseline"))
		}
		words := row.Difference
		if e.Difference == nil {
			words = "baseline: " + intervalWords(e.Mean)
		}
		d.Add(figure.Label(width-right+14, y+4, clip(words, right-20), "margin"))
		p.Rows = append(p.Rows, row)
	}
	p.Figure = d
	return p
}

// interval draws an estimate: filled if it is shown to differ, else hollow.
func interval(axis figure.Linear, i experiment.Interval, y float64, shown bool, title string) []figure.Shape {
	class := "point hollow"
	if shown {
		class = "point"
	}
	x := axis.X(i.Value)
	shapes := []figure.Shape{}
	if i.N > 1 && !math.IsInf(i.Low, 0) {
		shapes = append(shapes, figure.Line(axis.X(i.Low), y, axis.X(i.High), y, "whisker"),
			figure.Line(axis.X(i.Low), y-4, axis.X(i.Low), y+4, "whisker"), figure.Line(axis.X(i.High), y-4, axis.X(i.High), y+4, "whisker"))
	}
	return append(shapes, figure.Rect(x-4, y-4, 8, 8, class).Titled(title))
}

func differenceWords(d experiment.Interval, shown bool) string {
	switch {
	case d.N == 0:
		return "nothing to compare"
	case d.N == 1:
		return signed(d.Value) + " (one run)"
	}
	text := signed(d.Value) + " (" + signed(d.Low) + " to " + signed(d.High) + ")"
	if !shown {
		text += ", not shown"
	}
	return text
}
