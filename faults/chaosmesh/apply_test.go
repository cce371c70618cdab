package chaosmesh

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/chaos-mesh/chaos-mesh/api/v1alpha1"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/faults"
)

// cluster is a fake one, with a hook where Chaos Mesh's controllers would work.
type cluster struct {
	*fake.FakeDynamicClient
	dry, made int
}

func newCluster() *cluster {
	lists := map[schema.GroupVersionResource]string{}
	for kind, plural := range plurals { // the order does not matter
		lists[v1alpha1.SchemeGroupVersion.WithResource(plural)] = kind + "List"
	}
	c := &cluster{FakeDynamicClient: fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists)}
	c.PrependReactor("create", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		create := a.(clienttesting.CreateActionImpl)
		if o := create.CreateOptions; o.FieldValidation != "Strict" || o.FieldManager != manager {
			return true, nil, errors.New("fields are not validated strictly, or have no manager")
		}
		if len(create.CreateOptions.DryRun) > 0 {
			c.dry++
			return true, create.GetObject(), nil
		}
		if c.dry == 0 {
			return true, nil, errors.New("made without a dry run before it")
		}
		c.made++
		return false, nil, nil
	})
	return c
}

func (c *cluster) client() Client {
	client := NewClient(c)
	client.Every = time.Millisecond
	return client
}

// answers makes every read find this status, from the first on.
func (c *cluster) answers(t *testing.T, status string) {
	t.Helper()
	c.PrependReactor("get", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		get := a.(clienttesting.GetAction)
		o, err := c.Tracker().Get(get.GetResource(), get.GetNamespace(), get.GetName())
		if err != nil {
			return true, nil, err
		}
		u := o.DeepCopyObject().(*unstructured.Unstructured)
		if status != "" {
			u.Object["status"] = parsed(t, status).Object["status"]
		}
		return true, u, nil
	})
}

// partition is an object to apply.
func partition(t *testing.T) Object {
	t.Helper()
	return only(t, faults.Fault{Kind: faults.LeaseHang, For: 20 * time.Second, Target: faults.Target{Process: "reconciler-1"}})
}

func only(t *testing.T, f faults.Fault) Object {
	t.Helper()
	r, err := everything().Render(faults.Plan{f}, ObjectsForm)
	if err != nil || len(r.Objects) != 1 {
		t.Fatal(r, err)
	}
	return r.Objects[0]
}

const long = 20 * time.Second // no wait of these tests takes it

func TestApplyAwaitRemove(t *testing.T) {
	c, o := newCluster(), partition(t)
	client := c.client()
	if err := client.Apply(t.Context(), o); err != nil || c.dry != 1 || c.made != 1 {
		t.Fatal(c.dry, c.made, err)
	}
	c.answers(t, "status: {"+state("TTFF")+", experiment: {containerRecords: [{id: batch/a, selectorKey: ., phase: Injected, injectedCount: 1, recoveredCount: 0}]}}")
	st, err := client.AwaitInjected(t.Context(), o, long)
	if err != nil || st.Stage != history.FaultObserved || st.Victims[0].ID != "batch/a" {
		t.Fatal(st, err)
	}
	c.answers(t, "status: {"+state("TFTF")+", experiment: {containerRecords: [{id: batch/a, selectorKey: ., phase: Not Injected, injectedCount: 1, recoveredCount: 1}]}}")
	if st, err = client.AwaitRecovered(t.Context(), o, long); err != nil || st.Stage != history.FaultHealed {
		t.Fatal(st, err)
	}
	for range 2 { // what is gone is removed without a word
		if r, err := client.Remove(t.Context(), o, long); err != nil || r.String() != "" {
			t.Errorf("%q, %v", r, err)
		}
	}
}

// TestWhatTheClusterRefuses: each refusal names the object, says what the server said, and what to do.
func TestWhatTheClusterRefuses(t *testing.T) {
	gr := schema.GroupResource{Group: "chaos-mesh.org", Resource: "networkchaos"}
	unknown := &apierrors.StatusError{}
	unknown.ErrStatus.Reason, unknown.ErrStatus.Message, unknown.ErrStatus.Code = "BadRequest", `strict decoding error: unknown field "spec.direction"`, 400
	for name, c := range map[string]struct {
		err  error
		says string
	}{
		"not installed": {apierrors.NewGenericServerResponse(404, "create", gr, "", "", 0, true), "Chaos Mesh is not installed, or too old to know NetworkChaos"},
		"no namespace":  {apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "batch"), "there is no namespace batch"},
		"no permission": {apierrors.NewForbidden(gr, "x", errors.New("RBAC")), "verbs create, get, delete and patch on networkchaos.chaos-mesh.org in namespace batch"},
		"there already": {apierrors.NewAlreadyExists(gr, "x"), "kubectl delete networkchaos -n batch sample-fault-1"},
		"an old CRD":    {unknown, "its CRD is older than what is sent"},
		"a webhook":     {apierrors.NewInternalError(errors.New("failed calling webhook")), "chaos-controller-manager"},
		"its refusal":   {apierrors.NewBadRequest("admission webhook denied the request: spec.direction"), "denied the request: spec.direction"},
	} {
		cluster := newCluster()
		cluster.PrependReactor("create", "*", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, c.err })
		err := cluster.client().Apply(t.Context(), partition(t))
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "NetworkChaos batch/sample-fault-1") {
			t.Errorf("%s: %v; expected %q", name, err, c.says)
		}
	}
}

// TestACRDThatDropsAFieldIsNoticed: without strict validation on the way the server would say nothing.
func TestACRDThatDropsAFieldIsNoticed(t *testing.T) {
	c := newCluster()
	c.PrependReactor("create", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		u := a.(clienttesting.CreateAction).GetObject().DeepCopyObject().(*unstructured.Unstructured)
		unstructured.RemoveNestedField(u.Object, "spec", "externalTargets")
		_ = unstructured.SetNestedField(u.Object, "drop", "spec", "partitionBehavior") // added by a webhook: its own affair
		return true, u, nil
	})
	err := c.client().Apply(t.Context(), partition(t))
	if err == nil || !strings.Contains(err.Error(), "does not keep spec.externalTargets:") {
		t.Error(err)
	}
	if c.made != 0 {
		t.Error("it was made all the same")
	}
}

// TestWhatDoesNotHappenInTime says what the records say.
func TestWhatDoesNotHappenInTime(t *testing.T) {
	for name, c := range map[string]struct{ status, says string }{
		"a daemon's error": {"status: {" + state("TFFF") + `, experiment: {containerRecords: [{id: batch/a, selectorKey: ., phase: Not Injected/Wait,
  injectedCount: 0, recoveredCount: 0, events: [{type: Failed, operation: Apply, timestamp: null, message: Specified qdisc kind is unknown}]}]}}`,
			"Chaos Mesh says: batch/a: inject: Specified qdisc kind is unknown"},
		"updates are refused":   {"status: {experiment: {}}", "Cannot update chaos spec"},
		"paused":                {"status: {" + state("TFTT") + ", experiment: {desiredPhase: Stop}}", "experiment.chaos-mesh.org/pause"},
		"injected and no more":  {"status: {" + state("TFFF") + ", experiment: {containerRecords: [{id: batch/a, selectorKey: ., phase: Injected, injectedCount: 1, recoveredCount: 0}]}}", "it is struck"},
		"no controller present": {"", "no controller has looked at it"},
	} {
		cl, o := newCluster(), partition(t)
		if err := cl.client().Apply(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		cl.answers(t, c.status)
		_, err := cl.client().AwaitInjected(t.Context(), o, 20*time.Millisecond)
		if !errors.Is(err, ErrLimit) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "expected it to be injected") {
			t.Errorf("%s: %v; expected %q", name, err, c.says)
		}
	}
}

func TestWaitingEndsWithItsContext(t *testing.T) {
	c, o := newCluster(), partition(t)
	if err := c.client().Apply(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.client().AwaitRecovered(ctx, o, long); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestAnObjectThatSomebodyRemovedIsNotWaitedFor(t *testing.T) {
	if _, err := newCluster().client().AwaitInjected(t.Context(), partition(t), long); err == nil || !strings.Contains(err.Error(), "somebody else removed it") {
		t.Error(err)
	}
}

// TestAStuckObjectIsFreedOfItsFinalizer: deletion waits for a finalizer that Chaos Mesh never takes away.
func TestAStuckObjectIsFreedOfItsFinalizer(t *testing.T) {
	for _, stubborn := range []bool{false, true} {
		c, o := newCluster(), partition(t)
		o.Sent.SetFinalizers([]string{"chaos-mesh/records"})
		if err := c.client().Apply(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		c.answers(t, "status: {"+state("TFFF")+`, experiment: {containerRecords: [{id: batch/a, selectorKey: ., phase: Injected/Wait, injectedCount: 1,
  recoveredCount: 0, events: [{type: Failed, operation: Recover, timestamp: null, message: no daemon}]}]}}`)
		c.PrependReactor("delete", "*", func(a clienttesting.Action) (bool, runtime.Object, error) { return true, nil, nil })
		c.PrependReactor("patch", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
			p := a.(clienttesting.PatchAction)
			if string(p.GetPatch()) != `{"metadata":{"finalizers":null}}` {
				t.Errorf("patch %s", p.GetPatch())
			}
			if stubborn {
				return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "networkchaos"}, p.GetName(), errors.New("RBAC"))
			}
			return true, &unstructured.Unstructured{}, c.Tracker().Delete(p.GetResource(), p.GetNamespace(), p.GetName())
		})
		r, err := c.client().Remove(t.Context(), o, 20*time.Millisecond)
		if stubborn {
			if err == nil || !strings.Contains(err.Error(), "kubectl patch networkchaos -n batch sample-fault-1") {
				t.Errorf("%q, %v", r, err)
			}
			continue
		}
		want := "NetworkChaos batch/sample-fault-1 did not go by itself and was freed of its finalizer (batch/a: recover: no daemon): " +
			"the fault may still be in force in batch/a; delete these Pods to be rid of it"
		if err != nil || r.String() != want {
			t.Errorf("%q, %v; expected %q", r, err, want)
		}
	}
}
