package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/squall-chaos/squall/checker"
)

// Sweep varies settings of one cell.
type Sweep struct {
	Axes []Axis
	Base Cell
	// Points is how many settings are run at most before refining: a grid that has more is sampled.
	Points int
	// Refine is how many more may be added where the verdict flips, besides those that locate the cliffs.
	Refine int
}

// CheckAxes refuses axes that make no sweep.
func CheckAxes(axes []Axis) error {
	if len(axes) > MostAxes {
		return fmt.Errorf("%d settings are swept: %d are the most that a sweep can cover", len(axes), MostAxes)
	}
	for i, a := range axes {
		for _, b := range axes[:i] {
			if a.Name == b.Name {
				return fmt.Errorf("%s is swept twice", a.Name)
			}
		}
	}
	return nil
}

// primes are the bases of the Halton sequence, one per axis.
var primes = [MostAxes]int{2, 3, 5, 7}

// radicalInverse mirrors the digits of n at the point: the n-th number of van der Corput's sequence.
func radicalInverse(n, base int) float64 {
	x, f := 0.0, 1.0
	for ; n > 0; n /= base {
		f /= float64(base)
		x += f * float64(n%base)
	}
	return x
}

// points are the whole grid if it is small enough, else as many of its points as are allowed, from a Halton sequence: it fills the
// space evenly however many are taken.
func (s Sweep) points() [][]int64 {
	grid := 1
	for _, a := range s.Axes {
		grid *= a.steps()
		if grid > s.Points {
			return s.sampled()
		}
	}
	all := make([][]int64, grid)
	for i := range all {
		rest := i
		for _, a := range s.Axes {
			all[i] = append(all[i], a.From+int64(rest%a.steps())*a.Step)
			rest /= a.steps()
		}
	}
	return all
}

func (s Sweep) sampled() [][]int64 {
	var all [][]int64
	for n := 1; len(all) < s.Points && n < 100*s.Points; n++ {
		p := make([]int64, len(s.Axes))
		for i, a := range s.Axes {
			p[i] = a.From + int64(math.Floor(radicalInverse(n, primes[i])*float64(a.steps())))*a.Step
		}
		if !slices.ContainsFunc(all, func(q []int64) bool { return slices.Equal(p, q) }) {
			all = append(all, p)
		}
	}
	return all
}

// cell is the base at a point.
func (s Sweep) cell(p []int64) Cell {
	c := s.Base
	c.Source, c.Summary, c.Point = "", "", p
	var words []string
	for i, a := range s.Axes {
		a.set(&c, p[i])
		words = append(words, a.Name+"="+a.Text(p[i]))
	}
	c.Name = strings.Join(words, " ")
	return c
}

// Cells are those of the sweep before it is refined. A point that has the settings of one of the others is not run twice.
func (s Sweep) Cells(others []Cell, e *Experiment) []Cell {
	all := slices.Clone(others)
	for _, p := range s.points() {
		c := s.cell(p)
		same := slices.IndexFunc(all, func(o Cell) bool { return e.key(o, 0) == e.key(c, 0) })
		if same < 0 {
			all = append(all, c)
		} else if all[same].Point == nil {
			all[same].Point = p
		}
	}
	return all
}

// exploration is a sweep that is under way.
type exploration struct {
	Sweep
	run   func([]Cell) ([][]Observation, error)
	cells []Cell
	seen  [][]Observation
}

// at returns the cells of points, running those that are new.
func (x *exploration) at(points ...[]int64) ([]int, error) {
	var fresh []Cell
	index := make([]int, len(points))
	for i, p := range points {
		index[i] = slices.IndexFunc(x.cells, func(c Cell) bool { return slices.Equal(c.Point, p) })
		if index[i] < 0 {
			c := x.cell(p)
			c.Refined = true
			index[i] = len(x.cells)
			fresh, x.cells = append(fresh, c), append(x.cells, c)
		}
	}
	if len(fresh) == 0 {
		return index, nil
	}
	seen, err := x.run(fresh)
	x.seen = append(x.seen, seen...)
	return index, err
}

func (x *exploration) unsafe(i int) bool {
	v, _, _ := verdictOf(x.seen[i])
	return v == checker.Invalid
}

// refine adds points half-way between neighbours of different verdicts, until they are next to each other on the grid or the allowance
// is spent.
func (x *exploration) refine() error {
	for range x.Refine {
		p := x.widest()
		if p == nil {
			return nil
		}
		if _, err := x.at(p); err != nil {
			return err
		}
	}
	return nil
}

// widest is the middle of that flip whose two sides are farthest apart, each unsafe point being paired with the nearest safe one; nil:
// there is none with room between.
func (x *exploration) widest() []int64 {
	var best []int64
	widest := 0.0
	for i, u := range x.cells {
		if u.Point == nil || !x.unsafe(i) {
			continue
		}
		near, distance := -1, math.Inf(1)
		for j, s := range x.cells {
			if s.Point != nil && !x.unsafe(j) {
				if d := x.distance(u.Point, s.Point); d < distance {
					near, distance = j, d
				}
			}
		}
		if near < 0 || distance <= widest {
			continue
		}
		if p := x.middle(u.Point, x.cells[near].Point); p != nil {
			best, widest = p, distance
		}
	}
	return best
}

// distance is in shares of the axes' lengths.
func (x *exploration) distance(p, q []int64) float64 {
	sum := 0.0
	for i, a := range x.Axes {
		d := float64(p[i]-q[i]) / float64(a.To-a.From)
		sum += d * d
	}
	return math.Sqrt(sum)
}

// middle is the point half-way, on the grid; nil if it is one that was run.
func (x *exploration) middle(p, q []int64) []int64 {
	m := make([]int64, len(p))
	for i, a := range x.Axes {
		m[i] = a.snap(p[i]+(q[i]-p[i])/2, a.Step)
	}
	if slices.ContainsFunc(x.cells, func(c Cell) bool { return slices.Equal(c.Point, m) }) {
		return nil
	}
	return m
}
