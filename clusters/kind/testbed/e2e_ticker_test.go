//go:build e2e

package testbed

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ticker is a pod that runs testdata/ticker.
type ticker struct {
	c       *Cluster
	node    *Node
	name    string
	address string
	client  *http.Client
}

func newTicker(t *testing.T, c *Cluster, n *Node, name, ref string) *ticker {
	t.Helper()
	_, err := c.core.Pods(namespace).Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			NodeName:    n.Name(),
			Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}}, // it is to stay bound to its node
			Containers: []corev1.Container{{
				Name: "ticker", Image: ref, ImagePullPolicy: corev1.PullNever, Command: []string{"/ticker"},
				Env:          []corev1.EnvVar{{Name: "FILE", Value: "/record/" + name}},
				VolumeMounts: []corev1.VolumeMount{{Name: "record", MountPath: "/record"}},
			}},
			Volumes: []corev1.Volume{{Name: "record", VolumeSource: corev1.VolumeSource{
				HostPath: &corev1.HostPathVolumeSource{Path: "/var/lib/squall/" + name, Type: new(corev1.HostPathDirectoryOrCreate)},
			}}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // of a cluster that is left
		ctx := context.WithoutCancel(t.Context())
		if err := c.core.Pods(namespace).Delete(ctx, name, *metav1.NewDeleteOptions(0)); err != nil && os.Getenv(shared) != "" {
			t.Error(err)
		}
		_, _ = n.Exec(ctx, "rm", "-rf", "/var/lib/squall/"+name)
	})
	p := &ticker{c: c, node: n, name: name}
	p.client = &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) { return c.Dial(ctx, address) },
	}}
	p.running(t)
	return p
}

// running waits until the pod runs, and learns its address.
func (p *ticker) running(t *testing.T) {
	t.Helper()
	within(t, 90*time.Second, "pod "+p.name+" runs", func(ctx context.Context) (string, bool) {
		pod, err := p.c.core.Pods(namespace).Get(ctx, p.name, metav1.GetOptions{})
		if err != nil {
			return err.Error(), false
		}
		p.address = pod.Status.PodIP + ":8080"
		ok := len(pod.Status.ContainerStatuses) == 1 && pod.Status.ContainerStatuses[0].State.Running != nil && pod.Status.PodIP != ""
		return fmt.Sprintf("%s %v", pod.Status.Phase, pod.Status.ContainerStatuses), ok
	})
}

// ticks is how often it has ticked by the file on its node.
func (p *ticker) ticks(t *testing.T) int {
	t.Helper()
	files, err := p.node.Read(t.Context(), "/var/lib/squall/"+p.name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(files[p.name]), "\n")
}

func (p *ticker) get(path string) (string, error) {
	answer, err := p.client.Get("http://" + p.address + path)
	if err != nil {
		return "", err
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", answer.Status, body)
	}
	return string(body), err
}

// ticking tells whether the file grows within two seconds.
func (p *ticker) ticking(t *testing.T) bool {
	t.Helper()
	before := p.ticks(t)
	time.Sleep(2 * time.Second)
	return p.ticks(t) > before
}
