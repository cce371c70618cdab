package checker

import (
	"errors"

	"github.com/squall-chaos/squall/checker/history"
)

// ErrLimit is I7-limit.
var ErrLimit = errors.New("no claim, no sweep and no moment exceeds its limit")

// limit checks the three limits apart from each other.
func limit(f *finding) {
	f.claimBatches()
	f.inFlight()
	f.recoverBatches()
}

// claimBatches counts the tasks of each Claim: operations with the same call.
func (f *finding) claimBatches() {
	if f.limits.ClaimBatch == 0 {
		return
	}
	size := 0
	for n, i := range f.verbs[history.Claim] {
		o := &f.Operations[i]
		if n > 0 && f.Operations[f.verbs[history.Claim][n-1]].Call == o.Call {
			size++
		} else {
			size = 1
			f.exercised += count(o.Task != 0)
		}
		if size == f.limits.ClaimBatch+1 {
			f.violate(breach{o.Task, o.CalledAt, o.Call, []history.Seq{o.Call}},
				"%s claimed more than CLAIM_BATCH_LIMIT (claim_batch) %d tasks in one call at %s",
				f.process(o.Process), f.limits.ClaimBatch, clock(o.CalledAt))
		}
	}
}

// inFlight counts running rows.
func (f *finding) inFlight() {
	if f.limits.MaxInFlight == 0 {
		return
	}
	phases := make([]history.Phase, len(f.Tasks))
	running := 0
	for _, i := range f.rows {
		e := &f.Events[i]
		before := phases[e.Task-1]
		phases[e.Task-1] = e.Phase
		running += count(e.Phase == history.Running) - count(before == history.Running)
		if e.Phase != history.Running || before == history.Running {
			continue
		}
		f.exercised++
		if running > f.limits.MaxInFlight {
			f.violate(breach{e.Task, e.At, e.Seq, []history.Seq{e.Seq}},
				"%d tasks ran at once at %s, with %s as the last, where max_in_flight is %d",
				running, clock(e.At), f.task(e.Task), f.limits.MaxInFlight)
		}
	}
}

// sweep counts one reconciler's requeues. At any time two sweeps may touch a stretch of one interval, the end of
// one and the beginning of the next, so twice the batch is what proves that one of them exceeded it. A process with
// a new term begins a new sweep at once: it is counted anew.
type sweep struct {
	recent []*history.Operation // within the last interval
	over   bool
}

func (f *finding) recoverBatches() {
	if f.limits.RecoverBatch == 0 || f.limits.RecoverInterval == 0 {
		return
	}
	sweeps := make([]sweep, len(f.Processes))
	leads := f.verbs[history.Lead]
	for _, i := range f.verbs[history.Requeue] {
		o := &f.Operations[i]
		for len(leads) > 0 && leads[0] < i {
			if process := f.Operations[leads[0]].Process; process != 0 {
				sweeps[process-1] = sweep{}
			}
			leads = leads[1:]
		}
		if o.Process == 0 || (o.Applied != history.OK && o.Outcome != history.OK) {
			continue
		}
		f.exercised++
		f.requeued(&sweeps[o.Process-1], o)
	}
}

func (f *finding) requeued(s *sweep, o *history.Operation) {
	s.recent = append(s.recent, o)
	for s.recent[0].CalledAt <= o.CalledAt-f.limits.RecoverInterval {
		s.recent = s.recent[1:]
	}
	most := 2 * f.limits.RecoverBatch
	if len(s.recent) <= most || s.over {
		s.over = len(s.recent) > most
		return
	}
	s.over = true
	first := s.recent[0]
	f.violate(breach{o.Task, o.CalledAt, o.Call, []history.Seq{first.Call, o.Call}},
		"%s requeued %d tasks in %s, from %s to %s, where two sweeps of RECOVERY_BATCH_LIMIT (recover_batch) %d each allow %d",
		f.process(o.Process), len(s.recent), clock(o.CalledAt-first.CalledAt),
		clock(first.CalledAt), clock(o.CalledAt), f.limits.RecoverBatch, most)
}
