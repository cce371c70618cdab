package shared

import (
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters/deployed"
	"github.com/squall-chaos/squall/clusters/journal"
	"github.com/squall-chaos/squall/dispatcher/kube"
)

// statusSeen is the second witness: what a kubelet says of the container of a workload. Stamps are of when it was seen, since those in a
// status are whole seconds of a node's clock; so a start may have been earlier than it is told, and an end too.
func (w *World) statusSeen(before, now *corev1.Pod, at time.Time) {
	last := now
	if last == nil {
		last = before
	}
	if last.Labels[kube.LabelTask] == "" {
		return
	}
	was, is := lifeOf(before), lifeOf(now)
	token, _ := strconv.ParseUint(last.Labels[kube.LabelToken], 10, 64)
	e := journal.Event{At: at, Process: journal.Runtime, Task: last.Labels[kube.LabelTask], Token: token,
		Node: last.Spec.NodeName, Object: string(last.UID)}
	if is.begun && !was.begun {
		w.Post(func() {
			e.Kind = history.ContainerStarted
			w.ContainerStarted(deployed.Container{ID: is.id, Object: e.Object, Task: e.Task, Node: e.Node, Token: token}, e)
		})
	}
	switch {
	case is.ended && !was.ended:
		w.Post(func() {
			e.Kind, e.Detail = history.ContainerEnded, fmt.Sprintf("exit %d", is.code)
			w.ContainerEnded(e.Object, e)
		})
	case now == nil && was.begun && !was.ended:
		// A kubelet lets an object go when its containers are gone.
		w.Post(func() {
			e.Kind, e.Detail = history.ContainerEnded, "killed, as its pod is gone"
			w.ContainerEnded(e.Object, e)
		})
	}
}

// life is what a pod's status says of its container.
type life struct {
	id           string
	begun, ended bool
	code         int32
}

func lifeOf(p *corev1.Pod) life {
	if p == nil {
		return life{}
	}
	for _, c := range p.Status.ContainerStatuses {
		if c.Name != kube.Container {
			continue
		}
		switch s := c.State; {
		case s.Running != nil:
			return life{id: c.ContainerID, begun: true}
		case s.Terminated != nil:
			// One that was never started ends without a container.
			return life{id: c.ContainerID, begun: !s.Terminated.StartedAt.IsZero(), ended: true, code: s.Terminated.ExitCode}
		}
	}
	return life{}
}
