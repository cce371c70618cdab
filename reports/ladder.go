package reports

import (
	"time"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/reports/figure"
)

// rung is one timeout of the chain, with the room to the next one outside it.
type rung struct {
	Name   string
	Key    string // of the setting
	Length time.Duration
	Outer  string        // the next rung; empty for the outermost
	Margin time.Duration // to the outer one: not positive is a broken nesting
	Broken bool
}

// rungs are the nested timeouts from the inside out. Those that are not set are left out.
func rungs(s dispatcher.Settings) []rung {
	all := []rung{
		{Name: "HTTP call", Key: "http_timeout", Length: s.HTTPTimeout},
		{Name: "step", Key: "step_timeout", Length: s.StepTimeout},
		{Name: "workflow", Key: "workflow_deadline", Length: s.WorkflowDeadline},
		{Name: "tick", Key: "tick", Length: s.Tick},
		{Name: "recovery grace", Key: "recovery_grace", Length: s.RecoveryGrace},
	}
	var set []rung
	for _, r := range all {
		if r.Length > 0 {
			set = append(set, r)
		}
	}
	for i := range set {
		if i+1 < len(set) {
			set[i].Outer = set[i+1].Name
			set[i].Margin = set[i+1].Length - set[i].Length
			set[i].Broken = set[i].Margin <= 0
		}
	}
	return set
}

// ladder draws the rungs to scale, one under the other, each with its margin to the next.
func ladder(rungs []rung) *figure.Drawing {
	const (
		width, gutter, step, bar = 1160.0, 156.0, 40.0, 16.0
		right                    = 270.0 // room for the margin's words
	)
	var longest time.Duration
	for _, r := range rungs {
		longest = max(longest, r.Length)
	}
	scale := figure.Scale{From: 0, To: longest, X0: gutter, X1: width - right}
	d := &figure.Drawing{ID: "ladder", Label: "The nested timeouts to scale", Width: width,
		Height: figure.Num(float64(len(rungs))*step + 8), Left: gutter, Right: width - right}
	for i, r := range rungs {
		y := 8 + float64(i)*step
		x := scale.X(r.Length)
		class := "rung"
		if r.Broken {
			class += " broken"
		}
		d.Add(figure.Label(12, y+13, r.Name, "lane-name"),
			figure.Rect(gutter, y, x-gutter, bar, class).Titled(r.Name+" "+seconds(r.Length)),
			figure.Label(gutter+8, y+12.5, seconds(r.Length), "label inside rung-label"))
		if r.Outer != "" {
			d.Add(marginShapes(r, scale, y+bar, step-bar)...)
		}
	}
	return d
}

// marginShapes mark the room between a rung and the one outside it.
func marginShapes(r rung, scale figure.Scale, y, gap float64) []figure.Shape {
	x, outer := scale.X(r.Length), scale.X(r.Length+r.Margin)
	if r.Margin < 0 {
		outer = scale.X(r.Length + r.Margin)
	}
	words, class := "margin "+seconds(r.Margin), "margin"
	if r.Broken {
		words, class = "✗ reaches "+seconds(-r.Margin)+" out of the "+r.Outer, "margin broken"
		if r.Margin == 0 {
			words = "✗ no margin to the " + r.Outer
		}
	}
	middle := y + gap/2
	return []figure.Shape{
		figure.Line(x, y-8, x, middle+4, class),
		figure.Line(outer, middle-4, outer, y+gap, class),
		figure.Line(x, middle, outer, middle, class),
		figure.Label(max(x, outer)+8, middle+4, words, "label "+class),
	}
}
