package kernel

import (
	"math"
	"math/rand/v2"
)

// PCT is probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi and Nagarakatte, "A Randomized Scheduler with
// Probabilistic Guarantees of Finding Bugs", ASPLOS 2010): every owner has a random priority, and of those that have something due the one
// with the highest goes on. At depth-1 random choices the one that would have gone on falls behind all others. A failure
// that takes depth ordered pairs of events is then found with a probability of at least Bound, whatever else happens.
type PCT struct {
	random   *rand.Rand
	priority []uint64 // by owner; 0: not drawn yet
	changes  []int    // choices at which the first falls behind, and what it falls to
	choices  int
	owners   int
}

// NewPCT draws the change points for a run of about that many choices. All it does follows from random.
func NewPCT(random *rand.Rand, depth, choices int) *PCT {
	p := &PCT{random: random, changes: make([]int, max(depth-1, 0))}
	for i := range p.changes {
		p.changes[i] = 1 + random.IntN(max(choices, 1))
	}
	return p
}

// Choices is how often more than one owner had something due: only then does a priority matter, so that change points are drawn
// from these.
func (p *PCT) Choices() int { return p.choices }

// Owners is how many owners took part in them.
func (p *PCT) Owners() int { return p.owners }

// Next implements Strategy.
func (p *PCT) Next(c *Choice) int {
	due := c.All()
	if !contended(due) {
		return 0
	}
	p.choices++
	best := p.best(due)
	for i, at := range p.changes {
		if at == p.choices {
			p.priority[due[best].Owner] = uint64(len(p.changes) - i) // below all that are drawn, and the later the lower
			best = p.best(due)
		}
	}
	return best
}

func contended(due []Due) bool {
	for i := range due {
		if due[i].Owner != due[0].Owner {
			return true
		}
	}
	return false
}

// best is the earliest event of the owner with the highest priority.
func (p *PCT) best(due []Due) int {
	best := 0
	for i := range due {
		if p.of(due[i].Owner) > p.of(due[best].Owner) {
			best = i
		}
	}
	return best
}

// drawn are the priorities that are drawn: all above those of change points.
const drawn = 1 << 32

func (p *PCT) of(o Owner) uint64 {
	for int(o) >= len(p.priority) {
		p.priority = append(p.priority, 0)
	}
	if p.priority[o] == 0 {
		p.priority[o] = p.random.Uint64() | drawn
		p.owners++
	}
	return p.priority[o]
}

// Bound is the least probability with which one run finds a failure of the depth, among that many owners and choices: 1/(n·k^(d-1)).
func Bound(owners, choices, depth int) float64 {
	return 1 / (float64(max(owners, 1)) * math.Pow(float64(max(choices, 1)), float64(max(depth, 1)-1)))
}
