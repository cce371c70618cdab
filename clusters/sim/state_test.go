package sim

import (
	"context"
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/sim/kernel"
	"github.com/squall-chaos/squall/clusters/sim/kernel/digesttest"
	"github.com/squall-chaos/squall/dispatcher"
)

const (
	fixed   = "does not change in a run"
	derived = "follows from what is in it"
)

// explored is a world under Explore with one task at work, and one whose pod somebody hid.
func explored(t *testing.T) *Cluster {
	t.Helper()
	settings, _ := dispatcher.Profile("b0")
	settings.LaunchRate = 0 // else a replica sleeps in the middle of a round
	ms := clusters.Fixed(10 * time.Millisecond)
	c, err := New(clusters.Config{
		Seed: 1, Settings: settings, Dispatchers: 1, Reconcilers: 1, Order: clusters.Order{Strategy: clusters.Explore, Window: 250 * time.Millisecond},
		Nodes:    []clusters.NodeGroup{{Name: "od", CapacityType: clusters.OnDemand, Count: 1, Pods: 5}},
		Platform: clusters.Platform{APILatency: ms, StoreLatency: ms, Scheduling: ms, ImagePull: ms, Startup: ms, Shutdown: ms},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	c.Go("client-1", func(ctx context.Context, p dispatcher.Ports) {
		_, _ = p.Store.Submit(ctx, dispatcher.Spec{ID: "a", Work: dispatcher.Work{Run: time.Hour}})
	})
	if err := c.Run(t.Context(), time.Minute, nil); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestEveryFieldIsInTheState: what a world will do depends on what its state takes in, or it is said here why not. kubernetes has
// its own.
func TestEveryFieldIsInTheState(t *testing.T) {
	c := explored(t)
	timer := c.kernel.After(time.Hour, c.kernel.Label("test"), func() {})
	sum := func() uint64 { return c.explorer.state.sum() }
	w := c.workerOf(t, "a")
	digesttest.Fields(t, w, sum, timer, map[string]string{
		"caller": fixed, "container": fixed, "ticket": fixed, "settings": fixed, "port": "what waits in it is among the calls under way",
	})
	digesttest.Fields(t, c.processes[0], sum, timer, map[string]string{
		"caller": fixed, "main": fixed, "once": fixed, "coroutine": "by whether there is one, and what it has learned",
	})
	remove := c.Intercept(clusters.Rule{Port: clusters.Store, Action: clusters.Slow, Nth: 3})
	digesttest.Fields(t, c.rules[0], sum, timer, map[string]string{
		"Rule.Share": "by whether it is drawn: under Explore no fault is", "Rule.Delay": "a distribution: by what is typical of it", "Rule.RetryAfter": "no matter to callers in this world",
		"Rule.Hit": "only the ledger's",
	})
	remove()
	row := *c.rowOf(t, "a")
	commit := func() uint64 {
		c.explorer.committed(&row)
		return sum()
	}
	digesttest.Fields(t, &row, commit, timer, map[string]string{
		"Spec.ID": fixed, "Spec.StartDeadline": fixed, "Spec.Deadline": fixed, "Spec.MaxFailures": fixed, "Spec.MaxDisruptions": fixed, "Spec.Work": fixed,
		"Observed.Version": "written for people: nobody decides by it", "Remedy": derived,
	})
	lease := dispatcher.Lease{Name: "dispatcher", Holder: "dispatcher-1/1", TTL: time.Minute}
	held := func() uint64 {
		c.explorer.held(lease)
		return sum()
	}
	digesttest.Fields(t, &lease, held, timer, map[string]string{
		"Name": fixed, "Version": "its holder knows it after a round without an error, and of every other round all counts that was read", "TTL": fixed,
	})
}

// TestWhatComesIsInTheState: calls under way, and whatever is scheduled, with when that is.
func TestWhatComesIsInTheState(t *testing.T) {
	c := explored(t)
	before := c.explorer.state.sum()
	differs := func(what string, undo func()) {
		t.Helper()
		if c.explorer.state.sum() == before {
			t.Errorf("%s makes no difference to the state", what)
		}
		undo()
		if c.explorer.state.sum() != before {
			t.Fatalf("%s does not leave the state as it was", what)
		}
	}
	timer := c.kernel.After(time.Minute, c.kernel.Label("test"), func() {})
	differs("an event to come", func() { timer.Stop() })
	soon := c.kernel.After(time.Minute, c.kernel.Label("test"), func() {})
	first := c.explorer.state.sum()
	soon.Stop()
	later := c.kernel.After(2*time.Minute, c.kernel.Label("test"), func() {})
	if c.explorer.state.sum() == first {
		t.Error("when an event is to come makes no difference to the state")
	}
	later.Stop()

	k, _ := store{&c.processes[0].caller}.call(history.Read, "a")
	differs("a call under way", k.recycle)
	k, op := store{&c.processes[0].caller}.call(history.Requeue, "a")
	one := c.explorer.state.sum()
	op.Token++
	if c.explorer.state.sum() == one {
		t.Error("what a call asks for makes no difference to the state")
	}
	k.recycle()
	before = c.explorer.state.sum()
	c.SetRunTime("a", time.Second)
	differs("a run time", func() { c.SetRunTime("a", 0) })
	c.PauseServer(clusters.Store, func() {})
	differs("a frozen server", func() { c.ResumeServer(clusters.Store) })
	if !c.RelabelPod("a") {
		t.Fatal("there is no pod to hide")
	}
	differs("a pod that is hidden", func() { before = c.explorer.state.sum() })
}

// TestReferenceForgets what a round of its loops leaves behind nowhere, and nothing else.
func TestReferenceForgets(t *testing.T) {
	c := explored(t)
	s, p := &c.explorer.state, c.processes[0]
	o := c.kernel.Owner(p.name)
	round := func(learned uint64, verb history.Verb, at time.Duration, troubled history.Verb) uint64 {
		s.begins(o, 1)
		s.learn(o, learned, 0)
		s.calls(o, verb, at)
		if troubled != 0 {
			s.trouble(o, troubled, 5)
		}
		s.sleep(p, true, time.Minute)
		s.calls(o, history.Confirm, 0)
		s.sleep(p, true, time.Minute)
		return s.learned[o]
	}
	plain := round(1, history.Claim, time.Second, 0)
	if round(2, history.Claim, time.Second, 0) != plain {
		t.Error("what was read in a round without an error is remembered")
	}
	if round(1, history.Claim, 10*time.Second, 0) == plain {
		t.Error("when it last claimed is forgotten")
	}
	if round(2, history.Claim, time.Second, history.Create) == plain {
		t.Error("a launch without an answer is forgotten, though it is to be looked at again")
	}
	if round(2, history.Claim, time.Second, history.PutLease) != plain {
		t.Error("a renewal without an answer is remembered, although the next one had it")
	}
}

func (c *Cluster) workerOf(t *testing.T, task string) *worker {
	t.Helper()
	var found *worker
	var d kernel.Digest
	c.kube.Digest(&d, func(_ *kernel.Digest, of any) {
		if w := of.(*worker); string(w.ticket.ID) == task {
			found = w
		}
	})
	if found == nil {
		t.Fatalf("no worker of %s", task)
	}
	return found
}

func (c *Cluster) rowOf(t *testing.T, task string) *dispatcher.Task {
	t.Helper()
	row, err := c.database.Read(background, dispatcher.TaskID(task))
	if err != nil {
		t.Fatal(err)
	}
	return &row
}
