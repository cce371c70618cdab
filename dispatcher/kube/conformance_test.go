//go:build e2e

package kube

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	core "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/squall-chaos/squall/clusters/local"
	"github.com/squall-chaos/squall/dispatcher"
	"github.com/squall-chaos/squall/dispatcher/dispatchertest"
)

// plane is the one real API server of these tests.
var plane *local.ControlPlane

func TestMain(m *testing.M) {
	os.Exit(func() int {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		if err := open(ctx); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		code := m.Run()
		if code != 0 {
			fmt.Fprintln(os.Stderr, "logs are in", plane.KeepLogs())
		}
		if err := plane.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return code
	}())
}

func open(ctx context.Context) error {
	binary, err := local.Built()
	if err != nil {
		return err
	}
	if plane, err = local.Start(ctx, local.Options{Binary: binary, Scheduler: true}); err != nil {
		return err
	}
	client, err := core.NewForConfig(plane.Config())
	if err != nil {
		return err
	}
	return errors.Join(addNode(ctx, client.Nodes(), "od-1", OnDemand), addNode(ctx, client.Nodes(), "spot-1", Spot))
}

var namespaces atomic.Int64

// namespace makes an empty one, in which only pods of the standard "restricted" are let in.
func namespace(t *testing.T) (string, *core.CoreV1Client) {
	t.Helper()
	client, err := core.NewForConfig(plane.Config())
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("work-%d", namespaces.Add(1))
	_, err = client.Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: name, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}} // the controller manager would make it
	if _, err := client.ServiceAccounts(name).Create(t.Context(), account, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	return name, client
}

func newWorld(t *testing.T, change ...func(*rest.Config, *Options)) (world, *core.CoreV1Client) {
	t.Helper()
	name, client := namespace(t)
	config, o := plane.Config(), Options{Namespace: name, Image: "worker"}
	for _, c := range change {
		c(config, &o)
	}
	k, err := NewWorkloads(config, o)
	if err != nil {
		t.Fatal(err)
	}
	return world{t, k, &kubelet{t, client.Pods(name), map[string]int32{}}}, client
}

func TestConformance(t *testing.T) {
	dispatchertest.ExerciseWorkloads(t, func(t *testing.T) dispatchertest.World { w, _ := newWorld(t); return w })
	dispatchertest.ExerciseLeases(t, func(t *testing.T) dispatcher.Leases {
		name, _ := namespace(t)
		k, err := NewLeases(plane.Config(), name)
		if err != nil {
			t.Fatal(err)
		}
		return k
	})
}

func is(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got error %v, want %v", err, want)
	}
}

func TestWorkIsPlacedByItsKind(t *testing.T) {
	w, _ := newWorld(t)
	spot, safe := task("spot"), task("safe")
	safe.OnDemand = true
	for _, o := range []dispatcher.Workload{spot, safe} {
		_, err := w.workloads.Create(t.Context(), o)
		is(t, err, nil)
		placed := w.Until(func() bool {
			got, err := w.workloads.Get(t.Context(), o.Name)
			return err == nil && got.Node != "" && (!o.OnDemand || got.Node == "od-1")
		})
		if !placed {
			t.Errorf("%s was not placed", o.Name)
		}
	}
}

// quota makes one of a number of pods. Nobody counts it unless a controller manager runs.
func quota(t *testing.T, w world, client *core.CoreV1Client, pods int64) (core.ResourceQuotaInterface, *corev1.ResourceQuota) {
	t.Helper()
	quotas := client.ResourceQuotas(w.workloads.options.Namespace)
	q, err := quotas.Create(t.Context(), &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "q"}, Spec: corev1.ResourceQuotaSpec{Hard: podCount(pods)},
	}, metav1.CreateOptions{})
	is(t, err, nil)
	return quotas, q
}

func podCount(n int64) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(n, resource.DecimalSI)}
}

// throttled creates tasks until one is refused: admission reads quotas from a cache. It returns the last.
func (w world) throttled(prefix string) dispatcher.Workload {
	w.t.Helper()
	var last dispatcher.Workload
	var err error
	i := 0
	if !w.Until(func() bool {
		i++
		last = task(dispatcher.TaskID(fmt.Sprint(prefix, i)))
		_, err = w.workloads.Create(w.t.Context(), last)
		return err != nil
	}) {
		w.t.Fatal("the quota lets everything through")
	}
	is(w.t, err, dispatcher.ErrThrottled)
	return last
}

func TestASpentQuotaThrottles(t *testing.T) {
	w, client := newWorld(t)
	quotas, q := quota(t, w, client, 1)
	// Admission compares with status.hard, which the quota's controller copies from the spec when it has counted: until then,
	// here for ever, a quota limits nothing.
	for _, id := range []dispatcher.TaskID{"early-1", "early-2"} {
		_, err := w.workloads.Create(t.Context(), task(id))
		is(t, err, nil)
	}
	// Nobody but an odd controller writes the one without the other; then nothing is let through.
	q.Status.Hard = podCount(1)
	q, err := quotas.UpdateStatus(t.Context(), q, metav1.UpdateOptions{})
	is(t, err, nil)
	_, err = w.workloads.Create(t.Context(), w.throttled("unknown-"))
	if is(t, err, dispatcher.ErrThrottled); !strings.Contains(err.Error(), "status unknown for quota") {
		t.Errorf("got error %v", err)
	}
	q.Status.Used = podCount(0)
	_, err = quotas.UpdateStatus(t.Context(), q, metav1.UpdateOptions{})
	is(t, err, nil)
	if !w.Until(func() bool { _, err = w.workloads.Create(t.Context(), task("a")); return err == nil }) {
		t.Fatalf("within the quota: %v", err)
	}
	_, err = w.workloads.Create(t.Context(), task("b"))
	is(t, err, dispatcher.ErrThrottled)
	// The quota is judged before the name is, as in the simulation.
	_, err = w.workloads.Create(t.Context(), task("a"))
	is(t, err, dispatcher.ErrThrottled)
}

// With its controller a quota is counted within moments, of which more pods than it allows may make use, and what has ended
// counts no longer.
func TestACountedQuotaThrottlesUntilWorkEnds(t *testing.T) {
	binary, err := local.Built()
	is(t, err, nil)
	whole, err := local.Start(t.Context(), local.Options{Binary: binary, ControllerManager: true, Scheduler: true})
	is(t, err, nil)
	t.Cleanup(func() { _ = whole.Close() })
	without := plane
	plane = whole
	t.Cleanup(func() { plane = without })
	w, client := newWorld(t)
	is(t, addNode(t.Context(), client.Nodes(), "spot-1", Spot), nil)
	quota(t, w, client, 1)
	refused := w.throttled("t")
	page, err := w.workloads.List(t.Context(), dispatcher.List{})
	is(t, err, nil)
	t.Logf("a quota of 1 let %d through", len(page.Items))
	for _, o := range page.Items {
		w.Exit(o.Name, 0)
	}
	if !w.Until(func() bool { _, err = w.workloads.Create(t.Context(), refused); return err == nil }) {
		t.Errorf("all have ended, and yet: %v", err)
	}
}

func TestAPodThatPolicyRefusesIsRejected(t *testing.T) {
	w, _ := newWorld(t, func(_ *rest.Config, o *Options) {
		o.Adjust = func(p *corev1.Pod, _ dispatcher.Workload) { p.Spec.HostNetwork = true }
	})
	_, err := w.workloads.Create(t.Context(), task("a"))
	is(t, err, dispatcher.ErrRejected)
}

func TestACallerThatIsNotAllowedHarmsNoTask(t *testing.T) {
	w, _ := newWorld(t, func(c *rest.Config, _ *Options) { c.Impersonate.UserName = "nobody" })
	_, err := w.workloads.Create(t.Context(), task("a"))
	is(t, err, dispatcher.ErrUnavailable)
	w, _ = newWorld(t, func(c *rest.Config, _ *Options) { c.BearerToken = "guess" })
	_, err = w.workloads.Create(t.Context(), task("a"))
	is(t, err, dispatcher.ErrUnavailable)
}

func TestANamespaceThatIsGoingHarmsNoTask(t *testing.T) {
	w, client := newWorld(t)
	is(t, client.Namespaces().Delete(t.Context(), w.workloads.options.Namespace, metav1.DeleteOptions{}), nil)
	var err error
	if !w.Until(func() bool { _, err = w.workloads.Create(t.Context(), task("a")); return err != nil }) {
		t.Fatal("created in a namespace that is going")
	}
	is(t, err, dispatcher.ErrUnavailable)
}

func TestReleaseLeavesTheFinalizersOfOthers(t *testing.T) {
	w, client := newWorld(t, func(_ *rest.Config, o *Options) {
		o.Adjust = func(p *corev1.Pod, _ dispatcher.Workload) {
			p.Finalizers = []string{"example.com/before", Finalizer, "example.com/after"}
		}
	})
	made, err := w.workloads.Create(t.Context(), task("a"))
	is(t, err, nil)
	is(t, w.workloads.Release(t.Context(), made.Name, made.UID), nil)
	p, err := client.Pods(w.workloads.options.Namespace).Get(t.Context(), made.Name, metav1.GetOptions{})
	is(t, err, nil)
	if got := fmt.Sprint(p.Finalizers); got != "[example.com/before example.com/after]" {
		t.Errorf("finalizers %s", got)
	}
}

func TestALongTaskIDIsRejectedAndAbsent(t *testing.T) {
	w, _ := newWorld(t)
	long := task("aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggg") // 64: no label value
	_, err := w.workloads.Create(t.Context(), long)
	is(t, err, dispatcher.ErrRejected)
	_, err = w.workloads.Get(t.Context(), long.Name)
	is(t, err, dispatcher.ErrNotFound)
}

// A frozen API server has the request and does not answer: the create may have happened, and in the end did.
func TestAnAPIServerThatFreezesLeavesACreateUnknown(t *testing.T) {
	w, _ := newWorld(t)
	_, err := w.workloads.Create(t.Context(), task("a")) // a connection is there
	is(t, err, nil)
	is(t, plane.Process(local.APIServer).Freeze(), nil)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err = w.workloads.Create(ctx, task("b"))
	is(t, plane.Process(local.APIServer).Thaw(), nil)
	is(t, err, dispatcher.ErrUnknown)
	is(t, plane.Ready(t.Context()), nil)
}

// A call may still be written to a connection whose end has not been noticed: then its outcome is unknown, and rightly so.
func TestAnAPIServerThatIsGoneIsUnavailable(t *testing.T) {
	w, _ := newWorld(t)
	is(t, plane.Process(local.APIServer).Kill(), nil)
	t.Cleanup(func() { // also when a check fails: the other tests need the server
		if err := errors.Join(plane.Process(local.APIServer).Start(), plane.Ready(context.Background())); err != nil {
			t.Error(err)
			return
		}
		if _, err := w.workloads.Get(context.Background(), "task-a"); !errors.Is(err, dispatcher.ErrNotFound) {
			t.Errorf("once the server is back: %v, want %v", err, dispatcher.ErrNotFound)
		}
	})
	_, err := w.workloads.Create(t.Context(), task("a"))
	for range 20 {
		if !errors.Is(err, dispatcher.ErrUnknown) {
			break
		}
		time.Sleep(50 * time.Millisecond)
		_, err = w.workloads.Create(t.Context(), task("a"))
	}
	is(t, err, dispatcher.ErrUnavailable)
}

// TestAPutMakesADeletedLeaseAnew shows why PutLease is a patch.
func TestAPutMakesADeletedLeaseAnew(t *testing.T) {
	name, _ := namespace(t)
	client, err := coordination.NewForConfig(plane.Config())
	is(t, err, nil)
	leases := client.Leases(name)
	old, err := leases.Create(t.Context(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
	is(t, err, nil)
	is(t, leases.Delete(t.Context(), "a", metav1.DeleteOptions{}), nil)
	old.UID = ""
	if _, err := leases.Update(t.Context(), old, metav1.UpdateOptions{}); err != nil {
		t.Errorf("this API server refuses: %v; PutLease could be a PUT", err)
	}
}

// The simulated API server does the same: clusters/sim/kubernetes, List.
func TestAStaleListComesInOnePage(t *testing.T) {
	w, _ := newWorld(t)
	for i := range 5 {
		_, err := w.workloads.Create(t.Context(), task(dispatcher.TaskID(fmt.Sprint("w", i))))
		is(t, err, nil)
	}
	var page dispatcher.WorkloadPage
	if !w.Until(func() bool {
		var err error
		page, err = w.workloads.List(t.Context(), dispatcher.List{Stale: true, Limit: 2})
		is(t, err, nil)
		return len(page.Items) == 5 && page.Continue == ""
	}) {
		t.Errorf("a page of %d, continued by %q", len(page.Items), page.Continue)
	}
}

// So is this: a grace period of zero in the spec is deletion by force.
func TestWithoutAGraceADeletionDoesNotWait(t *testing.T) {
	w, _ := newWorld(t)
	o := task("a") // Grace is 0
	o.Held = true
	_, err := w.workloads.Create(t.Context(), o)
	is(t, err, nil)
	var made dispatcher.Workload
	if !w.Until(func() bool {
		made, err = w.workloads.Get(t.Context(), o.Name)
		return err == nil && made.State == dispatcher.WorkloadRunning
	}) {
		t.Fatal("it does not run")
	}
	is(t, w.workloads.Delete(t.Context(), made.Name, made.UID, false), nil)
	is(t, w.workloads.Release(t.Context(), made.Name, made.UID), nil)
	_, err = w.workloads.Get(t.Context(), made.Name)
	is(t, err, dispatcher.ErrNotFound)
}

// The simulated API server moves the stamp, too. What the adapter makes of it is not the same: once the kubelet has confirmed a
// deletion, nothing but the exit code tells a container that it ended from one that ended by itself before it.
func TestTheKubeletsLastWordMovesTheDeletionTime(t *testing.T) {
	for _, c := range []struct {
		name        string
		code        int32
		before, now dispatcher.Failure
	}{
		{"a signal's exit code", exitTerm, dispatcher.FailureEvicted, dispatcher.FailureEvicted},
		{"a code of its own", 3, dispatcher.FailureEvicted, dispatcher.FailureError},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, client := newWorld(t)
			o := task("a")
			o.Grace, o.Held = time.Hour, true
			_, err := w.workloads.Create(t.Context(), o)
			is(t, err, nil)
			var made dispatcher.Workload
			if !w.Until(func() bool {
				made, err = w.workloads.Get(t.Context(), o.Name)
				return err == nil && made.State == dispatcher.WorkloadRunning
			}) {
				t.Fatal("it does not run")
			}
			is(t, w.workloads.Delete(t.Context(), made.Name, made.UID, false), nil)
			pods := client.Pods(w.workloads.options.Namespace)
			p, err := pods.Get(t.Context(), made.Name, metav1.GetOptions{})
			is(t, err, nil)
			w.kubelet.end(t.Context(), p, "", c.code, time.Now())
			before, err := w.workloads.Get(t.Context(), made.Name)
			is(t, err, nil)
			time.Sleep(2 * time.Second) // stamps are whole seconds, and real kubelets take about as long
			w.kubelet.confirm(t.Context(), p)
			now, err := w.workloads.Get(t.Context(), made.Name)
			is(t, err, nil)
			if before.Failure != c.before || now.Failure != c.now || !now.DeletedAt.After(before.DeletedAt) {
				t.Errorf("failure %s, then %s; deleted at %s, then %s", before.Failure, now.Failure, before.DeletedAt, now.DeletedAt)
			}
		})
	}
}
