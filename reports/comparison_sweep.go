package reports

import (
	"fmt"
	"math"

	"github.com/squall-chaos/squall/reports/figure"
	"github.com/squall-chaos/squall/scenarios/experiment"
)

// sweepSection is what a sweep shows.
type sweepSection struct {
	Curves []sweepCurve
	Heat   *figure.Drawing
	HeatOf string
	Points int
}

// sweepCurve is one setting's way along its range, all others being held.
type sweepCurve struct {
	ID, Name, Held string
	Figure         *figure.Drawing
	Cliffs         []string
	Rows           []sweepRow
}

type sweepRow struct{ Value, Unsafe, Recovery, Cost, Rules string }

func (c *Comparison) sweepSection() *sweepSection {
	if len(c.Axes) == 0 {
		return nil
	}
	s := &sweepSection{}
	for _, cell := range c.Cells {
		if cell.Point != nil {
			s.Points++
		}
	}
	for _, l := range c.Lines {
		s.Curves = append(s.Curves, c.curve(l))
	}
	if len(c.Axes) > 1 {
		s.Heat = c.heatmap()
		s.HeatOf = c.Axes[0].Name + " and " + c.Axes[1].Name
	}
	return s
}

func (c *Comparison) curve(l experiment.Line) sweepCurve {
	a := c.Axes[l.Axis]
	out := sweepCurve{ID: "curve-" + fileWord(a.Name), Name: a.Name, Held: c.heldWords(l)}
	for _, k := range l.Cliffs {
		out.Cliffs = append(out.Cliffs, c.cliffWords(l, k)+" "+boundWords(k))
	}
	cost, recovery := measureIndex("cost"), measureIndex("recovery")
	for _, i := range l.Cells {
		cell := c.Cells[i]
		row := sweepRow{Value: a.Text(cell.Point[l.Axis]), Unsafe: unsafeWords(cell), Recovery: intervalWords(cell.Estimates[recovery].Mean),
			Cost: intervalWords(cell.Estimates[cost].Mean), Rules: "kept"}
		if broken := cell.Broken(); len(broken) > 0 {
			row.Rules = "✗ " + broken[0].Rule
			if len(broken) > 1 {
				row.Rules += fmt.Sprintf(" and %d more", len(broken)-1)
			}
		}
		out.Rows = append(out.Rows, row)
	}
	out.Figure = c.drawCurve(l, a, out.ID)
	return out
}

// heldWords says at what the other settings are held.
func (c *Comparison) heldWords(l experiment.Line) string {
	text := ""
	for i, a := range c.Axes {
		if i != l.Axis {
			text += " " + a.Name + "=" + a.Text(l.Held[i])
		}
	}
	return text
}

// panel is one of the plots of a curve, one above the other.
type panel struct {
	name   string
	unit   string
	top    float64
	bottom float64
	value  func(experiment.CellResult) (v, low, high float64, ok bool)
}

func (c *Comparison) drawCurve(l experiment.Line, a experiment.Axis, id string) *figure.Drawing {
	const width, left, right = 1160.0, 90.0, 40.0
	recovery := measureIndex("recovery")
	panels := []panel{
		{"unsafe runs", " %", 58, 208, func(r experiment.CellResult) (float64, float64, float64, bool) {
			return 100 * float64(r.Unsafe.Count) / float64(max(r.Unsafe.N, 1)), 100 * r.Unsafe.Low, 100 * r.Unsafe.High, r.Unsafe.N > 0
		}},
		{"recovery latency", " s", 248, 368, func(r experiment.CellResult) (float64, float64, float64, bool) {
			m := r.Estimates[recovery].Mean
			return m.Value, m.Low, m.High, m.N > 1
		}},
	}
	x := figure.Linear{From: a.Float(a.From), To: a.Float(a.To), X0: left, X1: width - right}
	d := &figure.Drawing{ID: id, Label: "Along " + a.Name + ": unsafe runs and recovery latency", Width: width, Height: 414, Left: left, Right: width - right}
	for _, mark := range x.Marks(80) {
		d.Add(figure.Line(mark.X, 58, mark.X, 368, "grid"), figure.Label(mark.X, 386, mark.Label+unitAfter(a), "tick").Anchored("middle"))
	}
	for _, p := range panels {
		c.drawPanel(d, l, a, p, x)
	}
	d.Add(figure.Label((left+width-right)/2, 406, a.Name+" →", "axis-name").Anchored("middle"))
	c.drawGuides(d, l, a, x)
	return d
}

func unitAfter(a experiment.Axis) string {
	if a.Unit() == "" {
		return ""
	}
	return " " + a.Unit()
}

// drawPanel draws one measure along a line, with its band.
func (c *Comparison) drawPanel(d *figure.Drawing, l experiment.Line, a experiment.Axis, p panel, x figure.Linear) {
	most := 0.0
	for _, i := range l.Cells {
		if _, _, high, ok := p.value(c.Cells[i]); ok && !math.IsInf(high, 0) {
			most = max(most, high)
		}
	}
	y := figure.Linear{From: 0, To: max(most, 1e-9), X0: p.bottom, X1: p.top}
	for _, mark := range y.Marks(40) {
		d.Add(figure.Line(x.X0, mark.X, x.X1, mark.X, "grid"), figure.Label(x.X0-8, mark.X+4, mark.Label+p.unit, "tick").Anchored("end"))
	}
	d.Add(figure.Label(x.X0, p.top-8, p.name+" ↑", "axis-name"))
	upper, lower, line := "", "", ""
	var marks []figure.Shape
	for _, i := range l.Cells {
		v, low, high, ok := p.value(c.Cells[i])
		if !ok {
			continue
		}
		px := x.X(a.Float(c.Cells[i].Point[l.Axis]))
		command := "L"
		if line == "" {
			command = "M"
		}
		upper += command + coordinates(px, y.X(high))
		lower = "L" + coordinates(px, y.X(low)) + lower
		line += command + coordinates(px, y.X(v))
		title := fmt.Sprintf("%s: %s %s (%s to %s)%s", c.name(i), p.name, amount(v), amount(low), amount(high), p.unit)
		if c.Cells[i].Unsafe.Count > 0 {
			marks = append(marks, figure.Path(px, y.X(v), "M-4 -4L4 4M4 -4L-4 4", "cross").Titled(title))
		} else {
			marks = append(marks, figure.Shape{Kind: "circle", X: figure.Num(px), Y: figure.Num(y.X(v)), W: 4, Class: "point"}.Titled(title))
		}
	}
	if line != "" {
		d.Add(figure.Path(0, 0, upper+lower+"Z", "band"), figure.Path(0, 0, line, "curve"))
		d.Add(marks...)
	}
}

func coordinates(x, y float64) string {
	return figure.Num(x).String() + " " + figure.Num(y).String()
}

// drawGuides marks the cliffs, and what the rules derive.
func (c *Comparison) drawGuides(d *figure.Drawing, l experiment.Line, a experiment.Axis, x figure.Linear) {
	labels := []guide{}
	for _, k := range l.Cliffs {
		at := (a.Float(c.Cells[k.Unsafe].Point[l.Axis]) + a.Float(c.Cells[k.Safe].Point[l.Axis])) / 2
		labels = append(labels, guide{x.X(at), "cliff: " + a.Text(c.Cells[k.Unsafe].Point[l.Axis]) + " unsafe, " + a.Text(c.Cells[k.Safe].Point[l.Axis]) + " safe", "cliff"})
		for _, r := range k.Rules {
			labels = append(labels, guide{x.X(a.Float(r.Holds)), "derived: " + a.Text(r.Holds) + " (" + r.Finding.Rule + ")", "derived"})
		}
	}
	for n, g := range labels {
		y := 12 + 15*float64(n%3)
		d.Add(figure.Line(g.x, y+4, g.x, 368, g.class))
		w := figure.TextWidth(g.text, 11.5)
		if g.x+6+w > x.X1 {
			d.Add(figure.Label(g.x-6, y+8, g.text, "label "+g.class+"-name").Anchored("end"))
		} else {
			d.Add(figure.Label(g.x+6, y+8, g.text, "label "+g.class+"-name"))
		}
	}
}

type guide struct {
	x           float64
	text, class string
}

// heatmap shows the first two settings of a sweep; the others are wherever the points have them.
func (c *Comparison) heatmap() *figure.Drawing {
	const (
		width, height            = 1160.0, 420.0
		left, right, top, bottom = 100.0, 40.0, 28.0, 52.0
	)
	a, b := c.Axes[0], c.Axes[1]
	x := figure.Linear{From: a.Float(a.From), To: a.Float(a.To), X0: left + 14, X1: width - right - 14}
	y := figure.Linear{From: b.Float(b.From), To: b.Float(b.To), X0: height - bottom - 14, X1: top + 14}
	d := &figure.Drawing{ID: "heat", Label: "Unsafe runs over " + a.Name + " and " + b.Name, Width: width, Height: height, Left: left, Right: width - right}
	for _, mark := range x.Marks(90) {
		d.Add(figure.Line(mark.X, top, mark.X, height-bottom, "grid"), figure.Label(mark.X, height-bottom+16, mark.Label+unitAfter(a), "tick").Anchored("middle"))
	}
	for _, mark := range y.Marks(40) {
		d.Add(figure.Line(left, mark.X, width-right, mark.X, "grid"), figure.Label(left-8, mark.X+4, mark.Label+unitAfter(b), "tick").Anchored("end"))
	}
	d.Add(figure.Label((left+width-right)/2, height-12, a.Name+" →", "axis-name").Anchored("middle"), figure.Label(left, top-10, b.Name+" ↑", "axis-name"))
	for i, cell := range c.Cells {
		if cell.Point == nil {
			continue
		}
		px, py := x.X(a.Float(cell.Point[0])), y.X(b.Float(cell.Point[1]))
		share := float64(cell.Unsafe.Count) / float64(max(cell.Unsafe.N, 1))
		title := c.name(i) + ": unsafe " + unsafeWords(cell)
		d.Add(figure.Rect(px-9, py-9, 18, 18, fmt.Sprintf("heat heat-%d", heatLevel(share))).Titled(title))
		if share > 0 {
			d.Add(figure.Path(px, py, "M-4 -4L4 4M4 -4L-4 4", "heat-cross"))
		}
	}
	return d
}

// heatLevel is 0 for none and 1 to 4 for a quarter each.
func heatLevel(share float64) int {
	if share == 0 {
		return 0
	}
	return min(1+int(share*4), 4)
}

// sensitivityRow is what a setting of the sweep does from one end of its range to the other.
type sensitivityRow struct {
	Name, From, To string
	Verdict        string
	Changes        []sensitivityChange
}

type sensitivityChange struct {
	Name, Words string
	Shown       bool
	Share       float64 // of the largest change of this measure, from -1 to 1
	Figure      *figure.Drawing
}

func (c *Comparison) sensitivity() []sensitivityRow {
	var rows []sensitivityRow
	largest := map[string]float64{}
	keys := []string{"recovery", "wasted", "throughput", "cost"}
	for _, l := range c.Lines {
		a := c.Axes[l.Axis]
		row := sensitivityRow{Name: a.Name, From: a.Text(c.Cells[l.From].Point[l.Axis]), To: a.Text(c.Cells[l.To].Point[l.Axis]), Verdict: "irrelevant to the verdict: the same throughout"}
		for n, k := range l.Cliffs {
			word := "the verdict flips between "
			if n > 0 {
				word = row.Verdict + ", and between "
			}
			low, high := c.Cells[k.Unsafe].Point[l.Axis], c.Cells[k.Safe].Point[l.Axis]
			row.Verdict = word + a.Text(min(low, high)) + " and " + a.Text(max(low, high))
		}
		for _, key := range keys {
			m := experiment.Measures()[measureIndex(key)]
			d := experiment.Paired(c.Cells[l.To], c.Cells[l.From], measureIndex(key), c.Result)
			change := sensitivityChange{Name: m.Name + ", " + m.Unit, Words: differenceWords(d, !d.Holds(0)), Shown: d.N > 1 && !d.Holds(0), Share: d.Value}
			largest[key] = max(largest[key], math.Abs(d.Value))
			row.Changes = append(row.Changes, change)
		}
		rows = append(rows, row)
	}
	for i := range rows {
		for k := range rows[i].Changes {
			change := &rows[i].Changes[k]
			if most := largest[keys[k]]; most > 0 {
				change.Share /= most
			}
			change.Figure = sensitivityBar(fmt.Sprintf("bar-%d-%d", i+1, k+1), *change)
		}
	}
	return rows
}

// sensitivityBar is a change as a bar from the middle.
func sensitivityBar(id string, s sensitivityChange) *figure.Drawing {
	d := &figure.Drawing{ID: id, Label: s.Name + ": " + s.Words, Width: 160, Height: 14, Left: 0, Right: 160}
	class := "change"
	if !s.Shown {
		class += " hollow"
	}
	w := math.Abs(s.Share) * 78
	x := 80.0
	if s.Share < 0 {
		x -= w
	}
	d.Add(figure.Line(80, 0, 80, 14, "zero"), figure.Rect(x, 2, max(w, 0.5), 10, class))
	return d
}
