package reports

import (
	"time"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/reports/figure"
)

// rung is one timeout of a chain, with the room to the next one outside it.
type rung struct {
	Name   string
	Key    string // the setting, as findings name it
	Length time.Duration
	Outer  string        // the next rung; empty for the outermost of its chain
	Margin time.Duration // to the outer one
	Broken bool          // the margin is less than the protocol needs
}

// nested joins rungs from the inside out.
func nested(findings []dispatcher.Finding, rungs ...rung) []rung {
	for i := range rungs[:len(rungs)-1] {
		inner, outer := &rungs[i], rungs[i+1]
		inner.Outer, inner.Margin = outer.Name, outer.Length-inner.Length
		for _, f := range findings {
			inner.Broken = inner.Broken || f.Left.Name == inner.Key && f.Right.Name == outer.Key
		}
	}
	return rungs
}

// rungs are the nested timeouts from the inside out. Which chain the recovery grace closes depends on what proves
// a silent worker dead: its deadline, or its lapsed lease.
func rungs(s dispatcher.Settings, findings []dispatcher.Finding) []rung {
	work := []rung{
		{Name: "HTTP call", Key: "http_timeout", Length: s.HTTPTimeout},
		{Name: "step", Key: "step_timeout", Length: s.StepTimeout},
		{Name: "workflow", Key: "workflow_deadline", Length: s.WorkflowDeadline},
	}
	tick := rung{Name: "tick", Key: "tick", Length: s.Tick}
	grace := rung{Name: "recovery grace", Key: "recovery_grace", Length: s.RecoveryGrace}
	if !s.Heartbeats() {
		return nested(findings, append(work, tick, grace)...)
	}
	return append(nested(findings, work...), nested(findings,
		rung{Name: "3 heartbeats", Key: "3 * heartbeat_interval", Length: 3 * s.HeartbeatInterval},
		rung{Name: "worker lease", Key: "worker_lease", Length: s.WorkerLease}, grace)...)
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
	scale := figure.Scale{From: 0, To: max(longest, 1), X0: gutter, X1: width - right}
	d := &figure.Drawing{ID: "ladder", Label: "The nested timeouts to scale", Width: width,
		Left: gutter, Right: width - right}
	y := 16.0
	for _, r := range rungs {
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
			y += step
			continue
		}
		y += step + bar // a new chain begins
	}
	d.Height = figure.Num(y - step + bar)
	return d
}

// marginShapes mark the room between a rung and the one outside it.
func marginShapes(r rung, scale figure.Scale, y, gap float64) []figure.Shape {
	x, outer := scale.X(r.Length), scale.X(r.Length+r.Margin)
	words, class := "margin "+seconds(r.Margin), "margin"
	switch {
	case r.Broken && r.Margin < 0:
		words, class = "✗ reaches "+seconds(-r.Margin)+" out of the "+r.Outer, "margin broken"
	case r.Broken && r.Margin == 0:
		words, class = "✗ no margin to the "+r.Outer, "margin broken"
	case r.Broken:
		words, class = "✗ margin "+seconds(r.Margin)+" is too small", "margin broken"
	}
	middle := y + gap/2
	return []figure.Shape{
		figure.Line(x, y-8, x, middle+4, class),
		figure.Line(outer, middle-4, outer, y+gap, class),
		figure.Line(x, middle, outer, middle, class),
		figure.Label(max(x, outer)+8, middle+4, words, "label "+class),
	}
}
