package manifests_test

import (
	"bytes"
	"io/fs"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/kube/environment"
	"github.com/squall-chaos/squall/dispatcher/manifests"
)

// decode reads documents as strictly as the API server does with --validate=strict: no unknown field, none twice.
func decode(t *testing.T, text string) []runtime.Object {
	t.Helper()
	strict := serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
	var all []runtime.Object
	for document := range strings.SplitSeq(text, "---\n") {
		if strings.TrimSpace(document) == "" {
			continue
		}
		o, _, err := strict.Decode([]byte(document), nil, nil)
		if err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		all = append(all, o)
	}
	return all
}

func rendered(t *testing.T) []runtime.Object {
	t.Helper()
	text, err := manifests.Render("batch", "registry.example.com/programs:v1")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text, manifests.Image) {
		t.Error("the image of the base is left somewhere")
	}
	return decode(t, text)
}

// of are the objects of one type.
func of[T runtime.Object](all []runtime.Object) []T {
	var some []T
	for _, o := range all {
		if one, ok := o.(T); ok {
			some = append(some, one)
		}
	}
	return some
}

func TestEveryObjectIsInTheNamespace(t *testing.T) {
	all := rendered(t)
	if len(all) != 14 {
		t.Errorf("%d objects", len(all))
	}
	for _, o := range all {
		m := o.(metav1.Object)
		kind := o.GetObjectKind().GroupVersionKind().Kind
		if strings.HasPrefix(kind, "Cluster") {
			if m.GetNamespace() != "" || !strings.HasSuffix(m.GetName(), "-batch") {
				t.Errorf("%s %s/%s belongs to no namespace, and to one installation", kind, m.GetNamespace(), m.GetName())
			}
		} else if m.GetNamespace() != "batch" {
			t.Errorf("%s %s is in namespace %q", kind, m.GetName(), m.GetNamespace())
		}
	}
	var subjects []rbacv1.Subject
	for _, b := range of[*rbacv1.RoleBinding](all) {
		subjects = append(subjects, b.Subjects...)
	}
	for _, b := range of[*rbacv1.ClusterRoleBinding](all) {
		subjects = append(subjects, b.Subjects...)
		if b.RoleRef.Name != b.Name {
			t.Errorf("binding %s is to %s", b.Name, b.RoleRef.Name)
		}
	}
	for _, s := range subjects {
		if s.Namespace != "batch" {
			t.Errorf("subject %s is of namespace %q", s.Name, s.Namespace)
		}
	}
}

// What kustomize is told is what Render prints, in that order; and it needs nothing that is not there.
func TestTheBaseIsComplete(t *testing.T) {
	text, err := fs.ReadFile(manifests.Base(), "kustomization.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var k struct {
		APIVersion, Kind string
		Resources        []string
	}
	if err := yaml.UnmarshalStrict(text, &k); err != nil {
		t.Fatal(err)
	}
	files, err := fs.Glob(manifests.Base(), "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	sorted := slices.Sorted(slices.Values(append(slices.Clone(k.Resources), "kustomization.yaml")))
	if !slices.Equal(sorted, files) {
		t.Errorf("it names %v, there are %v", sorted, files)
	}
	var whole bytes.Buffer
	for _, name := range k.Resources {
		text, err := fs.ReadFile(manifests.Base(), name)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range decode(t, string(text)) {
			if o.(metav1.Object).GetNamespace() != "" {
				t.Errorf("%s names a namespace", name)
			}
			whole.WriteString(o.GetObjectKind().GroupVersionKind().Kind + " ")
		}
	}
	var printed bytes.Buffer
	for _, o := range rendered(t) {
		printed.WriteString(o.GetObjectKind().GroupVersionKind().Kind + " ")
	}
	if whole.String() != printed.String() {
		t.Errorf("the base has\n%s\nprinted is\n%s", &whole, &printed)
	}
}

func TestBadInput(t *testing.T) {
	for _, c := range []struct{ namespace, image, says string }{
		{"", "", "namespace"},
		{"Batch", "", "namespace"},
		{"a\n---\nb", "", "namespace"},
		{strings.Repeat("a", 64), "", "namespace"},
		{"batch", "a b", "image"},
		{"batch", "a\nkind: Pod", "image"},
	} {
		if _, err := manifests.Render(c.namespace, c.image); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q, %q: %v", c.namespace, c.image, err)
		}
	}
}

// restricted is the Pod Security Standard of that name, as far as it can be met or missed here
// (kubernetes.io/docs/concepts/security/pod-security-standards).
func TestReplicasAreRestricted(t *testing.T) {
	deployments := of[*appsv1.Deployment](rendered(t))
	if len(deployments) != 2 {
		t.Fatalf("%d deployments", len(deployments))
	}
	for _, d := range deployments {
		p, c := d.Spec.Template.Spec, d.Spec.Template.Spec.Containers[0]
		if p.SecurityContext == nil || !*p.SecurityContext.RunAsNonRoot || p.SecurityContext.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault ||
			*c.SecurityContext.AllowPrivilegeEscalation || !*c.SecurityContext.ReadOnlyRootFilesystem ||
			!slices.Equal(c.SecurityContext.Capabilities.Drop, []corev1.Capability{"ALL"}) || len(c.SecurityContext.Capabilities.Add) > 0 ||
			p.HostNetwork || p.HostPID || p.HostIPC || len(p.Volumes) > 0 || len(c.Ports) != 1 || c.Ports[0].HostPort != 0 {
			t.Errorf("%s is not restricted: %+v, %+v", d.Name, p.SecurityContext, c.SecurityContext)
		}
		if *d.Spec.Replicas != 2 || c.Resources.Requests.Cpu().IsZero() || c.Resources.Requests.Memory().IsZero() || c.Resources.Limits.Memory().IsZero() {
			t.Errorf("%s: %d replicas, %+v", d.Name, *d.Spec.Replicas, c.Resources)
		}
		if c.LivenessProbe.HTTPGet.Path != "/healthz" || c.ReadinessProbe.HTTPGet.Path != "/readyz" || c.StartupProbe.HTTPGet.Path != "/healthz" {
			t.Errorf("%s: probes", d.Name)
		}
		component := strings.TrimPrefix(d.Name, "squall-")
		if !slices.Equal(c.Command, []string{"/" + component}) || p.ServiceAccountName != d.Name || c.Image != "registry.example.com/programs:v1" {
			t.Errorf("%s runs %v of %s as %s", d.Name, c.Command, c.Image, p.ServiceAccountName)
		}
	}
}

// A replica that is told to stop must have the time that it may need.
func TestTheGraceIsLongEnough(t *testing.T) {
	for _, name := range dispatcher.Profiles() {
		s, _ := dispatcher.Profile(name)
		need := max(s.CreateTimeout, s.StoreTimeout) + 2*s.StoreTimeout
		for _, d := range of[*appsv1.Deployment](rendered(t)) {
			if have := *d.Spec.Template.Spec.TerminationGracePeriodSeconds; float64(have) <= need.Seconds() {
				t.Errorf("%s under %s: %d s, a stop may take %s", d.Name, name, have, need)
			}
		}
	}
}

func TestBudgetsAreOfTheReplicas(t *testing.T) {
	all := rendered(t)
	budgets := of[*policyv1.PodDisruptionBudget](all)
	for _, d := range of[*appsv1.Deployment](all) {
		covered := 0
		for _, b := range budgets {
			selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
			if err != nil {
				t.Fatal(err)
			}
			if selector.Matches(labelSet(d.Spec.Template.Labels)) {
				covered++
				if b.Spec.MaxUnavailable.IntValue() != 1 {
					t.Errorf("%s: %s may be unavailable", b.Name, b.Spec.MaxUnavailable)
				}
			}
		}
		if covered != 1 {
			t.Errorf("%s is under %d budgets", d.Name, covered)
		}
	}
}

// labelSet are labels as selectors take them.
type labelSet map[string]string

func (l labelSet) Has(name string) bool              { _, ok := l[name]; return ok }
func (l labelSet) Get(name string) string            { return l[name] }
func (l labelSet) Lookup(name string) (string, bool) { v, ok := l[name]; return v, ok }

// The programs understand what the manifests tell them, and find there all that they ask for.
func TestReplicasAreToldAllTheyNeed(t *testing.T) {
	all := rendered(t)
	data := of[*corev1.ConfigMap](all)[0].Data
	if _, err := environment.DecodeSettings(data[environment.Settings]); err != nil {
		t.Error(err)
	}
	for _, d := range of[*appsv1.Deployment](all) {
		told := map[string]bool{}
		for name := range data {
			told[name] = true
		}
		for _, v := range d.Spec.Template.Spec.Containers[0].Env {
			told[v.Name] = true
			if v.Name == environment.DatabaseURL && (v.Value != "" || v.ValueFrom.SecretKeyRef.Name != data[environment.DatabaseSecret] ||
				v.ValueFrom.SecretKeyRef.Key != environment.DatabaseKey) {
				t.Errorf("%s: the URL of the database is not from the workers' Secret: %+v", d.Name, v)
			}
		}
		for _, name := range []string{environment.DatabaseURL, environment.Settings, environment.Process, environment.Namespace, environment.Image,
			environment.DatabaseSecret, environment.ServiceAccount} {
			if !told[name] {
				t.Errorf("%s is not told %s", d.Name, name)
			}
			delete(told, name)
		}
		if len(told) > 0 {
			t.Errorf("%s is told what it does not know: %v", d.Name, told)
		}
	}
	accounts := map[string]bool{}
	for _, a := range of[*corev1.ServiceAccount](all) {
		accounts[a.Name] = *a.AutomountServiceAccountToken
	}
	if token, there := accounts[data[environment.ServiceAccount]]; !there || token {
		t.Errorf("the workers' account: %v", accounts)
	}
}
