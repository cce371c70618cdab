//go:build e2e

package installation

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/kind/images"
	"github.com/squall-chaos/squall/faults/chaosmesh"
)

const (
	targets = "squall-chaosmesh-targets" // their namespace
	port    = "8080"
)

// roles are the targets, with the labels that the objects select by; the names of their containers are as the dispatcher's.
var roles = map[string]struct {
	container string
	labels    map[string]string
}{
	"dispatcher": {"dispatcher", map[string]string{"app.kubernetes.io/component": "dispatcher"}},
	"worker":     {"work", map[string]string{"squall.dev/task": "task-1"}},
	"server":     {"server", map[string]string{"app": "server"}},
	"bystander":  {"bystander", map[string]string{"app": "bystander"}},
}

// deploy makes the targets once, for all tests.
var deploy = sync.OnceValue(func() error {
	ctx := context.Background()
	image, err := Target(ctx, images.Options{Progress: os.Stderr})
	if err != nil {
		return err
	}
	if err := bed.Load(ctx, image.Archive, image.Ref); err != nil {
		return err
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: targets}}
	if _, err := api.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	for name := range roles { // the order does not matter
		_, err := api.AppsV1().Deployments(targets).Create(ctx, deployment(name, image.Ref), metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
})

func deployment(name, image string) *appsv1.Deployment {
	r := roles[name]
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: r.labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: r.labels},
				Spec: corev1.PodSpec{TerminationGracePeriodSeconds: new(int64(1)), Containers: []corev1.Container{{
					Name: r.container, Image: image, ImagePullPolicy: corev1.PullNever,
				}}},
			},
		},
	}
}

// here is the site of the targets. The API server is meant by its ClusterIP.
func here(t *testing.T) chaosmesh.Site {
	t.Helper()
	if err := deploy(); err != nil {
		t.Fatal(err)
	}
	return chaosmesh.Site{
		Namespace: targets, Name: strings.ToLower(t.Name()[4:]), Horizon: 5 * time.Minute, PodGrace: time.Second, Dispatchers: 1, Reconcilers: 1,
		APIServer: []string{apiServer(t)},
		Database:  chaosmesh.Database{Pods: roles["server"].labels},
		HTTP:      map[clusters.Port]chaosmesh.HTTPServer{clusters.API: {Pods: roles["server"].labels, Port: 8080, Path: "/jobs*"}},
	}
}

func apiServer(t *testing.T) string {
	t.Helper()
	s, err := api.CoreV1().Services("default").Get(t.Context(), "kubernetes", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return s.Spec.ClusterIP
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(90 * time.Second); !holds(); time.Sleep(300 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never seen: %s", what)
		}
	}
}

// pod is the running Pod of a role, with its container started, once none of an earlier one is left: Chaos Mesh would choose that, too, and
// look for its container in vain.
func pod(t *testing.T, role string) corev1.Pod {
	t.Helper()
	var found corev1.Pod
	eventually(t, "one running Pod of "+role, func() bool {
		list, err := api.CoreV1().Pods(targets).List(t.Context(), metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(&metav1.LabelSelector{MatchLabels: roles[role].labels})})
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Items) != 1 {
			return false
		}
		found = list.Items[0]
		s := found.Status.ContainerStatuses
		return found.DeletionTimestamp == nil && len(s) == 1 && s[0].State.Running != nil && found.Status.PodIP != ""
	})
	return found
}

// ask makes one HTTP request of a target, on a connection of its own.
func ask(t *testing.T, role, method, path string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	conn, err := bed.Dial(ctx, net.JoinHostPort(pod(t, role).Status.PodIP, port))
	if err != nil {
		return "", err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if _, err := fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: target\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", method, path); err != nil {
		return "", err
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return strings.TrimSpace(string(text)), err
}

func mustAsk(t *testing.T, role, method, path string) string {
	t.Helper()
	var text string
	eventually(t, "an answer of "+role+" to "+path, func() (ok bool) {
		var err error
		text, err = ask(t, role, method, path)
		return err == nil
	})
	return text
}

// reaches tells whether a target can open a connection.
func reaches(t *testing.T, role, address string) (bool, time.Duration) {
	t.Helper()
	words := strings.Fields(mustAsk(t, role, "GET", "/reach?address="+url.QueryEscape(address)))
	ms, _ := strconv.Atoi(words[1])
	return words[0] == "true", time.Duration(ms) * time.Millisecond
}

// skew is how far a target's clock is from this machine's, which the nodes share.
func skew(t *testing.T, role string) time.Duration {
	t.Helper()
	ms, err := strconv.ParseInt(mustAsk(t, role, "GET", "/now"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Until(time.UnixMilli(ms))
}

func jobs(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(mustAsk(t, "server", "GET", "/jobs"))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
