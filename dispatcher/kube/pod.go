package kube

import (
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/kube/environment"
)

// What a workload's Pod carries. The labels are for selectors, and for people: who can edit a Pod can edit them.
const (
	LabelTask    = "squall.dev/task"
	LabelAttempt = "squall.dev/attempt"
	LabelToken   = "squall.dev/token"
	Finalizer    = "squall.dev/cleanup"
	Container    = "work" // the name of the one container
)

// Placement: on-demand nodes are selected by the label, spot nodes are told by it and by a NoSchedule taint of the same
// key with the value spot (karpenter.sh/docs/concepts/scheduling).
const (
	CapacityType = "karpenter.sh/capacity-type"
	OnDemand     = "on-demand"
	Spot         = "spot"
)

// pod is the object that a workload asks for.
func (o Options) pod(w dispatcher.Workload) (*corev1.Pod, error) {
	work, err := environment.EncodeWork(w.Work)
	if err != nil {
		return nil, fmt.Errorf("%w: write the work as JSON: %w", dispatcher.ErrRejected, err)
	}
	deadline, err := deadlineSeconds(w.Deadline)
	if err != nil {
		return nil, err
	}
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: w.Name, Namespace: o.Namespace, Labels: map[string]string{
			"app.kubernetes.io/managed-by": "squall",

			LabelTask:    string(w.Task),
			LabelAttempt: strconv.Itoa(w.Attempt),
			LabelToken:   strconv.FormatUint(uint64(w.Token), 10),
		}},
		Spec: corev1.PodSpec{
			RestartPolicy:                 corev1.RestartPolicyNever,
			ActiveDeadlineSeconds:         deadline,
			TerminationGracePeriodSeconds: graceSeconds(w.Grace),
			AutomountServiceAccountToken:  new(false),
			EnableServiceLinks:            new(false),
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot:   new(true),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{o.container(w, work)},
		},
	}
	if w.Restarts > 0 {
		p.Spec.RestartPolicy = corev1.RestartPolicyOnFailure // a pod knows no number
	}
	if w.Held {
		p.Finalizers = []string{Finalizer}
	}
	if w.Owns { // makes every deletion that asks for nothing else a foreground one
		p.Finalizers = append(p.Finalizers, metav1.FinalizerDeleteDependents)
	}
	place(&p.Spec, w.OnDemand)
	if o.Adjust != nil {
		o.Adjust(p, w)
	}
	return p, nil
}

// container meets the Pod Security Standard "restricted" (kubernetes.io/docs/concepts/security/pod-security-standards).
func (o Options) container(w dispatcher.Workload, work string) corev1.Container {
	field := func(name, path string) corev1.EnvVar {
		return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
	}
	return corev1.Container{
		Name: Container, Image: o.Image, ImagePullPolicy: corev1.PullIfNotPresent,
		Env: []corev1.EnvVar{
			{Name: environment.Task, Value: string(w.Task)}, // not from labels: those can be edited
			{Name: environment.Attempt, Value: strconv.Itoa(w.Attempt)},
			{Name: environment.Token, Value: strconv.FormatUint(uint64(w.Token), 10)},
			field(environment.Workload, "metadata.uid"),
			field(environment.Node, "spec.nodeName"),
			{Name: environment.Work, Value: work},
		},
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("16Mi"),
		}},
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false),
			ReadOnlyRootFilesystem:   new(true),
			Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
	}
}

// place is rule 1: work with a start deadline stays off spot nodes, all other work may use them.
func place(s *corev1.PodSpec, onDemand bool) {
	if onDemand {
		s.NodeSelector = map[string]string{CapacityType: OnDemand}
		return
	}
	s.Tolerations = []corev1.Toleration{{
		Key: CapacityType, Operator: corev1.TolerationOpEqual, Value: Spot, Effect: corev1.TaintEffectNoSchedule,
	}}
}

// deadlineSeconds never ends later than asked: the nested timeouts rely on it. The API server refuses less than a second.
func deadlineSeconds(d time.Duration) (*int64, error) {
	switch {
	case d == 0:
		return nil, nil
	case d < time.Second:
		return nil, fmt.Errorf("%w: a deadline of %s: activeDeadlineSeconds must be at least 1", dispatcher.ErrRejected, d)
	}
	return new(int64(d / time.Second)), nil
}

// graceSeconds is never shorter than asked.
func graceSeconds(d time.Duration) *int64 {
	return new(int64((d + time.Second - 1) / time.Second))
}
