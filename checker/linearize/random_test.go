package linearize

import (
	"cmp"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/squall-chaos/squall/checker/history"
)

// life makes up what happens to one task: a store that follows the rules, callers that overlap, replies that are lost,
// and now and then an answer that is wrong.
type life struct {
	r     *rand.Rand
	row   row
	at    float64
	ops   []drawn
	known []history.Operation // what was done before, to be repeated
	wrong float64             // the share of answers that are falsified
	width float64             // how far calls and returns lie from their effects
}

type drawn struct {
	history.Operation
	call, effect, back float64
}

// draw makes up n operations in the order of their effects.
func (l *life) draw(n int) []history.Operation {
	for range n {
		l.at++
		o := l.request()
		d := drawn{call: l.at - l.r.ExpFloat64()*l.width, effect: l.at, back: l.at + l.r.ExpFloat64()*l.width}
		happened := l.r.Float64() > 0.1
		l.answer(&o, happened)
		l.lose(&o, happened)
		if l.r.Float64() < l.wrong {
			l.falsify(&o)
		}
		d.Operation = o
		l.ops = append(l.ops, d)
	}
	return l.stamped()
}

var requests = []history.Verb{
	history.Submit, history.Submit, history.Cancel, history.Resume, history.Read, history.Read, history.Claim,
	history.Claim, history.Launched, history.Unclaim, history.Reject, history.Requeue, history.Conclude, history.Cleaned,
	history.Cleaned, history.Start, history.Start, history.Finish, history.Finish,
}

// request is mostly one that makes sense: with the current token, or one that was made before.
func (l *life) request() history.Operation {
	if len(l.known) > 0 && l.r.IntN(6) == 0 {
		return l.known[l.r.IntN(len(l.known))]
	}
	o := history.Operation{Verb: requests[l.r.IntN(len(requests))], Task: 1, Process: history.ID(1 + l.r.IntN(2))}
	if len(l.known) == 0 {
		o.Verb = history.Submit
	}
	if o.Token = l.row.shown() / 2; o.Verb == history.Claim && l.row.phase != history.Running {
		o.Token = l.row.token/2 + 1
	}
	switch o.Verb {
	case history.Start, history.Launched:
		o.Detail = [...]string{"u1", "u2"}[o.Process-1]
	case history.Finish:
		o.Detail = [...]string{"succeeded", "failed", "failed"}[l.r.IntN(3)]
	case history.Conclude:
		o.Detail = [...]string{"cancelled", "deadline"}[l.r.IntN(2)]
	}
	l.known = append(l.known, o)
	return o
}

// answer is what the store says; unless the request never arrives the row changes.
func (l *life) answer(o *history.Operation, happened bool) {
	q := op{verb: o.Verb, number: numbered(o.Token), choices: 1}
	switch o.Verb {
	case history.Start, history.Launched, history.Finish:
		q.workload = uint32(o.Process)
		q.ticket = uint32(o.Token)<<4 | uint32(len(o.Detail))<<1 | uint32(o.Process-1)
	}
	if o.Detail == "succeeded" {
		q.detail = succeeded
	} else if o.Detail == "cancelled" {
		q.detail = cancelled
	}
	if o.Verb == history.Requeue || o.Verb == history.Finish {
		q.phase = [...]history.Phase{history.NoPhase, history.NeedsAttention}[l.r.IntN(2)]
	}
	next, ok := l.row.accept(&q)
	o.Outcome = history.OK
	switch {
	case !ok && l.row.phase == history.NoPhase:
		o.Outcome, o.Code = history.Fail, history.NotFound
	case !ok && (o.Verb == history.Start || o.Verb == history.Finish):
		o.Outcome, o.Code = history.Fail, history.Refused
	case !ok:
		o.Outcome, o.Code = history.Fail, history.Conflict
	case happened:
		l.row = next
		fallthrough
	default:
		o.Phase, o.Cancelling = next.phase, next.cancelling
	}
}

// lose makes the outcome unknown to the caller: always when the request did not arrive.
func (l *life) lose(o *history.Operation, happened bool) {
	if happened && l.r.IntN(6) > 0 {
		return
	}
	o.Applied = history.Fail
	if o.Outcome == history.OK && happened {
		o.Applied = history.OK
	}
	o.Outcome, o.Code = history.Unknown, history.Timeout
	if l.r.IntN(2) == 0 {
		o.Applied = history.Unknown
		if l.r.IntN(2) == 0 {
			o.Phase = history.NoPhase
		}
	}
}

// falsify changes one thing about an operation.
func (l *life) falsify(o *history.Operation) {
	switch l.r.IntN(4) {
	case 0:
		o.Phase = history.Phase(1 + l.r.IntN(6))
	case 1:
		o.Token = uint64(l.r.IntN(4))
	case 2:
		o.Process = 3 - o.Process
	case 3:
		if o.Outcome == history.OK {
			o.Outcome, o.Code = history.Fail, [...]history.Code{history.Refused, history.NotFound, history.Conflict}[l.r.IntN(3)]
		} else {
			o.Outcome, o.Code = history.OK, history.NoCode
		}
	}
}

// stamped turns real stamps into positions, in order of the calls.
func (l *life) stamped() []history.Operation {
	var stamps []float64
	for _, d := range l.ops {
		stamps = append(stamps, d.call, d.effect, d.back)
	}
	slices.Sort(stamps)
	at := func(f float64) history.Seq { return history.Seq(slices.Index(stamps, f) + 1) }
	ops := make([]history.Operation, len(l.ops))
	for i, d := range l.ops {
		ops[i] = d.Operation
		ops[i].Call = at(d.call)
		if d.Outcome != history.Unknown {
			ops[i].Return = at(d.back)
		}
		if d.Applied == history.OK {
			ops[i].Effect = at(d.effect)
		}
	}
	slices.SortFunc(ops, func(a, b history.Operation) int { return cmp.Compare(a.Call, b.Call) })
	return ops
}

// partitionsOf is how many random partitions a test tries; SQUALL_PARTITIONS asks for more.
func partitionsOf(t *testing.T, usual int) int {
	t.Helper()
	if text := os.Getenv("SQUALL_PARTITIONS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("SQUALL_PARTITIONS: %v", err)
		}
		return n
	}
	return usual
}

// The search, porcupine, and for the smallest partitions a trial of all orders must agree on every random task.
func TestSearchAgreesWithReference(t *testing.T) {
	var illegal, tried, open int
	total := partitionsOf(t, 60_000)
	for n := range total {
		r := rand.New(rand.NewPCG(uint64(n), 7))
		l := life{r: r, wrong: [...]float64{0, 0.04, 0.15}[n%3], width: [...]float64{0.4, 1.5, 4}[n/3%3]}
		h := &history.History{Operations: l.draw(2 + r.IntN(10)), Tasks: []string{"a"}}
		if r.IntN(8) == 0 {
			h.Specs = []history.Spec{{StartDeadline: 1}}
		}
		o := Options{Narrow: r.IntN(3) > 0}.filled()
		got := Check(h, o).Ledger
		if got.Verdict == Illegal {
			illegal++
		}
		if want := referenceVerdict(h, o); got.Verdict != want {
			t.Fatalf("partition %d: the search says %v, porcupine %v", n, got.Verdict, want)
		}
		c := &ledgerCheck{translator: translator{h: h, narrow: o.Narrow}}
		c.task(1, partition(h, o.Narrow).of(1))
		c.widen()
		for i := range c.ops {
			if c.ops[i].optional {
				open++
				break
			}
		}
		if len(c.ops) <= 6 {
			tried++
			if all := bruteForce(row{}, pointers(c.ops), c.model.step); all != (got.Verdict == Ok) {
				t.Fatalf("partition %d: the search says %v, a trial of all orders %v", n, got.Verdict, all)
			}
		}
		if l.wrong == 0 && got.Verdict != Ok {
			t.Fatalf("partition %d: nothing is wrong with it, but %v", n, got.Failures)
		}
	}
	t.Logf("%d partitions, %d illegal, %d with open unknowns, %d tried in all orders", total, illegal, open, tried)
	if total >= 60_000 && (illegal < 5_000 || open < 5_000 || tried < 5_000) {
		t.Errorf("too few of one sort: %d illegal, %d with open unknowns, %d tried in all orders", illegal, open, tried)
	}
}
