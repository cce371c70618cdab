package kernel

import (
	"cmp"
	"slices"
	"time"
)

// Owner is whom an event belongs to: a process, or something else that does one thing after the other, such as a pod on its node.
// 0 is the environment. There are owners only under a Strategy.
type Owner uint32

// Strategy decides in which order events happen that are due at almost the same time: whatever waits for its turn is delayed, as
// by a slow network or a busy machine, but never by more than the window.
type Strategy interface {
	// Next returns the index in c.All of the event that happens next. 0 is the first in time.
	Next(c *Choice) int
}

// Choice is what may happen next. It is valid until Next returns.
type Choice struct {
	kernel *Kernel
	limit  time.Duration
	due    []Due
	all    bool
}

// Due is an event that may happen next.
type Due struct {
	At    time.Duration // when it was to happen; the past, when it was passed over before
	Owner Owner
	Label Label
	ID    uint64 // counts events in the order of their making, from 1
	Cause uint64 // the event that made it; 0: made before the first

	slot uint32
	seq  uint64
}

// First is the first in time.
func (c *Choice) First() Due { return c.due[0] }

// All is every event that is due within the window of the first one, in order of time.
func (c *Choice) All() []Due {
	if !c.all {
		c.all = true
		c.due = c.kernel.within(0, c.limit, c.due[:0])
		slices.SortFunc(c.due, func(a, b Due) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.seq, b.seq)) })
	}
	return c.due
}

// ordered is what a kernel under a strategy knows beside its events. Without one there is none of it, and no cost.
type ordered struct {
	strategy Strategy
	window   time.Duration
	choice   Choice
	made     []making // by slot of the queue
	owner    Owner    // of the event that is happening
	cause    uint64   // its ID
	owners   []string
	byOwner  map[string]Owner
	halted   bool
}

// making is who made an event, and for whom.
type making struct {
	id, cause uint64
	owner     Owner
}

// SetStrategy has s order what is due within the window of the first event. It is called before anything is scheduled. Events
// of one instant are then first come, first served unless s says otherwise: no chance is left in their order.
func (k *Kernel) SetStrategy(s Strategy, window time.Duration) {
	k.ordered = &ordered{strategy: s, window: window, owners: []string{"environment"}, byOwner: map[string]Owner{"environment": 0}}
	k.ordered.choice.kernel = k
}

// Ordered tells whether there is a strategy.
func (k *Kernel) Ordered() bool { return k.ordered != nil }

// Owner returns the one owner of the name; 0 without a strategy.
func (k *Kernel) Owner(name string) Owner {
	o := k.ordered
	if o == nil {
		return 0
	}
	owner, ok := o.byOwner[name]
	if !ok {
		owner = Owner(len(o.owners))
		o.owners = append(o.owners, name)
		o.byOwner[name] = owner
	}
	return owner
}

// Owners are the names of all owners so far, by Owner.
func (k *Kernel) Owners() []string {
	if k.ordered == nil {
		return nil
	}
	return k.ordered.owners
}

// Act has what is scheduled from now on belong to the owner, and returns whose it would have been: an event is otherwise
// its maker's. The next event begins with its own.
func (k *Kernel) Act(owner Owner) (before Owner) {
	o := k.ordered
	if o == nil {
		return 0
	}
	before, o.owner = o.owner, owner
	return before
}

// Halt has Run, this one and every later one, return after the present event. Only a strategy may ask for it.
func (k *Kernel) Halt() { k.ordered.halted = true }

// Halted tells whether somebody did.
func (k *Kernel) Halted() bool { return k.ordered != nil && k.ordered.halted }

// enter schedules under the strategy.
func (k *Kernel) enter(at time.Duration, label Label) uint32 {
	o := k.ordered
	slot := k.queue.push(at, k.seq, label)
	if n := int(slot) + 1; n > len(o.made) {
		o.made = append(o.made, make([]making, n-len(o.made))...)
	}
	o.made[slot] = making{id: k.seq, cause: o.cause, owner: o.owner}
	return slot
}

// onward ends what the last event was, and tells whether there may be another.
func (k *Kernel) onward() bool {
	k.ordered.owner, k.ordered.cause = 0, 0
	return k.since == 0 || !k.ordered.halted
}

// choose takes the event that the strategy wants from those that are due within the window of the first.
func (k *Kernel) choose() (order uint64, e event) {
	o := k.ordered
	top := k.queue.heap[0]
	c := &o.choice
	c.limit, c.all = min(top.at+o.window, k.until), false
	c.due = append(c.due[:0], k.dueAt(&top))
	chosen := c.due[o.strategy.Next(c)]
	k.now = max(k.now, chosen.At)
	e = k.queue.slots[chosen.slot]
	k.queue.stop(chosen.slot, e.generation)
	o.owner, o.cause = chosen.Owner, chosen.ID
	return chosen.seq, e
}

func (k *Kernel) dueAt(e *entry) Due {
	m := k.ordered.made[e.slot]
	return Due{At: e.at, Owner: m.owner, Label: k.queue.slots[e.slot].label, ID: m.id, Cause: m.cause, slot: e.slot, seq: e.order}
}

// within adds the events up to the limit that lie in the heap at i or below: none below one that is later is earlier.
func (k *Kernel) within(i int, limit time.Duration, found []Due) []Due {
	h := k.queue.heap
	if i >= len(h) || h[i].at > limit {
		return found
	}
	if k.queue.slots[h[i].slot].generation == h[i].generation {
		found = append(found, k.dueAt(&h[i]))
	}
	for c := 4*i + 1; c <= 4*i+4; c++ {
		found = k.within(c, limit, found)
	}
	return found
}
