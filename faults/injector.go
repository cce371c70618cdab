package faults

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
)

// Injector strikes and heals the faults of one plan on one world.
type Injector struct {
	plan     Plan
	world    clusters.Cluster
	settings dispatcher.Settings
	random   *rand.Rand
	scene    scene
	strikes  []strike // by index in the plan
	holds    []hold   // what is broken now, in order of breaking
	over     bool
	// Told is called for every entry of the ledger after the plan. May be nil.
	Told func(history.Kind, Fault)
}

// strike is what became of one fault of the plan.
type strike struct {
	fault    Fault  // with its targets resolved
	said     string // the fault in words
	struck   bool
	healed   bool
	observed bool
	hindered string // why it could not strike yet
	events   int    // length of the history when it struck
	calls    int
}

// hold is one thing that a fault keeps broken. While several faults break the same thing, it is mended
// when the last of them heals.
type hold struct {
	index int
	key   string
	redo  func() // makes this fault's value the valid one again; nil when the broken thing has no value
	undo  func()
}

// patience is how often a fault looks for a victim that does not exist yet, and for a way to it.
const patience = time.Second

// Arm schedules the plan on a world before it runs. It fails when the world lacks something that the plan needs.
func Arm(p Plan, c clusters.Cluster, s dispatcher.Settings, random *rand.Rand) (*Injector, error) {
	can := CapabilitiesOf(c)
	for i, f := range p {
		if need := f.Kind.Need(); !can.Has(need) {
			return nil, fmt.Errorf("arm fault %d: %s: this world has no faults of %s", i+1, f, need)
		}
	}
	in := &Injector{plan: p, world: c, settings: s, random: random,
		scene: scene{c: c}, strikes: make([]strike, len(p))}
	for i, f := range p {
		in.observe(history.FaultPlanned, i, f, f.String())
	}
	for i, f := range p {
		c.At(f.At, fmt.Sprintf("fault %d strikes", i+1), func() { in.strike(i) })
	}
	return in, nil
}

func (in *Injector) observe(kind history.Kind, i int, f Fault, said string) {
	e := history.Event{Kind: kind, Fault: int32(i + 1), Detail: said}
	if kind == history.FaultStruck || kind == history.FaultHealed {
		e.Due = Until(f, in.settings)
	}
	if kind != history.FaultPlanned && kind != history.FaultMissed { // such a target may be a pattern, not a name
		e.Task = in.known(in.world.Tasks(), f.Target.Task)
		e.Node = in.known(in.world.Nodes(), f.Target.Node)
		e.Process = in.known(in.world.Processes(), f.Target.Process)
	}
	in.world.Observe(e)
	if in.Told != nil {
		in.Told(kind, f)
	}
}

// known is the ID of a name that the world has seen; a pattern must not become a name of the history.
func (in *Injector) known(t *history.Table, name string) history.ID {
	if name == "" || !slices.Contains(t.Names(), name) {
		return 0
	}
	return t.ID(name)
}

func (in *Injector) strike(i int) {
	if in.over {
		return
	}
	f, ok := in.aim(in.plan[i])
	if in.strikes[i].hindered = in.hindrance(f); in.strikes[i].hindered != "" {
		in.world.At(in.world.Now()+patience, fmt.Sprintf("fault %d waits for its way", i+1), func() { in.strike(i) })
		return
	}
	if !ok {
		in.world.At(in.world.Now()+patience, fmt.Sprintf("fault %d looks for a victim", i+1), func() { in.strike(i) })
		return
	}
	now := in.world.History()
	in.strikes[i] = strike{fault: f, said: in.saying(f), struck: true, events: len(now.Events), calls: len(now.Operations)}
	in.observe(history.FaultStruck, i, f, in.strikes[i].said)
	in.apply(i, f)
	in.notice(i)
	switch end := f.For; {
	case f.Kind == SpotReclaim:
		in.healAfter(i, f.Notice)
	case f.Kind.Instant():
		in.heal(i)
	case end > 0:
		in.healAfter(i, end)
	}
}

// hindrance says why a fault cannot strike now although it is its time; empty when it can.
func (in *Injector) hindrance(f Fault) string {
	w, ok := in.world.(clusters.Hindered)
	if !ok {
		return ""
	}
	through := f.Kind.Through()
	if _, _, elsewhere := in.striker(f); elsewhere {
		through = clusters.API // its objects go there
	}
	if through == "" {
		return ""
	}
	return w.Hindrance(through)
}

// saying is the fault in words.
func (in *Injector) saying(f Fault) string {
	if _, by, ok := in.striker(f); ok {
		return f.String() + ", by " + by
	}
	return f.String()
}

func (in *Injector) healAfter(i int, d time.Duration) {
	in.world.At(in.world.Now()+d, fmt.Sprintf("fault %d heals", i+1), func() { in.heal(i) })
}

func (in *Injector) heal(i int) {
	if !in.strikes[i].struck || in.strikes[i].healed {
		return
	}
	in.strikes[i].healed = true
	in.notice(i)
	mended := slices.Clone(in.holds)
	in.holds = slices.DeleteFunc(in.holds, func(h hold) bool { return h.index == i })
	for _, h := range mended {
		if h.index == i {
			in.mend(h)
		}
	}
	in.observe(history.FaultHealed, i, in.strikes[i].fault, in.strikes[i].said)
}

// mend ends one hold: what still breaks the same thing takes over, else it is undone.
func (in *Injector) mend(h hold) {
	for _, other := range slices.Backward(in.holds) {
		if other.key != h.key {
			continue
		}
		if other.redo != nil {
			other.redo()
		}
		return
	}
	h.undo()
}

// HealAll ends the safety phase: every fault that has struck is healed, and none strikes any more. What was kept from striking is told of.
func (in *Injector) HealAll() {
	in.over = true
	for i, s := range in.strikes {
		if !s.struck && s.hindered != "" {
			in.observe(history.FaultMissed, i, in.plan[i], in.plan[i].String()+": it did not strike, as "+s.hindered)
		}
	}
	for i := range in.strikes {
		in.heal(i)
	}
}

// hit records that the fault really affected something.
func (in *Injector) hit(i int) {
	if in.strikes[i].observed {
		return
	}
	in.strikes[i].observed = true
	in.observe(history.FaultObserved, i, in.strikes[i].fault, in.strikes[i].said)
}

// notice looks for traces of faults that have no call to report their effect.
func (in *Injector) notice(i int) {
	if !in.strikes[i].observed && in.traced(in.strikes[i]) {
		in.hit(i)
	}
}
