package kubernetes

import (
	"slices"
	"strconv"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/sim/kernel"
)

// node is a machine, and the Node object that stands for it while it is in Server.nodes.
type node struct {
	name  string
	id    history.ID
	group int
	spot  bool
	room  int // pods
	bound int // pods that are bound here and have not ended

	gone     bool // the Node object was removed
	cordoned bool
	ready    bool // condition Ready is True
	tainted  bool // NoExecute, unreachable
	queued   bool // in Server.toTaint

	on      bool // machine
	cut     bool // kubelet cut from the API server
	leaving bool // graceful node shutdown

	pulled     bool
	pulling    kernel.Timer
	pullers    []*Container
	containers []*Container // the pods that the kubelet knows

	firstBeat time.Duration // heartbeats go out at firstBeat + n * heartbeatPeriod
	heartbeat kernel.Timer  // the first one after a silence
	silence   kernel.Timer  // judged NotReady
	eviction  kernel.Timer

	missedAt time.Duration // podgc missed the Node object
	missed   bool
}

// group is a NodeGroup and what it has grown to.
type group struct {
	clusters.NodeGroup
	nodes int // Node objects, and machines on their way
	named int // names given out: a name is never used again
}

// grows tells whether the autoscaler may add a node.
func (g group) grows() bool { return g.nodes < g.Max && g.Count <= g.Max && g.Pods > 0 }

func (g group) spot() bool { return g.CapacityType == clusters.Spot }

// addNode adds a ready node to the group.
func (s *Server) addNode(index int) *node {
	g := &s.groups[index]
	g.nodes++
	g.named++
	name := g.Name + "-" + strconv.Itoa(g.named)
	n := &node{name: name, id: s.host.Nodes().ID(name), group: index, spot: g.spot(), room: g.Pods,
		ready: true, on: true,
		firstBeat: s.k.Now() - time.Duration(s.streams.heartbeat.Int64N(int64(heartbeatPeriod)))}
	s.nodes = append(s.nodes, n)
	s.observeNode(n, history.NodeAdded)
	s.observeNode(n, history.NodeReady)
	s.judgeZone()
	return n
}

// removeNode takes the machine and its Node object away.
func (s *Server) removeNode(n *node) {
	if n.gone {
		return
	}
	s.powerOff(n)
	n.gone = true
	n.containers = nil
	for _, t := range []kernel.Timer{n.heartbeat, n.silence, n.eviction} {
		t.Stop()
	}
	if !n.ready {
		s.unready--
	}
	i := slices.Index(s.nodes, n)
	s.nodes = slices.Delete(s.nodes, i, i+1)
	s.groups[n.group].nodes--
	s.observeNode(n, history.NodeGone)
	s.judgeZone()
	s.armCollection()
	s.reschedule()
}

// connected tells whether the kubelet runs and can reach the API server's network.
func (n *node) connected() bool { return n.on && !n.cut && !n.gone }

// forget drops the kubelet's record of a container.
func (n *node) forget(c *Container) {
	if i := slices.Index(n.containers, c); i >= 0 {
		n.containers = slices.Delete(n.containers, i, i+1)
	}
}

// fits tells whether kube-scheduler may bind the pod here.
func (n *node) fits(p *pod) bool {
	return n.ready && !n.cordoned && !n.tainted && n.bound < n.room && !(p.w.OnDemand && n.spot)
}

// lookup returns the node whose Node object has the name, or nil.
func (s *Server) lookup(name string) *node {
	for _, n := range s.nodes {
		if n.name == name {
			return n
		}
	}
	return nil
}

// NodeExists is a live read of the Node object.
func (s *Server) NodeExists(name string) (bool, error) { return s.lookup(name) != nil, nil }

func (s *Server) observeNode(n *node, kind history.Kind) {
	s.host.Observe(history.Event{Kind: kind, Node: n.id, Detail: n.name})
}
