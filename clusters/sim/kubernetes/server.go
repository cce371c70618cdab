package kubernetes

import (
	"math/rand/v2"
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/sim/kernel"
	"github.com/squall-chaos/squall/dispatcher"
)

// Host is the world that a Server lives in: it runs what is inside containers, and keeps the history.
type Host interface {
	// ContainerStarted begins the container's work, which must call c.Exit unless it is Killed first.
	ContainerStarted(c *Container)
	// Terminate is SIGTERM: the work may call c.Exit within the grace period, or ignore it.
	Terminate(c *Container)
	// Killed tells that the container is dead: SIGKILL, or its machine is off. Nothing more may come from it.
	Killed(c *Container)
	// Observe adds an event to the history, which sets Seq and At.
	Observe(e history.Event)
	// Tasks and Nodes intern names for events.
	Tasks() *history.Table
	Nodes() *history.Table
}

// Memory is what objects are made in, to be used again by the cluster of a later run. The zero Memory is ready for use.
type Memory struct {
	pods       kernel.Arena[pod]
	containers kernel.Arena[Container]
	copies     kernel.Arena[dispatcher.Workload]
}

// Again takes the memory back from a cluster that is over: nobody may look at its objects any more.
func (m *Memory) Again() {
	m.pods.Again()
	m.containers.Again()
	m.copies.Again()
}

// Server is one Kubernetes cluster: API server, controllers and nodes.
type Server struct {
	// OnChange is told of every change to an object, for reading and not for longer than the call. May be nil.
	OnChange func(w *dispatcher.Workload, t WatchType)

	k        *kernel.Kernel
	host     Host
	platform clusters.Platform
	machines [2]clusters.Platform // the platform on on-demand machines, and on spot
	settings dispatcher.Settings
	memory   *Memory
	labels   labels
	streams  streams

	version uint64 // resourceVersion of the latest change
	uids    uint64
	pods    map[string]*pod // by name
	byName  []*pod          // the same, in order of name
	live    int             // pods that have not ended: what a quota counts
	// unselected is how many objects no selector finds.
	unselected int
	quota      int // 0: none
	leases     map[string]dispatcher.Lease

	snapshots []snapshot
	journal   journal
	cache     cache
	lag       clusters.Dist
	watched   bool

	groups    []group
	nodes     []*node // Node objects, in order of their making
	unready   int     // of nodes
	zone      zoneState
	toTaint   []*node       // NotReady, in the order of it
	tainting  kernel.Timer  // of the first of them
	taintedAt time.Duration // the last time
	waiting   []*pod        // unschedulable, in order of creation or of their last try
	pass      kernel.Timer  // the next look at waiting
	held      bool          // HoldScheduling
	upcoming  []*upcoming
	sweep     kernel.Timer // of podgc

	down       bool // SetOutage
	deferred   []func()
	running    []*Container // alive, in no order that means anything
	containers int          // made so far
}

// labels are the kernel's names of the model's events and notes.
type labels struct {
	schedule, sync, pull, start, report, kill, deadline        kernel.Label
	heartbeat, silence, taint, evict, collect, provision, gone kernel.Label
	change, bind                                               kernel.Label
}

// streams are the model's sources of randomness, one per purpose.
type streams struct {
	scheduling, placement, pull, startup, provisioning, network, lag, heartbeat *rand.Rand
}

// New returns a cluster with the configured nodes, all of them ready, whose objects are made in m.
func New(k *kernel.Kernel, c clusters.Config, h Host, m *Memory) *Server {
	s := &Server{
		k: k, host: h, memory: m, platform: c.Platform, settings: c.Settings,
		machines: [2]clusters.Platform{c.Platform.On(clusters.OnDemand), c.Platform.On(clusters.Spot)},
		pods:     map[string]*pod{}, leases: map[string]dispatcher.Lease{}, lag: c.Platform.CacheLag, taintedAt: -slowTaintEvery,
	}
	s.labels = labels{
		schedule: k.Label("kube-scheduler: try"), sync: k.Label("kubelet: sync"), pull: k.Label("kubelet: image pulled"),
		start: k.Label("kubelet: container starts"), report: k.Label("kubelet: status"), kill: k.Label("kubelet: grace is over"),
		deadline:  k.Label("kubelet: deadline"),
		heartbeat: k.Label("node: heartbeat"), silence: k.Label("node lifecycle: not ready"), taint: k.Label("node lifecycle: taint"),
		evict: k.Label("taint eviction"), collect: k.Label("podgc: sweep"), provision: k.Label("autoscaler: node arrives"),
		gone: k.Label("cloud: node reclaimed"), change: k.Label("api: change"), bind: k.Label("kube-scheduler: bind"),
	}
	s.streams = streams{
		scheduling: k.Stream("kubernetes: scheduling"), placement: k.Stream("kubernetes: placement"),
		pull: k.Stream("kubernetes: image pull"), startup: k.Stream("kubernetes: startup"),
		provisioning: k.Stream("kubernetes: provisioning"), network: k.Stream("kubernetes: network"),
		lag: k.Stream("kubernetes: cache lag"), heartbeat: k.Stream("kubernetes: heartbeat"),
	}
	for _, g := range c.Nodes {
		s.groups = append(s.groups, group{NodeGroup: g})
		for range g.Count {
			s.addNode(len(s.groups) - 1)
		}
	}
	s.lagChanged()
	return s
}

// hop is one way between a component and the API server.
func (s *Server) hop() time.Duration { return s.platform.APILatency.Draw(s.streams.network) / 2 }

// control has a controller act d from now, or when the API server is back.
func (s *Server) control(d time.Duration, label kernel.Label, fn func()) kernel.Timer {
	return s.k.After(d, label, func() {
		if s.down {
			s.deferred = append(s.deferred, fn)
			return
		}
		fn()
	})
}

// SetOutage takes the API server away from kubelets and controllers, or gives it back: nothing is bound, reported,
// tainted or collected meanwhile, while containers and kubelets' deadlines go on. Calls are the Host's to refuse.
func (s *Server) SetOutage(down bool) {
	if s.down == down {
		return
	}
	s.down = down
	if down {
		for _, n := range s.nodes {
			n.heartbeat.Stop()
		}
		return
	}
	deferred := s.deferred
	s.deferred = nil
	for _, fn := range deferred {
		fn()
	}
	for _, n := range s.nodes {
		s.reachable(n)
	}
	s.reschedule()
}

// HoldScheduling keeps every pod from being bound, or lets them go.
func (s *Server) HoldScheduling(hold bool) {
	s.held = hold
	s.reschedule()
}

// SetQuota limits how many pods that have not ended may exist; 0 lifts the limit.
func (s *Server) SetQuota(pods int) { s.quota = pods }

// ceil is the first multiple of period that is not before t.
func ceil(t, period time.Duration) time.Duration { return (t + period - 1) / period * period }

// on is the platform as it is on machines of one type.
func (s *Server) on(spot bool) *clusters.Platform {
	if spot {
		return &s.machines[1]
	}
	return &s.machines[0]
}
