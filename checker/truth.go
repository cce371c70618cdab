package checker

import (
	"errors"

	"github.com/squall-chaos/squall/checker/history"
)

// ErrTruth is I8-truth.
var ErrTruth = errors.New("at the end every row says what happened: succeeded if and only if an effect was counted")

// truth compares rows with effects. That an effect was counted twice is I1-effect's to say.
func truth(f *finding) {
	if f.ended == nil {
		f.note = "the run has no end"
		return
	}
	counted := make([]int32, len(f.Tasks))
	last := filled(len(f.Tasks), -1)
	for _, i := range f.effects {
		e := &f.Events[i]
		switch e.Kind {
		case history.EffectCounted:
			counted[e.Task-1]++
			last[e.Task-1] = i
		case history.EffectLost:
			counted[e.Task-1] = max(0, counted[e.Task-1]-1)
		}
	}
	for t, i := range f.final {
		if i < 0 {
			continue
		}
		row := &f.Events[i]
		if row.Phase == history.NoPhase || !row.Phase.Stopped() && counted[t] == 0 {
			continue
		}
		f.exercised++
		switch {
		case row.Phase == history.Succeeded && counted[t] == 0:
			f.violate(breach{row.Task, row.At, row.Seq, []history.Seq{row.Seq}}, "%s has been recorded as succeeded since %s, but no effect of it was counted", f.task(row.Task), clock(row.At))
		case row.Phase != history.Succeeded && counted[t] > 0:
			e := &f.Events[last[t]]
			f.violate(breach{row.Task, max(row.At, e.At), max(row.Seq, e.Seq), []history.Seq{row.Seq, e.Seq}}, "%s is recorded as %s at the end, but its effect was counted at %s (%s)",
				f.task(row.Task), row.Phase, clock(e.At), f.try(row.Task, e.Token))
		}
	}
}
