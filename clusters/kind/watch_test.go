package kind

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/deployed"
	"github.com/squall-chaos/squall/clusters/kind/testbed"
	"github.com/squall-chaos/squall/dispatcher/kube"
)

// TestWhatCalibrateNeedsIsRecorded: when a pod got its node, and since when a silent node was silent.
func TestWhatCalibrateNeedsIsRecorded(t *testing.T) {
	now := time.Unix(1000, 0)
	w := &World{heard: map[string]time.Time{}, machines: machines{{node: new(testbed.Node), name: "od-1"}}}
	w.World = deployed.New(t.Context(), nil, w, clusters.Config{}, deployed.Options{})
	w.Start(now)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "task-a", UID: "u", Labels: map[string]string{kube.LabelTask: "a", kube.LabelToken: "3"}}}
	bound := pod.DeepCopy()
	bound.Spec.NodeName = "worker3"
	w.PodSeen(nil, pod, now.Add(time.Second))
	w.PodSeen(pod, bound, now.Add(2*time.Second))
	w.PodSeen(bound, bound, now.Add(3*time.Second))
	node := func(status corev1.ConditionStatus) *corev1.Node {
		return &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status}}}}
	}
	renewed := metav1.NewMicroTime(now.Add(4 * time.Second))
	w.kubeletSeen(nil, &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{RenewTime: &renewed}}, now)
	w.nodeSeen(node(corev1.ConditionTrue), node(corev1.ConditionUnknown), now.Add(13*time.Second))
	w.Drain()
	var bounds, silences int
	for _, e := range w.Recorded() {
		switch e.Kind {
		case history.ObjectBound:
			bounds++
			if e.Node != "worker3" || e.Task != "a" || e.Detail != "" || e.At.Sub(now) != 2*time.Second {
				t.Errorf("bound: %+v", e)
			}
		case history.NodeNotReady:
			silences++
			if e.Node != "od-1" || e.Delay != 9*time.Second {
				t.Errorf("silent: %+v", e)
			}
		}
	}
	if bounds != 1 || silences != 1 {
		t.Errorf("%d bounds and %d silences: %+v", bounds, silences, w.Recorded())
	}
}
