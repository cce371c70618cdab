package deployed

import (
	"context"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/kube"
)

// frozen is ground on which the API server is frozen until it is let go on.
type frozen struct {
	Ground
	waiting []func()
	thawed  bool
	killed  []string
}

func (f *frozen) WhenAPI(do func()) {
	if f.thawed {
		do()
		return
	}
	f.waiting = append(f.waiting, do)
}

func (f *frozen) thaw() {
	f.thawed = true
	for _, do := range f.waiting {
		do()
	}
}

func (f *frozen) Kill(_ context.Context, process, _ string) error {
	f.killed = append(f.killed, process)
	return nil
}

func (f *frozen) Place(*corev1.PodSpec)                   {}
func (f *frozen) Keep(*corev1.PodSpec, map[string]string) {}

// standing is a world with one replica on it that runs, and what is asked of the API server: verb, resource, name.
func standing(t *testing.T, g Ground, objects ...runtime.Object) (w *World, asked func() []string) {
	t.Helper()
	api := fake.NewClientset(objects...)
	w = New(t.Context(), api, g, clusters.Config{}, Options{Namespace: "run"})
	w.access.templates = map[dispatcher.Role]corev1.PodTemplateSpec{dispatcher.RoleDispatcher: {Spec: corev1.PodSpec{
		SecurityContext: &corev1.PodSecurityContext{}, Containers: []corev1.Container{{Name: "dispatcher"}},
	}}}
	w.replicas = []*replica{{name: "dispatcher-1", role: dispatcher.RoleDispatcher, life: 1, pod: "dispatcher-1-life-1"}}
	return w, func() (all []string) {
		for _, a := range api.Actions() {
			name := ""
			switch a := a.(type) {
			case interface{ GetName() string }:
				name = a.GetName()
			case clienttesting.CreateAction:
				name = a.GetObject().(metav1.Object).GetName()
			}
			all = append(all, strings.TrimSpace(a.GetVerb()+" "+a.GetResource().Resource+" "+name))
		}
		api.ClearActions()
		return all
	}
}

// TestACrashNeedsNoAPIServer: the process dies at once, and its pod goes when somebody can be told. It comes back when it should unless it
// is to be down again by then.
func TestACrashNeedsNoAPIServer(t *testing.T) {
	for name, c := range map[string]struct {
		do   []func(*World, string)
		want []string
	}{
		"crash":              {[]func(*World, string){(*World).Crash}, []string{"delete pods dispatcher-1-life-1"}},
		"crash and restart":  {[]func(*World, string){(*World).Crash, (*World).Restart}, []string{"delete pods dispatcher-1-life-1", "create pods dispatcher-1-life-2"}},
		"restarted twice":    {[]func(*World, string){(*World).Crash, (*World).Restart, (*World).Restart}, []string{"delete pods dispatcher-1-life-1", "create pods dispatcher-1-life-2"}},
		"to be down again":   {[]func(*World, string){(*World).Crash, (*World).Restart, (*World).Crash}, []string{"delete pods dispatcher-1-life-1"}},
		"restarted while up": {[]func(*World, string){(*World).Restart}, nil},
	} {
		g := &frozen{}
		w, asked := standing(t, g)
		for _, do := range c.do {
			do(w, "dispatcher-1")
		}
		if got := asked(); len(got) > 0 {
			t.Errorf("%s: the frozen API server is asked %s", name, got)
		}
		if len(c.want) > 0 && !slices.Equal(g.killed, []string{"dispatcher-1"}) {
			t.Errorf("%s: killed %s", name, g.killed)
		}
		g.thaw()
		if got := asked(); !slices.Equal(got, c.want) || w.failure() != nil {
			t.Errorf("%s: afterwards it is asked %s, want %s; failure: %v", name, got, c.want, w.failure())
		}
	}
}

// TestGatesOpenWhenTheAPIServerGoesOn: those that were held back and those that come due.
func TestGatesOpenWhenTheAPIServerGoesOn(t *testing.T) {
	g := &frozen{}
	w, asked := standing(t, g)
	w.shut = []*corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "task-a"}}}
	w.HoldGates(false)
	if got := asked(); len(got) > 0 {
		t.Errorf("the frozen API server is asked %s", got)
	}
	g.thaw()
	if got, want := asked(), []string{"patch pods task-a"}; !slices.Equal(got, want) {
		t.Errorf("afterwards it is asked %s, want %s", got, want)
	}
}

// TestOnlyThePodThatWasMeantIsTouched: between a look and a deed the dispatcher may have replaced it under the same name.
func TestOnlyThePodThatWasMeantIsTouched(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "task-a", Namespace: "run", UID: "old", Labels: map[string]string{kube.LabelTask: "a"}}}
	for name, replaced := range map[string]bool{"still there": false, "replaced": true} {
		for verb, do := range map[string]func(*World, string) bool{"evict": (*World).EvictPod, "remove": (*World).RemovePod} {
			g := &frozen{thawed: true}
			w, _ := standing(t, g, pod)
			var uids []string
			w.API.(*fake.Clientset).PrependReactor("*", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
				uid, is := uidOf(a)
				if !is {
					return false, nil, nil
				}
				if uids = append(uids, uid); replaced {
					return true, nil, apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, "task-a", nil)
				}
				return true, nil, nil
			})
			if !do(w, "a") {
				t.Errorf("%s, %s: no pod was found", verb, name)
			}
			if len(uids) == 0 || slices.ContainsFunc(uids, func(uid string) bool { return uid != "old" }) {
				t.Errorf("%s, %s: the requests name the objects %q, want old", verb, name, uids)
			}
			if err := w.failure(); err != nil {
				t.Errorf("%s, %s: the run failed: %v", verb, name, err)
			}
		}
	}
}

// uidOf is the object that a request wants to change, of one that changes any.
func uidOf(a clienttesting.Action) (uid string, is bool) {
	var options *metav1.DeleteOptions
	switch a := a.(type) {
	case clienttesting.PatchAction:
		_, after, _ := strings.Cut(string(a.GetPatch()), `"uid":"`)
		uid, _, _ = strings.Cut(after, `"`)
		return uid, true
	case clienttesting.DeleteActionImpl:
		options = &a.DeleteOptions
	case clienttesting.CreateAction:
		options = a.GetObject().(*policyv1.Eviction).DeleteOptions
	default:
		return "", false
	}
	if options == nil || options.Preconditions == nil || options.Preconditions.UID == nil {
		return "any", true
	}
	return string(*options.Preconditions.UID), true
}
