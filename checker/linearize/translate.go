package linearize

import (
	"cmp"
	"slices"

	"github.com/squall-chaos/squall/checker/history"
)

// inLedger marks the verbs that the ledger's model knows. Heartbeats, sightings and postponed cleanups change nothing
// that it keeps; scans are no reads of one moment, for a replica may answer them.
var inLedger = func() (known [256]bool) {
	for _, v := range []history.Verb{
		history.Submit, history.Cancel, history.Resume, history.Read, history.Claim, history.Launched, history.Unclaim,
		history.Reject, history.Requeue, history.Conclude, history.Cleaned, history.Start, history.Finish,
	} {
		known[v] = true
	}
	return known
}()

// translator turns the operations of one task after the other into ops. Its buffers are reused.
type translator struct {
	h      *history.History
	narrow bool
	// astray are the calls of claims of which nobody knows what they claimed: they may have claimed any task.
	astray []history.Seq

	ops     []op
	uids    []string
	tickets []ticket
	holders []holder
	model   ledger
	lost    bool // a claim of the task left no token
}

// ticket is what makes a repeated Finish the same.
type ticket struct {
	number   uint64
	workload uint32
	detail   detail
}

// holder is a worker process with the workload that it asked to start with: Finish does not record it.
type holder struct {
	process  history.ID
	number   uint64
	workload uint32
}

// task translates the given operations.
func (t *translator) task(id history.ID, index []int32) {
	t.ops, t.uids, t.tickets, t.holders = t.ops[:0], t.uids[:0], t.tickets[:0], t.holders[:0]
	t.model.tokens, t.lost = t.model.tokens[:0], false
	t.model.deadline = int(id) <= len(t.h.Specs) && t.h.Specs[id-1].StartDeadline > 0
	for _, i := range index {
		t.operation(i, &t.h.Operations[i])
	}
	t.order()
	t.finishes()
	if t.lost {
		t.seen()
	}
}

// operation appends one operation unless it says nothing.
func (t *translator) operation(i int32, from *history.Operation) {
	reply, telling := answerOf(from)
	if !telling {
		return
	}
	o := op{index: i, verb: from.Verb, answer: reply, choices: 1, looks: reply != accepted || from.Verb == history.Read}
	if !o.timing(from, t.narrow) || o.looks && from.Outcome == history.Unknown {
		return
	}
	if !o.optional && reply == accepted {
		o.phase, o.cancelling = from.Phase, from.Cancelling
	}
	o.number = numbered(from.Token)
	t.particulars(&o, from)
	t.ops = append(t.ops, o)
}

// answerOf says what the server answered, and whether the ledger can learn from it. Nothing can be learned from a
// write that was fenced or never arrived, nor from a conflict of a write on condition of a version: heartbeats and
// sightings change the version too, and they are not in the search.
func answerOf(from *history.Operation) (reply answer, telling bool) {
	if from.Outcome != history.Fail {
		return accepted, true
	}
	switch from.Code {
	case history.NotFound:
		return missing, true
	case history.Refused:
		return refused, from.Verb == history.Start || from.Verb == history.Finish
	case history.Conflict, history.Exists:
		return conflicting, from.Verb == history.Submit || from.Verb == history.Resume
	}
	return accepted, false
}

// particulars fills in what only some verbs have.
func (t *translator) particulars(o *op, from *history.Operation) {
	switch from.Verb {
	case history.Claim:
		if o.optional || o.number == 0 {
			o.number, t.lost = 0, true
		}
	case history.Launched:
		o.workload = t.uid(from.Detail)
	case history.Start:
		o.workload = t.uid(from.Detail)
		t.holders = append(t.holders, holder{from.Process, o.number, o.workload})
	case history.Finish:
		o.detail = succeeded
		if from.Detail != "succeeded" {
			o.detail = failed
			o.undecided()
		}
	case history.Requeue:
		o.undecided()
	case history.Conclude:
		if from.Detail == "cancelled" {
			o.detail = cancelled
		}
	}
}

// undecided asks for both outcomes of an ended attempt where nobody recorded which it was.
func (o *op) undecided() {
	if o.phase == history.NoPhase {
		o.choices = 2
	}
}

// finishes says of every Finish which workload it was of, as far as the history tells.
func (t *translator) finishes() {
	for i := range t.ops {
		o := &t.ops[i]
		if o.verb != history.Finish {
			continue
		}
		o.workload = t.held(t.h.Operations[o.index].Process, o.number)
		k := ticket{o.number, o.workload, o.detail}
		n := slices.Index(t.tickets, k)
		if n < 0 {
			n = len(t.tickets)
			t.tickets = append(t.tickets, k)
		}
		o.ticket = uint32(n) + 1
	}
}

// held is the workload with which the process asked to start the attempt; 0 when it did not, or with several:
// workers may share a name.
func (t *translator) held(process history.ID, number uint64) (workload uint32) {
	for _, h := range t.holders {
		if h.process != process || h.number != number || h.workload == workload {
			continue
		}
		if workload != 0 {
			return 0
		}
		workload = h.workload
	}
	return workload
}

// uid numbers a UID within the task, the latest first: that is the likely one.
func (t *translator) uid(uid string) uint32 {
	for i := len(t.uids) - 1; i >= 0; i-- {
		if t.uids[i] == uid {
			return uint32(i) + 1
		}
	}
	t.uids = append(t.uids, uid)
	return uint32(len(t.uids))
}

// order makes sure that the operations are in order of their calls, as a History promises.
func (t *translator) order() {
	for i := 1; i < len(t.ops); i++ {
		for j := i; j > 0 && t.ops[j].call < t.ops[j-1].call; j-- {
			t.ops[j], t.ops[j-1] = t.ops[j-1], t.ops[j]
		}
	}
}

// seen collects the tokens that a lost claim may have granted, and lets it have granted any of them.
func (t *translator) seen() {
	tokens := t.model.tokens[:0]
	for i := range t.ops {
		if n := t.ops[i].number; n != 0 {
			tokens = append(tokens, n)
		}
	}
	slices.Sort(tokens)
	t.model.tokens = slices.Compact(tokens)
	for i := range t.ops {
		if o := &t.ops[i]; o.verb == history.Claim && o.number == 0 {
			o.choices = uint16(min(len(t.model.tokens), 1<<16-2)) + 1
		}
	}
}

// astrayMost is how many claims that went astray are considered for one task: they are alike, and no task
// is claimed often by chance.
const astrayMost = 16

// widen adds what may have happened without an operation of the task's own: its start deadline passed, or a
// claim went astray. It tells whether there was anything to add.
func (t *translator) widen() bool {
	before := len(t.ops)
	if before == 0 {
		return false
	}
	if t.model.deadline {
		t.ops = append(t.ops, op{call: t.ops[0].call, ret: never, verb: lapse, index: -1, choices: 1, optional: true})
	}
	last := t.ops[before-1].call
	for i := 0; i < len(t.astray) && i < astrayMost && uint64(t.astray[i]) < last; i++ {
		t.ops = append(t.ops, op{call: uint64(t.astray[i]), ret: never, verb: history.Claim, index: -1, optional: true})
		t.lost = true
	}
	if len(t.ops) == before {
		return false
	}
	slices.SortStableFunc(t.ops, func(a, b op) int { return cmp.Compare(a.call, b.call) })
	if t.lost {
		t.seen()
	}
	return true
}
