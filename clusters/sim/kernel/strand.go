package kernel

import "iter"

// strand is one of those who can have the floor: a process, or whoever called Run. Exactly one has it, and whoever has it executes the
// events. So a process that gives way goes on with what happens next itself, as far as that is callbacks or its own turn, which takes
// no switch at all; and the floor goes from one process to another by one switch, where a loop that resumes them in turn takes two.
type strand struct {
	seat *seat // where it waits for the floor
}

// seat is a coroutine as the runtime sees it: a place in which one strand always waits. Whoever enters waits in its place, and that one goes
// on. Whose function the coroutine runs does not matter, until that ends: then who waits there goes on, whoever it is.
type seat struct {
	next    func() (struct{}, bool)
	yield   func(struct{}) bool
	entered bool // by next, so that it is yield's turn: package iter wants them to take turns
}

// begin has run called when the strand gets the floor for the first time. At its end run says in Kernel.floor who has it next.
func (s *strand) begin(run func()) {
	own := &seat{}
	own.next, _ = iter.Pull(func(yield func(struct{}) bool) {
		own.yield = yield
		run()
	})
	s.seat = own
}

// give leaves the floor to another, and returns when it has come back. Every function between here and Park costs a switch several
// nanoseconds: where stacks change, the processor predicts no return.
func (k *Kernel) give(to *strand) {
	self := k.floor
	k.floor = to
	for k.floor != self { // the end of a process lets somebody go on whose turn it need not be
		s := k.floor.seat
		self.seat = s
		if s.entered = !s.entered; s.entered {
			s.next()
		} else {
			s.yield(struct{}{})
		}
	}
}
