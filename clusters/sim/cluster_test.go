package sim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/sim/kernel"
	"github.com/squall-chaos/squall/dispatcher"
)

// TestFailoverTakesBackACountedEffect: the worker had its reply, the row lost its result.
func TestFailoverTakesBackACountedEffect(t *testing.T) {
	w := still(t)
	launch(t, w, dispatcher.Work{Run: time.Minute}, 1)
	w.At(61*time.Second, "failover", func() { w.FailOver(3 * time.Second) })
	run(t, w, 62*time.Second)
	if got, want := truth(w), "0 work, 60 counted, 60 end, 60 exit 0, 61 lost"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	last := w.History().Events[len(w.History().Events)-1]
	if last.Kind != history.Row || last.Phase != history.Running || last.Task != 1 {
		t.Errorf("the row's return is recorded as %+v", last)
	}
	if w.Quiet() {
		t.Error("quiet with a task that runs again")
	}
}

// TestLostEffectCountsAgain: the worker's reply was lost too, so it hands its result in again.
func TestLostEffectCountsAgain(t *testing.T) {
	w := still(t)
	launch(t, w, dispatcher.Work{Run: time.Minute}, 1)
	w.Intercept(clusters.Rule{Verb: history.Finish, Nth: 1, Action: clusters.LoseReply})
	w.At(61*time.Second, "failover", func() { w.FailOver(3 * time.Second) })
	run(t, w, 2*time.Minute)
	if got, want := truth(w), "0 work, 60 counted, 61 lost, 66 counted, 66 end, 66 exit 0"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestFailoverBreaksCallsInFlight and takes back a submission for good.
func TestFailoverBreaksCallsInFlight(t *testing.T) {
	w := still(t)
	errs := map[dispatcher.TaskID]error{}
	for id, wait := range map[dispatcher.TaskID]time.Duration{"early": 0, "flying": 18 * ms, "later": 30 * ms} {
		w.Go("client-"+string(id), func(ctx context.Context, p dispatcher.Ports) {
			p.Clock.Sleep(ctx, wait)
			errs[id] = submitOne(ctx, p, id)
		})
	}
	w.At(20*ms, "failover", func() { w.FailOver(16 * ms) })
	run(t, w, time.Minute)
	if errs["early"] != nil || !errors.Is(errs["flying"], dispatcher.ErrUnknown) || errs["later"] != nil {
		t.Errorf("got %v", errs)
	}
	var rows []string
	for _, e := range w.History().Events {
		if e.Kind == history.Row {
			rows = append(rows, fmt.Sprint(w.Tasks().Name(e.Task), " ", e.Phase))
		}
	}
	if got, want := fmt.Sprint(rows), fmt.Sprint([]string{fmt.Sprint("early ", history.Pending), fmt.Sprint("early ", history.NoPhase), fmt.Sprint("later ", history.Pending)}); got != want {
		t.Errorf("rows %v, want %v", got, want)
	}
}

func TestQuiet(t *testing.T) {
	w := still(t)
	if !w.Quiet() {
		t.Error("an empty world is not quiet")
	}
	w.CutNode("od-1", clusters.Store)
	w.kube.Create(dispatcher.Workload{Name: "task-a", Task: "a", Attempt: 1, Token: 1})
	run(t, w, time.Second)
	if w.Quiet() {
		t.Error("quiet while a container lives that no row knows of")
	}
	run(t, w, time.Hour)
	if !w.Quiet() {
		t.Error("not quiet after its end")
	}
	w.database.Submit(background, dispatcher.Spec{ID: "a"})
	if w.Quiet() {
		t.Error("quiet with a pending task")
	}
	w.database.Cancel(background, "a")
	if !w.Quiet() {
		t.Error("not quiet after its cancel")
	}
}

func TestRowEventsShowChangesOnly(t *testing.T) {
	w := still(t, func(c *clusters.Config) {
		c.Settings.HeartbeatInterval, c.Settings.WorkerLease = time.Second, 10*time.Second
	})
	launch(t, w, dispatcher.Work{Run: time.Minute}, 1)
	run(t, w, 2*time.Minute)
	var phases []history.Phase
	for _, e := range w.History().Events {
		if e.Kind == history.Row {
			phases = append(phases, e.Phase)
		}
	}
	// Submitted, claimed, succeeded; the start and 59 heartbeats change nothing that a Row shows.
	if fmt.Sprint(phases) != fmt.Sprint([]history.Phase{history.Pending, history.Running, history.Succeeded}) {
		t.Errorf("got %v", phases)
	}
}

func TestLeaseHeldIsRecorded(t *testing.T) {
	w := still(t)
	w.Go("x", func(ctx context.Context, p dispatcher.Ports) {
		l, err := p.Leases.PutLease(ctx, dispatcher.Lease{Name: "dispatcher", Holder: "dispatcher-1/7", TTL: time.Second})
		if err != nil {
			t.Error(err)
		}
		for _, holder := range []dispatcher.InstanceID{"dispatcher-1/7", "dispatcher-2/1", ""} {
			l.Holder = holder
			if l, err = p.Leases.PutLease(ctx, l); err != nil {
				t.Error(err)
			}
		}
	})
	run(t, w, time.Minute)
	var holders []string
	for _, e := range w.History().Events {
		if e.Kind == history.LeaseHeld {
			holders = append(holders, e.Detail+"="+w.Processes().Name(e.Process))
		}
	}
	if got := fmt.Sprint(holders); got != "[dispatcher=dispatcher-1 dispatcher=dispatcher-2 dispatcher=]" {
		t.Errorf("got %s", got)
	}
}

// TestReferenceFinishesItsWork is the whole of it: real loops, no faults.
func TestReferenceFinishesItsWork(t *testing.T) {
	w, err := New(standard(3, "tick-300s"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	submit(w, 20, 2*time.Minute)
	for !w.Quiet() || w.Now() == 0 {
		run(t, w, w.Now()+time.Minute)
		if w.Now() > time.Hour {
			t.Fatal("not quiet after an hour")
		}
	}
	h := w.History()
	effects := map[history.ID]int{}
	for _, e := range h.Events {
		if e.Kind == history.EffectCounted {
			effects[e.Task]++
		}
	}
	for task := range h.Tasks {
		if effects[history.ID(task+1)] != 1 {
			t.Errorf("task %s has %d effects", h.Tasks[task], effects[history.ID(task+1)])
		}
	}
	if len(h.Tasks) != 20 || len(h.Specs) != 20 || h.Meta.TraceHash != w.Kernel().Hash() || h.Meta.World != "sim" || h.Meta.Seed != 3 {
		t.Errorf("%d tasks, %d specs, meta %+v", len(h.Tasks), len(h.Specs), h.Meta)
	}
}

// storm is a run with every fault that the world knows, drawn from the seed.
func storm(t testing.TB, seed uint64, record bool, memory *Memory) *Cluster {
	t.Helper()
	c := standard(seed, "b0")
	c.Settings.TTLAfterFinished = 0
	w, err := memory.New(c)
	if err != nil {
		t.Fatal(err)
	}
	w.Kernel().Record(record)
	submit(w, 40, 5*time.Minute)
	r := rand.New(rand.NewPCG(seed, 99))
	actions := []clusters.Action{clusters.Refuse, clusters.Drop, clusters.LoseReply, clusters.CutReply, clusters.CutCall,
		clusters.Late, clusters.Slow, clusters.CrashCaller}
	heal := []func(){}
	for range 60 {
		at := time.Duration(r.Int64N(int64(15 * time.Minute)))
		name := fmt.Sprintf("%s-%d", []string{"dispatcher", "reconciler"}[r.IntN(2)], 1+r.IntN(2))
		node := fmt.Sprintf("%s-%d", []string{"od", "spot"}[r.IntN(2)], 1+r.IntN(3))
		task := fmt.Sprintf("t%d", 1+r.IntN(40))
		action := actions[r.IntN(len(actions))]
		faults := []func(){
			func() { w.Crash(name); w.At(at+20*time.Second, "restart", func() { w.Restart(name) }) },
			func() { w.Pause(name); w.At(at+50*time.Second, "resume", func() { w.Resume(name) }) },
			func() { w.SkewClock(name, time.Minute) },
			func() { w.KillNode(node); w.At(at+time.Minute, "return", func() { w.ReturnNode(node) }) },
			func() {
				w.CutNode(node, clusters.Store)
				w.At(at+time.Minute, "join", func() { w.JoinNode(node, clusters.Store) })
			},
			func() {
				w.CutNode(node, clusters.API)
				w.At(at+time.Minute, "join", func() { w.JoinNode(node, clusters.API) })
			},
			func() { w.EvictPod(task) }, func() { w.RemovePod(task) }, func() { w.KillContainer(task) },
			func() { w.SetCacheLag(clusters.Fixed(10 * time.Second)) },
			func() { w.SetReplicaLag(clusters.Fixed(10 * time.Second)) },
			func() { w.FailOver(time.Second) },
			func() {
				heal = append(heal, w.Intercept(clusters.Rule{Share: 0.1, Action: action, Delay: clusters.Uniform(0, 8*time.Second)}))
			},
		}
		w.At(at, "fault", faults[r.IntN(len(faults))])
	}
	w.At(15*time.Minute, "heal", func() {
		for _, f := range heal {
			f()
		}
		for _, p := range w.processes {
			w.Restart(p.name)
		}
	})
	run(t, w, 50*time.Minute)
	return w
}

func TestSameSeedSameHistory(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for seed := range uint64(2) {
		first := storm(t, seed, true, &Memory{})
		for _, procs := range []int{1, 2} {
			runtime.GOMAXPROCS(procs)
			again := storm(t, seed, true, &Memory{})
			if d := kernel.FirstDifference(first.Kernel().Records(), again.Kernel().Records(), again.Kernel().LabelName); d != "" {
				t.Fatalf("seed %d, GOMAXPROCS %d: %s", seed, procs, d)
			}
			a, b := first.History(), again.History()
			if a.Meta.TraceHash != b.Meta.TraceHash || fmt.Sprint(a) != fmt.Sprint(b) {
				t.Errorf("seed %d: same trace, but not the same history", seed)
			}
			again.Close()
		}
		first.Close()
	}
}

// TestHistoryIsWellFormed under every fault: what a checker may rely on.
func TestHistoryIsWellFormed(t *testing.T) {
	for seed := range uint64(10) {
		w := storm(t, 100+seed, false, &Memory{})
		h := w.History()
		var call history.Seq
		for _, op := range h.Operations {
			switch {
			case op.Call < call, op.Return != 0 && op.Return <= op.Call, op.Effect != 0 && op.Effect <= op.Call,
				op.Return == 0 && op.Outcome != history.Unknown, op.Outcome == history.OK && op.Applied != history.OK,
				op.Outcome == history.OK && op.Effect > op.Return, op.Outcome == history.Fail && op.Applied == history.OK,
				op.Process == 0, (op.Effect != 0) != (op.Applied == history.OK):
				t.Fatalf("seed %d: malformed operation %+v", seed, op)
			}
			call = op.Call
		}
		open := map[string]int{}
		var seq history.Seq
		for _, e := range h.Events {
			if e.Seq <= seq {
				t.Fatalf("seed %d: event out of order %+v", seed, e)
			}
			seq = e.Seq
			switch e.Kind {
			case history.WorkStarted:
				open[e.Object]++
			case history.WorkEnded:
				open[e.Object]--
			}
			if n := open[e.Object]; n < 0 || n > 1 {
				t.Fatalf("seed %d: %d executions open at %+v", seed, n, e)
			}
		}
		if !w.Quiet() {
			t.Errorf("seed %d: not quiet at the end", 100+seed)
		}
		w.Close()
	}
}

// TestRecycledMemoryChangesNothing, and neither does what the world ran before.
func TestRecycledMemoryChangesNothing(t *testing.T) {
	var memory Memory
	tell := func(seed uint64) string {
		w := storm(t, seed, false, &memory)
		defer memory.Recycle(w)
		return fmt.Sprint(*w.History())
	}
	first := tell(5)
	if len(first) < 10_000 {
		t.Fatalf("nothing happened: %s", first)
	}
	tell(6)
	if tell(5) != first {
		t.Error("a seed has another history after another run")
	}
}

func TestNewRefusesNonsense(t *testing.T) {
	if _, err := New(clusters.Config{Dispatchers: -1}); err == nil {
		t.Error("a negative number of replicas was taken")
	}
}
