// Package synthetic writes dumps of a cluster that never was, as kubectl would print them, with every duration drawn from a known
// distribution: what calibration makes of them can be compared with the truth.
package synthetic

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/squall-chaos/squall/clusters"
)

// Truth is what the durations are drawn from; what is not set takes no time.
type Truth struct {
	Platform clusters.Platform
	Run      clusters.Dist
	NotReady clusters.Dist
}

// Options are how large the dump is.
type Options struct {
	Seed uint64
	// Pods is how many pods there are on nodes that are there already; New how many wait for a node of their own; Lost how many
	// nodes fall silent. Each for both capacity types.
	Pods, New, Lost int
	// Deadline stops what runs longer; 0: nothing does.
	Deadline time.Duration
	// Until is when the dump is taken: what goes on then has not ended, and what would come later is not in it. 0: when all has.
	Until time.Duration
}

// Standard is a cloud's cluster in which spot machines are slow to come and have slower disks.
func Standard() Truth {
	s := func(shape clusters.Shape, median, p99 float64) clusters.Dist {
		return clusters.Dist{Shape: shape, A: time.Duration(median * float64(time.Second)), B: time.Duration(p99 * float64(time.Second))}
	}
	return Truth{
		Platform: clusters.Platform{
			Scheduling: s(clusters.ExponentialShape, 1.5, 0),
			ImagePull:  s(clusters.LogNormalShape, 4, 15), Startup: s(clusters.LogNormalShape, 2.4, 6),
			Shutdown: s(clusters.WeibullShape, 3, 9), Provisioning: s(clusters.LogNormalShape, 70, 120),
			Spot: clusters.Machine{ImagePull: s(clusters.LogNormalShape, 7, 30), Provisioning: s(clusters.LogNormalShape, 130, 420)},
		},
		Run:      s(clusters.WeibullShape, 90, 200),
		NotReady: clusters.Uniform(36*time.Second, 46*time.Second),
	}
}

// Start is when the dump's cluster begins.
var Start = time.Date(2026, 11, 29, 8, 0, 0, 0, time.UTC)

type object = map[string]any

type writer struct {
	Truth
	Options
	r     *rand.Rand
	items []any
	at    time.Time
}

// Write writes one list of all objects, as kubectl prints it.
func Write(w io.Writer, t Truth, o Options) error {
	d := &writer{Truth: t, Options: o, r: rand.New(rand.NewPCG(o.Seed, 17)), at: Start}
	for i, kind := range []clusters.CapacityType{clusters.OnDemand, clusters.Spot} {
		d.kind(kind, i)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "    ")
	if err := e.Encode(object{"apiVersion": "v1", "items": d.items, "kind": "List", "metadata": object{"resourceVersion": ""}}); err != nil {
		return fmt.Errorf("write a dump: %w", err)
	}
	return nil
}

func (d *writer) kind(kind clusters.CapacityType, i int) {
	const machines = 4
	platform := d.Platform.On(kind)
	for n := range machines {
		d.node(fmt.Sprintf("%s-%d", kind, n+1), kind, Start.Add(-time.Hour), Start.Add(-59*time.Minute))
	}
	at := Start.Add(time.Duration(i) * time.Second)
	for n := range d.Pods {
		at = at.Add(time.Duration(d.r.ExpFloat64() * float64(4*time.Second)))
		name := fmt.Sprintf("task-%s-%d", kind, n+1)
		scheduled := at.Add(platform.Scheduling.Draw(d.r))
		d.pod(name, fmt.Sprintf("%s-%d", kind, n%machines+1), platform, at, scheduled, time.Time{})
	}
	for n := range d.New {
		at = at.Add(time.Duration(d.r.ExpFloat64() * float64(20*time.Second)))
		unfit := at.Add(platform.Scheduling.Draw(d.r))
		ready := unfit.Add(platform.Provisioning.Draw(d.r))
		name := fmt.Sprintf("%s-new-%d", kind, n+1)
		d.node(name, kind, unfit.Add(ready.Sub(unfit)*2/3), ready)
		d.pod(fmt.Sprintf("late-%s-%d", kind, n+1), name, platform, at, ready.Add(time.Second), unfit)
	}
	for n := range d.Lost {
		d.lose(fmt.Sprintf("%s-lost-%d", kind, n+1), kind)
	}
}

// later tells whether the dump was taken before that.
func (d *writer) later(at time.Time) bool { return d.Until > 0 && at.After(Start.Add(d.Until)) }

func whole(t time.Time) string  { return t.Truncate(time.Second).Format(time.RFC3339) }
func micros(t time.Time) string { return t.Format("2006-01-02T15:04:05.000000Z07:00") }

func (d *writer) uid() string {
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", d.r.Uint32(), d.r.IntN(1<<16), d.r.IntN(1<<12), d.r.IntN(1<<12), d.r.Int64N(1<<48))
}

func (d *writer) node(name string, kind clusters.CapacityType, created, ready time.Time) {
	if d.later(ready) {
		return
	}
	d.items = append(d.items, object{"apiVersion": "v1", "kind": "Node",
		"metadata": object{"name": name, "uid": d.uid(), "creationTimestamp": whole(created), "labels": object{
			"karpenter.sh/capacity-type": string(kind), "kubernetes.io/hostname": name, "topology.kubernetes.io/zone": "zone-a"}},
		"spec": object{"providerID": "aws:///zone-a/i-" + name},
		"status": object{"conditions": []any{object{"type": "Ready", "status": "True", "reason": "KubeletReady",
			"lastHeartbeatTime": whole(ready), "lastTransitionTime": whole(ready)}}}})
}

// lose is a node whose kubelet fell silent.
func (d *writer) lose(name string, kind clusters.CapacityType) {
	heard := Start.Add(time.Duration(d.r.Int64N(int64(time.Hour))))
	lost := heard.Add(d.NotReady.Draw(d.r))
	if d.later(lost) {
		return
	}
	d.items = append(d.items, object{"apiVersion": "v1", "kind": "Node",
		"metadata": object{"name": name, "uid": d.uid(), "creationTimestamp": whole(Start.Add(-time.Hour)), "labels": object{"karpenter.sh/capacity-type": string(kind)}},
		"spec":     object{"providerID": "aws:///zone-a/i-" + name},
		"status": object{"conditions": []any{object{"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown",
			"lastHeartbeatTime": whole(heard.Add(-2 * time.Minute)), "lastTransitionTime": whole(lost)}}}},
		object{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": object{"name": name, "namespace": "kube-node-lease", "uid": d.uid()},
			"spec": object{"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": micros(heard)}})
}

// event is one of the kubelet's, or, exact, of the scheduler's.
func (d *writer) event(pod, uid, reason, message string, at time.Time, exact bool) {
	if d.later(at) {
		return
	}
	e := object{"apiVersion": "v1", "kind": "Event", "type": "Normal", "reason": reason, "message": message,
		"metadata":       object{"name": fmt.Sprintf("%s.%016x", pod, d.r.Uint64()), "namespace": "jobs", "uid": d.uid(), "creationTimestamp": whole(at)},
		"involvedObject": object{"apiVersion": "v1", "kind": "Pod", "name": pod, "namespace": "jobs", "uid": uid}}
	if exact {
		e["eventTime"], e["firstTimestamp"], e["lastTimestamp"] = micros(at), nil, nil
	} else {
		e["eventTime"], e["firstTimestamp"], e["lastTimestamp"] = nil, whole(at), whole(at)
	}
	d.items = append(d.items, e)
}

// pod is one task's, with its events; one that fitted nowhere at first says so.
func (d *writer) pod(name, node string, platform clusters.Platform, created, scheduled, unfit time.Time) {
	uid := d.uid()
	if d.later(created) {
		return
	}
	if !unfit.IsZero() {
		d.event(name, uid, "FailedScheduling", "0/8 nodes are available: 8 Insufficient cpu.", unfit, true)
		d.event(name, uid, "Nominated", "Pod should schedule on: nodeclaim/"+node, unfit.Add(time.Second), false)
	}
	d.event(name, uid, "Scheduled", "Successfully assigned jobs/"+name+" to "+node, scheduled, true)
	pull := platform.ImagePull.Draw(d.r)
	startup := platform.Startup.Draw(d.r)
	pulled := scheduled.Add(startup/2 + pull)
	d.event(name, uid, "Pulled", fmt.Sprintf(`Successfully pulled image "registry.example/worker:1.4" in %s (%s including waiting). Image size: 81267311 bytes.`,
		pull.Round(time.Millisecond), pull.Round(time.Millisecond)), pulled, false)
	started := scheduled.Add(pull + startup)
	phase, reason, state := "Succeeded", "", object{}
	finished := started.Add(d.Run.Draw(d.r))
	exit := 0
	if d.Deadline > 0 && finished.Sub(started) > d.Deadline {
		kill := started.Add(d.Deadline)
		d.event(name, uid, "Killing", "Stopping container worker", kill, false)
		finished, exit, phase, reason = kill.Add(platform.Shutdown.Draw(d.r)), 143, "Failed", "DeadlineExceeded"
	}
	state["terminated"] = object{"exitCode": exit, "reason": map[bool]string{true: "Completed", false: "Error"}[exit == 0],
		"startedAt": whole(started), "finishedAt": whole(finished), "containerID": "containerd://" + uid}
	if d.later(finished) {
		phase, reason, state = "Running", "", object{"running": object{"startedAt": whole(started)}}
	}
	if d.later(started) {
		phase, state = "Pending", object{"waiting": object{"reason": "ContainerCreating"}}
	}
	bound := object{"type": "PodScheduled", "status": "True", "lastTransitionTime": whole(scheduled)}
	if d.later(scheduled) {
		node, bound = "", object{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "lastTransitionTime": whole(created)}
	}
	status := object{"phase": phase, "startTime": whole(scheduled), "conditions": []any{bound},
		"containerStatuses": []any{object{"name": "worker", "ready": false, "restartCount": 0, "image": "registry.example/worker:1.4", "state": state}}}
	if reason != "" {
		status["reason"] = reason
	}
	d.items = append(d.items, object{"apiVersion": "v1", "kind": "Pod",
		"metadata": object{"name": name, "namespace": "jobs", "uid": uid, "creationTimestamp": whole(created), "labels": object{"app": "worker", "team": "billing"},
			"ownerReferences": []any{object{"kind": "Job", "name": name}}},
		"spec":   object{"nodeName": node, "restartPolicy": "Never", "containers": []any{object{"name": "worker", "image": "registry.example/worker:1.4"}}},
		"status": status})
}
