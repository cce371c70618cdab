package kube

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/squall-chaos/squall/dispatcher"
)

var askedAt = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// status is a Pod with a status, its container ended with a code this long after the deletion was asked for.
type status struct {
	phase    corev1.PodPhase
	reason   string
	target   bool // condition DisruptionTarget
	deleting bool
	code     int32 // -1: the container never ran
	why      string
	after    time.Duration
}

func (s status) pod(t *testing.T) *corev1.Pod {
	t.Helper()
	p := made(t, full())
	p.Spec.NodeName = "node-1"
	p.Status = corev1.PodStatus{Phase: s.phase, Reason: s.reason}
	if s.target {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
	}
	if s.deleting {
		// As the API server writes it: the moment at which the grace ends.
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = new(metav1.NewTime(askedAt.Add(30*time.Second))), new(int64(30))
	}
	if s.code >= 0 {
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: Container, State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: s.code, Reason: s.why, FinishedAt: metav1.NewTime(askedAt.Add(s.after))},
		}}}
	}
	return p
}

func TestLife(t *testing.T) {
	const (
		pending, running  = dispatcher.WorkloadPending, dispatcher.WorkloadRunning
		succeeded, failed = dispatcher.WorkloadSucceeded, dispatcher.WorkloadFailed
		early, late       = -time.Minute, time.Second
	)
	for _, c := range []struct {
		name    string
		status  status
		state   dispatcher.WorkloadState
		failure dispatcher.Failure
	}{
		{"pending", status{phase: corev1.PodPending, code: -1}, pending, ""},
		{"running", status{phase: corev1.PodRunning, code: -1}, running, ""},
		{"a phase that says nothing", status{phase: corev1.PodUnknown, code: -1}, running, ""},
		{"being deleted is not ended", status{phase: corev1.PodRunning, deleting: true, code: -1}, running, ""},
		{"succeeded", status{phase: corev1.PodSucceeded}, succeeded, ""},
		{"succeeded, then deleted", status{phase: corev1.PodSucceeded, deleting: true, after: early}, succeeded, ""},
		{"answers SIGTERM with 0", status{phase: corev1.PodSucceeded, deleting: true, after: late}, failed, dispatcher.FailureEvicted},
		{"fails", status{phase: corev1.PodFailed, code: 75}, failed, dispatcher.FailureError},
		{"out of memory", status{phase: corev1.PodFailed, code: 137, why: "OOMKilled"}, failed, dispatcher.FailureError},
		{"out of memory, then deleted", status{phase: corev1.PodFailed, code: 137, why: "OOMKilled", deleting: true, after: early}, failed, dispatcher.FailureError},
		{"fails, then deleted", status{phase: corev1.PodFailed, code: 1, deleting: true, after: early}, failed, dispatcher.FailureError},
		{"answers SIGTERM with 1", status{phase: corev1.PodFailed, code: 1, deleting: true, after: late}, failed, dispatcher.FailureEvicted},
		{"ends by SIGTERM, by a slow clock", status{phase: corev1.PodFailed, code: 143, deleting: true, after: early}, failed, dispatcher.FailureEvicted},
		{"deleted before it ran", status{phase: corev1.PodFailed, deleting: true, code: -1}, failed, dispatcher.FailureEvicted},
		{"past its deadline", status{phase: corev1.PodFailed, reason: "DeadlineExceeded", code: 143}, failed, dispatcher.FailureDeadline},
		{"past its deadline before it ran", status{phase: corev1.PodFailed, reason: "DeadlineExceeded", code: -1}, failed, dispatcher.FailureDeadline},
		{"past its deadline, then deleted", status{phase: corev1.PodFailed, reason: "DeadlineExceeded", code: 143, deleting: true, after: early}, failed, dispatcher.FailureDeadline},
		{"deleted, then past its deadline", status{phase: corev1.PodFailed, reason: "DeadlineExceeded", code: 143, deleting: true, after: late}, failed, dispatcher.FailureEvicted},
		{"evicted by the kubelet", status{phase: corev1.PodFailed, reason: "Evicted", code: 137}, failed, dispatcher.FailureEvicted},
		{"node shut down", status{phase: corev1.PodFailed, reason: "Terminated", code: 143}, failed, dispatcher.FailureEvicted},
		{"node gone, collected", status{phase: corev1.PodFailed, target: true, code: -1}, failed, dispatcher.FailureEvicted},
		{"disrupted, then its node restarted", status{phase: corev1.PodFailed, target: true, code: 137, why: "ContainerStatusUnknown"}, failed, dispatcher.FailureEvicted},
		{"node restarted", status{phase: corev1.PodFailed, code: 137, why: "ContainerStatusUnknown"}, failed, dispatcher.FailureUnknown},
		{"turned away by the kubelet", status{phase: corev1.PodFailed, reason: "OutOfpods", code: -1}, failed, dispatcher.FailureEvicted},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, err := options.workload(c.status.pod(t))
			if err != nil {
				t.Fatal(err)
			}
			if w.State != c.state || w.Failure != c.failure {
				t.Errorf("it is %s (%s), want %s (%s)", w.State, w.Failure, c.state, c.failure)
			}
			if c.status.deleting && (!w.Deleting || !w.DeletedAt.Equal(askedAt)) {
				t.Errorf("deleting %t, since %s", w.Deleting, w.DeletedAt)
			}
			if w.State.Ended() && c.status.code >= 0 && w.ExitCode != int(c.status.code) {
				t.Errorf("exit code %d", w.ExitCode)
			}
		})
	}
}
