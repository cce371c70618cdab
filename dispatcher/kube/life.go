package kube

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/squall-chaos/squall/dispatcher"
)

// The reasons of a status, of a Pod or of its container, that say more than its phase.
const (
	reasonDeadline      = "DeadlineExceeded"       // pkg/kubelet/active_deadline.go
	reasonUnknownStatus = "ContainerStatusUnknown" // pkg/kubelet/container, ContainerReasonStatusUnknown
	reasonOOM           = "OOMKilled"              // an exit by SIGKILL that is the work's own doing
)

// The exit codes of a container that a signal of the kubelet ended.
const (
	exitTerm = 128 + 15
	exitKill = 128 + 9
)

// life is the state of a Pod, and why it failed. A phase other than the terminal ones says that a container may be alive.
func life(p *corev1.Pod, deletedAt time.Time) (dispatcher.WorkloadState, dispatcher.Failure, int) {
	end := ended(p)
	code := 0
	if end != nil {
		code = int(end.ExitCode)
	}
	switch p.Status.Phase {
	case corev1.PodPending, "":
		return dispatcher.WorkloadPending, dispatcher.FailureNone, 0
	case corev1.PodSucceeded:
		if cutShort(p, end, deletedAt) {
			return dispatcher.WorkloadFailed, dispatcher.FailureEvicted, code
		}
		return dispatcher.WorkloadSucceeded, dispatcher.FailureNone, code
	case corev1.PodFailed:
		return dispatcher.WorkloadFailed, failure(p, end, deletedAt), code
	}
	return dispatcher.WorkloadRunning, dispatcher.FailureNone, 0
}

// failure says why a Pod failed.
func failure(p *corev1.Pod, end *corev1.ContainerStateTerminated, deletedAt time.Time) dispatcher.Failure {
	switch {
	case cutShort(p, end, deletedAt):
		return dispatcher.FailureEvicted
	case p.Status.Reason == reasonDeadline:
		return dispatcher.FailureDeadline
	case disrupted(p):
		return dispatcher.FailureEvicted
	case end == nil:
		// No container ever ran: the kubelet turned the Pod away (OutOfpods, NodeAffinity, UnexpectedAdmissionError, ...), which
		// the work cannot help.
		return dispatcher.FailureEvicted
	case end.Reason == reasonUnknownStatus:
		return dispatcher.FailureUnknown
	}
	return dispatcher.FailureError
}

// cutShort tells whether a deletion ended the container, rather than came after its end: the exit code does not tell, since a
// container may answer SIGTERM with any. The two stamps are of different clocks, whole seconds both; an error decides only what
// the attempt is charged to. The signals' exit codes speak for the deletion, except where a deadline explains them.
func cutShort(p *corev1.Pod, end *corev1.ContainerStateTerminated, deletedAt time.Time) bool {
	switch {
	case p.DeletionTimestamp == nil:
		return false
	case end == nil || end.FinishedAt.IsZero():
		return p.Status.Reason != reasonDeadline
	case !end.FinishedAt.Time.Before(deletedAt):
		return true
	}
	return p.Status.Reason != reasonDeadline && (end.ExitCode == exitTerm || end.ExitCode == exitKill) && end.Reason != reasonOOM
}

// disrupted tells that something other than the work ended the Pod: the condition is set by evictions, taints, pod garbage
// collection and preemption; the kubelet's own evictions and node shutdown set the reason as well
// (kubernetes.io/docs/concepts/workloads/pods/disruptions, and pkg/kubelet/{eviction,nodeshutdown,preemption}).
func disrupted(p *corev1.Pod) bool {
	switch p.Status.Reason {
	case "Evicted", "Terminated", "NodeShutdown", "Preempting", "NodeLost":
		return true
	}
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue
	})
}

// ended is the end of the one container, nil while there is none.
func ended(p *corev1.Pod) *corev1.ContainerStateTerminated {
	for _, c := range p.Status.ContainerStatuses {
		if c.Name == Container {
			return c.State.Terminated
		}
	}
	return nil
}
