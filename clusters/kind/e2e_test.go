//go:build e2e

package kind_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/e2e-framework/klient/k8s"
	"sigs.k8s.io/e2e-framework/klient/k8s/resources"
	"sigs.k8s.io/e2e-framework/klient/wait"
	"sigs.k8s.io/e2e-framework/klient/wait/conditions"
	"sigs.k8s.io/e2e-framework/pkg/env"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/features"

	"github.com/squall-chaos/squall/clusters/kind/testbed"
	"github.com/squall-chaos/squall/dispatcher/kube"
)

// shared names the environment variable with the name of a cluster that is there, and is left: to make one takes more than a minute.
const shared = "SQUALL_E2E_CLUSTER"

// cluster is the one that all features share; they are tried through the command line, as its users do.
var cluster = cmp.Or(os.Getenv(shared), "e2e-kind")

var (
	world  env.Environment
	squall string // the program
	bed    *testbed.Cluster
)

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "squall-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	world = env.New()
	world.Setup(buildSquall(dir), clusterUp)
	world.Finish(clusterDown, func(ctx context.Context, _ *envconf.Config) (context.Context, error) { return ctx, os.RemoveAll(dir) })
	os.Exit(world.Run(m))
}

func buildSquall(dir string) env.Func {
	return func(ctx context.Context, _ *envconf.Config) (context.Context, error) {
		squall = filepath.Join(dir, "squall")
		build := exec.CommandContext(ctx, "go", "build", "-tags", "kind", "-o", squall, "../../cmd/squall")
		if text, err := build.CombinedOutput(); err != nil {
			return ctx, fmt.Errorf("build squall: %w\n%s", err, text)
		}
		return ctx, nil
	}
}

func clusterUp(ctx context.Context, c *envconf.Config) (context.Context, error) {
	if os.Getenv(shared) == "" {
		command := exec.CommandContext(ctx, squall, "cluster", "up", cluster)
		command.Stdout, command.Stderr = os.Stderr, os.Stderr
		if err := command.Run(); err != nil {
			return ctx, fmt.Errorf("squall cluster up: %w", err)
		}
	}
	var err error
	if bed, err = testbed.Open(ctx, cluster); err != nil {
		return ctx, err
	}
	c.WithKubeconfigFile(bed.Kubeconfig())
	return ctx, nil
}

func clusterDown(ctx context.Context, _ *envconf.Config) (context.Context, error) {
	if os.Getenv(shared) != "" {
		return ctx, nil
	}
	if text, err := exec.CommandContext(ctx, squall, "cluster", "down", cluster).CombinedOutput(); err != nil {
		return ctx, fmt.Errorf("squall cluster down: %w\n%s", err, text)
	}
	if left := containersOf(ctx, cluster); left != "" {
		return ctx, fmt.Errorf("squall cluster down left containers: %s", left)
	}
	return ctx, nil
}

// containersOf are the node containers of a cluster of ours, by name.
func containersOf(ctx context.Context, name string) string {
	filter := "label=io.x-k8s.kind.cluster=" + testbed.Prefix + name
	text, err := exec.CommandContext(ctx, "docker", "ps", "--all", "--filter", filter, "--format", "{{.Names}}").Output()
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(text))
}

func TestNodesAreSpotAndOnDemand(t *testing.T) {
	world.Test(t, features.New("create, label, taint").Assess("every worker says what it is", func(ctx context.Context, t *testing.T, c *envconf.Config) context.Context {
		var nodes corev1.NodeList
		if err := c.Client().Resources().List(ctx, &nodes, resources.WithLabelSelector(kube.CapacityType)); err != nil {
			t.Fatal(err)
		}
		count := map[string]int{}
		for _, n := range nodes.Items {
			capacity := n.Labels[kube.CapacityType]
			count[capacity]++
			tainted := false
			for _, taint := range n.Spec.Taints {
				tainted = tainted || taint.Key == kube.CapacityType && taint.Value == kube.Spot && taint.Effect == corev1.TaintEffectNoSchedule
			}
			if tainted != (capacity == kube.Spot) {
				t.Errorf("node %s is %s, and its taints are %v", n.Name, capacity, n.Spec.Taints)
			}
		}
		if count[kube.OnDemand] < 2 || count[kube.Spot] < 2 {
			t.Errorf("there are %v workers, want two of each at least", count)
		}
		return ctx
	}).Feature())
}

func TestNodesComeAndGo(t *testing.T) {
	world.Test(t, features.New("node kill and return, partition").Assess("the API server notices both", func(ctx context.Context, t *testing.T, c *envconf.Config) context.Context {
		dead, cut := bed.Nodes()[0], bed.Nodes()[1]
		if err := errors.Join(dead.Kill(ctx), cut.CutAPI(ctx)); err != nil {
			t.Fatal(err)
		}
		await(t, c, dead, corev1.ConditionUnknown)
		await(t, c, cut, corev1.ConditionUnknown)
		return ctx
	}).Assess("the containers of the one that is cut off run on", func(ctx context.Context, t *testing.T, c *envconf.Config) context.Context {
		running, err := bed.Nodes()[1].Containers(ctx, "kube-system", "", "kube-proxy")
		if err != nil || len(running) == 0 || running[len(running)-1].State != "running" {
			t.Errorf("cut off, the node has the containers %v, %v; want kube-proxy running", running, err)
		}
		return ctx
	}).Assess("both return", func(ctx context.Context, t *testing.T, c *envconf.Config) context.Context {
		dead, cut := bed.Nodes()[0], bed.Nodes()[1]
		if err := errors.Join(cut.JoinAPI(ctx), dead.Start(ctx)); err != nil {
			t.Fatal(err)
		}
		await(t, c, cut, corev1.ConditionTrue)
		await(t, c, dead, corev1.ConditionTrue)
		return ctx
	}).Feature())
}

func await(t *testing.T, c *envconf.Config, n *testbed.Node, ready corev1.ConditionStatus) {
	t.Helper()
	is := func(o k8s.Object) bool {
		for _, condition := range o.(*corev1.Node).Status.Conditions {
			if condition.Type == corev1.NodeReady {
				return condition.Status == ready
			}
		}
		return false
	}
	node := &corev1.Node{}
	node.Name = n.Name()
	if err := wait.For(conditions.New(c.Client().Resources()).ResourceMatch(node, is), wait.WithTimeout(2*time.Minute), wait.WithInterval(500*time.Millisecond)); err != nil {
		t.Fatalf("node %s never had Ready %s: %v", n.Name(), ready, err)
	}
}

// TestRunsAreJudged deploys, runs and tears down: what a lost COMMIT, a stale leader and a dead node do to the reference. What is planted
// is confirmed by the suite (`make chaos CLUSTER=kind`).
func TestRunsAreJudged(t *testing.T) {
	var dir string
	judged := features.New("lost COMMIT, stale leader, node kill").Setup(func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
		dir = t.TempDir()
		command := exec.CommandContext(ctx, squall, "run", "lost-finish-reply", "paused-in-mid-batch", "node-kill-and-return",
			"--world", "kind", "--cluster", cluster, "--lanes", "2", "--dir", dir)
		text, err := command.CombinedOutput()
		t.Logf("%s", text)
		// 1 with valid verdicts: a task ended otherwise than expected, as on a machine that is busy with something else.
		if code := command.ProcessState.ExitCode(); code != 0 && code != 1 {
			t.Fatalf("squall ended with %d (%v)", code, err)
		}
		return ctx
	})
	for _, scenario := range []string{"lost-finish-reply", "paused-in-mid-batch", "node-kill-and-return"} {
		judged.Assess(scenario+" is valid", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
			if v := verdictOf(t, dir, scenario); v.Verdict != "valid" || v.World != "kind" {
				t.Errorf("the bundle says %+v, want a valid run in kind", v)
			}
			return ctx
		})
	}
	world.Test(t, judged.Assess("nothing of the runs is left", nothingLeft).Feature())
}

type verdict struct {
	Verdict, World string
	SecondWitness  string `json:"second_witness"`
}

// verdictOf reads the one bundle of the scenario in a directory of runs.
func verdictOf(t *testing.T, dir, scenario string) (v verdict) {
	t.Helper()
	bundles, err := filepath.Glob(filepath.Join(dir, "runs", "*-"+scenario+"-reference-*", "verdict.json"))
	if err != nil || len(bundles) != 1 {
		t.Fatalf("%s has the verdicts %v, %v; want one", scenario, bundles, err)
	}
	text, err := os.ReadFile(bundles[0])
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func nothingLeft(ctx context.Context, t *testing.T, c *envconf.Config) context.Context {
	r := c.Client().Resources()
	ours := resources.WithLabelSelector("squall.dev/run")
	var namespaces corev1.NamespaceList
	var volumes corev1.PersistentVolumeList
	var roles rbacv1.ClusterRoleList
	if err := errors.Join(r.List(ctx, &namespaces, ours), r.List(ctx, &volumes, ours), r.List(ctx, &roles, ours)); err != nil {
		t.Fatal(err)
	}
	if n := len(namespaces.Items) + len(volumes.Items) + len(roles.Items); n > 0 {
		t.Errorf("the run left %d namespaces, %d volumes, %d cluster roles", len(namespaces.Items), len(volumes.Items), len(roles.Items))
	}
	for _, n := range bed.Nodes() {
		if text, err := n.Exec(ctx, "sh", "-c", "ls -A /var/lib/squall 2>/dev/null || true"); err != nil || len(text) > 0 {
			t.Errorf("node %s has files of the run: %s %v", n.Name(), text, err)
		}
	}
	return ctx
}

// TestWhatAKilledSquallLeavesIsRemoved kills squall while it has a cluster of its own under way.
func TestWhatAKilledSquallLeavesIsRemoved(t *testing.T) {
	world.Test(t, features.New("SIGKILL").Assess("cluster down removes what is left", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
		const doomed = "e2e-doomed"
		command := exec.CommandContext(ctx, squall, "cluster", "up", doomed)
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		deadline := time.Now().Add(3 * time.Minute)
		for containersOf(ctx, doomed) == "" && time.Now().Before(deadline) {
			time.Sleep(500 * time.Millisecond)
		}
		_ = command.Process.Signal(syscall.SIGKILL)
		_ = command.Wait()
		status, err := exec.CommandContext(ctx, squall, "cluster", "status").CombinedOutput()
		if err != nil || !strings.Contains(string(status), doomed) {
			t.Errorf("squall cluster status does not name what is left: %v\n%s", err, status)
		}
		if text, err := exec.CommandContext(ctx, squall, "cluster", "down", doomed).CombinedOutput(); err != nil {
			t.Errorf("squall cluster down: %v\n%s", err, text)
		}
		if left := containersOf(ctx, doomed); left != "" {
			t.Errorf("squall cluster down left %s", left)
		}
		return ctx
	}).Feature())
}
