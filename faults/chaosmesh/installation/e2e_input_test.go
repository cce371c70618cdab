//go:build e2e

package installation

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/faults/chaosmesh"
)

// chaosObjects are the names of what there is of a resource among the targets.
func chaosObjects(t *testing.T, resource string) []string {
	t.Helper()
	list, err := objects.Resource(schema.GroupVersionResource{Group: "chaos-mesh.org", Version: "v1alpha1", Resource: resource}).Namespace(targets).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, o := range list.Items {
		names = append(names, o.GetName())
	}
	return names
}

// tells wants an error to name things, and nothing to be left of the resource.
func tells(t *testing.T, err error, resource string, wanted ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("there was no error")
	}
	t.Log(err)
	for _, want := range wanted {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	if left := chaosObjects(t, resource); len(left) > 0 {
		t.Errorf("there is %v", left)
	}
}

func TestAClusterWithoutChaosMeshIsRefused(t *testing.T) {
	if absent == nil {
		t.Skipf("NOT RUN: the cluster of %s has Chaos Mesh already", shared)
	}
	for _, want := range []string{"PodChaos default/squall-check", "Chaos Mesh is not installed"} {
		if !strings.Contains(absent.Error(), want) || !strings.Contains(refused, want) {
			t.Errorf("neither %q nor the command says %q:\n%s", absent, want, refused)
		}
	}
	if !strings.HasSuffix(refused, "exit status 2") {
		t.Error(refused)
	}
}

// TestAChaosMeshThatIsTooOldIsRefused: it does not know the kind.
func TestAChaosMeshThatIsTooOldIsRefused(t *testing.T) {
	s := here(t)
	change(t, "httpchaos", func(crd *unstructured.Unstructured) {
		versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
		versions[0].(map[string]any)["served"] = false
		_ = unstructured.SetNestedSlice(crd.Object, versions, "spec", "versions")
	})
	o := one(t, s, chaosmesh.ObjectsForm, faults.Fault{Kind: faults.Call, Action: "cut-reply", For: time.Minute, Target: faults.Target{Port: "api"}})
	err := errors.New("")
	eventually(t, "the kind unknown", func() bool {
		err = mesh.Apply(t.Context(), o)
		if err == nil {
			remove(t, o)
		}
		return err != nil
	})
	tells(t, err, "podchaos", "HTTPChaos "+targets+"/", "Chaos Mesh is not installed, or too old to know HTTPChaos")
}

// TestACRDWithoutAFieldThatIsSentIsRefused: the server would drop it in silence.
func TestACRDWithoutAFieldThatIsSentIsRefused(t *testing.T) {
	s := here(t)
	change(t, "networkchaos", func(crd *unstructured.Unstructured) {
		versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
		unstructured.RemoveNestedField(versions[0].(map[string]any), "schema", "openAPIV3Schema", "properties", "spec", "properties", "externalTargets")
		_ = unstructured.SetNestedSlice(crd.Object, versions, "spec", "versions")
	})
	o := one(t, s, chaosmesh.ObjectsForm, faults.Fault{Kind: faults.LeaseHang, For: time.Minute, Target: faults.Target{Process: "dispatcher-1"}})
	err := errors.New("")
	eventually(t, "the field unknown", func() bool {
		err = mesh.Apply(t.Context(), o)
		if err == nil {
			remove(t, o)
		}
		return err != nil
	})
	tells(t, err, "networkchaos", "NetworkChaos "+targets+"/", "spec.externalTargets", "older than what is sent", "CRDs")
}

// change edits a CRD, and puts it back at the end of the test.
func change(t *testing.T, resource string, edit func(*unstructured.Unstructured)) {
	t.Helper()
	crds := objects.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	name := resource + ".chaos-mesh.org"
	was, err := crds.Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	now := was.DeepCopy()
	edit(now)
	if _, err := crds.Update(t.Context(), now, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.Background() // the test's own has ended
		latest, err := crds.Get(ctx, name, metav1.GetOptions{})
		if err == nil {
			latest.Object["spec"] = was.Object["spec"]
			_, err = crds.Update(ctx, latest, metav1.UpdateOptions{})
		}
		if err == nil {
			err = await(ctx, bed.Config())
		}
		if err != nil {
			t.Error(err)
		}
	})
}

// TestWhatAWebhookRefusesIsNamed: what Squall's own check would have found is changed behind its back.
func TestWhatAWebhookRefusesIsNamed(t *testing.T) {
	o := one(t, here(t), chaosmesh.ObjectsForm, faults.Fault{Kind: faults.ClockSkew, By: time.Minute, For: time.Minute, Target: faults.Target{Process: "dispatcher-1"}})
	if err := unstructured.SetNestedField(o.Sent.Object, "ten", "spec", "timeOffset"); err != nil {
		t.Fatal(err)
	}
	tells(t, mesh.Apply(t.Context(), o), "timechaos", "TimeChaos "+targets+"/", "refused by the cluster", "timeOffset", "change what it names")
}

// TestAStuckObjectIsFreedAndNamed: without a daemon on its node nothing can be injected, and Chaos Mesh does not let such an object go.
func TestAStuckObjectIsFreedAndNamed(t *testing.T) {
	s := here(t)
	pod(t, "dispatcher")
	sets := api.AppsV1().DaemonSets(Namespace)
	place := func(selector string) {
		patch := `{"spec":{"template":{"spec":{"nodeSelector":` + selector + `}}}}`
		if _, err := sets.Patch(context.Background(), daemon, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Error(err)
		}
	}
	place(`{"squall.dev/nowhere":"true"}`)
	t.Cleanup(func() {
		place("null")
		if err := await(context.Background(), bed.Config()); err != nil {
			t.Error(err)
		}
	})
	eventually(t, "no daemons", func() bool {
		list, err := api.CoreV1().Pods(Namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "app=" + daemon})
		return err == nil && len(list.Items) == 0
	})
	strikes := chaosmesh.Strikes{Client: mesh, Site: s, Limit: 10 * time.Second}
	_, err := strikes.Strike(t.Context(), 0, faults.Fault{Kind: faults.LeaseHang, For: time.Minute, Target: faults.Target{Process: "dispatcher-1"}})
	if err == nil || !errors.Is(err, chaosmesh.ErrLimit) || !strings.Contains(err.Error(), "NetworkChaos "+targets+"/") || !strings.Contains(err.Error(), "Chaos Mesh says: ") {
		t.Errorf("struck: %v", err)
	}
	tells(t, strikes.Close(t.Context()), "networkchaos", "NetworkChaos "+targets+"/", "was freed of its finalizer")
}
