package linearize

import (
	"math/rand/v2"
	"strconv"

	"github.com/squall-chaos/squall/checker/history"
)

// synthetic makes up a legal history of tasks with ten operations each, some hundred of which are under way at any
// time. Of five tasks two have an operation without a known outcome and without a log: one happened, one did not.
type synthetic struct {
	tasks   int
	illegal int // this task, if it is not 0, has a second worker let in

	r   *rand.Rand
	h   *history.History
	seq history.Seq
	// token and epoch are the last granted.
	token, epoch uint64
}

// active is a task under way: its next step, and the operation that is open.
type active struct {
	task  history.ID
	step  int
	open  int // index of the operation; -1: none
	token uint64
}

const together = 200 // tasks under way at once

func (s *synthetic) history() *history.History {
	s.r = rand.New(rand.NewPCG(1, 2))
	s.h = &history.History{Processes: []string{"client", "dispatcher-1", "reconciler-1", "worker"}}
	s.h.Operations = make([]history.Operation, 0, 10*s.tasks+s.tasks/100+2)
	s.lead()
	var now []active
	for next := 1; next <= s.tasks || len(now) > 0; {
		for ; len(now) < together && next <= s.tasks; next++ {
			s.h.Tasks = append(s.h.Tasks, strconv.Itoa(next))
			now = append(now, active{task: history.ID(next), open: -1})
		}
		i := s.r.IntN(len(now))
		if a := &now[i]; a.open >= 0 {
			s.close(a)
		} else if a.step < len(steps) {
			s.begin(a)
		} else {
			now[i] = now[len(now)-1]
			now = now[:len(now)-1]
		}
	}
	return s.h
}

// lead opens new terms, so that leadership has something to check.
func (s *synthetic) lead() {
	for _, role := range []string{dispatcherRole, reconcilerRole} {
		s.seq += 2
		s.h.Operations = append(s.h.Operations, history.Operation{Call: s.seq - 1, Return: s.seq, Process: 2, Verb: history.Lead,
			Outcome: history.OK, Epoch: s.epoch + 1, Detail: role})
	}
	s.epoch++
}

// steps are a task's operations: it fails once.
var steps = []history.Operation{
	{Verb: history.Submit, Process: 1, Phase: history.Pending},
	{Verb: history.Claim, Process: 2, Phase: history.Running},
	{Verb: history.Launched, Process: 2, Phase: history.Running, Detail: "u"},
	{Verb: history.Start, Process: 4, Phase: history.Running, Detail: "u"},
	{Verb: history.Finish, Process: 4, Phase: history.Pending, Detail: "failed"},
	{Verb: history.Cleaned, Process: 3, Phase: history.Pending},
	{Verb: history.Claim, Process: 2, Phase: history.Running},
	{Verb: history.Start, Process: 4, Phase: history.Running, Detail: "u"},
	{Verb: history.Finish, Process: 4, Phase: history.Succeeded, Detail: "succeeded"},
	{Verb: history.Read, Process: 1, Phase: history.Succeeded},
}

// begin calls a task's next operation.
func (s *synthetic) begin(a *active) {
	o := steps[a.step]
	s.seq++
	o.Call, o.Task, o.Outcome, o.Applied = s.seq, a.task, history.OK, history.OK
	if o.Process == 2 || o.Process == 3 {
		o.Epoch = s.epoch
	}
	if o.Verb == history.Claim {
		s.token++
		a.token = s.token
	}
	if o.Verb != history.Submit {
		o.Token = a.token
	}
	if int(a.task) == s.illegal && a.step == 7 {
		o.Detail = "v"
		s.illegal = 0
		a.step--
	}
	a.open = len(s.h.Operations)
	s.h.Operations = append(s.h.Operations, o)
}

// close lets the open operation return, or not.
func (s *synthetic) close(a *active) {
	o := &s.h.Operations[a.open]
	s.seq++
	o.Return = s.seq
	switch {
	case a.step == 2 && a.task%5 == 0:
		o.Outcome, o.Applied, o.Return, o.Phase = history.Unknown, history.Unknown, 0, history.NoPhase
	case a.step == 5 && a.task%5 == 1 && o.Verb == history.Cleaned && s.r.IntN(2) == 0:
		// A client gave up on a cancel that never arrived.
		s.seq++
		s.h.Operations = append(s.h.Operations, history.Operation{Call: s.seq, Task: a.task, Process: 1, Verb: history.Cancel,
			Outcome: history.Unknown, Applied: history.Unknown})
	}
	a.step++
	a.open = -1
}
