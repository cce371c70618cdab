package kind

import (
	"context"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/squall-chaos/squall/clusters"
)

// Kill ends the containers of a replica's pod by SIGKILL.
func (w *World) Kill(ctx context.Context, _, pod string) error {
	return w.onContainers(ctx, pod, w.shell.Kill, w.bed.ControlPlane().KillContainer)
}

// Freeze freezes a replica by its cgroup. What it has sent goes on its way.
func (w *World) Freeze(ctx context.Context, _, pod string) error {
	return w.onContainers(ctx, pod, w.shell.Freeze, w.bed.ControlPlane().PauseContainer)
}

// Thaw lets a frozen replica go on where it was.
func (w *World) Thaw(ctx context.Context, _, pod string) error {
	return w.onContainers(ctx, pod, w.shell.Thaw, w.bed.ControlPlane().ResumeContainer)
}

// containerIn is the container of a replica's pod by the word of the API server; empty when that does not say that one runs.
func (w *World) containerIn(ctx context.Context, pod string) string {
	if w.Hindrance(clusters.API) != "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	p, err := w.API.CoreV1().Pods(w.Namespace()).Get(ctx, pod, metav1.GetOptions{})
	if err != nil || len(p.Status.ContainerStatuses) != 1 || p.Status.ContainerStatuses[0].State.Running == nil {
		return ""
	}
	_, id, _ := strings.Cut(p.Status.ContainerStatuses[0].ContainerID, "://")
	return id
}

// onContainer acts on a container.
type onContainer func(ctx context.Context, id string) error

// onContainers acts on what runs of a replica's pod. The API server knows it in a moment; it may be frozen, or not have heard of the
// latest, and then the runtime is asked, which takes a busy machine seconds.
func (w *World) onContainers(ctx context.Context, pod string, quick, action onContainer) error {
	if id := w.containerIn(ctx, pod); id != "" && quick(ctx, id) == nil {
		return nil
	}
	found, err := w.bed.ControlPlane().Containers(ctx, w.Namespace(), pod, "")
	if err != nil {
		return err
	}
	for _, c := range found {
		if c.State != "running" {
			continue
		}
		if err := action(ctx, c.ID); err != nil {
			return err
		}
	}
	return nil
}
