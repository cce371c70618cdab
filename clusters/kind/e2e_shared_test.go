//go:build e2e

package kind_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/features"

	"github.com/squall-chaos/squall/clusters/kind/testbed"
)

// foreign is the cluster as if Squall had not made it: a context of a kubeconfig whose user is the admin of one namespace and has no
// right beyond it, and that namespace. What needed more would be refused by the API server.
type foreign struct {
	kubeconfig, context, namespace string
	api                            kubernetes.Interface // the cluster's admin
}

func newForeign(ctx context.Context, t *testing.T, namespace string) foreign {
	t.Helper()
	api, err := kubernetes.NewForConfig(bed.Config())
	if err != nil {
		t.Fatal(err)
	}
	f := foreign{filepath.Join(t.TempDir(), "kubeconfig"), "kind-" + testbed.Prefix + cluster, namespace, api}
	must := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(api.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: map[string]string{
		"pod-security.kubernetes.io/enforce": "restricted"}}}, metav1.CreateOptions{}))
	t.Cleanup(func() {
		_ = api.CoreV1().Namespaces().Delete(context.WithoutCancel(ctx), namespace, metav1.DeleteOptions{})
	})
	must(api.CoreV1().ServiceAccounts(namespace).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "tester"}}, metav1.CreateOptions{}))
	must(api.RbacV1().RoleBindings(namespace).Create(ctx, &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "tester"},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "admin"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "tester", Namespace: namespace}}}, metav1.CreateOptions{}))
	token, err := api.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, "tester", &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(7200))}}, metav1.CreateOptions{})
	must(token, err)
	config, err := clientcmd.LoadFromFile(bed.Kubeconfig())
	must(config, err)
	for name := range config.AuthInfos { // order does not matter
		config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	}
	if err := clientcmd.WriteToFile(*config, f.kubeconfig); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f foreign) allow(ctx context.Context, t *testing.T) {
	t.Helper()
	ns, err := f.api.CoreV1().Namespaces().Get(ctx, f.namespace, metav1.GetOptions{})
	if err == nil {
		ns.Labels["squall/allow-chaos"] = "true"
		_, err = f.api.CoreV1().Namespaces().Update(ctx, ns, metav1.UpdateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// command is squall with that context and namespace, and nothing else of the cluster.
func (f foreign) command(ctx context.Context, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, squall, append(args, "--context", f.context, "--namespace", f.namespace)...)
	command.Env = append(os.Environ(), "KUBECONFIG="+f.kubeconfig)
	return command
}

func (f foreign) says(ctx context.Context, t *testing.T, code int, words []string, args ...string) {
	t.Helper()
	command := f.command(ctx, args...)
	text, _ := command.CombinedOutput()
	t.Logf("squall %s: status %d\n%s", strings.Join(args, " "), command.ProcessState.ExitCode(), text)
	if got := command.ProcessState.ExitCode(); got != code {
		t.Errorf("squall %s ended with %d, want %d", strings.Join(args, " "), got, code)
	}
	for _, word := range words {
		if !strings.Contains(string(text), word) {
			t.Errorf("squall %s does not say %q", strings.Join(args, " "), word)
		}
	}
}

// empty wants nothing in the namespace that a run made.
func (f foreign) empty(ctx context.Context, t *testing.T) {
	t.Helper()
	o := metav1.ListOptions{LabelSelector: "squall.dev/run"}
	pods, err := f.api.CoreV1().Pods(f.namespace).List(ctx, metav1.ListOptions{})
	if err != nil || len(pods.Items) > 0 {
		t.Errorf("%d pods are left: %v", len(pods.Items), err)
	}
	secrets, err := f.api.CoreV1().Secrets(f.namespace).List(ctx, o)
	if err != nil || len(secrets.Items) > 0 {
		t.Errorf("%d secrets are left: %v", len(secrets.Items), err)
	}
	roles, err := f.api.RbacV1().ClusterRoles().List(ctx, o)
	if err != nil || len(roles.Items) > 0 {
		t.Errorf("%d cluster roles were made: %v", len(roles.Items), err)
	}
}

func TestANamespaceIsEnough(t *testing.T) {
	t.Parallel()
	world.Test(t, features.New("a cluster that Squall did not make").Assess("is run in, and left as it was", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
		f := newForeign(ctx, t, "chaos")
		f.says(ctx, t, 2, []string{"has no label squall/allow-chaos", "label namespace chaos squall/allow-chaos=true"}, "run", "lost-create-reply", "--world", "cluster")
		f.allow(ctx, t)
		f.says(ctx, t, 0, []string{"pods/portforward: create"}, "doctor", "--world", "cluster")
		f.says(ctx, t, 2, []string{"cannot do node-kill", "machines of Squall's own"}, "run", "node-kill-and-return", "--world", "cluster")
		f.isValid(ctx, t, "lost-create-reply")
		return ctx
	}).Feature())
}

func TestANamespaceIsCleanedAndUsedAgain(t *testing.T) {
	t.Parallel()
	var f foreign
	world.Test(t, features.New("SIGKILL in a cluster that Squall did not make").Setup(func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
		f = newForeign(ctx, t, "chaos-killed")
		f.allow(ctx, t)
		command := f.command(ctx, "run", "lost-create-reply", "--world", "cluster", "--dir", t.TempDir())
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(3 * time.Minute); ; time.Sleep(500 * time.Millisecond) {
			_, err := f.api.CoreV1().Pods(f.namespace).Get(ctx, "dispatcher-1-life-1", metav1.GetOptions{})
			if err == nil {
				break
			}
			if time.Now().After(end) {
				t.Fatal("no replica was started")
			}
		}
		_ = command.Process.Signal(syscall.SIGKILL)
		_ = command.Wait()
		return ctx
	}).Assess("the remains are named, and cleaned", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
		f.says(ctx, t, 2, []string{"has remains of a run", "squall clean --context"}, "run", "lost-create-reply", "--world", "cluster")
		f.says(ctx, t, 0, []string{"removed pods/postgres", "removed leases/dispatcher"}, "clean")
		f.empty(ctx, t)
		f.says(ctx, t, 0, []string{"nothing of Squall's"}, "clean")
		return ctx
	}).Assess("the namespace can be used again", func(ctx context.Context, t *testing.T, _ *envconf.Config) context.Context {
		f.isValid(ctx, t, "paused-in-mid-batch")
		return ctx
	}).Feature())
}

// isValid runs the scenario, whose bundle is to name its second witness, and which is to leave nothing.
func (f foreign) isValid(ctx context.Context, t *testing.T, scenario string) {
	t.Helper()
	dir := t.TempDir()
	command := f.command(ctx, "run", scenario, "--world", "cluster", "--dir", dir)
	text, err := command.CombinedOutput()
	t.Logf("%s", text)
	if code := command.ProcessState.ExitCode(); code != 0 && code != 1 { // 1 with a valid verdict: see TestRunsAreJudged
		t.Fatalf("%s: squall ended with %d (%v)", scenario, code, err)
	}
	if v := verdictOf(t, dir, scenario); v.Verdict != "valid" || v.World != "cluster" || !strings.Contains(v.SecondWitness, "weaker") {
		t.Errorf("the bundle says %+v, want a valid run in a cluster, and a witness that is weaker", v)
	}
	f.empty(ctx, t)
}
