package dumps

import (
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/calibration"
)

// Selection is which pods count; the zero Selection takes all.
type Selection struct {
	Namespace string
	Labels    map[string]string
}

func (s Selection) takes(p *pod) bool {
	if s.Namespace != "" && p.meta.Namespace != s.Namespace {
		return false
	}
	for key, value := range s.Labels { // order does not matter
		if has, ok := p.meta.Labels[key]; !ok || has != value {
			return false
		}
	}
	return true
}

// measuring turns pods and nodes into samples.
type measuring struct {
	*Cluster
	to *calibration.Samples
}

// Measure adds what the dumps say to the samples.
func (c *Cluster) Measure(to *calibration.Samples, s Selection) {
	m := measuring{c, to}
	for _, p := range c.pods {
		if !s.takes(p) {
			continue
		}
		m.pulls(p)
		if !p.seen {
			continue // events alone know neither when it was created nor when it ran
		}
		m.scheduling(p)
		m.startup(p)
		m.run(p)
		m.shutdown(p)
	}
	m.provisioning(s)
	m.detection()
}

// kindOf is the capacity type of the pod's machine, or of the one that it wants.
func (c *Cluster) kindOf(p *pod) clusters.CapacityType {
	if n := c.byNode[p.node]; n != nil && n.kind != "" {
		return n.kind
	}
	return c.capacityType(p.selector, "")
}

func (m measuring) subject(p *pod) calibration.Subject {
	return calibration.Subject{Namespace: p.meta.Namespace, Pod: p.meta.Name, Node: p.node, Labels: p.meta.Labels}
}

// add adds the time between two stamps, unless the clocks of two machines contradict each other.
func (m measuring) add(measure calibration.Measure, p *pod, from, to stamp, less time.Duration) {
	s, ok := calibration.Between(from.Time, to.Add(-less), from.whole, to.whole)
	if !ok {
		m.to.Leave(measure, "ends before it begins: the clocks of two machines differ")
		return
	}
	s.Of = m.subject(p)
	m.to.Add(measure, m.kindOf(p), s)
}

// addOpen adds what had not ended at a moment, if that is after it began.
func (m measuring) addOpen(measure calibration.Measure, p *pod, from stamp, until time.Time) {
	if long := until.Sub(from.Time); long > 0 {
		m.to.Add(measure, m.kindOf(p), calibration.Sample{Value: long, AtLeast: true, Of: m.subject(p)})
	}
}

func (p *pod) bound() stamp { return p.scheduledEvent.or(p.scheduled) }

func (m measuring) scheduling(p *pod) {
	bound := p.bound()
	switch {
	case p.meta.Created.IsZero():
	case !p.unfit.IsZero():
		m.to.Leave(calibration.Scheduling, "fitted nowhere at first")
	case !bound.IsZero():
		m.add(calibration.Scheduling, p, p.meta.Created, bound, 0)
	case p.node != "":
		m.to.Leave(calibration.Scheduling, "bound to its node without the scheduler")
	case p.phase == "Pending":
		m.addOpen(calibration.Scheduling, p, p.meta.Created, m.latest)
	}
}

func (m measuring) pulls(p *pod) {
	for _, took := range p.pulls {
		m.to.Add(calibration.ImagePull, m.kindOf(p), calibration.Sample{Value: took, Of: m.subject(p)})
	}
	if p.told && len(p.pulls) == 0 {
		m.to.Leave(calibration.ImagePull, "the image was there already")
	}
}

func (m measuring) startup(p *pod) {
	bound := p.bound()
	var pulled time.Duration
	for _, took := range p.pulls {
		pulled += took
	}
	switch {
	case bound.IsZero() || p.startedByOthers.IsZero():
	case p.restarted:
		m.to.Leave(calibration.Startup, "restarted: the first start is overwritten")
	case p.initialized:
		m.to.Leave(calibration.Startup, "has init containers, whose time cannot be told apart")
	case !p.told:
		m.to.Leave(calibration.Startup, "no event tells whether the image was pulled: events live for an hour")
	default:
		m.add(calibration.Startup, p, bound, p.startedByOthers, pulled)
	}
}

// stopped tells whether somebody put an end to the run.
func (p *pod) stopped() bool {
	return !p.killing.IsZero() || !p.deleted.IsZero() || p.reason == "DeadlineExceeded" || p.reason == "Evicted" || p.reason == "NodeLost" ||
		p.ended.ExitCode == 137 || p.ended.ExitCode == 143
}

func (m measuring) run(p *pod) {
	switch {
	case p.started.IsZero():
	case p.always:
		m.to.Leave(calibration.Run, "restarts for ever (restartPolicy Always): a service, no task")
	case p.restarted:
		m.to.Leave(calibration.Run, "restarted: the first run is overwritten")
	case p.ended == nil:
		m.addOpen(calibration.Run, p, p.started, m.latest)
	case p.ended.ExitCode == 0:
		m.add(calibration.Run, p, p.started, p.ended.Finished, 0)
	case p.stopped():
		m.addOpen(calibration.Run, p, p.started, p.ended.Finished.Time)
	default:
		m.to.Leave(calibration.Run, "failed by itself: how long it would have run is not known")
	}
}

func (m measuring) shutdown(p *pod) {
	asked := p.killing
	if asked.IsZero() && !p.deleted.IsZero() {
		asked = stamp{p.deleted.Add(-p.grace), true}
	}
	switch {
	case asked.IsZero() || p.started.IsZero():
	case p.ended == nil && !p.restarted:
		m.addOpen(calibration.Shutdown, p, asked, m.latest)
	case p.ended == nil || p.ended.Finished.Before(asked.Time):
	case p.ended.ExitCode == 137:
		m.to.Leave(calibration.Shutdown, "did not heed SIGTERM, and was killed")
	default:
		m.add(calibration.Shutdown, p, asked, p.ended.Finished, 0)
	}
}

// provisioning is told by the first of the pods that fitted nowhere and that a new node took.
func (m measuring) provisioning(s Selection) {
	first := map[string]*pod{}
	for _, p := range m.pods {
		if p.unfit.IsZero() || !s.takes(p) {
			continue
		}
		n := m.byNode[p.node]
		switch {
		case p.node == "" && p.scaling && p.phase != "Failed":
			m.addOpen(calibration.Provisioning, p, p.unfit, m.latest)
		case p.node == "":
			m.to.Leave(calibration.Provisioning, "still fits nowhere, and no autoscaler makes room for it")
		case n == nil || !n.seen || n.ready.IsZero():
			m.to.Leave(calibration.Provisioning, "the node that took it is not in the dump, or has not been ready")
		case n.meta.Created.Before(p.unfit.Time):
			m.to.Leave(calibration.Provisioning, "waited for room on a node that was there already")
		case first[p.node] == nil || p.unfit.Before(first[p.node].unfit.Time):
			first[p.node] = p
		}
	}
	for _, n := range m.nodes {
		if p := first[n.meta.Name]; p != nil {
			m.add(calibration.Provisioning, p, p.unfit, n.ready, 0)
		}
	}
}

// detection is from the last renewal of a node's lease to the moment at which it was found silent.
func (m measuring) detection() {
	for _, n := range m.nodes {
		for _, lost := range n.lost {
			var heard stamp
			for _, l := range n.leases {
				if l.Before(lost.Time) && l.After(heard.Time) {
					heard = l
				}
			}
			if heard.IsZero() {
				m.to.Leave(calibration.NotReady, "no lease of the node: dump leases, too (kubectl get leases -n kube-node-lease)")
				continue
			}
			s, _ := calibration.Between(heard.Time, lost.Time, heard.whole, lost.whole)
			s.Of.Node = n.meta.Name
			m.to.Add(calibration.NotReady, n.kind, s)
		}
	}
}
