package deployed

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/squall-chaos/squall/dispatcher/kube"
)

// podsOf are the workloads of a task: one, unless the dispatcher is defective.
func (w *World) podsOf(ctx context.Context, task string) ([]corev1.Pod, error) {
	list, err := w.API.CoreV1().Pods(w.Namespace()).List(ctx, metav1.ListOptions{LabelSelector: kube.LabelTask + "=" + task})
	if err != nil {
		return nil, fmt.Errorf("find the pod of task %s: %w", task, err)
	}
	return list.Items, nil
}

// onPod acts on the task's newest pod.
func (w *World) onPod(what, task string, action func(ctx context.Context, p *corev1.Pod) error) (found bool) {
	w.Do(what+" of task "+task, func(ctx context.Context) error {
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
		return unlessReplaced(action(ctx, newest))
	})
	return found
}

// UnlessGone forgives that somebody else was faster.
func UnlessGone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// unlessReplaced forgives that somebody else was faster, who may have made another object of that name since: a precondition on the UID
// fails then.
func unlessReplaced(err error) error {
	if apierrors.IsConflict(err) {
		return nil
	}
	return UnlessGone(err)
}

// EvictPod deletes the pod with its grace period.
func (w *World) EvictPod(task string) bool {
	return w.onPod("evict the pod", task, w.Evict)
}

// Evict evicts a pod of the run's namespace: that one, and no other that has come to its name.
func (w *World) Evict(ctx context.Context, p *corev1.Pod) error {
	return unlessReplaced(w.API.PolicyV1().Evictions(w.Namespace()).Evict(ctx, &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Name: p.Name, Namespace: p.Namespace},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(p.UID))},
	}))
}

// RemovePod takes the object away at once, finalizers included.
func (w *World) RemovePod(task string) bool {
	return w.onPod("remove the pod", task, func(ctx context.Context, p *corev1.Pod) error {
		pods := w.API.CoreV1().Pods(w.Namespace())
		patch := fmt.Appendf(nil, `{"metadata":{"finalizers":null,"uid":%q}}`, p.UID) // of another object the server refuses it
		if _, err := pods.Patch(ctx, p.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return err
		}
		return pods.Delete(ctx, p.Name, metav1.DeleteOptions{
			GracePeriodSeconds: new(int64(0)), Preconditions: metav1.NewUIDPreconditions(string(p.UID)),
		})
	})
}

// StopPods deletes pods at once: nothing that they could still do is of interest. Finalizers of workloads are released, since the
// dispatcher that owed the cleanup is gone; it goes first, so that it makes no new ones.
func StopPods(ctx context.Context, api kubernetes.Interface, namespace string) error {
	pods := api.CoreV1().Pods(namespace)
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}
	if err := pods.DeleteCollection(ctx, now, metav1.ListOptions{LabelSelector: "!" + kube.LabelTask}); err != nil {
		return err
	}
	list, err := pods.List(ctx, metav1.ListOptions{LabelSelector: kube.LabelTask})
	if err != nil {
		return err
	}
	for _, p := range list.Items {
		_, err := pods.Patch(ctx, p.Name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		if err := UnlessGone(err); err != nil {
			return err
		}
	}
	return pods.DeleteCollection(ctx, now, metav1.ListOptions{})
}
