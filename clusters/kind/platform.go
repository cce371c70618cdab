package kind

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/kind/testbed"
	"github.com/squall-chaos/squall/dispatcher/kube/environment"
)

// The platform's faults that a real cluster has. SetCacheLag, SetReplicaLag and FailOver are not among them: the registry of worlds
// refuses the faults that need them, with the reason.
var _ clusters.PlatformFaults = (*World)(nil)

// SetRunTime has the task's work take that long in attempts that begin from now on. Workers look for a file beside their journal.
func (w *World) SetRunTime(task string, run time.Duration) {
	file := path.Join(w.recordDir(), environment.RunTimes, task)
	command := []string{"rm", "-f", file}
	if run > 0 {
		command = []string{"sh", "-c", `mkdir -p "$(dirname "$0")" && echo "$1" > "$0.new" && mv "$0.new" "$0"`, file, run.String()}
	}
	w.Do(fmt.Sprintf("set the run time of task %s to %s", task, run), func(ctx context.Context) error {
		return w.everywhere(ctx, command...)
	})
}

// everywhere executes a command on all machines that are on.
func (w *World) everywhere(ctx context.Context, command ...string) error {
	return onAll(w.machines.on(), func(n *testbed.Node) error {
		_, err := n.Exec(ctx, command...)
		return err
	})
}

// HoldScheduling freezes the scheduler of the whole cluster, so a run that does this has the cluster for itself.
func (w *World) HoldScheduling(hold bool) {
	if !hold {
		w.Do("resume the scheduler", w.resumeSchedulers)
		return
	}
	w.Do("freeze the scheduler", func(ctx context.Context) error {
		found, err := w.bed.ControlPlane().Containers(ctx, "kube-system", "", "kube-scheduler")
		if err != nil {
			return err
		}
		for _, c := range found {
			if c.State != "running" {
				continue
			}
			if err := w.bed.ControlPlane().PauseContainer(ctx, c.ID); err != nil {
				return err
			}
			w.schedulers = append(w.schedulers, c.ID)
		}
		return nil
	})
}

func (w *World) resumeSchedulers(ctx context.Context) error {
	var problems []error
	for _, id := range w.schedulers {
		problems = append(problems, w.bed.ControlPlane().ResumeContainer(ctx, id))
	}
	w.schedulers = nil
	return errors.Join(problems...)
}

// SetCacheLag is not possible: see above.
func (w *World) SetCacheLag(clusters.Dist) { w.Refuse("stale caches") }

// SetReplicaLag is not possible: see above.
func (w *World) SetReplicaLag(clusters.Dist) { w.Refuse("stale replicas") }

// FailOver is not possible: see above.
func (w *World) FailOver(time.Duration) { w.Refuse("a failover of the database") }
