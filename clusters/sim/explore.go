package sim

import (
	"strings"
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/sim/kernel"
)

// explorer is the strategy of one run of a systematic search: first come, first served, but for the delays that it was given. It
// follows what each event reads and changes on the servers, which is what the search looks for further delays and for known
// states in.
type explorer struct {
	world *Cluster
	seen  func(index int, state uint64) bool
	until time.Duration // the run ends then, as seen knew its state; 0: it did not
	state state

	delays   []delay
	executed []int    // by owner: how many of its events have happened
	visible  []int    // by event ID: one more than the index of the latest access that it follows from
	planned  []uint64 // faults, in order
	accesses []clusters.Access
	calls    []clusters.Called

	event kernel.Due // that is happening
	open  bool       // it is the last of accesses
}

// delay is a clusters.Delay while it is carried out.
type delay struct {
	clusters.Delay
	event, past kernel.Owner
	id          uint64 // of the event that waits; 0: it has not come up
	over        bool
}

var _ clusters.Orderly = (*Cluster)(nil)

// order has the kernel order events as the Config says.
func (c *Cluster) order(o clusters.Order) {
	switch o.Strategy {
	case clusters.PCT:
		c.pct = kernel.NewPCT(c.kernel.Stream("strategy: pct"), o.Depth, o.Choices)
		c.kernel.SetStrategy(c.pct, o.Window)
	case clusters.Explore:
		x := &explorer{world: c, seen: c.config.Seen, state: newState(c)}
		c.explorer = x
		c.kernel.SetStrategy(x, o.Window)
		for _, d := range o.Delays {
			x.delays = append(x.delays, delay{Delay: d, event: c.kernel.Owner(d.Event.Owner), past: c.kernel.Owner(d.Past.Owner)})
		}
	}
}

// Choices implements clusters.Orderly.
func (c *Cluster) Choices() (choices, owners int) {
	if c.pct == nil {
		return 0, 0
	}
	return c.pct.Choices(), c.pct.Owners()
}

// Accesses implements clusters.Orderly.
func (c *Cluster) Accesses() ([]clusters.Access, []clusters.Called) {
	if c.explorer == nil {
		return nil, nil
	}
	return c.explorer.accesses, c.explorer.calls
}

// Next implements kernel.Strategy.
func (x *explorer) Next(c *kernel.Choice) int {
	x.settle()
	if x.until > 0 && c.First().At > x.until {
		x.world.kernel.Halt()
	}
	if first := c.First(); !x.holds(first) {
		x.begin(first)
		return 0
	}
	due := c.All()
	for i, d := range due[1:] {
		if !x.holds(d) {
			x.begin(d)
			return i + 1
		}
	}
	x.begin(due[0]) // its window is over
	return 0
}

// holds tells whether the event is to wait.
func (x *explorer) holds(d kernel.Due) bool {
	for i := range x.delays {
		h := &x.delays[i]
		if h.id == 0 && !h.over && h.event == d.Owner && h.Event.Nth == x.count(d.Owner)+1 {
			h.id = d.ID
		}
		if h.id == d.ID {
			return !h.over
		}
	}
	return false
}

func (x *explorer) count(o kernel.Owner) int {
	if int(o) >= len(x.executed) {
		return 0
	}
	return x.executed[o]
}

// begin takes note of the event that happens now.
func (x *explorer) begin(d kernel.Due) {
	for int(d.Owner) >= len(x.executed) {
		x.executed = append(x.executed, 0)
	}
	x.executed[d.Owner]++
	for int(d.ID) >= len(x.visible) {
		x.visible = append(x.visible, 0)
	}
	x.visible[d.ID] = x.visible[d.Cause]
	for i := range x.delays {
		h := &x.delays[i]
		if h.id == d.ID || h.past == d.Owner && h.Past.Nth == x.executed[d.Owner] {
			h.over = true // what waits no longer waits, or its window is over
		}
	}
	x.event, x.open = d, false
}

// settle ends the event before: the state after it is known.
func (x *explorer) settle() {
	if !x.open {
		return
	}
	x.open = false
	a := &x.accesses[len(x.accesses)-1]
	a.State = x.state.sum()
	if x.seen != nil && x.until == 0 && x.seen(len(x.accesses)-1, a.State) {
		x.until = x.world.kernel.Now() + 2*x.world.config.Order.Window // what races with the accesses so far is still seen
	}
}

// touch is told of everything that is read or changed, before a change.
func (x *explorer) touch(resource uint64, mode clusters.Mode) {
	if !x.open {
		x.open = true
		k := x.world.kernel
		x.accesses = append(x.accesses, clusters.Access{
			Step: clusters.Step{Owner: k.Owners()[x.event.Owner], Nth: x.executed[x.event.Owner]},
			What: strings.TrimSuffix(k.LabelName(x.event.Label), " effect"), Due: x.event.At, At: k.Now(), Cause: x.visible[x.event.ID] - 1,
		})
		x.visible[x.event.ID] = len(x.accesses)
		x.state.read = 0
	}
	a := &x.accesses[len(x.accesses)-1]
	x.state.read = mix(x.state.read, resource^x.state.values[resource])
	for _, u := range a.Uses {
		if u.Resource == resource && u.Mode == mode {
			return
		}
	}
	a.Uses = append(a.Uses, clusters.Use{Resource: resource, Mode: mode})
}

// called takes note of a call that is made.
func (x *explorer) called(c *call) {
	now := x.world.kernel.Now()
	x.calls = append(x.calls, clusters.Called{Process: c.by.name, Port: c.port.name, Verb: verbs[c.verb], Task: c.task,
		At: now, Deadline: c.deadline, Position: len(x.accesses), Replica: c.byReplica()})
	if c.byReplica() {
		x.state.calls(x.world.kernel.Owner(c.by.name), c.verb, now)
	}
}

func (c *call) byReplica() bool { return c.by.process != nil && !c.by.process.once }

// answered is told how a call's effect ended. A worker is seen as it is, unless something stands between it and the store.
func (x *explorer) answered(c *call, code uint64) {
	x.touchRead(c, code)
	what := mix(uint64(c.verb), code)
	switch {
	case c.byReplica():
		x.state.learn(x.event.Owner, what, x.state.read)
	case c.by.process != nil, x.world.config.System.Workers != nil:
		x.state.learn(x.event.Owner, what, kernel.Grains(x.world.kernel.Now()))
	}
}

// settled is told of a call that failed for its caller: an error is remembered in ways that nobody can tell.
func (x *explorer) settled(c *call, code uint64) {
	if c.by.process != nil {
		x.state.trouble(x.world.kernel.Owner(c.by.name), c.verb, code)
	}
}

// sleeps is told that a replica has nothing to do for a while.
func (x *explorer) sleeps(p *process, d time.Duration) {
	if p.once {
		return
	}
	leads := x.world.holders[p.role()] == p.instance()
	x.state.sleep(p, leads, x.world.kernel.Now()+d)
}

// role is the lease that the replica campaigns for.
func (p *process) role() string {
	role, _, _ := strings.Cut(p.name, "-")
	return role
}
