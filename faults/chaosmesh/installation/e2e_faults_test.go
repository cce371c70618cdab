//go:build e2e

package installation

import (
	"net"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/squall-chaos/squall/checker/history"
	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/faults"
	"github.com/squall-chaos/squall/faults/chaosmesh"
)

// limit bounds each wait for Chaos Mesh on a busy machine.
const limit = 90 * time.Second

// one is the only object of a plan.
func one(t *testing.T, s chaosmesh.Site, form chaosmesh.Form, plan ...faults.Fault) chaosmesh.Object {
	t.Helper()
	r, err := s.Render(plan, form)
	if err != nil || len(r.Objects) != 1 {
		t.Fatalf("%v, %v; left out: %v", r.Objects, err, r.Left())
	}
	return r.Objects[0]
}

// experiment applies a fault's object, lets it end by itself, and removes it. Its records have to tell every stage.
func experiment(t *testing.T, f faults.Fault, during, after func()) {
	t.Helper()
	o := one(t, here(t), chaosmesh.ObjectsForm, f)
	if err := mesh.Apply(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	defer remove(t, o)
	st, err := mesh.AwaitInjected(t.Context(), o, limit)
	if err != nil {
		t.Fatal(err)
	}
	during()
	if !o.OneShot {
		if st, err = mesh.AwaitRecovered(t.Context(), o, limit); err != nil {
			t.Fatal(err)
		}
	}
	after()
	var stages []history.Kind
	for _, e := range chaosmesh.Ledger(o, st) {
		stages = append(stages, e.Stage)
	}
	if want := []history.Kind{history.FaultPlanned, history.FaultStruck, history.FaultObserved, history.FaultHealed}; !slices.Equal(stages, want) {
		t.Errorf("the ledger has the stages %v, want %v; the object is %s", stages, want, st)
	}
}

func remove(t *testing.T, o chaosmesh.Object) {
	t.Helper()
	r, err := mesh.Remove(t.Context(), o, limit)
	if err != nil || r.Freed {
		t.Errorf("removed: %s %v", r, err)
	}
}

func nothing() {}

func TestPodChaosPodKill(t *testing.T) {
	here(t)
	before := pod(t, "worker").UID
	experiment(t, faults.Fault{Kind: faults.PodEvict, Target: faults.Target{Task: "task-1"}},
		func() { eventually(t, "another Pod", func() bool { return pod(t, "worker").UID != before }) }, nothing)
}

func TestPodChaosContainerKill(t *testing.T) {
	here(t)
	before := pod(t, "worker").Status.ContainerStatuses[0]
	experiment(t, faults.Fault{Kind: faults.ContainerKill, Target: faults.Target{Task: "task-1"}}, func() {
		eventually(t, "a container that was killed and started again", func() bool {
			now := pod(t, "worker").Status.ContainerStatuses[0]
			return now.RestartCount == before.RestartCount+1 && now.LastTerminationState.Terminated.ExitCode == 137
		})
	}, nothing)
}

func TestPodChaosPodFailure(t *testing.T) {
	here(t)
	own := pod(t, "dispatcher").Spec.Containers[0].Image
	experiment(t, faults.Fault{Kind: faults.ProcessCrash, For: 12 * time.Second, Target: faults.Target{Process: "dispatcher-1"}}, func() {
		if image := pod(t, "dispatcher").Spec.Containers[0].Image; image == own {
			t.Errorf("the image is still %s", image)
		}
		eventually(t, "no answer of what is down", func() bool {
			_, err := ask(t, "dispatcher", "GET", "/now")
			return err != nil
		})
	}, func() {
		if image := pod(t, "dispatcher").Spec.Containers[0].Image; image != own {
			t.Errorf("the image is %s, want %s", image, own)
		}
		mustAsk(t, "dispatcher", "GET", "/now")
	})
}

func TestTimeChaos(t *testing.T) {
	here(t)
	const by = -10 * time.Minute
	experiment(t, faults.Fault{Kind: faults.ClockSkew, By: by, For: 10 * time.Second, Target: faults.Target{Process: "dispatcher-1"}},
		func() { near(t, "dispatcher", by); near(t, "bystander", 0) }, func() { near(t, "dispatcher", 0) })
}

// near wants a clock to be off by that, give or take what a question takes.
func near(t *testing.T, role string, by time.Duration) {
	t.Helper()
	if got := skew(t, role); (got - by).Abs() > 5*time.Second {
		t.Errorf("the clock of %s is %s off, want %s", role, got, by)
	}
}

// apart wants a role to reach the address, or not to.
func apart(t *testing.T, role, address string, want bool) {
	t.Helper()
	if got, _ := reaches(t, role, address); got != want {
		t.Errorf("%s reaches %s: %t, want %t", role, address, got, want)
	}
}

// TestPartitionFromTheAPIServerWithAStandInForNsexec cuts off one role by the address that Pods use.
func TestPartitionFromTheAPIServerWithAStandInForNsexec(t *testing.T) {
	here(t)
	api, server := net.JoinHostPort(apiServer(t), "443"), net.JoinHostPort(pod(t, "server").Status.PodIP, port)
	apart(t, "dispatcher", api, true)
	experiment(t, faults.Fault{Kind: faults.LeaseHang, For: 15 * time.Second, Target: faults.Target{Process: "dispatcher-1"}}, func() {
		apart(t, "dispatcher", api, false)
		apart(t, "dispatcher", server, true)
		apart(t, "bystander", api, true)
	}, func() { apart(t, "dispatcher", api, true) })
}

// TestPartitionFromTheDatabaseWithAStandInForNsexec is between Pods.
func TestPartitionFromTheDatabaseWithAStandInForNsexec(t *testing.T) {
	s := here(t)
	server := net.JoinHostPort(pod(t, "server").Status.PodIP, port)
	f := faults.Fault{Kind: faults.Call, Action: clusters.Drop, For: 15 * time.Second, Target: faults.Target{Process: "dispatcher-1", Port: clusters.Store}}
	if m := s.Map(0, f); !m.Maps() {
		t.Fatal(m.Why)
	}
	experiment(t, f, func() {
		apart(t, "dispatcher", server, false)
		apart(t, "bystander", server, true)
	}, func() { apart(t, "dispatcher", server, true) })
}

// TestHTTPChaosAbortWithStandInsForTproxyAndNsexec: the answer is lost, and the job was done.
func TestHTTPChaosAbortWithStandInsForTproxyAndNsexec(t *testing.T) {
	here(t)
	f := faults.Fault{Kind: faults.Call, Action: clusters.CutReply, For: 15 * time.Second, Target: faults.Target{Port: clusters.API, Verb: "create"}}
	experiment(t, f, func() {
		before := jobs(t)
		if text, err := ask(t, "server", "POST", "/jobs/1"); err == nil {
			t.Errorf("there is an answer: %s", text)
		}
		if after := jobs(t); after != before+1 {
			t.Errorf("%d jobs, and %d after one whose answer was lost", before, after)
		}
	}, func() {
		before := jobs(t)
		if text, err := ask(t, "server", "POST", "/jobs/1"); err != nil || jobs(t) != before+1 {
			t.Errorf("healed: %s, %v; %d jobs, %d before", text, err, jobs(t), before)
		}
	})
}

// needsNetem leaves a test out where the kernel cannot do it, and says so.
func needsNetem(t *testing.T) {
	t.Helper()
	if _, err := bed.ControlPlane().Exec(t.Context(), "unshare", "--net", "tc", "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1ms"); err != nil {
		t.Skipf("NOT RUN: this kernel has no sch_netem, with which Chaos Mesh delays and loses packets: %v", err)
	}
}

func TestNetworkChaosDelayWithAStandInForNsexec(t *testing.T) {
	needsNetem(t)
	here(t)
	server := net.JoinHostPort(pod(t, "server").Status.PodIP, port)
	f := faults.Fault{Kind: faults.Call, Action: clusters.Slow, Delay: clusters.Fixed(400 * time.Millisecond), For: 15 * time.Second,
		Target: faults.Target{Process: "dispatcher-1", Port: clusters.Store}}
	experiment(t, f, func() {
		if ok, took := reaches(t, "dispatcher", server); !ok || took < 350*time.Millisecond {
			t.Errorf("reached: %t, in %s; want 400 ms at least", ok, took)
		}
	}, func() { apart(t, "dispatcher", server, true) })
}

func TestNetworkChaosLossWithAStandInForNsexec(t *testing.T) {
	needsNetem(t)
	here(t)
	server := net.JoinHostPort(pod(t, "server").Status.PodIP, port)
	f := faults.Fault{Kind: faults.Call, Action: clusters.Drop, For: 20 * time.Second, Target: faults.Target{Process: "dispatcher-1", Port: clusters.Store, Share: 0.999}}
	experiment(t, f, func() { apart(t, "dispatcher", server, false) }, func() { apart(t, "dispatcher", server, true) })
}

// TestSchedule: a series of equal faults is one object, which strikes again and again.
func TestSchedule(t *testing.T) {
	s := here(t)
	kill := faults.Fault{Kind: faults.PodEvict, Target: faults.Target{Task: "task-1"}}
	var plan faults.Plan
	for i := 1; i <= 3; i++ {
		kill.At = time.Duration(i) * 8 * time.Second
		plan = append(plan, kill)
	}
	o := one(t, s, chaosmesh.ObjectsForm, plan...)
	if o.Sent.GetKind() != "Schedule" {
		t.Fatalf("it is a %s", o)
	}
	lives := map[types.UID]bool{pod(t, "worker").UID: true}
	if err := mesh.Apply(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if _, err := mesh.AwaitInjected(t.Context(), o, limit); err != nil {
		t.Error(err)
	}
	eventually(t, "the second Pod after the first", func() bool {
		lives[pod(t, "worker").UID] = true
		return len(lives) >= 3
	})
	remove(t, o)
	eventually(t, "its objects gone with it", func() bool { return len(chaosObjects(t, "podchaos")) == 0 })
}

// TestWorkflow: a whole plan with its times.
func TestWorkflow(t *testing.T) {
	s := here(t)
	s.Horizon = 40 * time.Second
	o := one(t, s, chaosmesh.WorkflowForm,
		faults.Fault{Kind: faults.LeaseHang, At: 2 * time.Second, For: 10 * time.Second, Target: faults.Target{Process: "dispatcher-1"}},
		faults.Fault{Kind: faults.ClockSkew, At: 18 * time.Second, For: 10 * time.Second, By: time.Hour, Target: faults.Target{Process: "dispatcher-1"}})
	address := net.JoinHostPort(apiServer(t), "443")
	pod(t, "dispatcher")
	if err := mesh.Apply(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	defer remove(t, o)
	var cut, skewed time.Time
	eventually(t, "the partition", func() bool {
		ok, _ := reaches(t, "dispatcher", address)
		cut = time.Now()
		return !ok
	})
	if off := skew(t, "dispatcher"); off.Abs() > 5*time.Second {
		t.Errorf("the clock is off before its time: %s", off)
	}
	eventually(t, "the skew", func() bool {
		skewed = time.Now()
		return skew(t, "dispatcher") > 50*time.Minute
	})
	if !skewed.After(cut) {
		t.Errorf("skewed at %s, cut off at %s", skewed, cut)
	}
	if st, err := mesh.AwaitRecovered(t.Context(), o, limit); err != nil {
		t.Errorf("%s: %v", st, err)
	}
	near(t, "dispatcher", 0)
	apart(t, "dispatcher", address, true)
}
