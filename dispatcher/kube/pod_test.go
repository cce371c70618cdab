package kube

import (
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/kube/environment"
)

var options = Options{Namespace: "batch", Image: "worker"}

func full() dispatcher.Workload {
	return dispatcher.Workload{
		Name: "task-a", Task: "a", Attempt: 3, Token: 1 << 40, OnDemand: true, Held: true, Owns: true,
		Deadline: 4 * time.Minute, Grace: 30 * time.Second,
		Work: dispatcher.Work{Run: time.Minute, IgnoreTerm: true, FailUntil: 2, CrashAt: time.Second, Launcher: true},
	}
}

// made is the Pod as the API server would answer with it.
func made(t *testing.T, w dispatcher.Workload) *corev1.Pod {
	t.Helper()
	p, err := options.pod(w)
	if err != nil {
		t.Fatal(err)
	}
	p.UID, p.ResourceVersion = "uid-1", "5"
	return p
}

func TestAPodSaysAllOfItsWorkload(t *testing.T) {
	want := full()
	got, err := options.workload(made(t, want))
	if err != nil {
		t.Fatal(err)
	}
	want.UID, want.Version, want.State = "uid-1", 5, dispatcher.WorkloadPending
	if got != want {
		t.Errorf("read back as %+v, want %+v", got, want)
	}
}

func TestPlacement(t *testing.T) {
	w := full()
	s := made(t, w).Spec
	if len(s.Tolerations) != 0 || s.NodeSelector[CapacityType] != OnDemand {
		t.Errorf("on-demand work may be placed on %v, %v", s.NodeSelector, s.Tolerations)
	}
	w.OnDemand = false
	s = made(t, w).Spec
	taint := corev1.Taint{Key: CapacityType, Value: Spot, Effect: corev1.TaintEffectNoSchedule}
	if len(s.NodeSelector) != 0 || len(s.Tolerations) != 1 || s.Tolerations[0].Value != taint.Value {
		t.Errorf("other work may be placed on %v, %v", s.NodeSelector, s.Tolerations)
	}
}

func TestSecondsAreWholeAndOnTheSafeSide(t *testing.T) {
	for _, c := range []struct{ deadline, grace, wantDeadline, wantGrace time.Duration }{
		{0, 0, 0, 0},
		{time.Second, time.Second, time.Second, time.Second},
		{90*time.Second + 500*time.Millisecond, 500 * time.Millisecond, 90 * time.Second, time.Second},
	} {
		w := full()
		w.Deadline, w.Grace = c.deadline, c.grace
		got, err := options.workload(made(t, w))
		if err != nil || got.Deadline != c.wantDeadline || got.Grace != c.wantGrace {
			t.Errorf("%v: deadline %s, grace %s, %v", c, got.Deadline, got.Grace, err)
		}
	}
	for _, d := range []time.Duration{-time.Second, time.Millisecond} {
		w := full()
		w.Deadline = d
		if _, err := options.pod(w); !errors.Is(err, dispatcher.ErrRejected) {
			t.Errorf("a deadline of %s: %v", d, err)
		}
	}
}

func TestAdjustHasTheLastWord(t *testing.T) {
	o := options
	o.Adjust = func(p *corev1.Pod, w dispatcher.Workload) { p.Spec.ServiceAccountName = "for-" + string(w.Task) }
	p, err := o.pod(full())
	if err != nil || p.Spec.ServiceAccountName != "for-a" {
		t.Errorf("service account %q, %v", p.Spec.ServiceAccountName, err)
	}
}

// Somebody else's pod under our name must not be taken for an old attempt: that would be deleted.
func TestAPodOfSomebodyElseIsAConflict(t *testing.T) {
	for name, change := range map[string]func(*corev1.Pod){
		"no token":        func(p *corev1.Pod) { variable(p, environment.Token).Value = "" },
		"no number":       func(p *corev1.Pod) { variable(p, environment.Attempt).Value = "x" },
		"no task":         func(p *corev1.Pod) { variable(p, environment.Task).Value = "" },
		"of another task": func(p *corev1.Pod) { variable(p, environment.Task).Value = "b" },
		"no work":         func(p *corev1.Pod) { p.Spec.Containers[0].Env = nil },
		"broken work":     func(p *corev1.Pod) { p.Spec.Containers[0].Env[5].Value = "{" },
	} {
		t.Run(name, func(t *testing.T) {
			p := made(t, full())
			change(p)
			p.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
			_, err := newServer(t, says(http.StatusOK, p)).workloads(t).Get(t.Context(), "task-a")
			if !errors.Is(err, dispatcher.ErrConflict) {
				t.Errorf("got error %v", err)
			}
		})
	}
}

// Whoever edits labels changes neither whose Pod it is nor which attempt it executes; of earlier versions' Pods labels are all there is.
func TestLabelsSayNothingOfIdentity(t *testing.T) {
	want, err := options.workload(made(t, full()))
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*corev1.Pod){
		"no labels":     func(p *corev1.Pod) { p.Labels = nil },
		"another token": func(p *corev1.Pod) { p.Labels[LabelToken] = "7" },
		"another task":  func(p *corev1.Pod) { p.Labels[LabelTask] = "b" },
		"of an earlier version": func(p *corev1.Pod) {
			for _, name := range []string{environment.Task, environment.Attempt, environment.Token} {
				v := variable(p, name)
				v.Value, v.ValueFrom = "", &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels['any']"}}
			}
		},
	} {
		p := made(t, full())
		change(p)
		if got, err := options.workload(p); err != nil || got != want {
			t.Errorf("%s: read as %+v, %v", name, got, err)
		}
	}
}

func TestRequestsToTheAPIServer(t *testing.T) {
	p := made(t, full())
	p.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	const pods = "/api/v1/namespaces/batch/pods"
	for _, c := range []struct {
		name string
		call func(k *Workloads) error
		want request
	}{
		{"a read is live", func(k *Workloads) error { _, err := k.Get(t.Context(), "task-a"); return err },
			request{"GET", pods + "/task-a", "", ""}},
		{"a list is live", func(k *Workloads) error { _, err := k.List(t.Context(), dispatcher.List{Limit: 5}); return err },
			request{"GET", pods, "labelSelector=squall.dev%2Ftask&limit=5", ""}},
		{"a list may be stale", func(k *Workloads) error { _, err := k.List(t.Context(), dispatcher.List{Stale: true}); return err },
			request{"GET", pods, "labelSelector=squall.dev%2Ftask&resourceVersion=0", ""}},
		{"a further page has the age of the first", func(k *Workloads) error {
			_, err := k.List(t.Context(), dispatcher.List{Stale: true, Continue: "c"})
			return err
		}, request{"GET", pods, "continue=c&labelSelector=squall.dev%2Ftask", ""}},
		{"a deletion is graceful", func(k *Workloads) error { return k.Delete(t.Context(), "task-a", "u", false) },
			request{"DELETE", pods + "/task-a", "", `{"preconditions":{"uid":"u"}}`}},
		{"a deletion by force", func(k *Workloads) error { return k.Delete(t.Context(), "task-a", "u", true) },
			request{"DELETE", pods + "/task-a", "", `{"gracePeriodSeconds":0,"preconditions":{"uid":"u"},"propagationPolicy":"Background"}`}},
		{"only our finalizer is released", func(k *Workloads) error { return k.Release(t.Context(), "task-a", "u") },
			request{"PATCH", pods + "/task-a", "", `{"metadata":{"$deleteFromPrimitiveList/finalizers":["squall.dev/cleanup"],"uid":"u"}}`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t, says(http.StatusOK, p))
			_ = c.call(s.workloads(t)) // a Pod is no list
			got := s.seen()[0]
			got.body = stripKind(got.body)
			if got != c.want {
				t.Errorf("sent %+v, want %+v", got, c.want)
			}
		})
	}
}

// stripKind takes the type out of a JSON object.
func stripKind(body string) string {
	var o map[string]any
	if json.Unmarshal([]byte(body), &o) != nil {
		return body
	}
	delete(o, "kind")
	delete(o, "apiVersion")
	text, _ := json.Marshal(o)
	return string(text)
}

// What a Pod tells its process is what environment.Read understands.
func TestTheWorkerUnderstandsItsPod(t *testing.T) {
	p := made(t, full())
	fields := map[string]string{
		"metadata.uid": "uid-1", "spec.nodeName": "node-1",
	}
	variables := map[string]string{}
	for _, v := range p.Spec.Containers[0].Env {
		variables[v.Name] = v.Value
		if v.ValueFrom != nil {
			variables[v.Name] = fields[v.ValueFrom.FieldRef.FieldPath]
		}
	}
	lookup := func(name string) (string, bool) { v, ok := variables[name]; return v, ok }
	got, err := environment.Read(lookup)
	want := environment.Order{
		Ticket: dispatcher.Ticket{ID: "a", Token: 1 << 40, Workload: "uid-1"}, Attempt: 3, Node: "node-1", Work: full().Work,
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, %v", got, err)
	}
	for name := range variables {
		value := variables[name]
		for _, broken := range []string{"", "{-"} {
			variables[name] = broken
			if _, err := environment.Read(lookup); err == nil && (broken == "" || name == environment.Token || name == environment.Work) {
				t.Errorf("%s=%q: no error", name, broken)
			}
		}
		variables[name] = value
	}
}

// Under another name a Pod with our labels is nobody's, unless names are said to mean nothing.
func TestNamesMatterUnlessTheyAreSaidNotTo(t *testing.T) {
	p := made(t, full())
	p.Name += "-2f"
	if _, err := options.workload(p); !errors.Is(err, dispatcher.ErrConflict) {
		t.Errorf("it was taken for ours: %v", err)
	}
	loose := options
	loose.AnyName = true
	if w, err := loose.workload(p); err != nil || w.Task != "a" {
		t.Errorf("it was not taken for ours: %v", err)
	}
}
