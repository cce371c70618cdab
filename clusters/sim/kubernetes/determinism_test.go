package kubernetes

import (
	"fmt"
	"testing"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/sim/kernel"
	"github.com/squall-chaos/squall/dispatcher"
)

// lively is a platform on which every latency is drawn.
var lively = clusters.Platform{
	APILatency:   clusters.Uniform(time.Millisecond, 20*time.Millisecond),
	Scheduling:   clusters.Uniform(10*time.Millisecond, time.Second),
	ImagePull:    clusters.Dist{Shape: clusters.LogNormalShape, A: 8 * time.Second, B: 40 * time.Second},
	Startup:      clusters.Uniform(200*time.Millisecond, 2*time.Second),
	Provisioning: clusters.Uniform(30*time.Second, 2*time.Minute),
	CacheLag:     clusters.Uniform(0, time.Second),
}

// storm runs 200 pods through half an hour of every fault there is, everything drawn from the seed.
func storm(t testing.TB, seed uint64) *world {
	w := &world{t: t, k: kernel.New(seed), tasks: history.NewTable(), nodes: history.NewTable(), run: 90 * time.Second, heed: 3 * time.Second}
	settings, _ := dispatcher.Profile("b0")
	w.s = New(w.k, clusters.Config{Platform: lively, Settings: settings, Nodes: []clusters.NodeGroup{
		{Name: "od", CapacityType: clusters.OnDemand, Count: 3, Max: 5, Pods: 10},
		{Name: "spot", CapacityType: clusters.Spot, Count: 3, Max: 6, Pods: 10},
	}}, w, &Memory{})
	r := w.k.Stream("storm")
	second := func(n int) time.Duration { return time.Duration(r.IntN(n * int(time.Second))) }
	for i := range 200 {
		task := fmt.Sprint(i)
		w.k.After(second(1200), 0, func() {
			w.create(task, func(x *dispatcher.Workload) {
				x.Held, x.OnDemand, x.Deadline = r.IntN(2) == 0, r.IntN(4) == 0, time.Duration(r.IntN(240))*time.Second
			})
		})
		w.k.After(second(1800), 0, func() { _ = w.s.Delete("task-"+task, "", r.IntN(4) == 0) })
		w.k.After(second(1800), 0, func() { _ = w.s.Release("task-"+task, "") })
	}
	for range 60 {
		w.k.After(second(1500), 0, func() { w.strike(r.IntN(10), fmt.Sprint(r.IntN(200)), second(200)) })
	}
	w.until(30 * time.Minute)
	return w
}

// strike is one fault, healed after a while.
func (w *world) strike(kind int, task string, heal time.Duration) {
	nodes := w.s.NodesOf("")
	if len(nodes) == 0 {
		return
	}
	node := nodes[int(heal)%len(nodes)]
	switch kind {
	case 0:
		w.s.KillNode(node)
		w.k.After(heal, 0, func() { w.s.ReturnNode(node) })
	case 1:
		w.s.RemoveNode(node)
	case 2, 3:
		w.s.CutNode(node, clusters.API)
		w.k.After(heal, 0, func() { w.s.JoinNode(node, clusters.API) })
	case 4:
		w.s.ReclaimNode(node, heal)
	case 5:
		w.s.EvictPod(task)
	case 6:
		w.s.RemovePod(task)
	case 7:
		w.s.KillContainer(task)
	case 8:
		w.s.HoldScheduling(true)
		w.k.After(heal, 0, func() { w.s.HoldScheduling(false) })
	case 9:
		w.s.SetOutage(true)
		w.k.After(heal, 0, func() { w.s.SetOutage(false) })
	}
}

func TestSameSeedSameTrace(t *testing.T) {
	hashes := map[uint64]bool{}
	for seed := range uint64(20) {
		a, b := storm(t, seed), storm(t, seed)
		if a.k.Hash() != b.k.Hash() || len(a.events) != len(b.events) {
			t.Errorf("seed %d: two runs differ", seed)
		}
		hashes[a.k.Hash()] = true
	}
	if len(hashes) != 20 {
		t.Errorf("20 seeds made %d traces", len(hashes))
	}
}

// Whatever happens: the books balance, and what the API server calls ended is dead.
func TestInvariantsUnderAStorm(t *testing.T) {
	for seed := range uint64(100) {
		w := storm(t, seed)
		balance(t, seed, w)
		alive := map[string]bool{}
		for _, e := range w.events {
			switch e.Kind {
			case history.ContainerStarted:
				if alive[e.Object] {
					t.Errorf("seed %d: %s started twice", seed, e.Object)
				}
				alive[e.Object] = true
			case history.ContainerEnded:
				delete(alive, e.Object)
			case history.ObjectPhase:
				if e.Detail != "running" && alive[e.Object] {
					t.Errorf("seed %d: at %v %s is %s and its container runs", seed, e.At, e.Object, e.Detail)
				}
			}
		}
		if len(alive) != w.s.Alive() {
			t.Errorf("seed %d: %d containers run, the server counts %d", seed, len(alive), w.s.Alive())
		}
	}
}

// balance recounts what the server keeps count of.
func balance(t *testing.T, seed uint64, w *world) {
	live, bound := 0, map[*node]int{}
	for i, p := range w.s.byName {
		if i > 0 && w.s.byName[i-1].w.Name >= p.w.Name || w.s.pods[p.w.Name] != p || p.gone {
			t.Errorf("seed %d: %s is misplaced", seed, p.w.Name)
		}
		if !p.w.State.Ended() {
			live++
			if p.node != nil {
				bound[p.node]++
			}
		}
	}
	unready, groups := 0, make([]int, len(w.s.groups))
	for _, n := range w.s.nodes {
		groups[n.group]++
		if !n.ready {
			unready++
		}
		if n.bound != bound[n] || n.bound > n.room {
			t.Errorf("seed %d: %s counts %d pods of %d, has %d", seed, n.name, n.bound, n.room, bound[n])
		}
	}
	for _, u := range w.s.upcoming {
		groups[u.group]++
	}
	for i, g := range w.s.groups {
		if g.nodes != groups[i] || g.nodes > g.Max {
			t.Errorf("seed %d: group %s counts %d nodes of %d, has %d", seed, g.Name, g.nodes, g.Max, groups[i])
		}
	}
	if live != w.s.live || unready != w.s.unready || len(w.s.pods) != len(w.s.byName) {
		t.Errorf("seed %d: live %d of %d, unready %d of %d, %d names of %d", seed, w.s.live, live, w.s.unready, unready, len(w.s.pods), len(w.s.byName))
	}
}
