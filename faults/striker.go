package faults

import "fmt"

// Striker is a world that strikes some faults by other means than its own: by objects of Chaos Mesh.
type Striker interface {
	// Strikes tells whether a fault, its targets resolved, goes that way, and by what.
	Strikes(f Fault) (by string, ok bool)
	// Strike breaks what the fault breaks; felt is called when something is seen of it.
	Strike(index int, f Fault, felt func())
	// Heal undoes a Strike.
	Heal(index int)
}

// striker is the means that a fault is struck by when they are not the world's own.
func (in *Injector) striker(f Fault) (s Striker, by string, ok bool) {
	if s, ok = in.world.(Striker); ok {
		by, ok = s.Strikes(f)
	}
	return s, by, ok
}

// elsewhere strikes a fault by other means; false: it is for the world itself.
func (in *Injector) elsewhere(i int, f Fault) bool {
	s, _, ok := in.striker(f)
	if ok {
		in.hold(i, fmt.Sprintf("strike of fault %d", i+1), func() { s.Strike(i, f, func() { in.hit(i) }) }, func() { s.Heal(i) })
	}
	return ok
}
