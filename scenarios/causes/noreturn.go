package causes

import "github.com/squall-chaos/squall/checker/history"

// Point is when the failure became inevitable: after the record Last another interleaving still averts it, after the next none does any more of
// as many as were tried. Last 0: none does from the start on.
type Point struct {
	Last  history.Seq `json:"last"`
	Seed  uint64      `json:"seed,omitempty"` // of the continuation that averts it
	Then  string      `json:"then,omitempty"`
	Tried int         `json:"tried"`
	// For people: the record Last, and where this run and that continuation part.
	Record string `json:"record,omitempty"`
	Here   string `json:"here,omitempty"`
	There  string `json:"there,omitempty"`
}

// continuations is how many continuations are tried from one point before it counts as one of no return. While it is still looked for, fewer are
// enough; lookedAgain is at how many later points all are tried, as one that averts it may be rare.
const (
	continuations = 24
	glance        = 8
	lookedAgain   = 4
)

// noReturn finds the last point from which another interleaving still averts the failure. Such points form a beginning of the run: where one
// does, one does from every earlier point, if only by way of the later one.
func (x *search) noReturn(end history.Seq) *Point {
	p := &Point{Tried: continuations}
	if !x.open(1, continuations, p) {
		return p
	}
	low, high := history.Seq(1), end
	for x.ctx.Err() == nil {
		for high-low > 1 && x.ctx.Err() == nil {
			middle := low + (high-low)/2
			if x.open(middle, glance, p) {
				low = middle
			} else {
				high = middle
			}
		}
		later := low
		for i := range history.Seq(lookedAgain) {
			if at := high + (end-high)*i/lookedAgain; at > later && x.open(at, continuations, p) {
				later = at
			}
		}
		if later == low {
			break
		}
		low, high = later, end
	}
	return p
}

// open tells whether one of so many continuations from the record on averts the failure, and keeps the first that does.
func (x *search) open(at history.Seq, tries int, p *Point) bool {
	workers := max(x.options.Workers, 1)
	for from := 0; from < tries; from += workers {
		found := make([]outcome, min(workers, tries-from))
		x.sideBySide(len(found), func(i int) { found[i] = x.run(x.scenario, x.plan, fork(at, from+i)) })
		for i, o := range found {
			if o.ran && !o.violated {
				p.Last, p.Seed, p.Then = at, fork(at, from+i).Seed, o.then
				return true
			}
		}
	}
	return false
}
