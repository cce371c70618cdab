package kind

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/deployed"
	"github.com/squall-chaos/squall/dispatcher/kube"
)

var _ clusters.PodFaults = (*World)(nil)

// KillContainer kills the task's container, and nobody is told but by its end.
func (w *World) KillContainer(task string) bool {
	c, lives := w.ContainerOf(task)
	if !lives {
		return false
	}
	w.Do("kill the container of task "+task, func(ctx context.Context) error {
		return w.machines.named(c.Node).node.KillContainer(ctx, c.ID)
	})
	return true
}

// cordon keeps new pods off a node, or lets them on again.
func (w *World) cordon(ctx context.Context, m *machine, on bool) error {
	m.cordoned = on
	patch := fmt.Sprintf(`{"spec":{"unschedulable":%t}}`, on)
	_, err := w.API.CoreV1().Nodes().Patch(ctx, m.node.Name(), types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
	return deployed.UnlessGone(err)
}

// evictAll evicts the workloads of this run from a node.
func (w *World) evictAll(ctx context.Context, m *machine) error {
	list, err := w.API.CoreV1().Pods(w.Namespace()).List(ctx, metav1.ListOptions{
		LabelSelector: kube.LabelTask, FieldSelector: "spec.nodeName=" + m.node.Name(),
	})
	if err != nil {
		return err
	}
	for i := range list.Items {
		if err := w.Evict(ctx, &list.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

func (w *World) deleteNode(ctx context.Context, m *machine) error {
	return deployed.UnlessGone(w.API.CoreV1().Nodes().Delete(ctx, m.node.Name(), metav1.DeleteOptions{}))
}
