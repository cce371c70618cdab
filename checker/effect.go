package checker

import (
	"errors"

	"github.com/squall-chaos/squall/checker/history"
)

// ErrEffect is I1-effect.
var ErrEffect = errors.New("no task's effect is counted twice")

// effect counts what the store accepted and did not lose.
func effect(f *finding) {
	counted := make([]int32, len(f.Tasks)) // by task
	offered := make([]int32, len(f.Tasks))
	first := filled(len(f.Tasks), -1) // the counted effect that stands
	for _, i := range f.effects {
		e := &f.Events[i]
		t := e.Task - 1
		switch e.Kind {
		case history.EffectLost:
			counted[t] = max(0, counted[t]-1)
			continue
		case history.EffectCounted:
			if counted[t]++; counted[t] == 1 {
				first[t] = i
			} else {
				f.countedTwice(&f.Events[first[t]], e)
			}
		}
		if offered[t]++; offered[t] == 2 {
			f.exercised++
		}
	}
	for t, n := range offered {
		if x := f.latest[t]; n == 1 && x >= 0 && f.executions[x].number > 1 {
			f.exercised++
		}
	}
}

func (f *finding) countedTwice(one, two *history.Event) {
	f.violate(breach{two.Task, two.At, two.Seq, []history.Seq{one.Seq, two.Seq}},
		"the effect of %s was counted twice: of %s at %s, and of %s again at %s", f.task(two.Task),
		f.try(one.Task, one.Token), clock(one.At), f.try(two.Task, two.Token), clock(two.At))
}
