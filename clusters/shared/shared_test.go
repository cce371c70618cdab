package shared

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	clienttesting "k8s.io/client-go/testing"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/deployed"
	"github.com/squall-chaos/squall/clusters/journal"
	"github.com/squall-chaos/squall/dispatcher/kube"
)

// place is a namespace of a cluster that is not there.
func place(objects ...runtime.Object) *Site {
	kinds := map[schema.GroupVersionResource]string{}
	for _, x := range sorts {
		kinds[x.resource] = "List"
	}
	return &Site{Context: "far", Namespace: "chaos", api: fake.NewClientset(objects...),
		objects: dynamicfake.NewSimpleDynamicClientWithCustomListKinds(scheme.Scheme, kinds, objects...)}
}

func namespace(label string) *corev1.Namespace {
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "chaos"}}
	if label != "" {
		n.Labels = map[string]string{AllowLabel: label}
	}
	return n
}

func says(t *testing.T, err error, want error, words ...string) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("%v, want %v", err, want)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q is missing from: %v", word, err)
		}
	}
}

func TestOnlyANamespaceThatSaysSoIsTouched(t *testing.T) {
	label := "kubectl --context far label namespace chaos squall/allow-chaos=true"
	says(t, place().Allowed(t.Context()), ErrNamespace, "has no namespace chaos", "create namespace chaos", label)
	says(t, place(namespace("")).Allowed(t.Context()), ErrNamespace, "has no label squall/allow-chaos", label)
	says(t, place(namespace("yes")).Allowed(t.Context()), ErrNamespace, `squall/allow-chaos="yes"`, label+" --overwrite")
	gone := namespace("true")
	gone.DeletionTimestamp = new(metav1.Now())
	gone.Finalizers = []string{"x"}
	says(t, place(gone).Allowed(t.Context()), ErrNamespace, "being deleted")
	if err := place(namespace("true")).Allowed(t.Context()); err != nil {
		t.Error(err)
	}
}

// allowing answers every question for a right but those about the given verbs of a resource.
func allowing(s *Site, resource string, denied ...string) {
	s.api.(*fake.Clientset).PrependReactor("create", "selfsubjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		review := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SelfSubjectAccessReview)
		asked := review.Spec.ResourceAttributes
		review.Status.Allowed = asked.Namespace == "chaos" && (asked.Resource != resource || !slices.Contains(denied, asked.Verb))
		return true, review, nil
	})
}

func TestEveryRightIsAskedForBeforeAnythingIsMade(t *testing.T) {
	s := place(namespace("true"))
	allowing(s, "")
	if err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	s = place(namespace("true"))
	allowing(s, "roles", "create", "delete")
	says(t, s.Prepare(t.Context()), ErrRights, "create, delete roles.rbac.authorization.k8s.io", "the rights of the replicas", "create rolebinding")
	for _, a := range s.api.(*fake.Clientset).Actions() {
		if a.GetVerb() != "get" && a.GetResource().Resource != "selfsubjectaccessreviews" {
			t.Errorf("%s %s was asked for although rights are missing", a.GetVerb(), a.GetResource().Resource)
		}
	}
}

func object(name string, labels map[string]string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: "chaos", Labels: labels, UID: "u-" + "1"}
}

func TestCleanRemovesWhatRunsMadeAndNothingElse(t *testing.T) {
	run := map[string]string{deployed.RunLabel: "chaos"}
	task := map[string]string{kube.LabelTask: "a"}
	workload := &corev1.Pod{ObjectMeta: object("task-a", task)}
	workload.Finalizers = []string{kube.Finalizer}
	s := place(namespace("true"), workload,
		&corev1.Pod{ObjectMeta: object("dispatcher-1-life-1", run)},
		&corev1.Pod{ObjectMeta: object("theirs", nil)},
		&corev1.Secret{ObjectMeta: object("database", run)},
		&corev1.Secret{ObjectMeta: object("their-secret", map[string]string{"app.kubernetes.io/managed-by": "squall"})},
		&corev1.ServiceAccount{ObjectMeta: object("squall-worker", run)},
	)
	allowing(s, "")
	says(t, s.Prepare(t.Context()), ErrRemains, "4 in all", "squall clean --context far -n chaos")
	removed, err := s.Clean(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"pods/dispatcher-1-life-1", "pods/task-a", "secrets/database", "serviceaccounts/squall-worker"}
	if !slices.Equal(removed, want) {
		t.Errorf("removed %v, want %v", removed, want)
	}
	for _, resource := range []string{"pods", "secrets"} {
		left, err := s.objects.Resource(of("", "v1", resource)).Namespace("chaos").List(t.Context(), metav1.ListOptions{})
		if err != nil || len(left.Items) != 1 {
			t.Errorf("%d %s are left, want theirs only: %v", len(left.Items), resource, err)
		}
	}
	if removed, err = s.Clean(t.Context()); err != nil || len(removed) > 0 {
		t.Errorf("the second time: %v, %v", removed, err)
	}
}

func TestAContextThatIsNotThere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: \"https://127.0.0.1:1\"}}]\nusers: [{name: u, user: {}}]\n" +
		"contexts: [{name: near, context: {cluster: c, user: u}}]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", file)
	_, err := Open("far", "chaos")
	says(t, err, ErrContext, "far", "has near", "kubectl config get-contexts")
	s, err := Open("near", "chaos")
	if err != nil {
		t.Fatal(err)
	}
	if _, err = s.Version(t.Context()); err == nil {
		t.Error("a server that is not there has a version")
	}
	says(t, s.Allowed(t.Context()), ErrContext, "namespace chaos")
}

// TestStatusesAreTheSecondWitness: a container begins and ends once, whatever else changes of its pod.
func TestStatusesAreTheSecondWitness(t *testing.T) {
	s := place()
	w := &World{site: s}
	w.World = deployed.New(t.Context(), s.api, w, clusters.Config{}, deployed.Options{Namespace: "chaos", Seen: w.statusSeen})
	start := time.Unix(1000, 0)
	w.Start(start)
	pod := func(state corev1.ContainerState) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "task-a", UID: "u", Labels: map[string]string{kube.LabelTask: "a", kube.LabelToken: "3"}},
			Spec:   corev1.PodSpec{NodeName: "n"},
			Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: kube.Container, ContainerID: "containerd://x", State: state}}}}
	}
	waiting, running := pod(corev1.ContainerState{}), pod(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}})
	ended := pod(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 3, StartedAt: metav1.Now()}})
	never := pod(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137}})
	for i, step := range []struct{ before, now *corev1.Pod }{
		{nil, waiting}, {waiting, running}, {running, running}, {running, ended}, {ended, ended}, {ended, nil}, // a whole life
		{nil, running}, {running, nil}, // nobody saw its end
		{nil, waiting}, {waiting, never}, {never, nil}, // it never began
	} {
		w.PodSeen(step.before, step.now, start.Add(time.Duration(i)*time.Second))
	}
	w.Drain()
	var got []string
	for _, e := range w.Recorded() {
		if e.Process == journal.Runtime {
			got = append(got, e.Kind.String()+" "+e.Detail)
			if e.Task != "a" || e.Token != 3 || e.Object != "u" || e.Node != "n" {
				t.Errorf("%+v", e)
			}
		}
	}
	begun, over := history.ContainerStarted.String(), history.ContainerEnded.String()
	if want := []string{begun + " ", over + " exit 3", begun + " ", over + " killed, as its pod is gone"}; !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
	if len(w.Containers()) > 0 {
		t.Errorf("%v live on", w.Containers())
	}
}
