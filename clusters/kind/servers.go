package kind

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/deployed"
	"github.com/squall-chaos/squall/clusters/kind/testbed"
)

// servers is what faults have done to the database and to the API server. Only the loop touches it.
type servers struct {
	stopped bool                // the database was killed, and not started again
	wanted  bool                // and is to be, as soon as the API server can be asked to
	frozen  map[string][]string // containers by component
	waiting []func()            // what wants the API server while that is frozen
}

// apiComponent is behind the port API.
const apiComponent = "kube-apiserver"

var _ clusters.ServerFaults = (*World)(nil)

// StopServer kills the database where it is: SIGKILL to the first process of its container, and the kernel takes the others and
// their connections along. The kubelet does not start it again (restartPolicy Never). Its data are on a volume, and commits had waited
// for the disk. The API server is everybody's, and is not killed.
func (w *World) StopServer(p clusters.Port, felt func()) {
	if p != clusters.Store {
		w.Refuse("a crash of the API server")
		return
	}
	w.servers.wanted = false
	if w.servers.stopped {
		felt()
		return
	}
	w.servers.stopped = true
	wasFrozen := len(w.servers.frozen[deployed.PostgresComponent]) > 0
	w.servers.frozen[deployed.PostgresComponent] = nil // the dead are not frozen
	w.Do("kill the database", func(ctx context.Context) error {
		running, err := w.serverContainers(ctx, deployed.PostgresComponent)
		if err != nil {
			return err
		}
		for _, c := range running {
			if err := w.killServer(ctx, c.ID, wasFrozen); err != nil {
				return err
			}
		}
		return nil
	})
	w.GoAside(func() { // the container runtime is asked beside the loop, which has clocks to keep
		ctx, cancel := w.Soon()
		defer cancel()
		if err := w.awaitEnd(ctx, deployed.PostgresComponent); err != nil {
			w.Log.Warn("the end of the database was not seen", "error", err)
			return
		}
		w.Post(felt)
	})
}

// killServer kills a container. One that is frozen dies when it goes on, before it does anything else.
func (w *World) killServer(ctx context.Context, id string, frozen bool) error {
	node := w.bed.ControlPlane()
	if err := node.KillContainer(ctx, id); err != nil || !frozen {
		return err
	}
	paused, err := w.paused(ctx, id)
	if err != nil || !paused {
		return err
	}
	return node.ResumeContainer(ctx, id)
}

// StartServer starts the database again, in a new pod on the same volume and behind the same address, and returns when it takes
// connections: what a fault has healed is there. Without an API server there is no pod, and it comes when that goes on.
func (w *World) StartServer(p clusters.Port) {
	if p != clusters.Store || !w.servers.stopped {
		return
	}
	w.servers.wanted = true
	w.WhenAPI(func() {
		if !w.servers.wanted {
			return // it is to be down again
		}
		w.servers.wanted = false
		w.Do("start the database", func(context.Context) error { return w.startDatabase() })
	})
}

func (w *World) startDatabase() error {
	ctx, cancel := context.WithTimeout(w.Context(), deployed.Unreachable) // a pod, and recovery after a crash
	defer cancel()
	pods := w.API.CoreV1().Pods(w.Namespace())
	err := pods.Delete(ctx, deployed.PostgresComponent, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
	if deployed.UnlessGone(err) != nil {
		return err
	}
	if _, err := pods.Create(ctx, w.PostgresPod(), metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := w.AwaitPod(ctx, deployed.PostgresComponent); err != nil {
		return err
	}
	w.servers.stopped = false
	return nil
}

// PauseServer freezes the processes of the server by their cgroup: the kernel still takes connections and requests for them. The
// API server is that of the whole cluster, so a run that does this has the cluster for itself.
func (w *World) PauseServer(p clusters.Port, felt func()) {
	component := componentOf(p)
	switch {
	case component == deployed.PostgresComponent && w.servers.stopped:
		return // there is nothing to freeze
	case len(w.servers.frozen[component]) > 0:
		felt()
		return
	}
	w.Do("freeze "+component, func(ctx context.Context) error {
		running, err := w.serverContainers(ctx, component)
		if err != nil {
			return err
		}
		for _, c := range running {
			w.servers.frozen[component] = append(w.servers.frozen[component], c.ID) // before it is: so that Close finds it
			if err := w.bed.ControlPlane().PauseContainer(ctx, c.ID); err != nil {
				return err
			}
			switch is, err := w.paused(ctx, c.ID); {
			case err != nil:
				return err
			case !is:
				return fmt.Errorf("containerd says that container %s is not paused", c.ID)
			}
		}
		felt()
		return nil
	})
}

// ResumeServer lets the server go on. It needs no API server for that, and what had to wait for one is done now.
func (w *World) ResumeServer(p clusters.Port) {
	component := componentOf(p)
	if len(w.servers.frozen[component]) == 0 {
		return
	}
	w.Do("resume "+component, func(ctx context.Context) error { return w.thaw(ctx, component) })
	if component == apiComponent {
		w.catchUp()
	}
}

// catchUp does what had to wait for the API server, in order.
func (w *World) catchUp() {
	waiting := w.servers.waiting
	w.servers.waiting = nil
	for _, do := range waiting {
		do()
	}
}

func componentOf(p clusters.Port) string {
	if p == clusters.Store {
		return deployed.PostgresComponent
	}
	return apiComponent
}

// thaw resumes what is frozen of a component. What has been killed meanwhile needs none.
func (w *World) thaw(ctx context.Context, component string) error {
	var problems []error
	for _, id := range w.servers.frozen[component] {
		paused, err := w.paused(ctx, id)
		if paused {
			err = w.bed.ControlPlane().ResumeContainer(ctx, id)
		}
		problems = append(problems, err)
	}
	w.servers.frozen[component] = nil
	return errors.Join(problems...)
}

// mendServers has the API server go on. The database goes with the namespace, and a frozen one cannot be removed.
func (w *World) mendServers(ctx context.Context) error {
	return errors.Join(w.thaw(ctx, apiComponent), w.thaw(ctx, deployed.PostgresComponent))
}

var _ clusters.Hindered = (*World)(nil)

// Hindrance is the freeze of the API server: what has to be asked of it has to wait.
func (w *World) Hindrance(p clusters.Port) string {
	if p == clusters.API && len(w.servers.frozen[apiComponent]) > 0 {
		return "the API server, which would have to do it, was frozen"
	}
	return ""
}

// WhenAPI does something that needs the API server, when that is not frozen: the loop that waited for it could not resume it.
func (w *World) WhenAPI(do func()) {
	if w.Hindrance(clusters.API) != "" {
		w.servers.waiting = append(w.servers.waiting, do)
		return
	}
	do()
}

// serverContainers are the containers of a component that run; there is one.
func (w *World) serverContainers(ctx context.Context, component string) ([]testbed.Container, error) {
	namespace := w.Namespace()
	if component == apiComponent {
		namespace = "kube-system"
	}
	found, err := w.bed.ControlPlane().Containers(ctx, namespace, "", component)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(c testbed.Container) bool { return c.State != "running" })
	if len(found) == 0 {
		return nil, fmt.Errorf("no container of %s runs in namespace %s", component, namespace)
	}
	return found, nil
}

// awaitEnd returns when the container runtime says that no container of the component runs any more.
func (w *World) awaitEnd(ctx context.Context, component string) error {
	for {
		found, err := w.bed.ControlPlane().Containers(ctx, w.Namespace(), "", component)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(found, func(c testbed.Container) bool { return c.State == "running" }) {
			return nil
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return fmt.Errorf("wait for the end of %s: %w", component, ctx.Err())
		}
	}
}

// paused asks containerd itself, since CRI has no word for it.
func (w *World) paused(ctx context.Context, id string) (bool, error) {
	out, err := w.bed.ControlPlane().Exec(ctx, "ctr", "--namespace=k8s.io", "task", "ls")
	if err != nil {
		return false, err
	}
	return stateOf(string(out), id) == "PAUSED", nil
}

// stateOf reads the table that `ctr task ls` prints: TASK, PID, STATUS.
func stateOf(table, id string) string {
	for line := range strings.Lines(table) {
		if words := strings.Fields(line); len(words) >= 3 && words[0] == id {
			return words[2]
		}
	}
	return ""
}
