package checker

import (
	"cmp"
	"errors"
	"slices"

	"github.com/squall-chaos/squall/checker/history"
)

// ErrFence is I6-fence.
var ErrFence = errors.New("the store accepts no write of a superseded leader and no ticket of a superseded attempt")

// fence judges what the store applied. A leader's write is judged by what its process was granted last, whatever epoch the
// call carried: a store that does not look at the epoch is found out by it.
func fence(f *finding) {
	roles := [...]terms{{role: "dispatcher"}, {role: "reconciler"}}
	for i := range roles {
		roles[i].grants = f.grants(roles[i].role)
	}
	f.lateSuccess()
	claims := f.claimChain()
	for i := range f.Operations { // in one pass: a sweep for each verb would read everything a dozen times
		o := &f.Operations[i]
		switch o.Verb {
		case history.Claim, history.Launched, history.Unclaim, history.Reject:
			f.leaderWrite(o, &roles[0])
		case history.Observe, history.Requeue, history.Conclude, history.Cleaned, history.Postpone:
			f.leaderWrite(o, &roles[1])
		case history.Start, history.Heartbeat, history.Finish:
			f.ticket(o, claims)
		}
	}
}

// lateSuccess looks at how rows become succeeded: only from running, and by the attempt that ran. That no newer attempt has been claimed
// yet is no excuse: once an attempt was given up, its result is nobody's.
func (f *finding) lateSuccess() {
	before := filled(len(f.Tasks), -1)
	for _, i := range f.rows {
		e := &f.Events[i]
		last := before[e.Task-1]
		before[e.Task-1] = i
		if e.Phase != history.Succeeded || last < 0 {
			continue
		}
		was := &f.Events[last]
		if was.Phase == history.Succeeded || was.Phase == history.Running && was.Token == e.Token {
			continue
		}
		f.violate(breach{e.Task, e.At, e.Seq, []history.Seq{was.Seq, e.Seq}},
			"the store accepted a result of %s at %s although no attempt of it was current: it had been %s since %s",
			f.task(e.Task), clock(e.At), phaseOrGone(was.Phase), clock(was.At))
	}
}

// terms are those of one role.
type terms struct {
	role   string
	grants []grant
	before int // how many precede the write looked at last; writes come almost in order, so it hardly moves
}

// grant is one term of a role.
type grant struct {
	at      history.Seq
	by      *history.Operation
	newest  int // index of the newest term granted up to here
	written bool
}

// grants lists the terms of a role in the order in which they were granted.
func (f *finding) grants(role string) []grant {
	var all []grant
	for _, i := range f.verbs[history.Lead] {
		o := &f.Operations[i]
		if at := f.effectOf(o); at != 0 && o.Detail == role {
			all = append(all, grant{at: at, by: o})
		}
	}
	slices.SortFunc(all, func(a, b grant) int { return cmp.Compare(a.at, b.at) })
	for i := range all {
		all[i].newest = i
		if i > 0 && all[all[i-1].newest].by.Epoch > all[i].by.Epoch {
			all[i].newest = all[i-1].newest
		}
	}
	return all
}

// leaderWrite compares an applied write with the terms granted before it. No order of effects is needed for that, and
// making one would cost more than all the rest.
func (f *finding) leaderWrite(o *history.Operation, t *terms) {
	f.exercised += count(o.Code == history.Fenced)
	at := f.effectOf(o)
	if at == 0 || o.Task == 0 {
		return
	}
	for t.before < len(t.grants) && t.grants[t.before].at < at {
		t.before++
	}
	for t.before > 0 && t.grants[t.before-1].at >= at {
		t.before--
	}
	if t.before == 0 {
		return
	}
	grants := t.grants[:t.before]
	last := &grants[len(grants)-1]
	if !last.written {
		last.written = true
		f.exercised += count(len(grants) > 1)
	}
	newest := grants[last.newest].by
	own := f.lastTerm(o.Process, grants)
	if o.Epoch != 0 {
		own = min(own, o.Epoch)
	}
	if own >= newest.Epoch {
		return
	}
	f.violate(breach{o.Task, o.CalledAt, at, []history.Seq{newest.Call, o.Call, at}},
		"the store accepted %s of %s from %s, called at %s in term %d of the %s, although %s had been granted term %d",
		o.Verb, f.task(o.Task), f.process(o.Process), clock(o.CalledAt), own, t.role, f.process(newest.Process), newest.Epoch)
}

// lastTerm is the term that a process was granted last, 0 for none.
func (f *finding) lastTerm(process history.ID, grants []grant) uint64 {
	for i := len(grants) - 1; i >= 0; i-- {
		if grants[i].by.Process == process {
			return grants[i].by.Epoch
		}
	}
	return 0
}

// claimChain has the claims of every task, the latest first.
type claimChain struct {
	operations []int32
	latest     []int32 // by task: a position in operations, -1: none
	earlier    []int32 // by position: the task's claim before, -1: none
}

func (f *finding) claimChain() claimChain {
	c := claimChain{f.verbs[history.Claim], filled(len(f.Tasks), -1), make([]int32, len(f.verbs[history.Claim]))}
	for n, i := range c.operations {
		if task := f.Operations[i].Task; task != 0 {
			c.earlier[n] = c.latest[task-1]
			c.latest[task-1] = int32(n)
		}
	}
	return c
}

// ticket compares an accepted ticket with the later claims of its task.
func (f *finding) ticket(o *history.Operation, c claimChain) {
	f.exercised += count(o.Code == history.Refused)
	at := f.effectOf(o)
	if at == 0 || o.Task == 0 {
		return
	}
	for n := c.latest[o.Task-1]; n >= 0; n = c.earlier[n] {
		claim := &f.Operations[c.operations[n]]
		if claim.Token <= o.Token {
			return
		}
		if f.precedes(claim, at) {
			if !f.repeats(o, claim) {
				f.staleTicket(o, claim)
			}
			return
		}
	}
}

func (f *finding) precedes(claim *history.Operation, at history.Seq) bool {
	effect := f.effectOf(claim)
	return effect != 0 && effect < at
}

// repeats tells that the result had been accepted before the claim: handing it in again, because the answer was lost, is
// answered and writes nothing.
func (f *finding) repeats(o, claim *history.Operation) bool {
	if o.Verb != history.Finish {
		return false
	}
	for _, i := range f.verbs[history.Finish] {
		first := &f.Operations[i]
		effect := f.effectOf(first)
		if first.Task == o.Task && first.Token == o.Token && effect != 0 && effect < f.effectOf(claim) {
			return true
		}
	}
	return false
}

func (f *finding) staleTicket(o, claim *history.Operation) {
	at := f.effectOf(o)
	f.violate(breach{o.Task, o.CalledAt, at, []history.Seq{claim.Call, o.Call, at}},
		"the store accepted %s of %s with token %d, called at %s, although token %d had been handed out",
		o.Verb, f.task(o.Task), o.Token, clock(o.CalledAt), claim.Token)
}
