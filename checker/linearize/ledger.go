package linearize

import "github.com/squall-chaos/squall/checker/history"

// stage is how far a running attempt is.
type stage uint8

const (
	idle      stage = iota
	launching       // claimed; the workload may or may not exist
	launched        // the workload is recorded
	executing       // its worker was let in
)

// row is a task's row as far as it decides what the store answers. The rules are those of the reference
// store, dispatcher/memory.
type row struct {
	token    uint64 // of the last attempt, as numbered writes it
	workload uint32 // the object that the attempt is bound to; 0: none
	finished uint32 // the result that was last accepted; 0: none
	phase    history.Phase
	stage    stage
	// void is a token that was given back: used up, but no longer the row's.
	void       bool
	cancelling bool
	cleanup    bool // owed: the task is not claimed before
}

func hashRow(r row) uint64 {
	h := r.token*0x9e3779b97f4a7c15 ^ uint64(r.workload)<<40 ^ uint64(r.finished)<<24 ^ uint64(r.phase)<<16 ^ uint64(r.stage)<<8
	for i, set := range [...]bool{r.void, r.cancelling, r.cleanup} {
		if set {
			h ^= 1 << i
		}
	}
	return h * 0xff51afd7ed558ccd
}

// shown is the token that a reader of the row sees.
func (r row) shown() uint64 {
	if r.void {
		return 0
	}
	return r.token
}

// ledger is the model of one task. Its step is pure; the fields belong to the partition.
type ledger struct {
	// tokens are those that anybody saw, in order: what a lost claim may have granted. Only filled
	// where a claim of the partition left no token.
	tokens []uint64
	// deadline is set when the task has a start deadline, which only the store's clock judges.
	deadline bool
}

// lapse is what a Claim does on the side to a pending task whose start deadline has passed. It is nobody's call, so it
// has no verb of its own.
const lapse history.Verb = 255

// step tells what becomes of the row when the operation happens, if it can happen with its answer. choice
// selects among several outcomes that nobody recorded.
func (l *ledger) step(r row, o *op, choice int) (row, bool) {
	switch o.answer {
	case missing:
		return r, r.phase == history.NoPhase
	case refused:
		return r, l.refuses(r, o)
	case conflicting:
		if o.verb == history.Resume {
			return r, r.phase != history.NeedsAttention || r.cancelling
		}
		return r, r.phase != history.NoPhase
	}
	if o.verb == history.Claim && o.number == 0 {
		return l.lostClaim(r, choice)
	}
	n, ok := r.accept(o)
	if !ok {
		return r, false
	}
	if choice == 1 && n.phase == history.Pending {
		n.phase = history.NeedsAttention // nobody recorded whether the budget was spent
	}
	return n, o.phase == history.NoPhase || o.phase == n.phase && (o.cancelling == n.cancelling || n.phase.Terminal())
}

// refuses tells whether the store would turn the worker away.
func (l *ledger) refuses(r row, o *op) bool {
	_, in := r.accept(o)
	switch {
	case !in:
		return true
	case o.verb == history.Finish && o.workload == 0:
		return true // which workload reported is not recorded: it may have been another one
	}
	return l.deadline && r.stage < executing
}

// lostClaim is a claim whose token nobody recorded: one that turns up later, or one that never does.
func (l *ledger) lostClaim(r row, choice int) (row, bool) {
	number := unseen(r.token)
	if choice < len(l.tokens) {
		number = l.tokens[choice]
	}
	return r.claim(number)
}

// accept is the store's side of an operation that it carries out: its conditions and its effect.
func (r row) accept(o *op) (row, bool) {
	switch o.verb {
	case history.Submit:
		return r.submit(), true
	case history.Read:
		return r, r.phase != history.NoPhase && r.shown() == o.number
	case history.Cancel:
		return r.cancel()
	case history.Resume:
		return r.resume()
	case history.Claim:
		return r.claim(o.number)
	case history.Start:
		return r.start(o)
	case history.Finish:
		return r.finish(o)
	case lapse:
		return r.lapse()
	}
	return r.write(o)
}

// write is a leader's write on condition of the token.
func (r row) write(o *op) (row, bool) {
	if r.shown() != o.number {
		return r, false
	}
	switch o.verb {
	case history.Launched:
		return r.launch(o)
	case history.Cleaned:
		return r.cleaned()
	}
	if r.phase != history.Running {
		return r, false
	}
	switch o.verb {
	case history.Unclaim:
		return r.unclaim()
	case history.Reject:
		return r.end(history.Failed), r.stage == launching
	case history.Requeue:
		return r.again(o), true
	}
	return r.conclude(o)
}

func (r row) submit() row {
	if r.phase == history.NoPhase {
		r.phase = history.Pending
	}
	return r
}

// cancel is done at once where nothing is left to stop or to remove, and else becomes the goal.
func (r row) cancel() (row, bool) {
	if r.phase == history.NoPhase {
		return r, false
	}
	if r.phase.Terminal() || r.cancelling {
		return r, true
	}
	r.cancelling = true
	if r.phase != history.Running && !r.cleanup {
		r.phase = history.Cancelled
	}
	return r, true
}

func (r row) resume() (row, bool) {
	if r.phase != history.NeedsAttention || r.cancelling {
		return r, false
	}
	r.phase = history.Pending
	return r, true
}

// claim starts a new attempt, or takes one over that an earlier claim left launching, with its token.
func (r row) claim(number uint64) (row, bool) {
	switch {
	case r.cancelling:
		return r, false
	case r.phase == history.Running:
		return r, r.stage == launching && r.token == number
	case r.phase != history.Pending || r.cleanup || number < r.token || number == r.token && number&1 == 0:
		return r, false
	}
	return row{token: number, finished: r.finished, phase: history.Running, stage: launching}, true
}

func (r row) lapse() (row, bool) {
	if r.phase != history.Pending || r.cancelling {
		return r, false
	}
	r.phase = history.Failed
	return r, true
}

// launch binds the attempt to its object. It does not matter that the worker was faster.
func (r row) launch(o *op) (row, bool) {
	if r.workload != 0 {
		return r, r.workload == o.workload
	}
	r.workload, r.stage = o.workload, launched
	return r, r.phase == history.Running
}

// unclaim gives the task back. Nothing was made, so nothing is owed.
func (r row) unclaim() (row, bool) {
	if r.stage != launching {
		return r, false
	}
	r.void, r.workload, r.phase, r.stage = true, 0, history.Pending, idle
	if r.cancelling {
		r.phase = history.Cancelled
	}
	return r, true
}

// start lets the worker of the current attempt in, the same one again and again, and nobody else.
func (r row) start(o *op) (row, bool) {
	if !r.admits(o) || r.workload != 0 && r.workload != o.workload {
		return r, false
	}
	r.workload, r.stage = o.workload, executing
	return r, true
}

// admits tells whether the worker's attempt is the current one, and wanted.
func (r row) admits(o *op) bool {
	return r.phase == history.Running && !r.cancelling && r.shown() == o.number
}

// finish counts a result of the executing worker once, and answers the same again for a repetition.
func (r row) finish(o *op) (row, bool) {
	if r.finished == o.ticket {
		return r, true
	}
	if !r.admits(o) || r.stage != executing || o.workload != 0 && r.workload != o.workload {
		return r, false
	}
	r.finished = o.ticket
	if o.detail == succeeded {
		return r.end(history.Succeeded), true
	}
	return r.again(o), true
}

// again ends the attempt and lets the task run once more, or stops it for a person when the budget is spent: only
// the store counts those, so the recorded phase says which.
func (r row) again(o *op) row {
	if o.phase == history.NeedsAttention {
		return r.end(history.NeedsAttention)
	}
	return r.end(history.Pending)
}

// conclude ends the task for good; as cancelled only on request.
func (r row) conclude(o *op) (row, bool) {
	return r.end(history.Failed), o.detail != cancelled || r.cancelling
}

// end leaves the running phase, for the one given or for the one that a cancel asked for. What is left of the
// attempt has to be cleaned up.
func (r row) end(phase history.Phase) row {
	r.phase, r.stage, r.cleanup = phase, idle, true
	if r.cancelling {
		r.phase = history.Cancelled
	}
	return r
}

// cleaned pays what was owed; a cancel that had to wait for it is done then.
func (r row) cleaned() (row, bool) {
	if !r.cleanup {
		return r, false
	}
	r.cleanup = false
	if r.cancelling && !r.phase.Terminal() {
		r.phase = history.Cancelled
	}
	return r, true
}
