package linearize_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/checker/linearize"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/memory"
)

// The models and the reference store are two statements of the same rules: whatever is asked of the store, one call after
// the other so that no answer has a second explanation, the models must find right.
func TestModelsAgreeWithReferenceStore(t *testing.T) {
	verbs := map[history.Verb]int{}
	for seed := range uint64(800) {
		c := newCalls(seed)
		for range 150 {
			c.one()
		}
		for _, o := range c.h.Operations {
			if o.Outcome == history.OK {
				verbs[o.Verb]++
			}
		}
		got := linearize.Check(c.h, linearize.Options{})
		for _, f := range append(got.Ledger.Failures, got.Leadership.Failures...) {
			t.Errorf("seed %d: %s", seed, f.Explanation)
		}
		if t.Failed() {
			return
		}
	}
	for v := history.Submit; v <= history.Finish; v++ {
		if verbs[v] < 50 && v != history.Heartbeat && v != history.Scan && v != history.Now {
			t.Errorf("%v was accepted %d times only: the test shows little about it", v, verbs[v])
		}
	}
}

// calls makes random calls of one store and records them.
type calls struct {
	r     *rand.Rand
	store *memory.Store
	now   time.Time
	terms map[dispatcher.Role]dispatcher.Term
	past  []dispatcher.Task // rows as they once were: their references are stale
	h     *history.History
}

func newCalls(seed uint64) *calls {
	c := &calls{r: rand.New(rand.NewPCG(seed, 3)), now: time.Unix(0, 0), terms: map[dispatcher.Role]dispatcher.Term{}}
	c.store = memory.New(dispatcher.Settings{MaxFailures: 1, MaxDisruptions: 1}, func() time.Time { return c.now })
	c.h = &history.History{Tasks: []string{"a", "b"}, Specs: []history.Spec{{}, {StartDeadline: 90 * time.Second}}, Processes: []string{"p", "q"}}
	return c
}

// subject is what a call is about: mostly the row as it is, sometimes as it was.
func (c *calls) subject() dispatcher.Task {
	id := dispatcher.TaskID(c.h.Tasks[c.r.IntN(2)])
	t, err := c.store.Read(context.Background(), id)
	if err != nil {
		t.Spec.ID = id
	}
	c.past = append(c.past, t)
	if c.r.IntN(8) == 0 {
		t = c.past[c.r.IntN(len(c.past))]
	}
	return t
}

func (c *calls) term(r dispatcher.Role) dispatcher.Term {
	t := c.terms[r]
	t.Role = r
	if t.Epoch > 1 && c.r.IntN(20) == 0 {
		t.Epoch--
	}
	return t
}

// one makes one call.
func (c *calls) one() {
	c.now = c.now.Add(time.Duration(c.r.IntN(4)) * time.Second)
	verb := history.Verb(1 + c.r.IntN(int(history.Finish)))
	t := c.subject()
	o := history.Operation{Verb: verb, Process: history.ID(1 + c.r.IntN(2)), Token: uint64(t.Attempt.Token)}
	o.Task = 1
	if t.Spec.ID == "b" {
		o.Task = 2
	}
	switch verb {
	case history.Now, history.Scan, history.Heartbeat:
	case history.Lead, history.Confirm:
		c.lead(o)
	case history.Submit, history.Cancel, history.Resume, history.Read:
		c.client(o, t)
	case history.Claim:
		c.claim(o)
	case history.Start, history.Finish:
		c.worker(o, t)
	default:
		c.write(o, t)
	}
}

// record files an answered call.
func (c *calls) record(o history.Operation, t dispatcher.Task, err error) {
	n := history.Seq(2 * len(c.h.Operations))
	o.Call, o.Return, o.Outcome = n+1, n+2, history.OK
	if err == nil {
		o.Phase, o.Cancelling = phases[t.Phase], t.Desired == dispatcher.DesiredCancel
		if o.Verb == history.Read || o.Verb == history.Claim {
			o.Token = uint64(t.Attempt.Token)
		}
	} else {
		o.Outcome, o.Code = history.Fail, codeOf(err)
	}
	c.h.Operations = append(c.h.Operations, o)
}

var phases = map[dispatcher.Phase]history.Phase{
	dispatcher.Pending: history.Pending, dispatcher.Running: history.Running, dispatcher.Succeeded: history.Succeeded,
	dispatcher.Failed: history.Failed, dispatcher.Cancelled: history.Cancelled, dispatcher.NeedsAttention: history.NeedsAttention,
}

func codeOf(err error) history.Code {
	for known, code := range map[error]history.Code{
		dispatcher.ErrNotFound: history.NotFound, dispatcher.ErrConflict: history.Conflict, dispatcher.ErrFenced: history.Fenced,
		dispatcher.ErrRefused: history.Refused, dispatcher.ErrRejected: history.Rejected,
	} {
		if errors.Is(err, known) {
			return code
		}
	}
	panic(fmt.Sprintf("the store answered %v", err))
}

func (c *calls) lead(o history.Operation) {
	role := []dispatcher.Role{dispatcher.RoleDispatcher, dispatcher.RoleReconciler}[c.r.IntN(2)]
	o.Task, o.Token, o.Detail = 0, 0, string(role)
	term, err := c.term(role), error(nil)
	if o.Verb == history.Confirm {
		_, err = c.store.Confirm(context.Background(), term)
	} else if term, err = c.store.Lead(context.Background(), role, "p"); err == nil {
		c.terms[role] = term
	}
	o.Epoch = uint64(term.Epoch)
	c.record(o, dispatcher.Task{}, err)
}

func (c *calls) client(o history.Operation, t dispatcher.Task) {
	var err error
	id := t.Spec.ID
	switch o.Verb {
	case history.Submit:
		spec := dispatcher.Spec{ID: id, StartDeadline: c.h.Specs[o.Task-1].StartDeadline, MaxFailures: 2 * c.r.IntN(2)}
		t, err = c.store.Submit(context.Background(), spec)
	case history.Cancel:
		if c.r.IntN(4) > 0 {
			return // or everything is cancelled soon
		}
		t, err = c.store.Cancel(context.Background(), id)
	case history.Resume:
		t, err = c.store.Resume(context.Background(), id)
	case history.Read:
		t, err = c.store.Read(context.Background(), id)
	}
	o.Token = 0
	c.record(o, t, err)
}

func (c *calls) claim(o history.Operation) {
	term := c.term(dispatcher.RoleDispatcher)
	o.Epoch = uint64(term.Epoch)
	tasks, err := c.store.Claim(context.Background(), term, 2)
	if len(tasks) == 0 {
		o.Task, o.Token = 0, 0
		c.record(o, dispatcher.Task{}, err)
	}
	for _, t := range tasks {
		o.Task = 1
		if t.Spec.ID == "b" {
			o.Task = 2
		}
		c.record(o, t, nil)
	}
}

func (c *calls) worker(o history.Operation, t dispatcher.Task) {
	k := dispatcher.Ticket{ID: t.Spec.ID, Token: t.Attempt.Token, Workload: dispatcher.UID(fmt.Sprint("u", t.Attempt.Token, o.Process))}
	var err error
	if o.Verb == history.Start {
		o.Detail = string(k.Workload)
		t, err = c.store.Start(context.Background(), k)
	} else {
		result := dispatcher.ResultFailed
		if c.r.IntN(6) == 0 {
			result = dispatcher.ResultSucceeded
		}
		o.Detail = string(result)
		t, err = c.store.Finish(context.Background(), k, result)
	}
	c.record(o, t, err)
}

func (c *calls) write(o history.Operation, t dispatcher.Task) {
	if (o.Verb == history.Reject || o.Verb == history.Conclude) && c.r.IntN(4) > 0 {
		return // or everything is over soon
	}
	ctx, ref, s := context.Background(), t.Ref(), c.store
	d, r := c.term(dispatcher.RoleDispatcher), c.term(dispatcher.RoleReconciler)
	why := []dispatcher.Reason{dispatcher.ReasonLost, dispatcher.ReasonWorkFailed, dispatcher.ReasonDeadline, dispatcher.ReasonCancelled}[c.r.IntN(4)]
	o.Epoch = uint64(r.Epoch)
	var err error
	switch o.Verb {
	case history.Launched:
		uid := dispatcher.UID(fmt.Sprint("u", t.Attempt.Token, o.Process))
		o.Epoch, o.Detail = uint64(d.Epoch), string(uid)
		t, err = s.Launched(ctx, d, ref, uid)
	case history.Unclaim:
		o.Epoch = uint64(d.Epoch)
		t, err = s.Unclaim(ctx, d, ref, time.Second)
	case history.Reject:
		o.Epoch = uint64(d.Epoch)
		t, err = s.Reject(ctx, d, ref)
	case history.Observe:
		t, err = s.Observe(ctx, r, ref, dispatcher.Observation{State: dispatcher.SightAlive})
	case history.Requeue:
		o.Detail = string(why)
		t, err = s.Requeue(ctx, r, ref, why)
	case history.Conclude:
		o.Detail = string(why)
		t, err = s.Conclude(ctx, r, ref, why)
	case history.Cleaned:
		t, err = s.Cleaned(ctx, r, ref)
	case history.Postpone:
		t, err = s.Postpone(ctx, r, ref, time.Second)
	}
	c.record(o, t, err)
}
