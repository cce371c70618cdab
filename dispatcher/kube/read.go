package kube

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/kube/environment"
)

// workload is a Pod as the dispatcher sees it. One that we did not make is a conflict. Which task, attempt and token it is of stands in
// its spec, which nobody can edit; labels only select it (tektoncd/pipeline#3656).
func (o Options) workload(p *corev1.Pod) (dispatcher.Workload, error) {
	version, err := number(p.ResourceVersion)
	if err != nil {
		return dispatcher.Workload{}, err
	}
	w := dispatcher.Workload{
		Name: p.Name, UID: dispatcher.UID(p.UID), Version: version,
		OnDemand: p.Spec.NodeSelector[CapacityType] == OnDemand,
		Deadline: seconds(p.Spec.ActiveDeadlineSeconds),
		Grace:    seconds(p.Spec.TerminationGracePeriodSeconds),
		Held:     slices.Contains(p.Finalizers, Finalizer),
		Owns:     slices.Contains(p.Finalizers, metav1.FinalizerDeleteDependents),
		Deleting: p.DeletionTimestamp != nil,
		Node:     p.Spec.NodeName,
	}
	w.DeletedAt = deletedAt(p)
	if err := o.order(p, &w); err != nil {
		return dispatcher.Workload{}, fmt.Errorf("%w: pod %s (UID %s) is none of ours: %w", dispatcher.ErrConflict, p.Name, p.UID, err)
	}
	w.State, w.Failure, w.ExitCode = life(p, w.DeletedAt)
	return w, nil
}

// deletedAt is when the deletion was asked for: the stamp of a Pod lies at the end of its grace period.
func deletedAt(p *corev1.Pod) time.Time {
	if p.DeletionTimestamp == nil {
		return time.Time{}
	}
	return p.DeletionTimestamp.Add(-seconds(p.DeletionGracePeriodSeconds))
}

// order reads back what the Pod was told to do.
func (o Options) order(p *corev1.Pod, w *dispatcher.Workload) error {
	w.Task = dispatcher.TaskID(told(p, environment.Task, LabelTask))
	attempt, err := strconv.Atoi(told(p, environment.Attempt, LabelAttempt))
	if err != nil {
		return fmt.Errorf("%s: %w", environment.Attempt, err)
	}
	token, err := strconv.ParseUint(told(p, environment.Token, LabelToken), 10, 64)
	if err != nil {
		return fmt.Errorf("%s: %w", environment.Token, err)
	}
	if w.Task == "" || w.Name != dispatcher.WorkloadName(w.Task) && !o.AnyName {
		return fmt.Errorf("%s is %q", environment.Task, w.Task)
	}
	w.Attempt, w.Token = attempt, dispatcher.Token(token)
	work := variable(p, environment.Work)
	if work == nil {
		return fmt.Errorf("container %q is not told %s", Container, environment.Work)
	}
	w.Work, err = environment.DecodeWork(work.Value)
	return err
}

// told is what the Pod's container is told by a variable. Where it is not told as a value, as in Pods of earlier versions, the label is
// all that there is.
func told(p *corev1.Pod, name, label string) string {
	if v := variable(p, name); v != nil && v.ValueFrom == nil {
		return v.Value
	}
	return p.Labels[label]
}

// variable is a variable of the one container; nil when it has none of that name.
func variable(p *corev1.Pod, name string) *corev1.EnvVar {
	for i := range p.Spec.Containers {
		c := &p.Spec.Containers[i]
		if c.Name != Container {
			continue
		}
		for n := range c.Env {
			if c.Env[n].Name == name {
				return &c.Env[n]
			}
		}
	}
	return nil
}

func seconds(n *int64) time.Duration {
	if n == nil {
		return 0
	}
	return time.Duration(*n) * time.Second
}

// number reads a resourceVersion, which is a decimal number to clients too since Kubernetes 1.35
// (kubernetes.io/docs/reference/using-api/api-concepts, resourceVersion).
func number(resourceVersion string) (uint64, error) {
	n, err := strconv.ParseUint(resourceVersion, 10, 64)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%w: resourceVersion %q is no number", dispatcher.ErrUnknown, resourceVersion)
	}
	return n, nil
}
