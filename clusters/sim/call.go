package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/sim/kernel"
	"github.com/squall-chaos/squall/dispatcher"
)

// caller is whoever makes calls: a process, which waits as a coroutine, or a worker, which is called back.
type caller struct {
	world   *Cluster
	name    string
	id      history.ID
	node    string // workers only
	process *process
	worker  *worker
}

// port is one way to a server, with its latency.
type port struct {
	name    clusters.Port
	latency clusters.Dist
	stream  *rand.Rand
	server  *server // at its end
}

// way draws how long one way takes: half of what the round trip would.
func (p *port) way() time.Duration { return p.latency.Draw(p.stream) / 2 }

// call is one port call. It is three events: submit, where rules decide its fate; effect, where the
// server acts; and reply, where the caller goes on. They are apart so that a fault can fall between any
// two. The caller waits no longer than its deadline: when the reply would come later it learns nothing, while the
// effect takes place in its own time.
type call struct {
	world     *Cluster
	by        *caller
	coroutine *kernel.Process // who waits; nil: done is called back
	done      func(error)
	port      *port
	verb      history.Verb
	task      string
	deadline  time.Duration
	timeline  int // of the database when the call left
	life      int // of the server then

	request request
	effect  effect // what the server does
	due     bool   // it is still to come
	fate    fate
	op      int // index in record.operations
	more    int // further operations behind it, of a Claim
	opened  int // index in record.open
	answer  error
	settled bool // what the caller gets is decided, and its reply on the way
	served  bool // the reply is the server's
	left    bool // the caller is gone, only the effect is still to come

	// submitting, applying and replying are bound once, so that an event costs no allocation.
	submitting, applying, replying func()
}

// errors of the network.
var (
	errSilent = fmt.Errorf("no reply by the deadline: %w", dispatcher.ErrUnknown)
	errOver   = fmt.Errorf("not sent, its context is over: %w", dispatcher.ErrUnavailable)
	errDenied = fmt.Errorf("connection refused: %w", dispatcher.ErrUnavailable)
)

// patience is how long a caller without a deadline waits for a server that went silent: Linux gives up on an
// unacknowledged segment after about 924.6 s (tcp_retries2, Documentation/networking/ip-sysctl.rst).
const patience = 924_600 * time.Millisecond

// call begins a call. What else its operation shows is for the port method to fill in.
func (c *caller) call(p *port, verb history.Verb, task string) (*call, *history.Operation) {
	w := c.world
	if p := w.kernel.Running(); p != nil {
		p.Live()
	}
	var k *call
	if n := len(w.spare); n > 0 {
		k = w.spare[n-1]
		w.spare = w.spare[:n-1]
	} else {
		k = &call{world: w}
		k.submitting, k.applying, k.replying = k.submit, k.apply, k.reply
	}
	k.by, k.port, k.verb, k.task = c, p, verb, task
	return k, w.record.begin(k)
}

// recycle takes back a call that nobody refers to any more.
func (c *call) recycle() {
	c.world.record.closed(c)
	if c.effect != nil {
		c.effect.recycle()
	}
	*c = call{world: c.world, submitting: c.submitting, applying: c.applying, replying: c.replying}
	c.world.spare = append(c.world.spare, c)
}

// wait makes the call for the running process and returns when that learns how it went.
func (c *call) wait(ctx context.Context, e effect) error {
	k := c.world.kernel
	c.effect, c.due, c.coroutine, c.deadline = e, true, k.Running(), k.Now()+patience
	if b := boundOf(ctx); b != nil {
		c.deadline = b.at
	}
	if ctx.Err() != nil {
		c.deadline = k.Now()
	}
	k.After(0, c.label(submitted), c.submitting)
	c.coroutine.Park()
	return c.finish()
}

// start makes the call for a worker, which is called back unless it is dead by then.
func (c *call) start(timeout time.Duration, e effect, done func(error)) {
	k := c.world.kernel
	c.effect, c.due, c.done, c.deadline = e, true, done, k.Now()+timeout
	k.After(0, c.label(submitted), c.submitting)
}

// submit is the first event: the call leaves its caller.
func (c *call) submit() {
	w := c.world
	if c.orphaned() {
		c.recycle()
		return
	}
	if w.kernel.Now() >= c.deadline {
		c.refuse(errOver, 0)
		return
	}
	if w.explorer != nil {
		w.explorer.called(c)
	}
	if len(w.rules) > 0 {
		c.fate = w.judge(c)
	}
	c.timeline, c.life = w.database.Timeline(), c.port.server.life
	there := c.port.way() + c.fate.slow
	switch c.fate.action {
	case clusters.Refuse:
		c.refuse(errDenied, there)
		return
	case clusters.CutCall:
		c.refuse(clusters.ErrReset, there)
		return
	case clusters.Answer:
		if !c.fate.rule.Applied {
			c.refuse(clusters.ErrorOf(c.fate.rule.Code), there+c.port.way())
			return
		}
	case clusters.Drop:
		c.due = false
		c.silence()
		return
	case clusters.Late:
		there = c.fate.delay
		c.silence()
	case clusters.LoseReply:
		c.silence()
	}
	if w.kernel.Now()+there >= c.deadline {
		c.silence()
	}
	w.kernel.After(there, c.label(effected), c.applying)
}

// orphaned tells that the process that waits was killed.
func (c *call) orphaned() bool { return c.coroutine != nil && !c.coroutine.Alive() }

// refuse decides that the server does nothing.
func (c *call) refuse(err error, after time.Duration) {
	c.due = false
	c.settle(err, after)
}

// silence decides that the caller waits until its deadline in vain.
func (c *call) silence() { c.settle(errSilent, c.deadline-c.world.kernel.Now()) }

// settle decides what the caller gets and when. The first decision counts.
func (c *call) settle(err error, after time.Duration) {
	if c.settled {
		return
	}
	if limit := c.deadline - c.world.kernel.Now(); after > limit {
		err, after = errSilent, limit
	}
	c.settled, c.answer = true, err
	if c.coroutine != nil {
		c.world.kernel.Wake(c.coroutine, after, c.label(replied), nil)
		return
	}
	c.world.kernel.After(after, c.label(replied), c.replying)
}

// apply is the second event: the server acts, unless it is frozen.
func (c *call) apply() {
	if c.port.server.frozen {
		c.hold()
		return
	}
	err := c.act()
	switch {
	case c.left, c.orphaned():
		c.recycle()
	case c.fate.action == clusters.CrashCaller:
		c.settled = true
		c.by.crash()
	case c.fate.action == clusters.CutReply:
		c.settle(clusters.ErrReset, c.port.way())
	case c.fate.action == clusters.Answer:
		c.settle(clusters.ErrorOf(c.fate.rule.Code), c.port.way())
	default:
		c.served = !c.settled
		c.settle(err, c.port.way())
	}
}

// act has the server act and records what it did.
func (c *call) act() error {
	w := c.world
	c.due = false
	w.record.lateness = max(w.record.lateness, w.kernel.Now()-c.deadline)
	seq := w.record.next()
	if c.port.name == clusters.Store && c.timeline != w.database.Timeline() {
		return clusters.ErrReset // its connection was to the primary that is gone
	}
	if c.broken() {
		return clusters.ErrReset
	}
	err := c.effect.apply(c)
	_, code := clusters.OutcomeOf(err)
	ops := w.record.of(c)
	w.kernel.Note(c.label(effected), uint64(code)<<8|uint64(ops[0].Phase), ops[0].Token)
	if w.explorer != nil {
		w.explorer.answered(c, uint64(code))
	}
	if err != nil {
		return err
	}
	for i := range ops {
		ops[i].Effect, ops[i].Applied = seq, history.OK
	}
	return nil
}

// finish is the third event as a process sees it.
func (c *call) finish() error {
	err := c.answer
	if c.served && err != errSilent && err != clusters.ErrReset && c.broken() {
		err = clusters.ErrReset // it did not arrive
	}
	c.world.record.returned(c, err)
	if x := c.world.explorer; x != nil && err != nil {
		_, code := clusters.OutcomeOf(err)
		x.settled(c, uint64(code))
	}
	c.leave()
	return err
}

// reply is the third event as a worker sees it. A dead one sees nothing, and its operation stays open.
func (c *call) reply() {
	if c.by.worker.dead {
		c.leave()
		return
	}
	done := c.done
	done(c.finish())
}

// leave lets go of the call, as far as its effect is not still to come.
func (c *call) leave() {
	if c.left = true; !c.due {
		c.recycle()
	}
}

// operation is the call's first operation, for as long as no other begins.
func (c *call) operation() *history.Operation { return &c.world.record.operations[c.op] }

// server is the database: what has reached it is no longer bound by its caller's patience.
func (c *call) server() dispatcher.Store { return c.world.store }

// seen is a row that the database answered with, after see.
func (c *call) seen(t dispatcher.Task, err error) (dispatcher.Task, error) {
	if err == nil {
		c.see(&t)
	}
	return t, err
}

// see fills in what the server knows of the row after the effect.
func (c *call) see(t *dispatcher.Task) {
	op := c.operation()
	op.Phase, op.Cancelling = clusters.PhaseOf(t.Phase), t.Desired == dispatcher.DesiredCancel
}
