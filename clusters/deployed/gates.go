package deployed

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

func (w *World) gated() bool { return w.Gated || w.Config.Platform.Scheduling.Max() > swift }

// admit opens the gate of a new workload after a while drawn from the scenario's distribution.
func (w *World) admit(p *corev1.Pod) {
	if len(p.Spec.SchedulingGates) == 0 || w.closed {
		return
	}
	w.at(w.now()+w.Config.Platform.Scheduling.Draw(w.waits), func() {
		if w.held {
			w.shut = append(w.shut, p)
			return
		}
		w.ground.WhenAPI(func() { w.open(p) })
	})
}

func (w *World) open(p *corev1.Pod) {
	w.Do("let pod "+p.Name+" be scheduled", func(ctx context.Context) error {
		patch := []byte(`{"spec":{"schedulingGates":null}}`)
		_, err := w.API.CoreV1().Pods(w.Namespace()).Patch(ctx, p.Name, types.MergePatchType, patch, metav1.PatchOptions{})
		return UnlessGone(err)
	})
}

// HoldGates keeps the gates of workloads shut, or opens those that would be open by now. Where not every workload has one, it does
// nothing to those that have none.
func (w *World) HoldGates(hold bool) {
	w.held = hold
	if hold {
		return
	}
	waiting := w.shut
	w.shut = nil
	for _, p := range waiting {
		w.ground.WhenAPI(func() { w.open(p) })
	}
}
