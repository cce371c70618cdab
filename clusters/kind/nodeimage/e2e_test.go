//go:build e2e

package nodeimage

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/squall-chaos/squall/clusters/binaries"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	"sigs.k8s.io/kind/pkg/cluster"
)

// The image is one that kind makes a cluster of: with names, Services and the world outside, and after a node was killed and started.
func TestAClusterOfTheImageWorks(t *testing.T) {
	for _, mode := range []v1alpha4.ProxyMode{v1alpha4.NFTablesProxyMode, v1alpha4.IPTablesProxyMode} {
		t.Run(string(mode), func(t *testing.T) {
			c := up(t, mode)
			c.works(t, "before")
			node := c.name + "-worker"
			for _, command := range []string{"kill", "start"} {
				if _, err := docker(t.Context(), nil, command, node); err != nil {
					t.Fatal(err)
				}
			}
			c.works(t, "after")
		})
	}
}

type testCluster struct {
	name, kubeconfig string
	client           *kubernetes.Clientset
}

func up(t *testing.T, mode v1alpha4.ProxyMode) *testCluster {
	t.Helper()
	ref, err := Build(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	c := &testCluster{name: fmt.Sprintf("squall-nodeimage-%d", os.Getpid()), kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	provider := cluster.NewProvider(cluster.ProviderWithDocker())
	t.Cleanup(func() {
		if err := provider.Delete(c.name, c.kubeconfig); err != nil {
			t.Error(err)
		}
	})
	config := &v1alpha4.Cluster{
		Nodes:                []v1alpha4.Node{{Role: v1alpha4.ControlPlaneRole}, {Role: v1alpha4.WorkerRole}, {Role: v1alpha4.WorkerRole}},
		Networking:           v1alpha4.Networking{KubeProxyMode: mode},
		KubeadmConfigPatches: []string{"kind: KubeletConfiguration\nfailCgroupV1: false\n"},
	}
	if err := provider.Create(c.name, cluster.CreateWithNodeImage(ref), cluster.CreateWithV1Alpha4Config(config),
		cluster.CreateWithKubeconfigPath(c.kubeconfig), cluster.CreateWithWaitForReady(2*time.Minute)); err != nil {
		t.Fatal(err)
	}
	restConfig, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	if c.client, err = kubernetes.NewForConfig(restConfig); err != nil {
		t.Fatal(err)
	}
	asks := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "asker"}, Data: map[string]string{"config": asker}}
	if _, err := c.client.CoreV1().ConfigMaps("default").Create(t.Context(), asks, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return c
}

// asker has kubectl use the name of the API's Service, and be the pod's account.
const asker = `{"apiVersion": "v1", "kind": "Config", "current-context": "x", "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
"clusters": [{"name": "x", "cluster": {"server": "https://kubernetes.default.svc.cluster.local", "certificate-authority": "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt"}}],
"users": [{"name": "x", "user": {"tokenFile": "/var/run/secrets/kubernetes.io/serviceaccount/token"}}]}`

// works runs a pod on the first worker that asks the name server, on another node, for the API's name, and the API through its
// Service. The image of kube-proxy is at hand and has kubectl in its one program.
func (c *testCluster) works(t *testing.T, name string) {
	t.Helper()
	zero := int64(0)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			NodeName: c.name + "-worker", RestartPolicy: corev1.RestartPolicyOnFailure, TerminationGracePeriodSeconds: &zero,
			Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			Containers: []corev1.Container{{
				Name: "ask", Image: "registry.k8s.io/kube-proxy:" + binaries.KubernetesVersion, ImagePullPolicy: corev1.PullNever,
				Command:      []string{"/usr/local/bin/kubernetes", "kubectl", "--kubeconfig=/asker/config", "get", "--raw=/readyz"},
				VolumeMounts: []corev1.VolumeMount{{Name: "asker", MountPath: "/asker"}},
			}},
			Volumes: []corev1.Volume{{Name: "asker", VolumeSource: corev1.VolumeSource{
				ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "asker"}},
			}}},
		},
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	c.account(ctx, t)
	if _, err := c.client.CoreV1().Pods("default").Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for {
		found, err := c.client.CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{})
		if err == nil && found.Status.Phase == corev1.PodSucceeded {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("the pod did not end well: %v, %+v\n%s", err, found.Status, c.logs(name))
		case <-time.After(2 * time.Second):
		}
	}
}

// account waits for the ServiceAccount that a pod is made with.
func (c *testCluster) account(ctx context.Context, t *testing.T) {
	t.Helper()
	for {
		if _, err := c.client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{}); err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatal(ctx.Err())
		case <-time.After(time.Second):
		}
	}
}

func (c *testCluster) logs(name string) string {
	var out bytes.Buffer
	cmd := exec.Command("docker", "exec", c.name+"-control-plane", "kubectl", "--kubeconfig=/etc/kubernetes/admin.conf", "logs", name)
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = cmd.Run()
	return strings.TrimSpace(out.String())
}
