package kube

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/kube/environment"
)

// workload is a Pod as the dispatcher sees it. One that we did not make is a conflict.
func (o Options) workload(p *corev1.Pod) (dispatcher.Workload, error) {
	version, err := number(p.ResourceVersion)
	if err != nil {
		return dispatcher.Workload{}, err
	}
	w := dispatcher.Workload{
		Name: p.Name, UID: dispatcher.UID(p.UID), Version: version,
		Task:     dispatcher.TaskID(p.Labels[LabelTask]),
		OnDemand: p.Spec.NodeSelector[CapacityType] == OnDemand,
		Deadline: seconds(p.Spec.ActiveDeadlineSeconds),
		Grace:    seconds(p.Spec.TerminationGracePeriodSeconds),
		Held:     slices.Contains(p.Finalizers, Finalizer),
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
	attempt, err := strconv.Atoi(p.Labels[LabelAttempt])
	if err != nil {
		return fmt.Errorf("label %s: %w", LabelAttempt, err)
	}
	token, err := strconv.ParseUint(p.Labels[LabelToken], 10, 64)
	if err != nil {
		return fmt.Errorf("label %s: %w", LabelToken, err)
	}
	if w.Name != dispatcher.WorkloadName(w.Task) && !o.AnyName {
		return fmt.Errorf("label %s is %q", LabelTask, w.Task)
	}
	w.Attempt, w.Token = attempt, dispatcher.Token(token)
	for _, c := range p.Spec.Containers {
		for _, v := range c.Env {
			if c.Name == Container && v.Name == environment.Work {
				w.Work, err = environment.DecodeWork(v.Value)
				return err
			}
		}
	}
	return fmt.Errorf("container %q is not told %s", Container, environment.Work)
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
