package shared

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/deployed"
	"github.com/squall-chaos/squall/clusters/journal/deposit"
	"github.com/squall-chaos/squall/faults/proxy"
)

// servers are the ways that a process's calls go; a rule for the API server takes the leases along.
var servers = []clusters.Port{clusters.API, clusters.Store}

// arm arms a rule for each server.
func (w *World) arm(ctx context.Context, process string, rule func(string, clusters.Port) proxy.Rule) (ids []string, err error) {
	for _, port := range servers {
		id, problem := w.Arm(ctx, rule(process, port))
		if err = errors.Join(err, problem); problem == nil {
			ids = append(ids, id)
		}
	}
	return ids, err
}

func (w *World) disarm(ctx context.Context, ids []string) (err error) {
	for _, id := range ids {
		err = errors.Join(err, w.Disarm(ctx, id))
	}
	return err
}

// Kill cuts the process off from both servers, which is its end as far as anybody else can tell, and then has its pod deleted. It returns
// when the kubelet has said that the containers are gone: the next life of the process bears the same name, and is not to be cut off.
func (w *World) Kill(ctx context.Context, process, pod string) error {
	ids, err := w.arm(ctx, process, sever)
	if err == nil {
		err = w.deletePod(ctx, pod)
	}
	return errors.Join(err, w.disarm(ctx, ids))
}

func (w *World) deletePod(ctx context.Context, pod string) error {
	pods := w.API.CoreV1().Pods(w.Namespace())
	err := pods.Delete(ctx, pod, metav1.DeleteOptions{GracePeriodSeconds: new(int64(1))})
	if deployed.UnlessGone(err) != nil {
		return err
	}
	gone := func(ctx context.Context) (bool, error) {
		_, err := pods.Get(ctx, pod, metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	}
	if err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, time.Minute, true, gone); err != nil {
		return fmt.Errorf("wait until pod %s is gone: %w", pod, err)
	}
	return nil
}

// Freeze has the calls of a process wait in the fault proxy. What it has sent before goes its way. The process itself goes on, and sees
// its calls time out: it is not the same as standing still, but what it sent takes effect when nobody expects it any more.
func (w *World) Freeze(ctx context.Context, process, _ string) (err error) {
	w.holds[process], err = w.arm(ctx, process, hold)
	return err
}

// Thaw lets the calls of a process go on.
func (w *World) Thaw(ctx context.Context, process, _ string) error {
	ids := w.holds[process]
	delete(w.holds, process)
	return w.disarm(ctx, ids)
}

// KillContainer is not possible: see the registry of worlds.
func (w *World) KillContainer(string) bool {
	w.Refuse("the end of a container whose pod stays")
	return false
}

// RemovePod is not possible: see the registry of worlds.
func (w *World) RemovePod(string) bool {
	w.Refuse("a pod's object go without its container")
	return false
}

// SetRunTime has the task's work take that long in attempts that begin from now on.
func (w *World) SetRunTime(task string, run time.Duration) {
	w.Do(fmt.Sprintf("set the run time of task %s to %s", task, run), func(ctx context.Context) error {
		return deposit.SetRunTime(ctx, w.Database(), task, run)
	})
}

// HoldScheduling keeps the gates of new workloads shut: each has one here.
func (w *World) HoldScheduling(hold bool) { w.HoldGates(hold) }

// SetCacheLag is not possible: see the registry of worlds.
func (w *World) SetCacheLag(clusters.Dist) { w.Refuse("stale caches") }

// SetReplicaLag is not possible: see the registry of worlds.
func (w *World) SetReplicaLag(clusters.Dist) { w.Refuse("stale replicas") }

// FailOver is not possible: see the registry of worlds.
func (w *World) FailOver(time.Duration) { w.Refuse("a failover of the database") }

// reason is a text that one goroutine tells another.
type reason struct {
	mu   sync.Mutex
	text string
}

func (r *reason) set(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text = text
}

func (r *reason) get() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text
}
