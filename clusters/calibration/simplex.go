package calibration

import (
	"cmp"
	"math"
	"slices"
)

// vertex is a corner of the simplex.
type vertex struct {
	at    []float64
	value float64
}

// simplex finds a minimum near the start by the method of Nelder and Mead, which asks for no derivative.
func simplex(start []float64, f func([]float64) float64) []float64 {
	const (
		size   = 0.2
		rounds = 300
		close  = 1e-7
	)
	corners := []vertex{{start, f(start)}}
	for i := range start {
		at := slices.Clone(start)
		at[i] += size
		corners = append(corners, vertex{at, f(at)})
	}
	worst := len(corners) - 1
	for range rounds {
		slices.SortStableFunc(corners, func(a, b vertex) int { return cmp.Compare(a.value, b.value) })
		if spread := corners[worst].value - corners[0].value; spread <= close*(1+math.Abs(corners[0].value)*1e-3) {
			break
		}
		along := func(step float64) vertex { // from the worst through the middle of the others
			at := make([]float64, len(start))
			for i := range at {
				middle := 0.0
				for _, c := range corners[:worst] {
					middle += c.at[i] / float64(worst)
				}
				at[i] = middle + step*(middle-corners[worst].at[i])
			}
			return vertex{at, f(at)}
		}
		next := along(1)
		switch {
		case next.value < corners[0].value:
			if further := along(2); further.value < next.value {
				next = further
			}
		case next.value >= corners[worst-1].value:
			step := 0.5
			if next.value >= corners[worst].value {
				step = -0.5
			}
			if next = along(step); next.value >= corners[worst].value {
				shrink(corners, f)
				continue
			}
		}
		corners[worst] = next
	}
	return slices.MinFunc(corners, func(a, b vertex) int { return cmp.Compare(a.value, b.value) }).at
}

// shrink halves the way of every corner to the best.
func shrink(corners []vertex, f func([]float64) float64) {
	for k := 1; k < len(corners); k++ {
		at := make([]float64, len(corners[k].at))
		for i := range at {
			at[i] = (corners[0].at[i] + corners[k].at[i]) / 2
		}
		corners[k] = vertex{at, f(at)}
	}
}
