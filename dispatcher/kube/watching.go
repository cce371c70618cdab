package kube

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/squall-chaos/squall/dispatcher"
)

// Life is the state of a Pod and why it failed, as Workloads would tell it, for those who watch Pods themselves.
func Life(p *corev1.Pod) (dispatcher.WorkloadState, dispatcher.Failure) {
	state, failure, _ := life(p, deletedAt(p))
	return state, failure
}
