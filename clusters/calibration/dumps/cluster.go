package dumps

import (
	"strings"
	"time"

	"github.com/squall-chaos/squall/clusters"
)

// Cluster is all that dumps say of one.
type Cluster struct {
	// Counts is how many objects of each kind were read, and Skipped how many of kinds that say nothing.
	Counts, Skipped map[string]int

	pods     []*pod // in the order in which they were first seen
	byPod    map[string]*pod
	nodes    []*node
	byNode   map[string]*node
	seen     map[string]bool // events, by UID: dumps overlap
	latest   time.Time       // the last stamp of all: whatever was going on went on until then
	spotMark [2]string       // a label of the user's own
}

// NewCluster knows nothing yet. A label, if its key is not empty, marks spot nodes besides those that the clouds have.
func NewCluster(spotKey, spotValue string) *Cluster {
	return &Cluster{Counts: map[string]int{}, Skipped: map[string]int{}, byPod: map[string]*pod{}, byNode: map[string]*node{},
		seen: map[string]bool{}, spotMark: [2]string{spotKey, spotValue}}
}

// Empty tells whether there was nothing to measure in.
func (c *Cluster) Empty() bool { return len(c.Counts) == 0 }

// Latest is the last moment that anything in the dumps tells of.
func (c *Cluster) Latest() time.Time { return c.latest }

// Nodes counts the nodes of each capacity type; the empty type is unknown.
func (c *Cluster) Nodes() map[clusters.CapacityType]int {
	counts := map[clusters.CapacityType]int{}
	for _, n := range c.nodes {
		if n.seen {
			counts[n.kind]++
		}
	}
	return counts
}

func (c *Cluster) skip(kind string) {
	if kind == "" {
		kind = "unknown"
	}
	c.Skipped[kind]++
}

func (c *Cluster) now(stamps ...stamp) {
	for _, s := range stamps {
		if s.After(c.latest) {
			c.latest = s.Time
		}
	}
}

// pod is all that was ever seen of one.
type pod struct {
	meta            meta
	node            string
	selector        map[string]string
	always          bool // restarts for ever: a service, whose run has no end
	initialized     bool // has init containers, whose time is no start's
	phase, reason   string
	scheduled       stamp // by its condition
	scheduledEvent  stamp
	unfit           stamp // the first time that it fitted nowhere
	scaling         bool  // an autoscaler said that it makes room
	killing         stamp
	pulls           []time.Duration // as the kubelet tells them
	told            bool            // there was an event Pulled
	started         stamp
	ended           *terminated
	restarted       bool
	deleted         stamp
	grace           time.Duration
	firstContainer  string
	seen            bool // as an object, not only by events
	containers      int
	startedByOthers stamp // the last start among all containers
}

func (c *Cluster) podOf(namespace, name, uid string) *pod {
	id := namespace + "/" + name + "/" + uid
	p := c.byPod[id]
	if p == nil {
		p = &pod{meta: meta{Namespace: namespace, Name: name, UID: uid}}
		c.byPod[id] = p
		c.pods = append(c.pods, p)
	}
	return p
}

func (c *Cluster) addPod(o *podObject) {
	p := c.podOf(o.Meta.Namespace, o.Meta.Name, o.Meta.UID)
	p.seen, p.meta = true, o.Meta
	p.selector, p.always, p.initialized = o.Spec.NodeSelector, o.Spec.RestartPolicy == "Always" || o.Spec.RestartPolicy == "", len(o.Spec.InitContainers) > 0
	p.containers = len(o.Spec.Containers)
	if len(o.Spec.Containers) > 0 {
		p.firstContainer = o.Spec.Containers[0].Name
	}
	if o.Spec.NodeName != "" {
		p.node = o.Spec.NodeName
	}
	p.phase, p.reason = o.Status.Phase, o.Status.Reason
	for _, condition := range o.Status.Conditions {
		if condition.Type == "PodScheduled" && condition.Status == "True" {
			p.scheduled = earlier(p.scheduled, condition.Transition)
		}
		c.now(condition.Transition)
	}
	if !o.Meta.Deleted.IsZero() {
		p.deleted = o.Meta.Deleted
		if o.Meta.DeletionGrace != nil {
			p.grace = time.Duration(min(max(*o.Meta.DeletionGrace, 0), 1e6)) * time.Second
		}
	}
	c.now(o.Meta.Created)
	for _, s := range o.Status.Containers {
		c.addContainer(p, s)
	}
}

// addContainer takes the first run of the pod's first container for that of the pod: the others are its helpers.
func (c *Cluster) addContainer(p *pod, s containerStatus) {
	var started stamp
	switch {
	case s.State.Terminated != nil:
		started = s.State.Terminated.Started
		c.now(s.State.Terminated.Finished)
	case s.State.Running != nil:
		started = s.State.Running.Started
	}
	c.now(started)
	if s.Restarts > 0 {
		p.restarted = true
		return
	}
	if started.After(p.startedByOthers.Time) {
		p.startedByOthers = started
	}
	if s.Name != p.firstContainer && p.containers > 1 {
		return
	}
	p.started = p.started.or(started)
	if s.State.Terminated != nil {
		p.ended = s.State.Terminated
	}
}

// node is all that was ever seen of one.
type node struct {
	meta   meta
	kind   clusters.CapacityType
	seen   bool
	ready  stamp   // the first time
	lost   []stamp // when it was found silent
	leases []stamp // when its kubelet was heard
}

func (c *Cluster) nodeOf(name string) *node {
	n := c.byNode[name]
	if n == nil {
		n = &node{meta: meta{Name: name}}
		c.byNode[name] = n
		c.nodes = append(c.nodes, n)
	}
	return n
}

func (c *Cluster) addNode(o *nodeObject) {
	n := c.nodeOf(o.Meta.Name)
	if !n.meta.Created.IsZero() && o.Meta.UID != n.meta.UID { // another machine under an old name
		*n = node{}
	}
	n.meta, n.seen, n.kind = o.Meta, true, c.capacityType(o.Meta.Labels, o.Spec.ProviderID)
	c.now(o.Meta.Created)
	for _, condition := range o.Status.Conditions {
		c.now(condition.Heartbeat, condition.Transition)
		if condition.Type != "Ready" {
			continue
		}
		switch condition.Status {
		case "True":
			n.ready = earlier(n.ready, condition.Transition)
		case "Unknown":
			if len(n.lost) == 0 || !n.lost[len(n.lost)-1].Equal(condition.Transition.Time) {
				n.lost = append(n.lost, condition.Transition)
			}
		}
	}
}

// nodeLeases is where kubelets keep theirs.
const nodeLeases = "kube-node-lease"

func (c *Cluster) addLease(o *leaseObject) {
	if o.Meta.Namespace == nodeLeases && !o.Spec.Renewed.IsZero() {
		n := c.nodeOf(o.Meta.Name)
		n.leases = append(n.leases, o.Spec.Renewed)
	}
	c.now(o.Spec.Renewed)
}

func (c *Cluster) addEvent(o *eventObject) {
	if o.Meta.UID != "" {
		if c.seen[o.Meta.UID] {
			return
		}
		c.seen[o.Meta.UID] = true
	}
	c.now(o.Time, o.First, o.Last, o.DeprecatedFirst, o.DeprecatedLast)
	of := o.subject()
	switch of.Kind {
	case "Node":
		if o.Reason == "NodeReady" {
			n := c.nodeOf(of.Name)
			n.ready = earlier(n.ready, o.when())
		}
	case "Pod":
		c.addPodEvent(c.podOf(of.Namespace, of.Name, of.UID), o)
	}
}

func (c *Cluster) addPodEvent(p *pod, o *eventObject) {
	switch o.Reason {
	case "Scheduled":
		p.scheduledEvent = earlier(p.scheduledEvent, o.when())
	case "FailedScheduling":
		p.unfit = earlier(p.unfit, o.when())
	case "TriggeredScaleUp", "Nominated": // the cluster autoscaler's word, and Karpenter's
		p.scaling = true
	case "Killing":
		p.killing = earlier(p.killing, o.when())
	case "Pulled":
		p.told = true
		if took, ok := pullTime(o.text()); ok {
			p.pulls = append(p.pulls, took)
		}
	}
}

// pullTime reads what the kubelet says of a pull; false when the image was there already.
//
//	Successfully pulled image "busybox" in 1.234s (3.4s including waiting). Image size: 2160406 bytes.
func pullTime(text string) (time.Duration, bool) {
	_, rest, ok := strings.Cut(text, "\" in ")
	if !ok || !strings.HasPrefix(text, "Successfully pulled") {
		return 0, false
	}
	word, rest, _ := strings.Cut(rest, " ")
	if waiting, _, ok := strings.Cut(strings.TrimPrefix(rest, "("), " including waiting)"); ok && strings.HasPrefix(rest, "(") {
		word = waiting
	}
	took, err := time.ParseDuration(strings.TrimRight(word, "."))
	return took, err == nil && took >= 0 && took < 24*time.Hour
}
