package chaosmesh

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/chaos-mesh/chaos-mesh/api/v1alpha1"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/faults/chaosmesh/coverage"
)

// Mapped is what becomes of one fault: the experiments that are it, or Why there are none.
type Mapped struct {
	Index   int // in the plan
	Fault   faults.Fault
	Differs []string // in what the experiments are not the fault
	Why     string

	pieces []piece
	lasts  time.Duration // when it is not as long as the fault
}

// Maps tells whether anything of the fault can be expressed.
func (m Mapped) Maps() bool { return len(m.pieces) > 0 }

// piece is one experiment, without its times.
type piece struct {
	kind  v1alpha1.TemplateType
	chaos v1alpha1.EmbedChaos
	part  string // what of the fault it is, when there are several
}

// Map says what becomes of a fault of a plan.
func (s Site) Map(index int, f faults.Fault) Mapped {
	m := Mapped{Index: index, Fault: f}
	row := coverage.Of(f)
	if row.Extent == coverage.None {
		m.Why = row.Why
		return m
	}
	if row.Extent == coverage.Part {
		m.Differs = append(m.Differs, row.Why)
	}
	switch f.Kind {
	case faults.PodEvict, faults.PodRemove, faults.ContainerKill, faults.SpotReclaim, faults.RunTime:
		s.mapPod(&m)
	case faults.ProcessCrash, faults.ClockSkew:
		s.mapProcess(&m)
	case faults.StoreCrash:
		s.mapStoreCrash(&m)
	default:
		s.mapCalls(&m)
	}
	if m.Why != "" {
		m.Differs, m.pieces = nil, nil
	}
	return m
}

func (m *Mapped) refuse(format string, args ...any) { m.Why = fmt.Sprintf(format, args...) }

func (m *Mapped) add(p piece, c crowd) {
	m.pieces = append(m.pieces, p)
	m.remark(c.remark)
}

func (m *Mapped) remark(text string) {
	if text != "" && !slices.Contains(m.Differs, text) {
		m.Differs = append(m.Differs, text)
	}
}

func podChaos(spec v1alpha1.PodChaosSpec) piece {
	return piece{kind: v1alpha1.TypePodChaos, chaos: v1alpha1.EmbedChaos{PodChaos: &spec}}
}

func (s Site) mapPod(m *Mapped) {
	f := m.Fault
	c := s.task(f.Target.Task)
	if f.Kind == faults.SpotReclaim {
		c = s.node(f.Target.Node)
	}
	spec := v1alpha1.PodChaosSpec{ContainerSelector: v1alpha1.ContainerSelector{PodSelector: c.selector}, Action: v1alpha1.PodKillAction}
	switch f.Kind {
	case faults.PodEvict:
		spec.GracePeriod = seconds(s.PodGrace)
	case faults.SpotReclaim:
		spec.GracePeriod = seconds(f.Notice)
	case faults.ContainerKill:
		spec.PodSelector = c.running().selector
		spec.Action, spec.ContainerNames = v1alpha1.ContainerKillAction, []string{c.container}
	case faults.RunTime:
		m.add(stress(c.running()), c)
		return
	}
	m.add(podChaos(spec), c)
}

// stress takes a container's processor time: one busy worker at full load, in the cgroup of the work.
func stress(c crowd) piece {
	return piece{kind: v1alpha1.TypeStressChaos, chaos: v1alpha1.EmbedChaos{StressChaos: &v1alpha1.StressChaosSpec{
		ContainerSelector: v1alpha1.ContainerSelector{PodSelector: c.selector, ContainerNames: []string{c.container}},
		Stressors:         &v1alpha1.Stressors{CPUStressor: &v1alpha1.CPUStressor{Stressor: v1alpha1.Stressor{Workers: 1}, Load: new(100)}},
	}}}
}

func (s Site) mapProcess(m *Mapped) {
	f := m.Fault
	c, ok := s.process(f.Target.Process)
	if !ok {
		m.refuse("process %s is no Pod of the dispatcher or the reconciler", f.Target.Process)
		return
	}
	selector := v1alpha1.ContainerSelector{PodSelector: c.selector}
	if f.Kind == faults.ProcessCrash {
		m.add(podChaos(v1alpha1.PodChaosSpec{ContainerSelector: selector, Action: v1alpha1.PodFailureAction}), c)
		return
	}
	selector.ContainerNames = []string{c.container}
	m.add(piece{kind: v1alpha1.TypeTimeChaos, chaos: v1alpha1.EmbedChaos{TimeChaos: &v1alpha1.TimeChaosSpec{
		ContainerSelector: selector, TimeOffset: single(f.By), ClockIds: []string{"CLOCK_REALTIME"},
	}}}, c)
}

func (s Site) mapStoreCrash(m *Mapped) {
	if len(s.Database.Pods) == 0 {
		m.refuse("only a database in Pods of the namespace can be killed: name their labels with --database LABEL=VALUE")
		return
	}
	m.add(podChaos(v1alpha1.PodChaosSpec{ContainerSelector: v1alpha1.ContainerSelector{
		PodSelector: s.pods(v1alpha1.AllMode, s.Database.Pods)}, Action: v1alpha1.PodFailureAction}), crowd{})
}

// mapCalls is of everything that lies between a process and a server.
func (s Site) mapCalls(m *Mapped) {
	ports := portsOf(m.Fault)
	if server, ok := s.serverOf(ports); ok && overHTTP(m.Fault) {
		s.mapHTTP(m, server)
		return
	}
	callers := s.callers(m, ports)
	if m.Why != "" || !s.reachable(m, ports) {
		return
	}
	for _, port := range ports {
		for _, c := range callers {
			if c.name == "workers" && port != clusters.Store {
				continue // they have no client of the API server
			}
			p, ok := s.between(m, c, port)
			if !ok {
				return
			}
			if p.part = c.name; len(ports) > 1 {
				p.part += "-" + string(port)
			}
			m.add(p, c)
		}
	}
	if !m.Maps() {
		m.refuse("workers make no calls to the API server")
	}
}

// portsOf are the ways to cut or slow; a lease goes the way of the API.
func portsOf(f faults.Fault) []clusters.Port {
	switch f.Kind {
	case faults.LeaseUnreachable, faults.LeaseHang, faults.APIOutage, faults.APISlow, faults.APIPause:
		return []clusters.Port{clusters.API}
	case faults.StoreOutage, faults.StoreSlow, faults.StorePause, faults.NodePartition:
		return []clusters.Port{clusters.Store}
	}
	switch f.CallPort() {
	case clusters.Store:
		return []clusters.Port{clusters.Store}
	case clusters.API, clusters.Lease:
		return []clusters.Port{clusters.API}
	}
	return []clusters.Port{clusters.API, clusters.Store}
}

// callers are the Pods whose calls the fault is about.
func (s Site) callers(m *Mapped, ports []clusters.Port) []crowd {
	t := m.Fault.Target
	if m.Fault.Kind == faults.Call {
		switch {
		case t.Verb != "":
			m.refuse("packets do not tell a %s from other calls", t.Verb)
		case t.Nth > 0:
			m.refuse("packets do not tell one call from another: the network cannot pick the one at place %d", t.Nth)
		case t.Share > 0 && t.Share < 1 && m.Fault.Action != clusters.Drop:
			m.refuse("packets do not tell one call from another: the network cannot pick a share of them")
		case t.Task != "" && !strings.HasPrefix(t.Process, "worker"):
			m.refuse("packets do not tell which task a call is about")
		case strings.HasPrefix(t.Process, "client"):
			m.refuse("clients are outside the cluster")
		case t.Node != "" && t.Process != "" && !strings.HasPrefix(t.Process, "worker"):
			m.refuse("which Pods of %s are on a certain node cannot be said without its name", t.Process)
		}
		if m.Why != "" {
			return nil
		}
	}
	if m.Fault.Kind == faults.NodePartition {
		return s.cutNode(m)
	}
	if m.Fault.CallPort() == clusters.Lease {
		m.remark("leases are behind the same address as the rest of the API: all its API calls are affected")
	}
	switch {
	case strings.HasPrefix(t.Process, "worker") && t.Task != "":
		return []crowd{s.task(t.Task).running()}
	case t.Node != "":
		return []crowd{s.node(t.Node).running()}
	case strings.HasPrefix(t.Process, "worker"):
		return []crowd{s.workers(v1alpha1.AllMode)}
	case t.Process == "" || t.Process == "*":
		return []crowd{s.replicas(), s.workers(v1alpha1.AllMode)}
	}
	c, ok := s.process(t.Process)
	if !ok {
		m.refuse("process %s is no Pod of the dispatcher or the reconciler", t.Process)
		return nil
	}
	return []crowd{c}
}

// cutNode is the half of a node's partition that Pods have.
func (s Site) cutNode(m *Mapped) []crowd {
	if ports := m.Fault.Ports; len(ports) > 0 && !slices.Contains(ports, clusters.Store) {
		m.refuse("the node is cut off from the API server only, which its kubelet reaches from the node's own network: no Pod selector reaches it")
		return nil
	}
	return []crowd{s.node(m.Fault.Target.Node).running()}
}

// reachable tells whether the addresses of the servers are known.
func (s Site) reachable(m *Mapped, ports []clusters.Port) bool {
	if slices.Contains(ports, clusters.API) && len(s.APIServer) == 0 {
		m.refuse("it is not said where the API server is: name its ClusterIP with --api-server")
	}
	if slices.Contains(ports, clusters.Store) && len(s.Database.Hosts) == 0 && len(s.Database.Pods) == 0 {
		m.refuse("it is not said where the database is: name its host, or the labels of its Pods, with --database")
	}
	return m.Why == ""
}

// seconds rounds up: a grace period of zero is none at all.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }
