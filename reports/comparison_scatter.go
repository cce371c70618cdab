package reports

import (
	"fmt"

	"github.com/squall-chaos/squall/reports/figure"
	"github.com/squall-chaos/squall/scenarios/experiment"
)

// scatterPlot sets what a setting takes against its risk. A setting is dominated if another is no worse in both and better in one.
type scatterPlot struct {
	ID, What string
	Figure   *figure.Drawing
	Rows     []scatterRow
}

type scatterRow struct {
	Name, Value, Risk string
	Dominated         bool
	Number            int
}

// scatter has a plot of cost and one of recovery latency, each against the share of unsafe runs.
func (c *Comparison) scatter() []scatterPlot {
	if len(c.Cells) < 2 {
		return nil
	}
	var plots []scatterPlot
	for _, key := range []string{"cost", "recovery"} {
		k := measureIndex(key)
		m := experiment.Measures()[k]
		var shown []int
		for i, cell := range c.Cells {
			if cell.Estimates[k].Mean.N > 0 {
				shown = append(shown, i)
			}
		}
		if len(shown) > 1 {
			plots = append(plots, c.scatterOf(k, m, shown))
		}
	}
	return plots
}

func (c *Comparison) dominated(i, k int, among []int) bool {
	value := func(j int) float64 { return c.Cells[j].Estimates[k].Mean.Value }
	risk := func(j int) int { return c.Cells[j].Unsafe.Count + c.Cells[j].Unknown }
	for _, j := range among {
		if value(j) <= value(i) && risk(j) <= risk(i) && (value(j) < value(i) || risk(j) < risk(i)) {
			return true
		}
	}
	return false
}

func (c *Comparison) scatterOf(k int, m experiment.Measure, shown []int) scatterPlot {
	const (
		width, height            = 1160.0, 330.0
		left, right, top, bottom = 80.0, 30.0, 20.0, 46.0
	)
	p := scatterPlot{ID: "scatter-" + m.Key, What: m.Name + ", " + m.Unit}
	first := c.Cells[shown[0]].Estimates[k].Mean.Value
	from, to, most := first, first, 0.0
	for _, i := range shown {
		v := c.Cells[i].Estimates[k].Mean.Value
		from, to, most = min(from, v), max(to, v), max(most, c.Cells[i].Unsafe.High)
	}
	room := max((to-from)*0.08, to*0.01, 1e-9)
	x := figure.Linear{From: from - room, To: to + room, X0: left, X1: width - right}
	y := figure.Linear{From: 0, To: most * 100, X0: height - bottom, X1: top}
	d := &figure.Drawing{ID: p.ID, Label: m.Name + " against the share of unsafe runs", Width: width, Height: height, Left: left, Right: width - right}
	for _, mark := range x.Marks(90) {
		d.Add(figure.Line(mark.X, top, mark.X, height-bottom, "grid"), figure.Label(mark.X, height-bottom+16, mark.Label, "tick").Anchored("middle"))
	}
	for _, mark := range y.Marks(44) {
		d.Add(figure.Line(left, mark.X, width-right, mark.X, "grid"), figure.Label(left-8, mark.X+4, mark.Label+" %", "tick").Anchored("end"))
	}
	d.Add(figure.Label((left+width-right)/2, height-8, p.What+" →", "axis-name").Anchored("middle"), figure.Label(left, top-7, "unsafe runs ↑", "axis-name"))
	for n, i := range shown {
		cell := c.Cells[i]
		share := float64(cell.Unsafe.Count) / float64(max(cell.Unsafe.N, 1))
		row := scatterRow{Number: n + 1, Name: c.marked(i), Value: intervalWords(cell.Estimates[k].Mean), Risk: unsafeWords(cell), Dominated: c.dominated(i, k, shown)}
		p.Rows = append(p.Rows, row)
		px, py := x.X(cell.Estimates[k].Mean.Value), y.X(100*share)
		class := "point"
		if row.Dominated {
			class += " hollow"
		}
		if cell.Unsafe.Count > 0 {
			class += " unsafe"
		}
		if cell.Estimates[k].Mean.N > 1 {
			d.Add(figure.Line(x.X(cell.Estimates[k].Mean.Low), py, x.X(cell.Estimates[k].Mean.High), py, "whisker faint"))
		}
		title := fmt.Sprintf("%d: %s: %s; unsafe %s", n+1, row.Name, row.Value, row.Risk)
		d.Add(figure.Line(px, y.X(100*cell.Unsafe.Low), px, y.X(100*cell.Unsafe.High), "whisker faint"))
		if cell.Unsafe.Count > 0 {
			d.Add(figure.Path(px, py, "M-5 -5L5 5M5 -5L-5 5", "cross").Titled(title))
		} else {
			d.Add(figure.Shape{Kind: "circle", X: figure.Num(px), Y: figure.Num(py), W: 5, Class: class}.Titled(title))
		}
	}
	c.nameCorners(d, k, shown, x, y)
	p.Figure = d
	return p
}

// nameCorners names the settings that decide, where there is room.
func (c *Comparison) nameCorners(d *figure.Drawing, k int, shown []int, x, y figure.Linear) {
	type box struct{ x0, y0, x1, y1 float64 }
	var taken []box
	for _, i := range append([]int{c.Winner, c.Fastest, c.Baseline}, shown...) {
		if i < 0 || c.Cells[i].Estimates[k].Mean.N == 0 {
			continue
		}
		cell := c.Cells[i]
		share := float64(cell.Unsafe.Count) / float64(max(cell.Unsafe.N, 1))
		px, py := x.X(cell.Estimates[k].Mean.Value), y.X(100*share)
		name := clip(c.name(i), 240)
		w := figure.TextWidth(name, 11)
		b := box{px + 9, py - 16, px + 9 + w, py - 4}
		if b.x1 > x.X1 {
			b.x0, b.x1 = px-9-w, px-9
		}
		free := b.y0 > 16 && b.x0 > x.X0
		for _, t := range taken {
			free = free && (b.x0 > t.x1+4 || b.x1 < t.x0-4 || b.y0 > t.y1+2 || b.y1 < t.y0-2)
		}
		if free {
			taken = append(taken, b)
			d.Add(figure.Label(b.x0, b.y1-2, name, "tick point-name"))
		} else {
			d.Hidden++
		}
	}
}
