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

// continuations is how many continuations are tried from one point before it counts as one of no return; lookedAgain is at how many later points,
// as one that holds may be rare.
const (
	continuations = 24
	lookedAgain   = 8
)

// noReturn finds the last point from which another interleaving still averts the failure. Such points form a beginning of the run: where one
// does, one does from every earlier point, if only by way of the later one.
func (x *search) noReturn(end history.Seq) *Point {
	p := &Point{Tried: continuations}
	if !x.open(1, p) {
		return p
	}
	low, high := history.Seq(1), end
	for x.ctx.Err() == nil {
		for high-low > 1 && x.ctx.Err() == nil {
			middle := low + (high-low)/2
			if x.open(middle, p) {
				low = middle
			} else {
				high = middle
			}
		}
		later := high
		for i := range history.Seq(lookedAgain) {
			if at := high + (end-high)*(i+1)/(lookedAgain+1); at > high && x.open(at, p) {
				later = at
			}
		}
		if later == high {
			break
		}
		low, high = later, end
	}
	return p
}

// open tells whether some continuation from the record on averts the failure, and keeps the first that does.
func (x *search) open(at history.Seq, p *Point) bool {
	workers := max(x.options.Workers, 1)
	for from := 0; from < continuations; from += workers {
		found := make([]outcome, min(workers, continuations-from))
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
