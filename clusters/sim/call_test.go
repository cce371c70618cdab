package sim

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
)

const ms = time.Millisecond

// still is a world without replicas in which every call takes 5 ms there and 5 ms back.
func still(t testing.TB, change ...func(*clusters.Config)) *Cluster {
	t.Helper()
	s, _ := dispatcher.Profile("b0")
	c := clusters.Config{Seed: 1, Settings: s, Nodes: []clusters.NodeGroup{{Name: "od", CapacityType: clusters.OnDemand, Count: 1, Pods: 10}}}
	c.Platform.APILatency = clusters.Fixed(10 * ms)
	c.Platform.StoreLatency = clusters.Fixed(10 * ms)
	c.Platform.Shutdown = clusters.Fixed(time.Second)
	for _, f := range change {
		f(&c)
	}
	w, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func run(t testing.TB, w *Cluster, until time.Duration) {
	t.Helper()
	if err := w.Run(context.Background(), until, nil); err != nil {
		t.Fatal(err)
	}
}

// submitOne submits a task with a second's patience.
func submitOne(ctx context.Context, p dispatcher.Ports, id dispatcher.TaskID) error {
	ctx, cancel := p.Clock.WithTimeout(ctx, time.Second)
	defer cancel()
	_, err := p.Store.Submit(ctx, dispatcher.Spec{ID: id})
	return err
}

// operations are those of one verb.
func operations(w *Cluster, v history.Verb) []history.Operation {
	var found []history.Operation
	for _, op := range w.History().Operations {
		if op.Verb == v {
			found = append(found, op)
		}
	}
	return found
}

const never = time.Duration(-1)

// fateCase is one thing that can happen to a call, what its caller learns and what is recorded.
type fateCase struct {
	name     string
	rule     clusters.Rule
	returns  time.Duration
	err      error
	applied  time.Duration
	outcome  history.Outcome
	code     history.Code
	restarts bool
}

var fateCases = []fateCase{
	{name: "nothing strikes", rule: clusters.Rule{Task: "other", Action: clusters.Drop},
		returns: 10 * ms, applied: 5 * ms, outcome: history.OK},
	{name: "connection refused", rule: clusters.Rule{Action: clusters.Refuse},
		returns: 5 * ms, err: dispatcher.ErrUnavailable, applied: never, outcome: history.Fail, code: history.Unavailable},
	{name: "request lost", rule: clusters.Rule{Action: clusters.Drop},
		returns: time.Second, err: dispatcher.ErrUnknown, applied: never, outcome: history.Unknown, code: history.Timeout},
	{name: "committed, reply lost", rule: clusters.Rule{Action: clusters.LoseReply},
		returns: time.Second, err: dispatcher.ErrUnknown, applied: 5 * ms, outcome: history.Unknown, code: history.Timeout},
	{name: "committed, connection lost after", rule: clusters.Rule{Action: clusters.CutReply},
		returns: 10 * ms, err: dispatcher.ErrUnknown, applied: 5 * ms, outcome: history.Unknown, code: history.Reset},
	{name: "connection lost before the commit", rule: clusters.Rule{Action: clusters.CutCall},
		returns: 5 * ms, err: dispatcher.ErrUnknown, applied: never, outcome: history.Unknown, code: history.Reset},
	{name: "applied late", rule: clusters.Rule{Action: clusters.Late, Delay: clusters.Fixed(3 * time.Second)},
		returns: time.Second, err: dispatcher.ErrUnknown, applied: 3 * time.Second, outcome: history.Unknown, code: history.Timeout},
	{name: "slow", rule: clusters.Rule{Action: clusters.Slow, Delay: clusters.Fixed(100 * ms)},
		returns: 110 * ms, applied: 105 * ms, outcome: history.OK},
	{name: "too slow", rule: clusters.Rule{Action: clusters.Slow, Delay: clusters.Fixed(2 * time.Second)},
		returns: time.Second, err: dispatcher.ErrUnknown, applied: 2005 * ms, outcome: history.Unknown, code: history.Timeout},
	{name: "effect before the deadline, reply after it", rule: clusters.Rule{Action: clusters.Slow, Delay: clusters.Fixed(992 * ms)},
		returns: time.Second, err: dispatcher.ErrUnknown, applied: 997 * ms, outcome: history.Unknown, code: history.Timeout},
	{name: "throttled", rule: clusters.Rule{Action: clusters.Answer, Code: history.Throttled},
		returns: 10 * ms, err: dispatcher.ErrThrottled, applied: never, outcome: history.Fail, code: history.Throttled},
	{name: "throttled after the effect", rule: clusters.Rule{Action: clusters.Answer, Code: history.Throttled, Applied: true},
		returns: 10 * ms, err: dispatcher.ErrThrottled, applied: 5 * ms, outcome: history.Fail, code: history.Throttled},
	{name: "internal error", rule: clusters.Rule{Action: clusters.Answer, Code: history.Internal},
		returns: 10 * ms, err: clusters.ErrorOf(history.Internal), applied: never, outcome: history.Unknown, code: history.Internal},
	{name: "the caller crashes between act and record", rule: clusters.Rule{Action: clusters.CrashCaller},
		returns: never, applied: 5 * ms, outcome: history.Unknown, restarts: true},
}

// TestFatesOfACall is the three events of a call and a fault at each of them. For the database the source is the
// manual of Postgres, appendix Error Codes, class 08: 08001, the connection could not be established, means that
// nothing happened; 08006, it broke, and 08007, transaction resolution unknown, leave it open. For the API server it is
// kubernetes.io/docs/reference/using-api/api-concepts and cluster-administration/flow-control (429, and requests that wait in
// a queue), and RFC 9110, section 9.2.2: after a broken connection a client cannot know whether a POST was processed.
func TestFatesOfACall(t *testing.T) {
	for _, c := range fateCases {
		t.Run(c.name, func(t *testing.T) {
			w := still(t)
			hits := 0
			c.rule.Hit = func() { hits++ }
			w.Intercept(c.rule)
			returned := never
			var err error
			w.Go("client-1", func(ctx context.Context, p dispatcher.Ports) {
				err = submitOne(ctx, p, "t1")
				returned = w.Now()
			})
			run(t, w, time.Minute)

			if returned != c.returns || !errors.Is(err, c.err) {
				t.Errorf("returned at %v with %v, want %v with %v", returned, err, c.returns, c.err)
			}
			if want := count(c.rule.Task == ""); hits != want {
				t.Errorf("%d hits, want %d", hits, want)
			}
			committed := never
			for _, e := range w.History().Events {
				if e.Kind == history.Row {
					committed = e.At
				}
			}
			if committed != c.applied {
				t.Errorf("committed at %v, want %v", committed, c.applied)
			}
			op := operations(w, history.Submit)[0]
			if op.Outcome != c.outcome || op.Code != c.code || op.CalledAt != 0 || op.Task != 1 {
				t.Errorf("recorded %+v, want outcome %d code %d", op, c.outcome, c.code)
			}
			if did := c.applied != never; did != (op.Applied == history.OK) || did != (op.Effect > op.Call) || did != (op.Phase == history.Pending) {
				t.Errorf("effect recorded as %+v", op)
			}
			if c.returns == never && op.Return != 0 || c.returns != never && op.ReturnedAt != c.returns {
				t.Errorf("return recorded as %d at %v", op.Return, op.ReturnedAt)
			}
			if c.restarts != (w.process("client-1").coroutine == nil && returned == never) {
				t.Error("the caller lives on, or should")
			}
		})
	}
}

func TestRulesSelect(t *testing.T) {
	for _, c := range []struct {
		name string
		rule clusters.Rule
		want string // the calls that it takes
	}{
		{"everything", clusters.Rule{}, "read1 read2 now get lease"},
		{"port", clusters.Rule{Port: clusters.Store}, "read1 read2 now"},
		{"the API takes the leases along", clusters.Rule{Port: clusters.API}, "get lease"},
		{"leases alone", clusters.Rule{Port: clusters.Lease}, "lease"},
		{"verb", clusters.Rule{Verb: history.Read}, "read1 read2"},
		{"task", clusters.Rule{Task: "t2"}, "read2 get"},
		{"nth", clusters.Rule{Verb: history.Read, Nth: 2}, "read2"},
		{"process", clusters.Rule{Process: "client-1", Port: clusters.Lease}, "lease"},
		{"prefix", clusters.Rule{Process: "client*", Port: clusters.Lease}, "lease"},
		{"other process", clusters.Rule{Process: "client"}, ""},
		{"node", clusters.Rule{Node: "od-1"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := still(t)
			c.rule.Action = clusters.Refuse
			remove := w.Intercept(c.rule)
			var struck []string
			calls := func(ctx context.Context, p dispatcher.Ports) {
				note := func(name string, err error) {
					if errors.Is(err, dispatcher.ErrUnavailable) {
						struck = append(struck, name)
					}
				}
				_, err := p.Store.Read(ctx, "t1")
				note("read1", err)
				_, err = p.Store.Read(ctx, "t2")
				note("read2", err)
				_, err = p.Store.Now(ctx)
				note("now", err)
				_, err = p.Workloads.Get(ctx, "task-t2")
				note("get", err)
				_, err = p.Leases.GetLease(ctx, "dispatcher")
				note("lease", err)
			}
			w.Go("client-1", calls)
			run(t, w, time.Second)
			if got := strings.Join(struck, " "); got != c.want {
				t.Errorf("struck %q, want %q", got, c.want)
			}
			remove()
			remove()
			struck = nil
			w.Go("client-2", calls)
			run(t, w, 2*time.Second)
			if len(struck) > 0 {
				t.Errorf("a removed rule struck %v", struck)
			}
		})
	}
}

func TestShareIsDrawn(t *testing.T) {
	w := still(t)
	hits := 0
	w.Intercept(clusters.Rule{Share: 0.3, Action: clusters.Slow, Delay: clusters.Fixed(ms), Hit: func() { hits++ }})
	w.Intercept(clusters.Rule{Share: 0.3, Action: clusters.Refuse})
	w.Go("client-1", func(ctx context.Context, p dispatcher.Ports) {
		for range 1000 {
			p.Store.Now(ctx)
		}
	})
	run(t, w, time.Minute)
	refused := 0
	for _, op := range operations(w, history.Now) {
		refused += count(op.Outcome == history.Fail)
	}
	if hits < 250 || hits > 350 || refused < 250 || refused > 350 {
		t.Errorf("%d slow and %d refused of 1000, want some 300 each", hits, refused)
	}
}

// TestOutageOfTheAPIReachesKubelets: a node is not NotReady for an outage of the server, and a pod is not bound in one.
func TestOutageOfTheAPIReachesKubelets(t *testing.T) {
	w := still(t)
	first := w.Intercept(clusters.Rule{Port: clusters.API, Action: clusters.Refuse})
	second := w.Intercept(clusters.Rule{Port: clusters.API, Action: clusters.Drop})
	if _, err := w.kube.Create(dispatcher.Workload{Name: "task-a", Task: "a", Attempt: 1, Token: 1, Grace: time.Second}); err != nil {
		t.Fatal(err)
	}
	run(t, w, time.Minute)
	first()
	run(t, w, 2*time.Minute)
	if w.kube.Alive() > 0 {
		t.Error("a pod was bound during the outage")
	}
	second()
	run(t, w, 3*time.Minute)
	if len(w.History().Events) == 0 || !slices.ContainsFunc(w.History().Events, func(e history.Event) bool { return e.Kind == history.ContainerStarted }) {
		t.Error("nothing was bound after the outage")
	}
}

func TestCallUnderAContextThatIsOver(t *testing.T) {
	w := still(t)
	var errs []error
	w.Go("client-1", func(ctx context.Context, p dispatcher.Ports) {
		canceled, cancel := p.Clock.WithTimeout(ctx, time.Hour)
		cancel()
		_, err := p.Store.Submit(canceled, dispatcher.Spec{ID: "a"})
		errs = append(errs, err, canceled.Err(), p.Clock.Sleep(canceled, time.Hour))
		short, _ := p.Clock.WithTimeout(ctx, time.Second)
		inner, _ := p.Clock.WithTimeout(context.WithValue(short, key{}, "v"), time.Hour)
		errs = append(errs, p.Clock.Sleep(inner, time.Minute))
		if w.Now() != time.Second {
			t.Errorf("slept until %v, past the outer deadline", w.Now())
		}
		_, err = p.Store.Submit(inner, dispatcher.Spec{ID: "a"})
		errs = append(errs, err)
	})
	run(t, w, time.Minute)
	for i, want := range []error{dispatcher.ErrUnavailable, context.Canceled, context.Canceled, context.DeadlineExceeded, dispatcher.ErrUnavailable} {
		if !errors.Is(errs[i], want) {
			t.Errorf("error %d is %v, want %v", i, errs[i], want)
		}
	}
}

// TestSilenceWithoutADeadline: whoever sets no deadline waits for the kernel of the operating system.
func TestSilenceWithoutADeadline(t *testing.T) {
	w := still(t)
	w.Intercept(clusters.Rule{Action: clusters.Drop})
	var err error
	w.Go("client-1", func(ctx context.Context, p dispatcher.Ports) { _, err = p.Store.Now(ctx) })
	run(t, w, time.Hour)
	if op := operations(w, history.Now)[0]; !errors.Is(err, dispatcher.ErrUnknown) || op.ReturnedAt != patience {
		t.Errorf("%v at %v, want unknown at %v", err, op.ReturnedAt, patience)
	}
}

// TestClaimIsOneOperationPerTask also has calls begin between the claim's call and its effect.
func TestClaimIsOneOperationPerTask(t *testing.T) {
	w := still(t)
	for _, id := range []dispatcher.TaskID{"a", "b", "c"} {
		w.database.Submit(background, dispatcher.Spec{ID: id})
	}
	term, _ := w.database.Lead(background, dispatcher.RoleDispatcher, "x/1")
	w.Intercept(clusters.Rule{Verb: history.Claim, Nth: 1, Action: clusters.Slow, Delay: clusters.Fixed(20 * ms)})
	w.Go("x", func(ctx context.Context, p dispatcher.Ports) {
		p.Store.Claim(ctx, term, 2)
		p.Store.Claim(ctx, term, 2)
		p.Store.Claim(ctx, term, 2)
	})
	w.Go("y", func(ctx context.Context, p dispatcher.Ports) {
		for range 10 {
			p.Clock.Sleep(ctx, ms)
			p.Store.Read(ctx, "c")
		}
	})
	run(t, w, time.Minute)

	claims := operations(w, history.Claim)
	var tasks []string
	for _, op := range claims {
		tasks = append(tasks, w.Tasks().Name(op.Task))
	}
	// Those left in Launching by the first claim come first in the second, and again in the third.
	if got := strings.Join(tasks, " "); got != "a b a b a b" {
		t.Errorf("claimed %q", got)
	}
	for i := range claims {
		op, pair := claims[i], claims[i^1]
		if op.Call != pair.Call || op.Return != pair.Return || op.Effect != pair.Effect || op.Epoch != uint64(term.Epoch) ||
			op.Outcome != history.OK || op.Applied != history.OK || op.Token == 0 || op.Return < op.Effect || op.Phase != history.Running {
			t.Errorf("claim %d is %+v", i, op)
		}
	}
	all := w.History().Operations
	if !slices.IsSortedFunc(all, func(a, b history.Operation) int { return int(a.Call) - int(b.Call) }) {
		t.Error("operations are not in order of call")
	}
	for _, op := range all {
		if op.Return == 0 || op.Applied != history.OK {
			t.Errorf("lost its end: %+v", op)
		}
	}
	if len(w.record.open) != 0 {
		t.Errorf("%d calls are still open", len(w.record.open))
	}
}

func TestPausedProcessLearnsAfterResume(t *testing.T) {
	w := still(t)
	var log []time.Duration
	w.Go("p", func(ctx context.Context, p dispatcher.Ports) {
		submitOne(ctx, p, "t1")
		log = append(log, w.Now())
		p.Clock.Sleep(ctx, time.Second)
		log = append(log, w.Now())
	})
	w.At(7*ms, "pause", func() { w.Pause("p") }) // between effect and reply
	w.At(2*time.Second, "resume", func() { w.Resume("p") })
	w.At(2500*ms, "pause", func() { w.Pause("p") }) // while it sleeps
	w.At(9*time.Second, "resume", func() { w.Resume("p") })
	run(t, w, time.Minute)
	if want := []time.Duration{2 * time.Second, 9 * time.Second}; !slices.Equal(log, want) {
		t.Errorf("went on at %v, want %v", log, want)
	}
	if op := operations(w, history.Submit)[0]; op.Outcome != history.OK || op.ReturnedAt != 2*time.Second {
		t.Errorf("recorded %+v", op)
	}
}

// TestCallOfTheDeadGoesOn: neither its reply nor anything else reaches the next incarnation.
func TestCallOfTheDeadGoesOn(t *testing.T) {
	w := still(t)
	lives := 0
	w.addProcess("p", func(p *process) error {
		if lives++; lives == 1 {
			submitOne(background, p.ports(), "t1")
			t.Error("survived")
		}
		return p.ports().Clock.Sleep(background, time.Hour)
	}).start()
	w.At(2*ms, "crash", func() { w.Crash("p"); w.Restart("p"); w.Restart("p") })
	run(t, w, time.Minute)
	op := operations(w, history.Submit)[0]
	if lives != 2 || op.Applied != history.OK || op.Return != 0 || op.Outcome != history.Unknown {
		t.Errorf("%d lives, operation %+v", lives, op)
	}
}

// TestTheDeadCallNobody: a deferred call of a process that was killed never leaves it.
func TestTheDeadCallNobody(t *testing.T) {
	w := still(t)
	w.Go("p", func(ctx context.Context, p dispatcher.Ports) {
		defer submitOne(ctx, p, "farewell")
		p.Clock.Sleep(ctx, time.Hour)
	})
	w.At(time.Second, "crash", func() { w.Crash("p") })
	run(t, w, time.Minute)
	if calls := w.History().Operations; len(calls) > 0 {
		t.Errorf("called after its death: %+v", calls)
	}
}

// TestDeathBeforeSubmit: whoever dies at the instant of its call has sent nothing, whoever dies later has.
func TestDeathBeforeSubmit(t *testing.T) {
	sent := 0
	for seed := range uint64(40) {
		w := still(t, func(c *clusters.Config) { c.Seed = seed })
		w.Go("p", func(ctx context.Context, p dispatcher.Ports) {
			w.At(0, "crash", func() { w.Crash("p") }) // falls before or after the submit, as the seed has it
			submitOne(ctx, p, "a")
		})
		run(t, w, time.Minute)
		op := operations(w, history.Submit)[0]
		sent += count(op.Applied == history.OK)
		if len(w.record.open) != 0 || op.Return != 0 {
			t.Errorf("seed %d: %+v", seed, op)
		}
	}
	if sent < 10 || sent > 30 {
		t.Errorf("%d of 40 were sent, want some half", sent)
	}
}

// TestCallsAreGivenBack: after everything is over no call is held, whatever became of its caller.
func TestCallsAreGivenBack(t *testing.T) {
	w := still(t)
	w.Intercept(clusters.Rule{Nth: 1, Action: clusters.Late, Delay: clusters.Fixed(3 * time.Second)})
	w.Intercept(clusters.Rule{Nth: 1, Action: clusters.Slow, Delay: clusters.Fixed(100 * ms)})
	for i := range 3 {
		w.At(time.Duration(i)*ms, "go", func() {
			w.Go("p", func(ctx context.Context, p dispatcher.Ports) { submitOne(ctx, p, "a") })
		})
	}
	w.At(7*ms, "crash", func() { w.Crash("p") })
	run(t, w, time.Minute)
	if len(w.record.open) != 0 {
		t.Errorf("%d of 3 calls are held", len(w.record.open))
	}
	if late := w.History().Meta.Limits.CallMax - w.config.Settings.CreateTimeout; late != 2*time.Second {
		t.Errorf("the latest effect came %v after its caller's deadline, want 2s", late)
	}
}

// key is of a context value.
type key struct{}
