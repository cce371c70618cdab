package journal_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/journal"
	"github.com/squall-chaos/squall/clusters/sim"
	"github.com/squall-chaos/squall/dispatcher"
)

// told is what the caller of an operation knows of it.
type told struct {
	Verb       history.Verb
	Task       string
	Outcome    history.Outcome
	Code       history.Code
	Epoch      uint64
	Detail     string
	Token      uint64
	Phase      history.Phase
	Cancelling bool
	Returned   bool
}

// knowable leaves out what only the server knows of a call without an answer: the simulation notes that at once.
func (t told) knowable() told {
	if t.Outcome != history.OK {
		t.Phase, t.Cancelling = 0, false
		switch t.Verb {
		case history.Create, history.Get:
			t.Detail = ""
		case history.Lead:
			t.Epoch = 0
		}
		switch t.Verb {
		case history.Claim, history.Get, history.Read:
			t.Token, t.Task = 0, ""
		}
	}
	return t
}

// TestRecordsWhatTheSimulationRecords runs the reference loops under faults in the simulation with a Recorder around what they
// touch, and compares the journal with the simulation's own record, call by call.
func TestRecordsWhatTheSimulationRecords(t *testing.T) {
	seen := map[history.Verb]int{}
	unknown := 0
	for seed := range uint64(6) {
		own, recorded := simulate(t, seed)
		for i := range min(len(own), len(recorded)) {
			if own[i] != recorded[i] {
				t.Fatalf("seed %d: call %d is\n%+v in the journal, expected\n%+v", seed, i, recorded[i], own[i])
			}
			seen[own[i].Verb]++
			if own[i].Outcome == history.Unknown {
				unknown++
			}
		}
		if len(own) != len(recorded) {
			t.Fatalf("seed %d: %d operations in the journal, expected %d", seed, len(recorded), len(own))
		}
	}
	for _, v := range history.Verbs() {
		if v != history.Watch && seen[v] == 0 { // the reference watches nothing, and what does runs in the simulation only
			t.Errorf("no %s was compared", v)
		}
	}
	if unknown == 0 {
		t.Error("no call with an unknown outcome was compared")
	}
}

// simulate returns the calls of all replicas and workers, as the simulation and as the journal have them.
func simulate(t *testing.T, seed uint64) (own, recorded []told) {
	t.Helper()
	var file bytes.Buffer
	r := journal.NewRecorder(&file, "all")
	settings, _ := dispatcher.Profile("b0")
	world, err := sim.New(clusters.Config{
		Seed: seed, Settings: settings, Dispatchers: 2, Reconcilers: 2, Platform: quick,
		System: dispatcher.System{Name: "reference", Ports: r.Ports, Workers: r.Workers},
		Nodes: []clusters.NodeGroup{{Name: "od", CapacityType: clusters.OnDemand, Count: 2, Pods: 20},
			{Name: "spot", CapacityType: clusters.Spot, Count: 2, Pods: 20}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = world.Close() }()
	world.Go("client-1", func(ctx context.Context, p dispatcher.Ports) { client(ctx, r.Ports(p)) })
	for _, action := range []clusters.Action{clusters.LoseReply, clusters.CutReply, clusters.Refuse, clusters.CutCall, clusters.Late} {
		world.Intercept(clusters.Rule{Action: action, Share: 0.02, Delay: clusters.Fixed(7 * time.Second)})
	}
	world.At(2*time.Minute, "crash", func() { world.Crash("dispatcher-1") })
	world.At(3*time.Minute, "restart", func() { world.Restart("dispatcher-1") })
	world.At(4*time.Minute, "kill", func() { world.RemoveNode("spot-1") })
	if err := world.Run(context.Background(), 15*time.Minute, nil); err != nil {
		t.Fatal(err)
	}
	h := world.History()
	for i := range h.Operations {
		o := &h.Operations[i]
		own = appendCall(own, told{o.Verb, name(h.Tasks, o.Task), o.Outcome, o.Code, o.Epoch, o.Detail, o.Token, o.Phase, o.Cancelling, o.Return != 0},
			i > 0 && h.Operations[i-1].Call == o.Call)
	}
	calls, _, err := journal.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	for i := range calls {
		c := &calls[i]
		one := told{Verb: c.Verb, Outcome: c.Outcome, Code: c.Code, Epoch: c.Epoch, Detail: c.Detail, Returned: !c.Returned.IsZero()}
		if len(c.Rows) == 0 {
			recorded = append(recorded, one.knowable())
		}
		for _, row := range c.Rows {
			one.Task, one.Token, one.Phase, one.Cancelling = row.Task, row.Token, row.Phase, row.Cancelling
			recorded = append(recorded, one.knowable())
		}
	}
	return own, recorded
}

// appendCall appends an operation; of a claim without an answer nobody but the simulation knows how many tasks it was of.
func appendCall(all []told, one told, again bool) []told {
	if again && one.Outcome != history.OK {
		return all
	}
	return append(all, one.knowable())
}

func name(names []string, id history.ID) string {
	if id == 0 {
		return ""
	}
	return names[id-1]
}

var quick = clusters.Platform{
	APILatency: clusters.Uniform(2*time.Millisecond, 20*time.Millisecond), StoreLatency: clusters.Uniform(time.Millisecond, 10*time.Millisecond),
	Scheduling: clusters.Fixed(50 * time.Millisecond), ImagePull: clusters.Fixed(time.Second), Startup: clusters.Fixed(time.Second),
	Shutdown: clusters.Fixed(time.Second), Provisioning: clusters.Fixed(time.Minute),
	CacheLag: clusters.Uniform(0, 2*time.Second), ReplicaLag: clusters.Uniform(0, time.Second),
}

// client submits tasks, and makes now and then what calls the loops seldom make.
func client(ctx context.Context, p dispatcher.Ports) {
	for i := range 20 {
		spec := dispatcher.Spec{ID: dispatcher.TaskID(fmt.Sprint("t", i)), Work: dispatcher.Work{Run: 40 * time.Second, FailUntil: i % 2}}
		call, cancel := p.Clock.WithTimeout(ctx, 5*time.Second)
		for try := 0; try < 20; try++ {
			if _, err := p.Store.Submit(call, spec); err == nil {
				break
			}
			_ = p.Clock.Sleep(ctx, time.Second)
		}
		if i%7 == 0 {
			_, _ = p.Store.Cancel(call, spec.ID)
		}
		cancel()
		call, cancel = p.Clock.WithTimeout(ctx, 5*time.Second)
		row, _ := p.Store.Read(call, spec.ID)
		deposed := dispatcher.Term{Role: dispatcher.RoleDispatcher, Epoch: 99}
		_, _ = p.Store.Resume(call, spec.ID)
		_, _ = p.Store.Health(call)
		_, _ = p.Store.Reject(call, deposed, row.Ref())
		_, _ = p.Store.Unclaim(call, deposed, row.Ref(), time.Second)
		deposed.Role = dispatcher.RoleReconciler
		_, _ = p.Store.Conclude(call, deposed, row.Ref(), dispatcher.ReasonDeadline)
		_, _ = p.Store.Postpone(call, deposed, row.Ref(), time.Second)
		cancel()
		_ = p.Clock.Sleep(ctx, 5*time.Second)
	}
}
