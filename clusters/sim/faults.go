package sim

import (
	"time"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
)

var (
	_ clusters.NodeFaults     = (*Cluster)(nil)
	_ clusters.PodFaults      = (*Cluster)(nil)
	_ clusters.LabelFaults    = (*Cluster)(nil)
	_ clusters.CallFaults     = (*Cluster)(nil)
	_ clusters.PlatformFaults = (*Cluster)(nil)
)

// KillNode switches the machine off.
func (c *Cluster) KillNode(node string) { c.kube.KillNode(node) }

// ReturnNode switches the machine on again.
func (c *Cluster) ReturnNode(node string) { c.kube.ReturnNode(node) }

// RemoveNode takes the machine and its Node object away.
func (c *Cluster) RemoveNode(node string) { c.kube.RemoveNode(node) }

// ReclaimNode removes the node after a notice.
func (c *Cluster) ReclaimNode(node string, notice time.Duration) { c.kube.ReclaimNode(node, notice) }

// cut is a node whose workers cannot reach the database.
type cut struct {
	node   string
	remove func()
}

// CutNode severs the node's kubelet from the API server, or the workers on it from the database: what they
// send is lost without a sign.
func (c *Cluster) CutNode(node string, port clusters.Port) {
	if port != clusters.Store {
		c.kube.CutNode(node, port)
		return
	}
	c.JoinNode(node, port)
	remove := c.Intercept(clusters.Rule{Port: port, Node: node, Action: clusters.Drop})
	c.cuts = append(c.cuts, cut{node, remove})
}

// JoinNode undoes CutNode.
func (c *Cluster) JoinNode(node string, port clusters.Port) {
	if port != clusters.Store {
		c.kube.JoinNode(node, port)
		return
	}
	for i, cut := range c.cuts {
		if cut.node == node {
			cut.remove()
			c.cuts = append(c.cuts[:i], c.cuts[i+1:]...)
			return
		}
	}
}

// EvictPod deletes the task's pod through the API.
func (c *Cluster) EvictPod(task string) bool { return c.kube.EvictPod(task) }

// RemovePod takes the task's object away at once.
func (c *Cluster) RemovePod(task string) bool { return c.kube.RemovePod(task) }

// RelabelPod hides the task's pod from selectors.
func (c *Cluster) RelabelPod(task string) bool { return c.kube.RelabelPod(task) }

// KillContainer kills the task's container.
func (c *Cluster) KillContainer(task string) bool { return c.kube.KillContainer(task) }

// SetCacheLag sets how old a stale list is.
func (c *Cluster) SetCacheLag(d clusters.Dist) { c.kube.SetCacheLag(d) }

// SetReplicaLag sets how old a stale scan is.
func (c *Cluster) SetReplicaLag(d clusters.Dist) { c.database.SetLag(d) }

// HoldScheduling keeps pods from being bound.
func (c *Cluster) HoldScheduling(hold bool) { c.kube.HoldScheduling(hold) }

// SetRunTime sets how long the task's work takes in the attempts that begin from now on; 0 restores its spec.
func (c *Cluster) SetRunTime(task string, run time.Duration) {
	if run == 0 {
		delete(c.runTimes, task)
		return
	}
	c.runTimes[task] = run
}

// FailOver promotes a standby that lacks the commits of the last moments. Calls on their way to the old
// primary break; those whose effect was lost had their reply, and that is the point.
func (c *Cluster) FailOver(lost time.Duration) {
	rows := c.database.FailOver(lost)
	for i := range rows {
		l := &rows[i]
		if !l.EffectLost() {
			continue
		}
		k := ticketOf(&l.Before)
		delete(c.counted, k)
		c.record.event(history.Event{Kind: history.EffectLost, Task: c.record.tasks.ID(string(k.ID)),
			Token: uint64(k.Token), Object: string(k.Workload)})
	}
	for i := range rows {
		if l := &rows[i]; l.Gone {
			c.record.vanished(l.Before.Spec.ID)
		} else {
			c.record.committed(&l.After)
		}
	}
}
