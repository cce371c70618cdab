//go:build e2e

package kube

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	core "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/kube/environment"
)

// kubelet plays the kubelets of all nodes for the pods of one namespace: it writes what they would write. It acts when step
// is called, and the containers are all in its head.
type kubelet struct {
	t    *testing.T
	api  core.PodInterface
	told map[string]int32 // exit codes of containers that end by themselves, by pod
}

// step brings every pod as far as it can get at this moment.
func (k *kubelet) step(ctx context.Context) {
	k.t.Helper()
	pods, err := k.api.List(ctx, metav1.ListOptions{})
	k.ok(err)
	for i := range pods.Items {
		if p := &pods.Items[i]; p.Spec.NodeName != "" {
			k.sync(ctx, p, time.Now())
		}
	}
}

// sync is the kubelet's look at one pod (pkg/kubelet: a terminal phase comes before the deletion is confirmed).
func (k *kubelet) sync(ctx context.Context, p *corev1.Pod, now time.Time) {
	ended := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
	code, exits := k.told[p.Name]
	switch {
	case ended && p.DeletionTimestamp != nil:
		k.confirm(ctx, p)
	case ended:
	case p.DeletionTimestamp != nil:
		if !ignoresTerm(p) || now.After(p.DeletionTimestamp.Time) {
			k.end(ctx, p, "", exitTerm, now)
		}
	case p.Status.Phase == corev1.PodPending:
		k.run(ctx, p, now)
	case exits:
		k.end(ctx, p, "", code, now)
	case p.Spec.ActiveDeadlineSeconds != nil && now.After(p.Status.StartTime.Add(seconds(p.Spec.ActiveDeadlineSeconds))):
		k.end(ctx, p, reasonDeadline, exitTerm, now)
	}
}

func ignoresTerm(p *corev1.Pod) bool {
	for _, v := range p.Spec.Containers[0].Env {
		if v.Name == environment.Work {
			w, err := environment.DecodeWork(v.Value)
			return err == nil && w.IgnoreTerm
		}
	}
	return false
}

func (k *kubelet) run(ctx context.Context, p *corev1.Pod, now time.Time) {
	p.Status.Phase, p.Status.StartTime = corev1.PodRunning, new(metav1.NewTime(now))
	k.report(ctx, p, corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(now)}})
}

func (k *kubelet) end(ctx context.Context, p *corev1.Pod, reason string, code int32, now time.Time) {
	p.Status.Phase, p.Status.Reason = corev1.PodFailed, reason
	if code == 0 {
		p.Status.Phase = corev1.PodSucceeded
	}
	k.report(ctx, p, corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: code, StartedAt: metav1.NewTime(now), FinishedAt: metav1.NewTime(now),
	}})
}

func (k *kubelet) report(ctx context.Context, p *corev1.Pod, s corev1.ContainerState) {
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: Container, Image: "worker", ImageID: "worker", State: s}}
	_, err := k.api.UpdateStatus(ctx, p, metav1.UpdateOptions{})
	k.ok(err)
}

// confirm lets the object go, as far as the kubelet is concerned.
func (k *kubelet) confirm(ctx context.Context, p *corev1.Pod) {
	err := k.api.Delete(ctx, p.Name, metav1.DeleteOptions{
		GracePeriodSeconds: new(int64(0)), Preconditions: &metav1.Preconditions{UID: &p.UID},
	})
	k.ok(err)
}

// ok passes over what the next step will see anew.
func (k *kubelet) ok(err error) {
	k.t.Helper()
	if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
		k.t.Fatal(err)
	}
}

// addNode makes a ready node of a capacity type.
func addNode(ctx context.Context, client core.NodeInterface, name, capacityType string) error {
	n, err := client.Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{CapacityType: capacityType},
	}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	n.Spec.Taints = nil // admission adds not-ready, which node lifecycle would take away
	if capacityType == Spot {
		n.Spec.Taints = []corev1.Taint{{Key: CapacityType, Value: Spot, Effect: corev1.TaintEffectNoSchedule}}
	}
	if n, err = client.Update(ctx, n, metav1.UpdateOptions{}); err != nil {
		return err
	}
	n.Status.Capacity = corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("8"), corev1.ResourceMemory: resource.MustParse("8Gi"), corev1.ResourcePods: resource.MustParse("110"),
	}
	n.Status.Allocatable = n.Status.Capacity
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	_, err = client.UpdateStatus(ctx, n, metav1.UpdateOptions{})
	return err
}

// world is a namespace of the control plane, with kubelets.
type world struct {
	t         *testing.T
	workloads *Workloads
	kubelet   *kubelet
}

func (w world) Workloads() dispatcher.Workloads { return w.workloads }

func (w world) Until(holds func() bool) bool {
	limit := time.After(30 * time.Second)
	for !holds() {
		w.kubelet.step(w.t.Context())
		select {
		case <-limit:
			return false
		case <-time.After(50 * time.Millisecond):
		}
	}
	return true
}

func (w world) Exit(name string, code int) { w.kubelet.told[name] = int32(code) }
