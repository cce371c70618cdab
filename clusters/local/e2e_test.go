//go:build e2e

package local

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	core "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/clientcmd"
)

func started(t *testing.T, o Options) *ControlPlane {
	t.Helper()
	var err error
	if o.Binary, err = Built(); err != nil {
		t.Fatal(err)
	}
	from := time.Now()
	c, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("ready after %s", time.Since(from).Round(time.Millisecond))
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("logs are in %s", c.KeepLogs())
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func (c *ControlPlane) client(t *testing.T) *core.CoreV1Client {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	client, err := core.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// until waits for a condition, asked now and then.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	limit := time.After(30 * time.Second)
	for !holds() {
		select {
		case <-limit:
			t.Fatalf("%s: not within 30 s", what)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func TestAWholeControlPlane(t *testing.T) {
	c := started(t, Options{ControllerManager: true, Scheduler: true})
	client := c.client(t)
	if info, err := os.Stat(c.Kubeconfig()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("kubeconfig: %v, %v", info.Mode(), err)
	}
	_, err := client.Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "work"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	until(t, "the controller manager makes a service account", func() bool {
		_, err := client.ServiceAccounts("work").Get(t.Context(), "default", metav1.GetOptions{})
		return err == nil
	})
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "a"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a"}}},
	}
	if _, err := client.Pods("work").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, "the scheduler judges a pod", func() bool {
		p, err := client.Pods("work").Get(t.Context(), "a", metav1.GetOptions{})
		return err == nil && len(p.Status.Conditions) > 0 && p.Status.Conditions[0].Reason == corev1.PodReasonUnschedulable
	})
}

func TestNobodyElseGetsIn(t *testing.T) {
	c := started(t, Options{})
	config := c.Config()
	config.BearerToken = "guess"
	client, err := core.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Namespaces().List(t.Context(), metav1.ListOptions{}); !apierrors.IsUnauthorized(err) {
		t.Errorf("with a wrong token: %v", err)
	}
	if info, err := os.Stat(c.dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("directory: %v, %v", info.Mode(), err)
	}
}

func TestProgramsAreKilledAndComeBack(t *testing.T) {
	c := started(t, Options{})
	client := c.client(t)
	_, err := client.Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "work"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range []Program{Etcd, APIServer} {
		p := c.Process(program)
		if err := errors.Join(p.Kill(), p.Start(), c.Ready(t.Context())); err != nil {
			t.Fatal(err)
		}
		until(t, "what was written is there after the end of "+string(program), func() bool {
			_, err := client.Namespaces().Get(t.Context(), "work", metav1.GetOptions{})
			return err == nil
		})
	}
	if c.Process(Scheduler) != nil {
		t.Error("a scheduler that nobody asked for")
	}
}

func TestAFrozenAPIServerAnswersWhenItThaws(t *testing.T) {
	c := started(t, Options{})
	client := c.client(t)
	if err := c.Process(APIServer).Freeze(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := client.Namespaces().Get(ctx, "default", metav1.GetOptions{}); err == nil {
		t.Error("a frozen API server answered")
	}
	if err := errors.Join(c.Process(APIServer).Thaw(), c.Ready(t.Context())); err != nil {
		t.Error(err)
	}
}

func TestNothingIsLeft(t *testing.T) {
	for _, how := range []string{"close", "interrupt"} {
		t.Run(how, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			binary, err := Built()
			if err != nil {
				t.Fatal(err)
			}
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			c, err := Start(ctx, Options{Binary: binary, ControllerManager: true})
			if err != nil {
				t.Fatal(err)
			}
			if how == "interrupt" {
				interrupt()
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			for _, p := range c.processes {
				if p.Alive() {
					t.Errorf("%s is alive", p.program)
				}
			}
			if left, _ := os.ReadDir(os.TempDir()); len(left) != 0 {
				t.Errorf("left %v", left)
			}
			if _, err := http.Get("https://" + c.address); !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("something answers at %s: %v", c.address, err)
			}
		})
	}
}

// A squall that dies by SIGKILL cannot tidy up: the kernel kills its children.
func TestTheControlPlaneDiesWithItsOwner(t *testing.T) {
	if os.Getenv("SQUALL_TEST_OWNER") != "" {
		c := started(t, Options{})
		fmt.Printf("pids %d %d\n", c.Process(Etcd).PID(), c.Process(APIServer).PID())
		select {}
	}
	owner := exec.Command(self(t), "-test.run", "^TestTheControlPlaneDiesWithItsOwner$")
	owner.Env = append(os.Environ(), "SQUALL_TEST_OWNER=yes", "TMPDIR="+t.TempDir())
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	var pids []string
	for lines := bufio.NewScanner(out); pids == nil && lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "pids "); ok {
			pids = strings.Fields(text)
		}
	}
	if len(pids) != 2 {
		t.Fatalf("the owner said %v", pids)
	}
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait()
	for _, text := range pids {
		until(t, "the end of "+text, func() bool { return !running(t, text) })
	}
}

// running tells whether a process runs; one that waits to be reaped does not.
func running(t *testing.T, pid string) bool {
	t.Helper()
	if _, err := strconv.Atoi(pid); err != nil {
		t.Fatal(err)
	}
	stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}
