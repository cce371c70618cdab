package chaosmesh

import (
	"strings"
	"time"

	"github.com/chaos-mesh/chaos-mesh/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/squall-chaos/squall/clusters"
)

// Site is where faults strike: a namespace with a dispatcher as `squall manifests` installs it, and what is around.
type Site struct {
	Namespace string
	// Name begins the names of all objects, and is the value of their label squall.dev/scenario.
	Name string
	// Horizon is when everything heals: the end of faults that do not say how long they last.
	Horizon time.Duration
	// PodGrace is the grace period of workloads.
	PodGrace time.Duration
	// Dispatchers and Reconcilers are how many replicas run: the only one needs no drawing of lots.
	Dispatchers, Reconcilers int
	Nodes                    []clusters.NodeGroup
	// APIServer are the addresses at which Pods reach the API server. It must be the ClusterIP: a Pod's packets are rewritten to the
	// server's own address only after they have left the Pod's network, where Chaos Mesh's rules are.
	APIServer []string
	Database  Database
	// HTTP are the plain HTTP servers in Pods that calls go to, by port.
	HTTP map[clusters.Port]HTTPServer
	// Pods names the Pod of a process, once Squall applies objects to a cluster that it watches: then a replica, or the leader, is
	// struck by name. Nil: not known.
	Pods func(process string) (pod string, known bool)
}

// Database is where the database is: at addresses or host names, or in Pods of the namespace that have the labels.
type Database struct {
	Hosts []string
	Pods  map[string]string
}

// HTTPServer is a server in Pods of the namespace that speaks HTTP without TLS.
type HTTPServer struct {
	Pods map[string]string // labels
	Port int32             // of the container
	Path string            // empty: all; a trailing * stands for anything
}

// The labels of a dispatcher that `squall manifests` installs, and of its workloads; package dispatcher/kube has the latter.
const (
	labelComponent = "app.kubernetes.io/component"
	labelTask      = "squall.dev/task"
	labelCapacity  = "karpenter.sh/capacity-type"
	containerWork  = "work"
)

// The labels of the objects.
const (
	LabelManagedBy = "app.kubernetes.io/managed-by" // squall
	LabelScenario  = "squall.dev/scenario"
)

// crowd are Pods to strike.
type crowd struct {
	name      string // for the names of objects: "workers"
	selector  v1alpha1.PodSelector
	container string // the name of the container that the process is in
	remark    string // what differs from whom the fault is aimed at; may be empty
}

func (s Site) pods(mode v1alpha1.SelectorMode, labels map[string]string) v1alpha1.PodSelector {
	return v1alpha1.PodSelector{Mode: mode, Selector: v1alpha1.PodSelectorSpec{GenericSelectorSpec: v1alpha1.GenericSelectorSpec{
		Namespaces: []string{s.Namespace}, LabelSelectors: labels}}}
}

// named selects one Pod by its name.
func (s Site) named(pod string) v1alpha1.PodSelector {
	p := s.pods(v1alpha1.AllMode, nil)
	p.Selector.Pods = map[string][]string{s.Namespace: {pod}}
	return p
}

// replicas are the Pods of dispatchers and reconcilers alike.
func (s Site) replicas() crowd {
	p := s.pods(v1alpha1.AllMode, nil)
	p.Selector.ExpressionSelectors = v1alpha1.LabelSelectorRequirements{{
		Key: labelComponent, Operator: metav1.LabelSelectorOpIn, Values: []string{"dispatcher", "reconciler"}}}
	return crowd{name: "replicas", selector: p}
}

// process are the Pods that a process target means; false when it is none of dispatchers and reconcilers.
func (s Site) process(target string) (crowd, bool) {
	role, late := strings.CutPrefix(target, "leader:")
	for _, r := range []struct {
		name  string
		count int
	}{{"dispatcher", s.Dispatchers}, {"reconciler", s.Reconcilers}} {
		if role != r.name && !strings.HasPrefix(role, r.name+"-") && target != r.name+"*" {
			continue
		}
		c := crowd{name: r.name, container: r.name}
		labels := map[string]string{labelComponent: r.name}
		pod, known := s.podOf(target)
		switch {
		case target == r.name+"*" || target == r.name+"-*":
			c.selector = s.pods(v1alpha1.AllMode, labels)
		case known:
			c.selector = s.named(pod)
		case r.count == 1:
			c.selector = s.pods(v1alpha1.AllMode, labels)
		default:
			c.selector = s.pods(v1alpha1.OneMode, labels)
			c.remark = "one " + r.name + " is drawn: a Deployment's Pods have no numbers"
			if late {
				c.remark = "one " + r.name + " is drawn: Chaos Mesh cannot know who leads"
			}
		}
		return c, true
	}
	return crowd{}, false
}

func (s Site) podOf(process string) (string, bool) {
	if s.Pods == nil {
		return "", false
	}
	return s.Pods(process)
}

// task are the Pods of a task's workload.
func (s Site) task(target string) crowd {
	if target == "any:running" {
		c := s.workers(v1alpha1.OneMode)
		c.remark = "Chaos Mesh draws the task, not the seed"
		return c
	}
	return crowd{name: "workers", container: containerWork, selector: s.pods(v1alpha1.AllMode, map[string]string{labelTask: target})}
}

// running leaves out Pods that have ended, which a finalizer keeps for a while: a daemon that is to enter their containers fails, and the object
// with it.
func (c crowd) running() crowd {
	c.selector.Selector.PodPhaseSelectors = []string{string(corev1.PodRunning)}
	return c
}

// workers are the Pods of all workloads that run.
func (s Site) workers(mode v1alpha1.SelectorMode) crowd {
	p := s.pods(mode, nil)
	p.Selector.ExpressionSelectors = v1alpha1.LabelSelectorRequirements{{Key: labelTask, Operator: metav1.LabelSelectorOpExists}}
	return crowd{name: "workers", container: containerWork, selector: p}.running()
}

// node are the workers on a node, as far as a scenario's nodes can be found in a cluster.
func (s Site) node(target string) crowd {
	if task, ok := strings.CutPrefix(target, "task:"); ok {
		c := s.task(task)
		c.remark = "only the Pod of " + task + ", not all of its node"
		return c
	}
	c := s.workers(v1alpha1.OneMode)
	c.remark = "one running worker is drawn, not all of one node"
	if capacity := s.capacityOf(target); capacity != "" {
		c.selector.Selector.NodeSelectors = map[string]string{labelCapacity: string(capacity)}
		c.remark = "one running worker on " + article(string(capacity)) + " node is drawn, not all of one node"
	}
	return c
}

func article(noun string) string {
	if strings.HasPrefix(noun, "o") {
		return "an " + noun
	}
	return "a " + noun
}

// capacityOf is the capacity type that a node target means; empty for any.
func (s Site) capacityOf(target string) clusters.CapacityType {
	if capacity, ok := strings.CutPrefix(target, "any:"); ok {
		return clusters.CapacityType(capacity)
	}
	cut := max(0, strings.LastIndexByte(target, '-'))
	for _, g := range s.Nodes {
		if target[:cut] == g.Name {
			return g.CapacityType
		}
	}
	return ""
}
