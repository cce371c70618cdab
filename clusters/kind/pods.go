package kind

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher/kube"
)

var _ clusters.PodFaults = (*World)(nil)

// podsOf are the workloads of a task: one, unless the dispatcher is defective.
func (w *World) podsOf(ctx context.Context, task string) ([]corev1.Pod, error) {
	list, err := w.api.CoreV1().Pods(w.namespace).List(ctx, metav1.ListOptions{LabelSelector: kube.LabelTask + "=" + task})
	if err != nil {
		return nil, fmt.Errorf("find the pod of task %s: %w", task, err)
	}
	return list.Items, nil
}

// onPod acts on the task's newest pod.
func (w *World) onPod(what, task string, action func(ctx context.Context, p *corev1.Pod) error) (found bool) {
	w.do(what+" of task "+task, func(ctx context.Context) error {
		pods, err := w.podsOf(ctx, task)
		if err != nil || len(pods) == 0 {
			return err
		}
		newest := &pods[0]
		for i := range pods {
			if newest.CreationTimestamp.Before(&pods[i].CreationTimestamp) {
				newest = &pods[i]
			}
		}
		found = true
		return unlessGone(action(ctx, newest))
	})
	return found
}

// unlessGone forgives that somebody else was faster.
func unlessGone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// EvictPod deletes the pod with its grace period.
func (w *World) EvictPod(task string) bool {
	return w.onPod("evict the pod", task, w.evict)
}

func (w *World) evict(ctx context.Context, p *corev1.Pod) error {
	return w.api.PolicyV1().Evictions(w.namespace).Evict(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: p.Name, Namespace: p.Namespace}})
}

// RemovePod takes the object away at once, finalizers included.
func (w *World) RemovePod(task string) bool {
	return w.onPod("remove the pod", task, func(ctx context.Context, p *corev1.Pod) error {
		pods := w.api.CoreV1().Pods(w.namespace)
		if _, err := pods.Patch(ctx, p.Name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
			return err
		}
		return pods.Delete(ctx, p.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
	})
}

// KillContainer kills the task's container, and nobody is told but by its end.
func (w *World) KillContainer(task string) bool {
	c, lives := w.live.of(task)
	if !lives {
		return false
	}
	w.do("kill the container of task "+task, func(ctx context.Context) error {
		return w.machines.named(c.node).node.KillContainer(ctx, c.id)
	})
	return true
}

// cordon keeps new pods off a node, or lets them on again.
func (w *World) cordon(ctx context.Context, m *machine, on bool) error {
	m.cordoned = on
	patch := fmt.Sprintf(`{"spec":{"unschedulable":%t}}`, on)
	_, err := w.api.CoreV1().Nodes().Patch(ctx, m.node.Name(), types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
	return unlessGone(err)
}

// evictAll evicts the workloads of this run from a node.
func (w *World) evictAll(ctx context.Context, m *machine) error {
	list, err := w.api.CoreV1().Pods(w.namespace).List(ctx, metav1.ListOptions{
		LabelSelector: kube.LabelTask, FieldSelector: "spec.nodeName=" + m.node.Name(),
	})
	if err != nil {
		return err
	}
	for i := range list.Items {
		if err := unlessGone(w.evict(ctx, &list.Items[i])); err != nil {
			return err
		}
	}
	return nil
}

func (w *World) deleteNode(ctx context.Context, m *machine) error {
	return unlessGone(w.api.CoreV1().Nodes().Delete(ctx, m.node.Name(), metav1.DeleteOptions{}))
}
