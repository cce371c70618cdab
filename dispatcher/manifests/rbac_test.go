package manifests_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/hostclock"
	"github.com/squall-chaos/squall/dispatcher/kube"
	"github.com/squall-chaos/squall/dispatcher/memory"
)

// right is what one request needs.
type right struct{ group, resource, verb, name string }

// anyName is the name of a right that is not tied to one.
const anyName = ""

// apiServer stands for one: it remembers the rights that requests would have needed, and answers as its pods are.
type apiServer struct {
	mu     sync.Mutex
	needed map[right]bool
	lease  map[string]any
	pods   map[string]*corev1.Pod
}

// verbs of requests for one object and for a collection (kubernetes.io/docs/reference/access-authn-authz/authorization).
var verbs = map[string][2]string{
	http.MethodGet: {"get", "list"}, http.MethodPost: {"", "create"}, http.MethodPut: {"update", ""},
	http.MethodPatch: {"patch", ""}, http.MethodDelete: {"delete", "deletecollection"},
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	group, resource, name := parse(r.URL.Path)
	verb := verbs[r.Method][0]
	if name == "" {
		verb = verbs[r.Method][1]
	}
	need := right{group, resource, verb, anyName}
	if resource == "leases" && verb != "create" {
		need.name = name
	}
	s.needed[need] = true
	code, answer := s.answer(r, resource, verb, name)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(answer)
}

// parse takes apart /api/v1/..., /apis/GROUP/VERSION/..., with or without namespaces/NS.
func parse(path string) (group, resource, name string) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if parts[0] == "apis" {
		group, parts = parts[1], parts[1:]
	}
	parts = parts[2:]
	if parts[0] == "namespaces" {
		parts = parts[2:]
	}
	if len(parts) > 1 {
		name = parts[1]
	}
	return group, parts[0], name
}

func (s *apiServer) answer(r *http.Request, resource, verb, name string) (int, any) {
	refuse := func(code int32, reason metav1.StatusReason) (int, any) {
		return int(code), metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: code, Reason: reason,
			Details: &metav1.StatusDetails{Name: name, Kind: resource}}
	}
	switch {
	case resource == "leases" && verb == "get" && s.lease == nil, resource == "nodes":
		return refuse(404, metav1.StatusReasonNotFound)
	case resource == "leases":
		if verb != "get" {
			_ = json.NewDecoder(r.Body).Decode(&s.lease)
			if meta := s.lease["metadata"].(map[string]any); verb == "create" {
				name, _ = meta["name"].(string)
			}
			s.lease["metadata"] = map[string]any{"name": name, "resourceVersion": "5"}
		}
		return 200, s.lease
	case verb == "list":
		var all corev1.PodList
		for _, name := range slices.Sorted(maps.Keys(s.pods)) {
			all.Items = append(all.Items, *s.pods[name])
		}
		return 200, all
	case verb == "create":
		var p corev1.Pod
		_ = json.NewDecoder(r.Body).Decode(&p)
		if s.pods[p.Name] != nil {
			name = p.Name
			return refuse(409, metav1.StatusReasonAlreadyExists)
		}
		p.UID, p.ResourceVersion = "uid-new", "5"
		s.pods[p.Name] = &p
		return 201, p
	case s.pods[name] == nil:
		return refuse(404, metav1.StatusReasonNotFound)
	}
	return 200, s.pods[name]
}

// pod is one of ours, of an attempt's token, on a node.
func pod(id, token string, phase corev1.PodPhase) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "task-" + id, UID: "uid-old", ResourceVersion: "3", Finalizers: []string{kube.Finalizer},
			Labels: map[string]string{kube.LabelTask: id, kube.LabelAttempt: "1", kube.LabelToken: token}},
		Spec:   corev1.PodSpec{NodeName: "node-1", Containers: []corev1.Container{{Name: kube.Container, Env: []corev1.EnvVar{{Name: "SQUALL_WORK", Value: "{}"}}}}},
		Status: corev1.PodStatus{Phase: phase},
	}
}

// use runs a loop against an API server with these pods until it has needed every right of want, or for a while, and
// returns the rights that it needed.
func use(t *testing.T, pods []*corev1.Pod, want map[right]bool, claimed bool, loop func(context.Context, dispatcher.Settings, dispatcher.Ports) error) map[right]bool {
	t.Helper()
	s, _ := dispatcher.Profile("b0")
	s.RetryPeriod, s.Tick, s.RecoverInterval, s.RecoveryGrace, s.LaunchRate = 5*time.Millisecond, 20*time.Millisecond, 20*time.Millisecond, time.Millisecond, 0
	store := memory.New(s, time.Now)
	for _, id := range []dispatcher.TaskID{"a", "b"} {
		if _, err := store.Submit(t.Context(), dispatcher.Spec{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	if claimed {
		term, err := store.Lead(t.Context(), dispatcher.RoleDispatcher, "dispatcher-1/1")
		if err != nil {
			t.Fatal(err)
		}
		if tasks, err := store.Claim(t.Context(), term, 2); err != nil || len(tasks) != 2 {
			t.Fatalf("claimed %d: %v", len(tasks), err)
		}
	}
	api := &apiServer{needed: map[right]bool{}, pods: map[string]*corev1.Pod{}}
	for _, p := range pods {
		api.pods[p.Name] = p
	}
	server := httptest.NewServer(api)
	defer server.Close()
	config := &rest.Config{Host: server.URL}
	workloads, err := kube.NewWorkloads(config, kube.Options{Namespace: "batch", Image: "worker"})
	if err != nil {
		t.Fatal(err)
	}
	leases, err := kube.NewLeases(config, "batch")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	clock := until{hostclock.New(), func() bool {
		api.mu.Lock()
		defer api.mu.Unlock()
		for r := range want {
			if !api.needed[r] {
				return false
			}
		}
		return true
	}}
	if err := loop(ctx, s, dispatcher.Ports{Clock: clock, Store: store, Workloads: workloads, Leases: leases}); err != nil && !errors.Is(err, errEnough) && !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	return api.needed
}

// until is a clock whose sleep ends the loop when there is nothing more to learn.
type until struct {
	dispatcher.Clock
	enough func() bool
}

var errEnough = errors.New("enough")

func (u until) Sleep(ctx context.Context, d time.Duration) error {
	if u.enough() {
		return errEnough
	}
	return u.Clock.Sleep(ctx, d)
}

// granted are the rights of a role, each tied to the names that it is granted for.
func granted(rules []rbacv1.PolicyRule) map[right]bool {
	all := map[right]bool{}
	for _, rule := range rules {
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{anyName}
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					for _, name := range names {
						all[right{group, resource, verb, name}] = true
					}
				}
			}
		}
	}
	return all
}

// The rights of a role are those that its loop is seen to need, no more and no fewer. What the loop meets here has it make every kind
// of request that it knows: names that are free and taken, work that ended and work on a node that is gone.
func TestRolesGrantWhatTheLoopsNeed(t *testing.T) {
	all := rendered(t)
	roles := map[string][]rbacv1.PolicyRule{}
	for _, r := range of[*rbacv1.Role](all) {
		roles[r.Name] = append(roles[r.Name], r.Rules...)
	}
	for _, r := range of[*rbacv1.ClusterRole](all) {
		if strings.HasPrefix(r.Name, "squall-reconciler-") {
			roles["squall-reconciler"] = append(roles["squall-reconciler"], r.Rules...)
		} else {
			t.Errorf("cluster role %s is nobody's", r.Name)
		}
	}
	for name, loop := range map[string]struct {
		pods    []*corev1.Pod
		claimed bool
		run     func(context.Context, dispatcher.Settings, dispatcher.Ports) error
	}{
		"squall-dispatcher": {pods: []*corev1.Pod{pod("b", "0", corev1.PodFailed)}, run: func(ctx context.Context, s dispatcher.Settings, p dispatcher.Ports) error {
			return dispatcher.RunDispatcher(ctx, "dispatcher-1/1", s, p)
		}},
		"squall-reconciler": {claimed: true, pods: []*corev1.Pod{pod("a", "1", corev1.PodFailed), pod("b", "2", corev1.PodRunning)},
			run: func(ctx context.Context, s dispatcher.Settings, p dispatcher.Ports) error {
				return dispatcher.RunReconciler(ctx, "reconciler-1/1", s, p, nil)
			}},
	} {
		have := granted(roles[name])
		need := use(t, loop.pods, have, loop.claimed, loop.run)
		for r := range need {
			if !have[r] {
				t.Errorf("%s lacks the right to %s %s (%s)", name, r.verb, r.resource, r.name)
			}
		}
		for r := range have {
			if !need[r] {
				t.Errorf("%s is granted to %s %s (%s) and never does", name, r.verb, r.resource, r.name)
			}
		}
	}
}
