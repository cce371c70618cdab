package clusters

import (
	"errors"
	"time"
)

// Order is how a world that can choose orders what falls close together. The zero Order leaves it to the seed.
type Order struct {
	Strategy Strategy `json:"strategy,omitempty"`
	// Window is how long an event may be passed over by others: as by a slow network or a busy machine.
	Window time.Duration `json:"window,omitempty"`
	// Depth and Choices are of PCT: how many ordered pairs a failure may take, and of how many choices a run is expected to be.
	Depth   int `json:"depth,omitempty"`
	Choices int `json:"choices,omitempty"`
	// Delays are of Explore: where it departs from first come, first served. Latencies are fixed there, and nothing else is left
	// to chance within a run.
	Delays []Delay `json:"delays,omitempty"`
}

// Strategy is a way to order events.
type Strategy string

// The strategies.
const (
	Random  Strategy = ""        // ties and latencies are drawn from the seed
	PCT     Strategy = "pct"     // probabilistic concurrency testing: priorities, and few changes of them
	Explore Strategy = "explore" // given: one run of a systematic search
)

// Delay has one event wait until another has happened, or its window is over.
type Delay struct {
	Event Step `json:"event"`
	Past  Step `json:"past"`
}

// Step is an event of a run: the nth, from 1, of its owner, a process or a pod.
type Step struct {
	Owner string `json:"owner"`
	Nth   int    `json:"nth"`
}

// Orderly is a world that orders events by its Config's Order.
type Orderly interface {
	// Choices is how often more than one owner had something due within the window, and Owners how many took part.
	Choices() (choices, owners int)
	// Accesses are the events that read or changed a server, in order, and calls all that were made; only of Explore.
	Accesses() ([]Access, []Called)
}

// ErrSeen ends a run whose Config has a Seen that knew its state.
var ErrSeen = errors.New("what follows is known from another run")

// Access is a step that read or changed something on a server, as Explore sees it.
type Access struct {
	Step
	What string        // "create by dispatcher-1", "kubelet: status"
	Due  time.Duration // when it was to happen
	At   time.Duration // when it did
	// Cause is the index of the latest access without which this would not have happened, as far as calls and timers tell; -1: none.
	Cause int
	Uses  []Use
	// State identifies what the world is like after it: see package scenarios/explore.
	State uint64
}

// Called is a call, as a fault can be aimed at it.
type Called struct {
	Process  string
	Replica  bool // the process is a dispatcher or a reconciler
	Port     Port
	Verb     string
	Task     string
	At       time.Duration // when it was made
	Deadline time.Duration // when its caller gives up
	Position int           // how many accesses there had been
}

// Use is one thing that an access touched.
type Use struct {
	Resource uint64
	Mode     Mode
}

// Mode is how something is touched. Two touches conflict unless both read, or both change parts of a whole.
type Mode uint8

// The modes.
const (
	Reads Mode = iota
	Writes
	WritesPart // of a set: another part may be written at the same time, but the whole not read
)

// Conflict tells whether the order of two accesses matters.
func (a *Access) Conflict(b *Access) bool {
	for _, u := range a.Uses {
		for _, v := range b.Uses {
			if u.Resource == v.Resource && (u.Mode == Writes || v.Mode == Writes || u.Mode != v.Mode) {
				return true
			}
		}
	}
	return false
}
