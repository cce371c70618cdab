package figure

import (
	"math"
	"strconv"
)

// Linear maps numbers to a coordinate; on a vertical axis X0 is below X1.
type Linear struct {
	From, To float64
	X0, X1   float64
}

// X is where v is drawn, clamped to the plot.
func (l Linear) X(v float64) float64 {
	if l.To <= l.From || math.IsNaN(v) {
		return l.X0
	}
	return l.X0 + (l.X1-l.X0)*min(max((v-l.From)/(l.To-l.From), 0), 1)
}

// Mark is one position of a numeric axis.
type Mark struct {
	Value float64
	X     float64
	Label string
}

// Marks returns positions at round distances (1, 2 or 5 times a power of ten), at least gap apart.
func (l Linear) Marks(gap float64) []Mark {
	span, room := l.To-l.From, math.Abs(l.X1-l.X0)
	if span <= 0 || room <= 0 || math.IsInf(span, 0) {
		return nil
	}
	least := span * gap / room
	step := math.Pow(10, math.Floor(math.Log10(least)))
	for _, times := range []float64{1, 2, 5, 10} {
		if step*times >= least {
			step *= times
			break
		}
	}
	var marks []Mark
	for n := math.Ceil(l.From/step - 1e-9); n*step <= l.To+step*1e-9; n++ {
		v := n * step
		marks = append(marks, Mark{v, l.X(v), number(v, step)})
	}
	return marks
}

// number writes v with as many decimals as the step has.
func number(v, step float64) string {
	decimals := max(0, int(math.Ceil(-math.Log10(step)-1e-9)))
	text := strconv.FormatFloat(math.Abs(v), 'f', decimals, 64)
	if v < 0 && text != strconv.FormatFloat(0, 'f', decimals, 64) {
		return "−" + text
	}
	return text
}
