package checker

import (
	"errors"

	"github.com/squall-chaos/squall/checker/history"
)

// ErrFence is I6-fence.
var ErrFence = errors.New("the store accepts no write of a superseded leader and no ticket of a superseded attempt")

// The roles that have terms, as package dispatcher spells them.
const (
	dispatching = iota
	reconciling
	roles
)

var roleNames = [roles]string{"dispatcher", "reconciler"}

// writers says which role each verb of a leader's writes belongs to, less one.
var writers = [history.PutLease + 1]uint8{
	history.Claim: dispatching + 1, history.Launched: dispatching + 1, history.Unclaim: dispatching + 1, history.Reject: dispatching + 1,
	history.Observe: reconciling + 1, history.Requeue: reconciling + 1, history.Conclude: reconciling + 1,
	history.Cleaned: reconciling + 1, history.Postpone: reconciling + 1,
}

// term is the newest term of one role.
type term struct {
	epoch   uint64
	grant   *history.Operation
	changed bool // it superseded another, and nothing was written since
}

// fencing is the state of the pass, in the order in which the store applied things.
type fencing struct {
	*finding
	newest  [roles]term
	own     [][roles]uint64 // by process: the last term that it was granted
	claimed []uint64        // by task: the newest token that was handed out
}

// fence replays what the store applied. A leader's write is judged by what its process was granted last, whatever epoch the
// call carried: a store that does not look at the epoch is found out by it.
func fence(f *finding) {
	s := &fencing{finding: f, own: make([][roles]uint64, len(f.Processes)), claimed: make([]uint64, len(f.Tasks))}
	verbs := []history.Verb{history.Lead, history.Start, history.Heartbeat, history.Finish}
	for verb, role := range writers {
		if role != 0 {
			verbs = append(verbs, history.Verb(verb))
			f.exercised += f.refused(history.Verb(verb), history.Fenced)
		}
	}
	for _, verb := range verbs[1:4] {
		f.exercised += f.refused(verb, history.Refused)
	}
	for _, i := range f.byEffect(verbs...) {
		o := &f.Operations[i]
		switch {
		case o.Verb == history.Lead:
			s.lead(o)
		case writers[o.Verb] != 0 && o.Task != 0:
			s.write(o, int(writers[o.Verb]-1))
		case o.Task != 0:
			s.ticket(o)
		}
	}
}

func (f *finding) refused(verb history.Verb, with history.Code) (n int) {
	for _, i := range f.verbs[verb] {
		if f.Operations[i].Code == with {
			n++
		}
	}
	return n
}

func (s *fencing) lead(o *history.Operation) {
	for role, name := range roleNames {
		if o.Detail != name || o.Process == 0 {
			continue
		}
		s.own[o.Process-1][role] = o.Epoch
		if now := &s.newest[role]; o.Epoch > now.epoch {
			*now = term{o.Epoch, o, now.epoch != 0}
		}
	}
}

func (s *fencing) write(o *history.Operation, role int) {
	if o.Verb == history.Claim {
		s.claimed[o.Task-1] = max(s.claimed[o.Task-1], o.Token)
	}
	now := &s.newest[role]
	if now.epoch == 0 || o.Process == 0 {
		return
	}
	if now.changed {
		now.changed = false
		s.exercised++
	}
	own := s.own[o.Process-1][role]
	if o.Epoch != 0 {
		own = min(own, o.Epoch)
	}
	if own >= now.epoch {
		return
	}
	at := s.effectOf(o)
	s.violate(breach{o.Task, o.CalledAt, at, []history.Seq{now.grant.Call, o.Call, at}},
		"the store accepted %s of %s from %s, called at %s in term %d of the %s, although %s had been granted term %d",
		o.Verb, s.task(o.Task), s.process(o.Process), clock(o.CalledAt), own, roleNames[role], s.process(now.grant.Process), now.epoch)
}

func (s *fencing) ticket(o *history.Operation) {
	newest := s.claimed[o.Task-1]
	if o.Token >= newest {
		return
	}
	at := s.effectOf(o)
	s.violate(breach{o.Task, o.CalledAt, at, []history.Seq{o.Call, at}},
		"the store accepted %s of %s with token %d, called at %s, although token %d had been handed out",
		o.Verb, s.task(o.Task), o.Token, clock(o.CalledAt), newest)
}
