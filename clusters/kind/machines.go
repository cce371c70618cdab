package kind

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/deployed"
	"github.com/squall-chaos/squall/clusters/journal"
	"github.com/squall-chaos/squall/clusters/kind/testbed"
)

// machines are the nodes of the cluster under the names that the scenario gives them.
type machines []*machine

type machine struct {
	node *testbed.Node
	name string // by the scenario; by the cluster for those that it does not mention

	off              bool
	offAt            []time.Time // right after it was switched off
	cutAPI, cutStore bool
	cordoned         bool
	back             chan struct{} // closed when a return has ended; nil: none is under way
}

// assign gives the cluster's nodes the scenario's names, by capacity type and in order.
func assign(bed *testbed.Cluster, groups []clusters.NodeGroup) (machines, error) {
	free := map[clusters.CapacityType][]*testbed.Node{}
	for _, n := range bed.Nodes() {
		free[n.CapacityType()] = append(free[n.CapacityType()], n)
	}
	var all machines
	for _, g := range groups {
		if have := len(free[g.CapacityType]); have < g.Count {
			return nil, fmt.Errorf("node group %s has %d %s nodes, and cluster %s has %d left for it", g.Name, g.Count, g.CapacityType, bed.Name(), have)
		}
		for i := range g.Count {
			all = append(all, &machine{node: free[g.CapacityType][i], name: fmt.Sprintf("%s-%d", g.Name, i+1)})
		}
		free[g.CapacityType] = free[g.CapacityType][g.Count:]
	}
	for _, n := range bed.Nodes() { // pods may land there, too
		if slices.Contains(free[n.CapacityType()], n) {
			all = append(all, &machine{node: n, name: n.Name()})
		}
	}
	return all, nil
}

// on are the nodes of the machines that are on.
func (ms machines) on() []*testbed.Node {
	var nodes []*testbed.Node
	for _, m := range ms {
		if !m.off {
			nodes = append(nodes, m.node)
		}
	}
	return nodes
}

func (ms machines) introduce(w *deployed.World) {
	for _, m := range ms {
		w.Record(journal.Event{At: time.Now(), Kind: history.NodeAdded, Node: m.name, Detail: string(m.node.CapacityType())})
		w.Record(journal.Event{At: time.Now(), Kind: history.NodeReady, Node: m.name})
	}
}

// named finds a machine by the scenario's name for it.
func (ms machines) named(name string) *machine {
	for _, m := range ms {
		if m.name == name {
			return m
		}
	}
	return nil
}

// of finds a machine by the cluster's name for it.
func (ms machines) of(node string) *machine {
	for _, m := range ms {
		if m.node.Name() == node {
			return m
		}
	}
	return nil
}

// alias is the scenario's name of a node of the cluster.
func (ms machines) alias(node string) string {
	if m := ms.of(node); m != nil {
		return m.name
	}
	return node
}

var _ clusters.NodeFaults = (*World)(nil)

// onNode acts on a machine; one that does not exist is a failure of the run.
func (w *World) onNode(what, node string, action func(ctx context.Context, m *machine) error) {
	w.Do(what+" "+node, func(ctx context.Context) error {
		m := w.machines.named(node)
		if m == nil {
			return fmt.Errorf("there is no node %s; there are %s", node, strings.Join(w.machines.names(), ", "))
		}
		return action(ctx, m)
	})
}

func (ms machines) names() []string {
	var names []string
	for _, m := range ms {
		names = append(names, m.name)
	}
	return names
}

// KillNode switches the machine off: docker kill ends every process in it at once.
func (w *World) KillNode(node string) {
	w.onNode("kill node", node, w.switchOff)
}

func (w *World) switchOff(ctx context.Context, m *machine) error {
	if m.off {
		return nil
	}
	m.off = true
	if err := m.node.Kill(ctx); err != nil {
		return err
	}
	m.offAt = append(m.offAt, time.Now())
	w.diedOn(m)
	return nil
}

// diedOn records the end of what ran on a machine that was switched off: nobody is left there to tell. The stamp is from after
// the kill, so no container is said to have ended before it did.
func (w *World) diedOn(m *machine) {
	for _, c := range w.Containers() {
		if c.Node == m.name {
			w.ContainerEnded(c.Object, journal.Event{
				At: time.Now(), Kind: history.ContainerEnded, Process: journal.Runtime,
				Task: c.Task, Node: c.Node, Object: c.Object, Token: c.Token, Detail: "killed",
			})
		}
	}
}

// ReturnNode switches the machine on again. That takes a while, which nobody has to wait for.
func (w *World) ReturnNode(node string) {
	m := w.machines.named(node)
	if m == nil || !m.off || m.back != nil {
		return
	}
	m.back = make(chan struct{})
	w.GoAside(func() {
		defer close(m.back)
		ctx, cancel := context.WithTimeout(w.Context(), 2*time.Minute)
		defer cancel()
		err := m.node.Start(ctx)
		w.Post(func() {
			if m.back = nil; err == nil {
				m.off = false
			} else if w.Context().Err() == nil {
				w.Fail(fmt.Errorf("return node %s: %w", node, err))
			}
		})
	})
}

// RemoveNode takes the machine away, and its Node object as soon as the API server can be told.
func (w *World) RemoveNode(node string) {
	w.onNode("remove node", node, w.switchOff)
	w.WhenAPI(func() { w.onNode("delete the object of node", node, w.deleteNode) })
}

// CutNode severs the kubelet from the API server, or the workers from the database. Containers run on.
func (w *World) CutNode(node string, port clusters.Port) {
	w.onNode("cut node from "+string(port), node, func(ctx context.Context, m *machine) error {
		if port == clusters.Store {
			m.cutStore = true
			return m.node.CutPods(ctx, deployed.StorePort)
		}
		m.cutAPI = true
		return m.node.CutAPI(ctx)
	})
}

// JoinNode undoes CutNode.
func (w *World) JoinNode(node string, port clusters.Port) {
	w.onNode("join node to "+string(port), node, func(ctx context.Context, m *machine) error { return m.join(ctx, port) })
}

func (m *machine) join(ctx context.Context, port clusters.Port) error {
	if m.off {
		return nil // a machine that starts again has no rules
	}
	if port == clusters.Store {
		m.cutStore = false
		return m.node.JoinPods(ctx, deployed.StorePort)
	}
	m.cutAPI = false
	return m.node.JoinAPI(ctx)
}

// ReclaimNode does what clouds and their node termination handlers do: at the notice the node is cordoned and its pods are evicted;
// after it, machine and Node object are gone. No cloud waits for an API server: while that is frozen nobody can be cordoned or evicted,
// and after the notice it is too late for it.
func (w *World) ReclaimNode(node string, notice time.Duration) {
	taken := false
	w.WhenAPI(func() {
		if taken {
			w.Log.Warn("a machine was taken before its pods could be told: the API server was frozen all the time", "node", node)
			return
		}
		w.onNode("reclaim node", node, func(ctx context.Context, m *machine) error {
			if err := w.cordon(ctx, m, true); err != nil {
				return err
			}
			return w.evictAll(ctx, m)
		})
	})
	w.At(w.Now()+notice, "", func() {
		taken = true
		w.RemoveNode(node)
	})
}

// mend undoes what faults did to the cluster, which other runs are to find whole.
func (w *World) mend(ctx context.Context) error {
	var problems []error
	note := func(what string, m *machine, err error) {
		if err != nil {
			problems = append(problems, fmt.Errorf("%s node %s: %w", what, m.node.Name(), err))
		}
	}
	problems = append(problems, w.mendServers(ctx)) // first: the rest needs the API server
	for _, m := range w.machines {
		if back := m.back; back != nil {
			<-back // its context has ended
		}
		if m.off {
			note("return", m, m.node.Start(ctx))
			m.off = false
		}
		if m.cutAPI {
			note("join", m, m.join(ctx, clusters.API))
		}
		if m.cutStore {
			note("join", m, m.join(ctx, clusters.Store))
		}
		if m.cordoned {
			note("uncordon", m, w.cordon(ctx, m, false))
		}
	}
	problems = append(problems, w.resumeSchedulers(ctx))
	return errors.Join(problems...)
}
