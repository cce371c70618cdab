//go:build e2e

package testbed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/kind/nodeimage"
)

const namespace = metav1.NamespaceDefault

// nodeImage is what SQUALL_NODE_IMAGE says, else what a run would take: the engine may also hold images of older recipes.
func nodeImage(t *testing.T) string {
	t.Helper()
	ref, err := nodeimage.Find(t.Context(), nodeimage.Options{Image: os.Getenv("SQUALL_NODE_IMAGE"), Progress: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// shared names the environment variable with the name of a cluster that is there, and is left: to make one takes more than a minute.
const shared = "SQUALL_E2E_CLUSTER"

// The faults of one cluster after each other: creating one per test would take minutes each.
func TestCluster(t *testing.T) {
	name := os.Getenv(shared)
	if name == "" {
		name = "e2e"
		createsCluster(t, name)
	}
	c, err := Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	ref, archive := tickerImage(t)
	t.Run("Open", func(t *testing.T) { opens(t, name) })
	t.Run("Nodes", func(t *testing.T) { nodesAreLabelled(t, c) })
	if !t.Run("Load", func(t *testing.T) { loads(t, c, archive, ref) }) {
		t.FailNow()
	}
	a, b := newTicker(t, c, c.Nodes()[0], "a", ref), newTicker(t, c, c.Nodes()[1], "b", ref)
	t.Run("Dial", func(t *testing.T) { dials(t, a) })
	t.Run("Containers", func(t *testing.T) { containersFreezeAndDie(t, c, a) })
	t.Run("CutAPI", func(t *testing.T) { cutAPI(t, c, a) })
	t.Run("CutPods", func(t *testing.T) { cutPods(t, a, b) })
	t.Run("Pause", func(t *testing.T) { pause(t, a) })
	t.Run("Kill", func(t *testing.T) { killAndReturn(t, c, a, b) })
	t.Run("Heal", func(t *testing.T) { heals(t, name, a) })
	t.Run("Logs", func(t *testing.T) { logs(t, c) })
	if os.Getenv(shared) == "" {
		t.Run("Down", func(t *testing.T) { goes(t, name) })
	}
}

func createsCluster(t *testing.T, name string) {
	image := nodeImage(t)
	if err := Down(t.Context(), name, nil); err != nil && !errors.Is(err, ErrNotFound) {
		t.Fatal(err)
	}
	from := time.Now()
	if _, err := Up(t.Context(), Options{Name: name, Image: image, OnDemand: 1, Spot: 1, Progress: t.Output()}); err != nil {
		t.Fatal(err)
	}
	t.Logf("up after %s", time.Since(from).Round(time.Second))
	t.Cleanup(func() {
		if err := Down(context.WithoutCancel(t.Context()), name, nil); err != nil && !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
	})
}

func opens(t *testing.T, name string) {
	from := time.Now()
	c, err := Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("open after %s", time.Since(from).Round(time.Millisecond))
	if info, err := os.Stat(c.Kubeconfig()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("kubeconfig: %v, %v", info, err)
	}
	infos, err := List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range infos {
		if i.Name == name && i.State == Running && len(i.Nodes) == 1+len(c.Nodes()) {
			return
		}
	}
	t.Errorf("not listed: %+v", infos)
}

func nodesAreLabelled(t *testing.T, c *Cluster) {
	count := map[clusters.CapacityType]int{}
	for _, n := range c.Nodes() {
		count[n.CapacityType()]++
		node, err := c.core.Nodes().Get(t.Context(), n.Name(), metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := node.Labels[capacityLabel]; got != string(n.CapacityType()) {
			t.Errorf("%s is labelled %q", n.Name(), got)
		}
		tainted := false
		for _, taint := range node.Spec.Taints {
			tainted = tainted || taint.Key == capacityLabel && taint.Value == "spot" && taint.Effect == corev1.TaintEffectNoSchedule
		}
		if tainted != (n.CapacityType() == clusters.Spot) {
			t.Errorf("%s: taints %v", n.Name(), node.Spec.Taints)
		}
	}
	if each := len(c.Nodes()) / 2; count[clusters.OnDemand] != each || count[clusters.Spot] != each {
		t.Errorf("there are %v workers, want as many of either", count)
	}
}

func loads(t *testing.T, c *Cluster, archive, ref string) {
	for _, what := range []string{"first", "again"} {
		from := time.Now()
		if err := c.Load(t.Context(), archive, ref); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %s", what, time.Since(from).Round(time.Millisecond))
	}
	if err := c.Load(t.Context(), archive, "squall.local/none:1"); err == nil {
		t.Error("an archive without the image was loaded")
	}
}

func within(t *testing.T, limit time.Duration, what string, holds func(context.Context) (string, bool)) time.Duration {
	t.Helper()
	from := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	if err := until(ctx, what, holds); err != nil {
		t.Fatal(err)
	}
	return time.Since(from).Round(100 * time.Millisecond)
}

// becomes waits until the node's condition Ready has the status.
func becomes(t *testing.T, n *Node, status corev1.ConditionStatus, limit time.Duration) time.Duration {
	t.Helper()
	return within(t, limit, fmt.Sprintf("%s: Ready is %s", n.Name(), status), func(ctx context.Context) (string, bool) {
		node, err := n.cluster.core.Nodes().Get(ctx, n.Name(), metav1.GetOptions{})
		if err != nil {
			return err.Error(), false
		}
		for _, c := range node.Status.Conditions {
			if c.Type == corev1.NodeReady {
				return string(c.Status), c.Status == status
			}
		}
		return "no condition", false
	})
}

func dials(t *testing.T, a *ticker) {
	for range 3 {
		from := time.Now()
		if got, err := a.get("/"); err != nil || got != "ticking\n" {
			t.Fatalf("%q, %v", got, err)
		}
		t.Logf("answer after %s", time.Since(from).Round(time.Millisecond))
	}
	a.client.CloseIdleConnections()
	within(t, 20*time.Second, "no process of a connection is left in the node", func(ctx context.Context) (string, bool) {
		out, err := a.c.ControlPlane().Exec(ctx, "pgrep", "--full", "[/]dev/tcp")
		return fmt.Sprintf("%s %v", out, err), len(lines(out)) == 0
	})
}

func containersFreezeAndDie(t *testing.T, c *Cluster, a *ticker) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var mu sync.Mutex
	var events []Event
	seen := func(kind EventKind, id string) *Event {
		mu.Lock()
		defer mu.Unlock()
		for _, e := range events {
			if e.Kind == kind && (id == "" || e.ID == id) {
				return &e
			}
		}
		return nil
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = a.node.Watch(ctx, func(e Event) {
			mu.Lock()
			defer mu.Unlock()
			events = append(events, e)
		})
	}()
	within(t, 20*time.Second, "events are watched", func(context.Context) (string, bool) { return "", seen(Watching, "") != nil })

	found, err := a.node.Containers(t.Context(), namespace, a.name, "ticker")
	if err != nil || len(found) != 1 || found[0].State != "running" || found[0].UID == "" || found[0].Started.IsZero() {
		t.Fatalf("%+v, %v", found, err)
	}
	id := found[0].ID
	if err := a.node.PauseContainer(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if a.ticking(t) {
		t.Error("a frozen container ticks")
	}
	if err := a.node.ResumeContainer(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if !a.ticking(t) {
		t.Error("a container that was resumed does not tick")
	}
	struck := time.Now()
	if err := a.node.KillContainer(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	within(t, 20*time.Second, "the exit is seen", func(context.Context) (string, bool) { return "", seen(Exited, id) != nil })
	e := seen(Exited, id)
	if e.ExitCode != 137 || e.Pod != a.name || e.Name != "ticker" || e.Namespace != namespace || e.UID != found[0].UID || e.At.Before(struck) || e.At.After(time.Now()) {
		t.Errorf("exit: %+v; struck at %s", e, struck)
	}
	within(t, 60*time.Second, "the next start is seen", func(context.Context) (string, bool) {
		return fmt.Sprint(events), seen(Started, "") != nil
	})
	if e := seen(Started, ""); e.Pod != a.name || e.ID == id {
		t.Errorf("start: %+v", e)
	}
	found, err = a.node.Containers(t.Context(), namespace, a.name, "ticker")
	if err != nil || len(found) != 2 || found[0].State != "exited" || found[0].ExitCode != 137 || found[1].Attempt != 1 {
		t.Errorf("%+v, %v", found, err)
	}
	cancel()
	<-done
	within(t, 20*time.Second, "no watcher is left in the node", func(ctx context.Context) (string, bool) {
		out, err := a.node.Exec(ctx, "pgrep", "--full", "k8s.io events")
		return fmt.Sprintf("%s %v", out, err), len(lines(out)) == 0
	})
}

func cutAPI(t *testing.T, c *Cluster, a *ticker) {
	for range 2 { // a second cut changes nothing
		if err := a.node.CutAPI(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	took := becomes(t, a.node, corev1.ConditionUnknown, NodeGrace+10*time.Second)
	t.Logf("seen as unreachable after %s", took)
	if !a.ticking(t) {
		t.Error("the container on a node that is cut off does not run on")
	}
	address, err := c.ControlPlane().address(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := a.get("/fetch?address=" + address + ":6443"); err != nil {
		t.Errorf("the traffic of pods is cut, too: %q, %v", got, err)
	}
	if out, err := a.node.Exec(t.Context(), "timeout", "3", "bash", "-c", `exec 3<>"/dev/tcp/$0/6443"`, address); err == nil {
		t.Errorf("the node reaches the API server: %s", out)
	}
	if err := a.node.JoinAPI(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("back after %s", becomes(t, a.node, corev1.ConditionTrue, 60*time.Second))
	if err := a.node.JoinAPI(t.Context()); err != nil {
		t.Errorf("second join: %v", err)
	}
}

func cutPods(t *testing.T, a, b *ticker) {
	reach := func(from, to *ticker) error {
		_, err := from.get("/fetch?address=" + to.address)
		return err
	}
	if err := reach(a, b); err != nil {
		t.Fatal(err)
	}
	if err := a.node.CutPods(t.Context(), 8080); err != nil {
		t.Fatal(err)
	}
	if err := reach(a, b); err == nil {
		t.Error("a pod reaches another on the port that is cut")
	}
	if err := reach(b, a); err != nil {
		t.Errorf("pods elsewhere do not reach a pod on the node: %v", err)
	}
	for range 2 {
		if err := a.node.JoinPods(t.Context(), 8080); err != nil {
			t.Fatal(err)
		}
	}
	if err := reach(a, b); err != nil {
		t.Errorf("after the join: %v", err)
	}
}

func pause(t *testing.T, a *ticker) {
	if err := a.node.Pause(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a.ticking(t) {
		t.Error("a frozen node ticks")
	}
	if err := a.node.Unpause(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !a.ticking(t) {
		t.Error("a node that was thawed does not tick")
	}
	t.Logf("back after %s", becomes(t, a.node, corev1.ConditionTrue, 60*time.Second))
}

func killAndReturn(t *testing.T, c *Cluster, a, b *ticker) {
	if err := a.node.Kill(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := a.ticks(t)
	if before == 0 {
		t.Error("the files of a dead node cannot be read")
	}
	t.Logf("seen as unreachable after %s", becomes(t, a.node, corev1.ConditionUnknown, NodeGrace+10*time.Second))
	if state, err := a.node.state(t.Context()); err != nil || state != "exited" {
		t.Errorf("the node is %s, %v: Docker brought it back", state, err)
	}
	if a.ticks(t) != before {
		t.Error("a dead node ticks")
	}
	from := time.Now()
	if err := a.node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("back after %s", time.Since(from).Round(100*time.Millisecond))
	within(t, 60*time.Second, "the pod ticks again", func(context.Context) (string, bool) { return "", a.ticks(t) > before })
	a.running(t)
	for _, pair := range [][2]*ticker{{a, b}, {b, a}} {
		within(t, 30*time.Second, pair[0].name+" reaches "+pair[1].name, func(context.Context) (string, bool) {
			_, err := pair[0].get("/fetch?address=" + pair[1].address)
			return fmt.Sprint(err), err == nil
		})
	}
	if _, err := a.get("/fetch?address=10.96.0.1:443"); err != nil {
		t.Errorf("services: %v", err)
	}
}

// What a run leaves behind that was killed in the middle of its faults.
func heals(t *testing.T, name string, a *ticker) {
	found, err := a.node.Containers(t.Context(), namespace, a.name, "ticker")
	if err != nil || len(found) == 0 {
		t.Fatalf("%+v, %v", found, err)
	}
	for what, fault := range map[string]func() error{
		"container": func() error { return a.node.PauseContainer(t.Context(), found[len(found)-1].ID) },
		"cut":       func() error { return a.node.CutAPI(t.Context()) },
		"cut pods":  func() error { return a.node.CutPods(t.Context(), 8080) },
		"frozen":    func() error { return a.c.ControlPlane().Pause(t.Context()) },
		"dead":      func() error { return a.c.Nodes()[1].Kill(t.Context()) },
	} {
		if err := fault(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	from := time.Now()
	c, err := Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Heal(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("healed after %s", time.Since(from).Round(100*time.Millisecond))
	if !a.ticking(t) {
		t.Error("a container is still frozen")
	}
	for _, n := range c.Nodes() {
		becomes(t, n, corev1.ConditionTrue, 30*time.Second)
		if out, err := n.Exec(t.Context(), "nft", "list", "tables"); err != nil || strings.Contains(string(out), "squall_") {
			t.Errorf("%s: %s, %v", n.Name(), out, err)
		}
	}
}

func logs(t *testing.T, c *Cluster) {
	dir := t.TempDir()
	if err := c.Logs(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	for _, n := range c.Nodes() {
		if info, err := os.Stat(dir + "/" + n.Name() + "/kubelet.log"); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", n.Name(), err)
		}
	}
}

func goes(t *testing.T, name string) {
	from := time.Now()
	if err := Down(t.Context(), name, t.Output()); err != nil {
		t.Fatal(err)
	}
	t.Logf("down after %s", time.Since(from).Round(100*time.Millisecond))
	nothingLeft(t, name)
}

func nothingLeft(t *testing.T, name string) {
	t.Helper()
	if r, err := one(t.Context(), name); err != nil || r != nil {
		t.Errorf("left: %+v, %v", r, err)
	}
	for _, args := range [][]string{
		{"ps", "--all", "--quiet", "--filter", "name=" + Prefix + name + "-"},
		{"network", "ls", "--quiet", "--filter", "name=" + Prefix + name},
	} {
		if out, err := docker(t.Context(), args...); err != nil || len(lines(out)) > 0 {
			t.Errorf("docker %v: %s, %v", args, out, err)
		}
	}
	if dir, err := stateDir(name); err != nil {
		t.Error(err)
	} else if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("state left in %s: %v", dir, err)
	}
}
