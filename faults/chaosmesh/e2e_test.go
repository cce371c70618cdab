//go:build e2e

package chaosmesh_test

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chaos-mesh/chaos-mesh/api/v1alpha1"
	admissionv1 "k8s.io/api/admission/v1"
	admission "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/clusters/local"
	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/faults/chaosmesh"
	"github.com/squall-chaos/squall/faults/chaosmesh/coverage"
	"github.com/squall-chaos/squall/faults/chaosmesh/installation"
)

// server is a real API server with Chaos Mesh's real CRDs, and without its controllers: what it takes, refuses and drops.
type server struct {
	config  *rest.Config
	api     kubernetes.Interface
	objects dynamic.Interface
	mesh    chaosmesh.Client
}

const namespace = "batch"

func start(t *testing.T) *server {
	t.Helper()
	binary, err := local.Built()
	if err != nil {
		t.Fatal(err)
	}
	c, err := local.Start(t.Context(), local.Options{Binary: binary, ControllerManager: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	s := &server{config: c.Config()}
	s.config.QPS = -1
	if s.api, err = kubernetes.NewForConfig(s.config); err != nil {
		t.Fatal(err)
	}
	if s.objects, err = dynamic.NewForConfig(s.config); err != nil {
		t.Fatal(err)
	}
	s.mesh = chaosmesh.NewClient(s.objects)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if _, err := s.api.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestAgainstARealAPIServer is one control plane after the other state of it.
func TestAgainstARealAPIServer(t *testing.T) {
	s := start(t)
	t.Run("ChaosMeshIsMissing", s.isMissing)
	if err := installation.Definitions(t.Context(), s.config); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the kinds served", func() bool { return s.mesh.Check(t.Context(), namespace) == nil && s.serves(t) })
	t.Run("WhatIsSentIsTaken", s.takesAll)
	t.Run("NoNamespace", s.noNamespace)
	t.Run("NoPermission", s.noPermission)
	t.Run("AWebhookRefuses", s.webhookRefuses)
	t.Run("AWebhookDoesNotAnswer", s.webhookIsSilent)
	t.Run("AStuckObjectIsFreed", s.freesWhatIsStuck)
	t.Run("AnOlderCRDLacksAField", s.lacksAField)
	t.Run("AnOlderChaosMeshLacksAKind", s.lacksAKind)
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never seen: %s", what)
		}
	}
}

func site() chaosmesh.Site {
	return chaosmesh.Site{
		Namespace: namespace, Name: "sample", Horizon: 10 * time.Minute, PodGrace: 30 * time.Second, Dispatchers: 2, Reconcilers: 1,
		Nodes:     []clusters.NodeGroup{{Name: "spot", CapacityType: clusters.Spot, Count: 2}},
		APIServer: []string{"10.96.0.1"},
		Database:  chaosmesh.Database{Pods: map[string]string{"app": "postgres"}},
		HTTP:      map[clusters.Port]chaosmesh.HTTPServer{clusters.API: {Pods: map[string]string{"app": "gateway"}, Port: 8080, Path: "/jobs*"}},
	}
}

// every is a plan of all that Chaos Mesh can express.
func every() faults.Plan {
	var plan faults.Plan
	for i, row := range coverage.Rows() {
		if row.Extent == coverage.None {
			continue
		}
		f := faults.Fault{Kind: row.Kind, Action: row.Action, At: time.Duration(i+1) * 7 * time.Second, For: 45 * time.Second, Notice: 20 * time.Second,
			By: -10 * time.Minute, Delay: clusters.Uniform(100*time.Millisecond, 300*time.Millisecond)}
		switch row.Kind {
		case faults.NodePartition, faults.SpotReclaim:
			f.Target.Node = "any:spot"
		case faults.PodEvict, faults.PodRemove, faults.ContainerKill, faults.RunTime:
			f.Target.Task = "task-1"
		case faults.ProcessCrash, faults.ClockSkew, faults.LeaseHang, faults.LeaseUnreachable:
			f.Target.Process = "dispatcher-1"
		case faults.Call:
			f.Target.Process, f.Target.Port = "dispatcher*", clusters.API
		}
		plan = append(plan, f)
	}
	return plan
}

// one is an object that Chaos Mesh would take.
func one(t *testing.T, f faults.Fault) chaosmesh.Object {
	t.Helper()
	r, err := site().Render(faults.Plan{f}, chaosmesh.ObjectsForm)
	if err != nil || len(r.Objects) != 1 {
		t.Fatal(r.Objects, r.Left(), err)
	}
	return r.Objects[0]
}

func partition(t *testing.T) chaosmesh.Object {
	return one(t, faults.Fault{Kind: faults.LeaseHang, For: time.Minute, Target: faults.Target{Process: "reconciler-1"}})
}

var resources = []string{"podchaos", "networkchaos", "timechaos", "httpchaos", "stresschaos", "schedules", "workflows"}

// serves tells whether the server knows all kinds: it learns a new one in its own time.
func (s *server) serves(t *testing.T) bool {
	for _, resource := range resources {
		if _, err := s.objects.Resource(v1alpha1.SchemeGroupVersion.WithResource(resource)).Namespace(namespace).List(t.Context(), metav1.ListOptions{}); err != nil {
			return false
		}
	}
	return true
}

// left lists all chaos objects of the namespace.
func (s *server) left(t *testing.T) (names []string) {
	t.Helper()
	for _, resource := range resources {
		list, err := s.objects.Resource(v1alpha1.SchemeGroupVersion.WithResource(resource)).Namespace(namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			continue // the kind is not served
		}
		for _, o := range list.Items {
			names = append(names, o.GetKind()+" "+o.GetName())
		}
	}
	return names
}

// tells wants an error with these words, and nothing left.
func (s *server) tells(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("there was no error")
	}
	t.Log(err)
	for _, want := range words {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	if left := s.left(t); len(left) > 0 {
		t.Errorf("there is %v", left)
	}
}

func (s *server) isMissing(t *testing.T) {
	s.tells(t, s.mesh.Check(t.Context(), namespace), "PodChaos batch/squall-check", "Chaos Mesh is not installed")
	s.tells(t, s.mesh.Apply(t.Context(), partition(t)), "NetworkChaos batch/sample-fault-1", "Chaos Mesh is not installed", "install it")
}

// takesAll applies every object of every fault, as it is, and removes it.
func (s *server) takesAll(t *testing.T) {
	for _, form := range chaosmesh.Forms() {
		r, err := site().Render(every(), form)
		if err != nil || len(r.Left()) > 0 {
			t.Fatal(r.Left(), err)
		}
		for _, o := range r.Objects {
			if err := s.mesh.Apply(t.Context(), o); err != nil {
				t.Error(err)
			}
		}
		if made := len(s.left(t)); made != len(r.Objects) {
			t.Errorf("%s: %d of %d objects were made", form, made, len(r.Objects))
		}
		if form == chaosmesh.ObjectsForm {
			_, err := s.mesh.AwaitInjected(t.Context(), r.Objects[0], time.Second)
			if !errors.Is(err, chaosmesh.ErrLimit) || !strings.Contains(err.Error(), "no controller has looked at it") {
				t.Errorf("without a controller: %v", err)
			}
		}
		for _, o := range r.Objects {
			if gone, err := s.mesh.Remove(t.Context(), o, 2*time.Minute); err != nil || gone.Freed {
				t.Errorf("%s: %s %v", o, gone, err)
			}
		}
		if left := s.left(t); len(left) > 0 {
			t.Errorf("there is %v", left)
		}
	}
}

func (s *server) noNamespace(t *testing.T) {
	elsewhere := site()
	elsewhere.Namespace = "nowhere"
	r, err := elsewhere.Render(faults.Plan{{Kind: faults.PodEvict, Target: faults.Target{Task: "task-1"}}}, chaosmesh.ObjectsForm)
	if err != nil {
		t.Fatal(err)
	}
	s.tells(t, s.mesh.Apply(t.Context(), r.Objects[0]), "PodChaos nowhere/sample-fault-1", "there is no namespace nowhere")
}

func (s *server) noPermission(t *testing.T) {
	config := rest.CopyConfig(s.config)
	config.Impersonate.UserName = "system:serviceaccount:batch:somebody"
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	s.tells(t, chaosmesh.NewClient(client).Apply(t.Context(), partition(t)), "NetworkChaos batch/sample-fault-1", "forbidden",
		"verbs create, get, delete and patch on networkchaos.chaos-mesh.org in namespace batch")
}

// hook is Chaos Mesh's own validation behind a real webhook, for as long as the test goes on.
func (s *server) hook(t *testing.T, url string, bundle []byte) {
	t.Helper()
	none, fail := admission.SideEffectClassNone, admission.Fail
	hooks := s.api.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	_, err := hooks.Create(t.Context(), &admission.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "chaos-mesh-validate"},
		Webhooks: []admission.ValidatingWebhook{{
			Name: "vtimechaos.kb.io", ClientConfig: admission.WebhookClientConfig{URL: &url, CABundle: bundle}, SideEffects: &none, FailurePolicy: &fail,
			AdmissionReviewVersions: []string{"v1"}, TimeoutSeconds: new(int32(2)),
			Rules: []admission.RuleWithOperations{{Operations: []admission.OperationType{admission.Create}, Rule: admission.Rule{
				APIGroups: []string{v1alpha1.SchemeGroupVersion.Group}, APIVersions: []string{"v1alpha1"}, Resources: []string{"timechaos"}}}},
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := hooks.Delete(context.Background(), "chaos-mesh-validate", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
}

// skew is an object whose offset is none: what Squall's own check would have found is changed behind its back.
func skew(t *testing.T) chaosmesh.Object {
	t.Helper()
	o := one(t, faults.Fault{Kind: faults.ClockSkew, By: time.Minute, For: time.Minute, Target: faults.Target{Process: "reconciler-1"}})
	if err := unstructured.SetNestedField(o.Sent.Object, "ten", "spec", "timeOffset"); err != nil {
		t.Fatal(err)
	}
	return o
}

func (s *server) webhookRefuses(t *testing.T) {
	var asked sync.Map
	web := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
		chaos := &v1alpha1.TimeChaos{}
		err := json.Unmarshal(review.Request.Object.Raw, chaos)
		if err == nil {
			_, err = chaos.ValidateCreate(r.Context(), chaos)
		}
		if err != nil {
			review.Response.Allowed, review.Response.Result = false, &metav1.Status{Message: err.Error(), Code: http.StatusForbidden}
		}
		asked.Store(chaos.Name, err)
		_ = json.NewEncoder(w).Encode(review)
	}))
	defer web.Close()
	s.hook(t, web.URL, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw}))
	var err error
	eventually(t, "the webhook asked", func() bool {
		o := skew(t)
		if err = s.mesh.Apply(t.Context(), o); err == nil {
			_, _ = s.mesh.Remove(t.Context(), o, time.Second)
		}
		_, ok := asked.Load(o.Sent.GetName())
		return ok
	})
	s.tells(t, err, "TimeChaos batch/sample-fault-1", "refused by the cluster", "admission webhook", "timeOffset", "change what it names")
}

func (s *server) webhookIsSilent(t *testing.T) {
	s.hook(t, "https://127.0.0.1:1/", nil)
	var err error
	eventually(t, "the webhook missed", func() bool {
		o := skew(t)
		if err = s.mesh.Apply(t.Context(), o); err == nil {
			_, _ = s.mesh.Remove(t.Context(), o, time.Second)
		}
		return err != nil
	})
	s.tells(t, err, "TimeChaos batch/sample-fault-1", "webhook", "is chaos-controller-manager ready?")
}

// freesWhatIsStuck has the finalizer and the records that Chaos Mesh gives an object which it cannot inject.
func (s *server) freesWhatIsStuck(t *testing.T) {
	o := partition(t)
	if err := s.mesh.Apply(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	patch := `{"metadata":{"finalizers":["chaos-mesh/records"]},"status":{"conditions":[{"type":"Selected","status":"True"}],"experiment":{"desiredPhase":"Run","containerRecords":[
{"id":"batch/a","selectorKey":".","phase":"Not Injected/Wait","injectedCount":0,"recoveredCount":0,"events":[{"type":"Failed","operation":"Apply","message":"no daemon on node x","timestamp":"2026-11-30T10:00:00Z"}]}]}}}`
	resource := s.objects.Resource(v1alpha1.SchemeGroupVersion.WithResource("networkchaos")).Namespace(namespace)
	if _, err := resource.Patch(t.Context(), o.Sent.GetName(), types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.mesh.AwaitInjected(t.Context(), o, time.Second); !errors.Is(err, chaosmesh.ErrLimit) || !strings.Contains(err.Error(), "Chaos Mesh says: batch/a: inject: no daemon on node x") {
		t.Errorf("awaited: %v", err)
	}
	gone, err := s.mesh.Remove(t.Context(), o, 2*time.Second)
	if err != nil || !gone.Freed {
		t.Fatal(gone, err)
	}
	s.tells(t, errors.New(gone.String()), "NetworkChaos batch/sample-fault-1", "was freed of its finalizer", "no daemon on node x", "batch/a")
}

// older edits a CRD as if it were of an older Chaos Mesh, until the end of the test.
func (s *server) older(t *testing.T, resource string, edit func(version map[string]any)) {
	t.Helper()
	crds := s.objects.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	crd, err := crds.Get(t.Context(), fmt.Sprintf("%s.%s", resource, v1alpha1.SchemeGroupVersion.Group), metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	edit(versions[0].(map[string]any))
	if err := unstructured.SetNestedSlice(crd.Object, versions, "spec", "versions"); err != nil {
		t.Fatal(err)
	}
	if _, err := crds.Update(t.Context(), crd, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// untilRefused applies an object until the server has noticed that its CRD is another.
func (s *server) untilRefused(t *testing.T, o chaosmesh.Object) (err error) {
	t.Helper()
	eventually(t, o.String()+" refused", func() bool {
		if err = s.mesh.Apply(t.Context(), o); err == nil {
			_, _ = s.mesh.Remove(t.Context(), o, time.Second)
		}
		return err != nil
	})
	return err
}

func (s *server) lacksAField(t *testing.T) {
	s.older(t, "networkchaos", func(version map[string]any) {
		unstructured.RemoveNestedField(version, "schema", "openAPIV3Schema", "properties", "spec", "properties", "externalTargets")
	})
	s.tells(t, s.untilRefused(t, partition(t)), "NetworkChaos batch/sample-fault-1", "spec.externalTargets", "older than what is sent", "CRDs")
}

func (s *server) lacksAKind(t *testing.T) {
	s.older(t, "httpchaos", func(version map[string]any) { version["served"] = false })
	o := one(t, faults.Fault{Kind: faults.Call, Action: clusters.CutReply, For: time.Minute, Target: faults.Target{Port: clusters.API}})
	s.tells(t, s.untilRefused(t, o), "HTTPChaos batch/sample-fault-1", "Chaos Mesh is not installed, or too old to know HTTPChaos")
}
