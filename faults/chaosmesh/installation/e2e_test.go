//go:build e2e

package installation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/squall-chaos/squall/clusters/kind/testbed"
	"github.com/squall-chaos/squall/faults/chaosmesh"
)

// shared names the environment variable with the name of a cluster that the tests make if it is not there, and leave.
const shared = "SQUALL_E2E_CLUSTER"

var (
	squall  string // the program
	cluster = cmp.Or(os.Getenv(shared), "e2e-chaosmesh")
	bed     *testbed.Cluster
	api     kubernetes.Interface
	objects dynamic.Interface
	mesh    chaosmesh.Client
	// absent is what was said of the cluster before Chaos Mesh was in it; nil: it was there.
	absent  error
	refused string // what squall said then
)

func TestMain(m *testing.M) {
	code, err := withCluster(context.Background(), m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// withCluster does something while there is a cluster with Chaos Mesh in it.
func withCluster(ctx context.Context, do func() int) (code int, err error) {
	dir, err := os.MkdirTemp("", "squall-e2e-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	squall = filepath.Join(dir, "squall")
	if text, err := exec.CommandContext(ctx, "go", "build", "-tags", "kind", "-o", squall, "../../../cmd/squall").CombinedOutput(); err != nil {
		return 1, fmt.Errorf("build squall: %w\n%s", err, text)
	}
	if os.Getenv(shared) == "" {
		defer func() { err = errors.Join(err, down(ctx)) }()
	}
	if err := connect(ctx); err != nil {
		return 1, err
	}
	return do(), nil
}

// up opens the cluster, or makes it.
func up(ctx context.Context) (err error) {
	if bed, err = testbed.Open(ctx, cluster); os.Getenv(shared) == "" || errors.Is(err, testbed.ErrNotFound) {
		command := exec.CommandContext(ctx, squall, "cluster", "up", cluster)
		command.Stdout, command.Stderr = os.Stderr, os.Stderr
		if err := command.Run(); err != nil {
			return fmt.Errorf("squall cluster up: %w", err)
		}
		bed, err = testbed.Open(ctx, cluster)
	}
	return err
}

func connect(ctx context.Context) error {
	err := up(ctx)
	if err != nil {
		return err
	}
	config := bed.Config()
	config.QPS, config.Burst = -1, 0
	if api, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	if objects, err = dynamic.NewForConfig(config); err != nil {
		return err
	}
	mesh = chaosmesh.NewClient(objects)
	if absent = mesh.Check(ctx, "default"); absent != nil {
		refused = said(ctx, "run", "own-deadline", "--world", "kind", "--cluster", cluster, "--injector", "chaosmesh")
	}
	return Install(ctx, bed, os.Stderr)
}

func down(ctx context.Context) error {
	if text, err := exec.CommandContext(ctx, squall, "cluster", "down", cluster).CombinedOutput(); err != nil {
		return fmt.Errorf("squall cluster down: %w\n%s", err, text)
	}
	return nil
}

// said is what a command prints, and how it ends.
func said(ctx context.Context, args ...string) string {
	command := exec.CommandContext(ctx, squall, args...)
	text, _ := command.CombinedOutput()
	return strings.TrimSpace(string(text)) + fmt.Sprintf("\nexit status %d", command.ProcessState.ExitCode())
}
