//go:build e2e

package replica

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	core "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/squall-chaos/squall/clusters/local"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/kube/environment"
	"github.com/squall-chaos/squall/dispatcher/manifests"
)

// TestWithTheRightsOfTheManifests runs both programs against a real API server, each with the token of its service account and no more
// rights than the manifests give it, in a namespace that takes only restricted Pods.
func TestWithTheRightsOfTheManifests(t *testing.T) {
	binary, err := local.Built()
	if err != nil {
		t.Fatal(err)
	}
	c, err := local.Start(t.Context(), local.Options{Binary: binary})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	client, err := core.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "batch", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}}}
	if _, err := client.Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	text, err := manifests.Render("batch", "squall.local/programs:test")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time nothing is left to be done
		apply := exec.CommandContext(t.Context(), binary, "kubectl", "--kubeconfig", c.Kubeconfig(), "apply", "--validate=strict", "-f", "-")
		apply.Stdin = strings.NewReader(text)
		output, err := apply.CombinedOutput()
		if err != nil || strings.Contains(string(output), "Warning") {
			t.Fatalf("%v: %s", err, output)
		}
	}

	url, api := newDatabase(t), newAPIServer(t)
	own := func(role string) []string {
		return []string{environment.Kubeconfig + "=" + tokenOf(t, c, client, "squall-"+role), environment.Process + "=" + role + "-1",
			environment.ServiceAccount + "=squall-worker", asReplica + "=" + role}
	}
	d := start(t, url, api, append(own("dispatcher"), "--migrate")...)
	r := start(t, url, api, own("reconciler")...)
	for _, p := range []*program{d, r} {
		await(t, "for the replica to be ready", func() bool { code, _ := p.get("/readyz"); return code == 200 })
	}
	store := submitTo(t, url)
	pods := client.Pods("batch")
	await(t, "for the Pod", func() bool {
		pod, err := pods.Get(t.Context(), "task-a", metav1.GetOptions{})
		return err == nil && pod.Spec.ServiceAccountName == "squall-worker"
	})
	if _, err := store.Cancel(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	await(t, "for the Pod to be gone", func() bool {
		_, err := pods.Get(t.Context(), "task-a", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	await(t, "for the row to be cancelled", func() bool {
		row, err := store.Read(t.Context(), "a")
		return err == nil && row.Phase == dispatcher.Cancelled && row.CleanupAt.IsZero()
	})
	d.stops(t)
	r.stops(t)
	for _, p := range []*program{d, r} {
		if strings.Contains(p.log.String(), "forbidden") {
			t.Error("a right is missing")
		}
	}
}

// tokenOf is a kubeconfig with which one is the service account.
func tokenOf(t *testing.T, c *local.ControlPlane, client *core.CoreV1Client, account string) string {
	t.Helper()
	token, err := client.ServiceAccounts("batch").CreateToken(t.Context(), account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	admin, err := clientcmd.LoadFromFile(c.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	for name := range admin.AuthInfos {
		admin.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*admin, file); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
