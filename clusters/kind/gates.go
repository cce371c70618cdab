package kind

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// gate keeps workloads from being scheduled until the machine that they wait for has come, as it would with an autoscaler: the
// nodes of a kind cluster are all there from the start.
const gate = "squall.dev/provisioning"

// swift is what the scheduler takes by itself, at most: a scenario that asks for no more gets no gate.
const swift = time.Second

func (w *World) gated() bool { return w.config.Platform.Scheduling.Max() > swift }

// admit opens the gate of a new workload after a while drawn from the scenario's distribution.
func (w *World) admit(p *corev1.Pod) {
	if len(p.Spec.SchedulingGates) == 0 || w.closed {
		return
	}
	w.at(w.now()+w.config.Platform.Scheduling.Draw(w.waits), func() {
		w.whenAPI(func() { w.open(p) })
	})
}

func (w *World) open(p *corev1.Pod) {
	w.do("let pod "+p.Name+" be scheduled", func(ctx context.Context) error {
		patch := []byte(`{"spec":{"schedulingGates":null}}`)
		_, err := w.api.CoreV1().Pods(w.namespace).Patch(ctx, p.Name, types.MergePatchType, patch, metav1.PatchOptions{})
		return unlessGone(err)
	})
}
