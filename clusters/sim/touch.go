package sim

import (
	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/sim/kubernetes"
	"github.com/squall-chaos/squall/dispatcher"
)

// What is on the servers, for an explorer. All rows and all objects are things of their own as well: a claim reads the table.
var (
	allRows    = word("rows")
	allObjects = word("objects")
)

func rowResource(task string) uint64    { return mix(allRows, word(task)) }
func objectResource(task string) uint64 { return mix(allObjects, word(task)) }
func termResource(role string) uint64   { return mix(word("term"), word(role)) }
func leaseResource(name string) uint64  { return mix(word("lease"), word(name)) }
func fateResource(task string) uint64   { return mix(word("fate"), word(task)) }

// touchRead notes what the call's effect has read: what it changed was noted when it did.
func (x *explorer) touchRead(c *call, code uint64) {
	r := clusters.Reads
	switch c.verb {
	case history.Submit, history.Cancel, history.Resume, history.Read, history.Start, history.Heartbeat, history.Finish:
		x.touch(rowResource(c.task), r)
	case history.Launched, history.Unclaim, history.Reject, history.Observe, history.Requeue, history.Conclude, history.Cleaned, history.Postpone:
		x.touch(termResource(string(c.request.term.Role)), r)
		x.touch(rowResource(c.task), r)
	case history.Claim, history.Scan, history.Health:
		if c.verb == history.Claim {
			x.touch(termResource(string(dispatcher.RoleDispatcher)), r)
		}
		x.touch(allRows, r)
	case history.Confirm:
		x.touch(termResource(string(c.request.term.Role)), r)
	case history.Lead:
		role := c.operation().Detail
		x.touch(termResource(role), clusters.Writes)
		x.state.set(termResource(role), c.operation().Epoch)
	case history.Create, history.Get, history.Delete, history.Release:
		x.touch(objectResource(c.task), r)
	case history.List:
		x.touch(allObjects, r)
	case history.GetLease:
		x.touch(leaseResource(c.request.name), r)
	case history.PutLease:
		x.touch(leaseResource(c.request.lease.Name), r)
	}
}

// committed is told of every row that a transaction wrote.
func (x *explorer) committed(t *dispatcher.Task) {
	row := rowResource(string(t.Spec.ID))
	x.touch(allRows, clusters.WritesPart)
	x.touch(row, clusters.Writes)
	v := mix(word(string(t.Phase)), word(string(t.Activity)))
	v = mix(v, word(string(t.Desired)))
	v = mix(v, word(string(t.Reason)))
	v = mix(v, word(string(t.Observed.State)))
	v = mix(v, t.Version)
	v = mix(v, uint64(t.Attempt.Number)<<32|uint64(t.Attempt.Token))
	v = mix(v, uint64(t.Attempt.Epoch))
	v = mix(v, word(string(t.Attempt.Workload)))
	v = mix(v, uint64(t.Failures)<<32|uint64(t.Disruptions))
	for _, at := range [...]int64{t.Attempt.ClaimedAt.UnixNano(), t.Attempt.StartedAt.UnixNano(), t.Attempt.HeartbeatAt.UnixNano(),
		t.SubmittedAt.UnixNano(), t.CancelRequestedAt.UnixNano(), t.NotBefore.UnixNano(), t.CleanupAt.UnixNano(), t.EndedAt.UnixNano()} {
		v = mix(v, x.state.roundStamp(at))
	}
	x.state.setPart(row, allRows, v)
}

// changed is told of every change to an object.
func (x *explorer) changed(w *dispatcher.Workload, kind kubernetes.WatchType) {
	object := objectResource(string(w.Task))
	x.touch(allObjects, clusters.WritesPart)
	x.touch(object, clusters.Writes)
	v := mix(word(w.Name), word(string(w.UID)))
	v = mix(v, word(string(w.State)))
	v = mix(v, word(string(w.Failure)))
	v = mix(v, word(w.Node))
	v = mix(v, uint64(w.ExitCode)<<2|bit(w.Held)<<1|bit(w.Deleting))
	v = mix(v, x.state.roundStamp(w.DeletedAt.UnixNano()))
	v = mix(v, uint64(kind))
	x.state.setPart(object, allObjects, v)
}

// held is told of a lease that was written.
func (x *explorer) held(l dispatcher.Lease) {
	lease := leaseResource(l.Name)
	x.touch(lease, clusters.Writes)
	v := mix(word(string(l.Holder)), x.state.roundStamp(l.RenewedAt.UnixNano()))
	x.state.set(lease, v)
}

// happened is told of every event of the history: what a verdict depends on is part of the state.
func (x *explorer) happened(e *history.Event) {
	switch e.Kind {
	case history.WorkStarted, history.WorkEnded, history.EffectCounted, history.EffectRefused:
		fate := fateResource(x.world.record.tasks.Name(e.Task))
		x.state.set(fate, mix(x.state.values[fate], mix(uint64(e.Kind), e.Token)))
	case history.ProcessStarted, history.ProcessCrashed:
		x.state.begins(x.world.kernel.Owner(x.world.record.processes.Name(e.Process)), uint64(e.Kind))
	case history.FaultPlanned: // one that waits for its victim is still to come
		x.planned = append(x.planned, mix(word(e.Detail), 6))
		x.state.struck += x.planned[e.Fault-1]
	case history.FaultStruck:
		x.state.struck += mix(word(e.Detail), 7) - x.planned[e.Fault-1]
	case history.FaultHealed:
		x.state.struck -= mix(word(e.Detail), 7)
	}
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
