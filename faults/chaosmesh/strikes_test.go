package chaosmesh

import (
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/faults"
)

func newStrikes(c *cluster) *Strikes {
	site := everything()
	site.Pods = func(process string) (string, bool) { return process + "-life-1", true }
	return &Strikes{Client: c.client(), Site: site, Limit: 20 * time.Millisecond}
}

// left are the names of the objects that the cluster has.
func (c *cluster) left(t *testing.T, resource string) []string {
	t.Helper()
	list, err := c.Resource(schema.GroupVersionResource{Group: "chaos-mesh.org", Version: "v1alpha1", Resource: resource}).Namespace("batch").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, o := range list.Items {
		names = append(names, o.GetName())
	}
	return names
}

const injected = `, experiment: {containerRecords: [{id: batch/a, selectorKey: ., phase: Injected, injectedCount: 1, recoveredCount: 0}]}}`

func TestAFaultIsStruckAndHealedByItsObjects(t *testing.T) {
	c := newCluster()
	c.answers(t, "status: {"+state("TTFF")+injected)
	s := newStrikes(c)
	struck, err := s.Strike(t.Context(), 4, faults.Fault{Kind: faults.LeaseHang, For: 20 * time.Second, Target: faults.Target{Process: "dispatcher-1"}})
	if err != nil || !slices.Equal(struck.Victims, []string{"batch/a"}) || !slices.Equal(struck.Objects, []string{"NetworkChaos batch/sample-fault-5"}) {
		t.Fatal(struck, err)
	}
	if got := c.left(t, "networkchaos"); !slices.Equal(got, []string{"sample-fault-5"}) {
		t.Errorf("struck, there is %v", got)
	}
	if err := s.Heal(t.Context(), 4); err != nil || len(c.left(t, "networkchaos")) > 0 {
		t.Errorf("healed, there is %v, %v", c.left(t, "networkchaos"), err)
	}
}

// TestAKillIsKeptForItsRecords until the run is over; nothing is left then.
func TestAKillIsKeptForItsRecords(t *testing.T) {
	c := newCluster()
	c.answers(t, "status: {"+state("TTFF")+injected)
	s := newStrikes(c)
	if _, err := s.Strike(t.Context(), 0, faults.Fault{Kind: faults.PodEvict, Target: faults.Target{Task: "task-1"}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Heal(t.Context(), 0); err != nil || len(c.left(t, "podchaos")) != 1 {
		t.Errorf("healed, there is %v, %v", c.left(t, "podchaos"), err)
	}
	if err := s.Close(t.Context()); err != nil || len(c.left(t, "podchaos")) > 0 {
		t.Errorf("closed, there is %v, %v", c.left(t, "podchaos"), err)
	}
}

func TestNobodyThereToBeStruckIsNoError(t *testing.T) {
	c := newCluster()
	c.answers(t, "status: {"+state("FFFF")+", experiment: {desiredPhase: Run}}")
	s := newStrikes(c)
	s.Limit = long
	struck, err := s.Strike(t.Context(), 0, faults.Fault{Kind: faults.ContainerKill, Target: faults.Target{Task: "task-1"}})
	if err != nil || len(struck.Victims) > 0 {
		t.Error(struck, err)
	}
}

// TestNothingIsLeftWhereAStrikeFails: of two objects the second is refused.
func TestNothingIsLeftWhereAStrikeFails(t *testing.T) {
	c := newCluster()
	c.answers(t, "")
	c.PrependReactor("create", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		create := a.(clienttesting.CreateActionImpl)
		if o, _ := runtime.DefaultUnstructuredConverter.ToUnstructured(create.GetObject()); strings.Contains(o["metadata"].(map[string]any)["name"].(string), "workers") {
			return true, nil, apierrors.NewBadRequest("admission webhook denied the request")
		}
		return false, nil, nil
	})
	s := newStrikes(c)
	_, err := s.Strike(t.Context(), 0, faults.Fault{Kind: faults.StoreOutage, For: time.Minute})
	if err == nil || !strings.Contains(err.Error(), "NetworkChaos batch/sample-fault-1-workers") {
		t.Errorf("got %v", err)
	}
	if err := s.Close(t.Context()); err != nil || len(c.left(t, "networkchaos")) > 0 {
		t.Errorf("there is %v, %v", c.left(t, "networkchaos"), err)
	}
}

// TestWhatHadToBeFreedIsNamed, since what it did may still be in force.
func TestWhatHadToBeFreedIsNamed(t *testing.T) {
	c := newCluster()
	c.answers(t, "status: {"+state("TTFF")+injected)
	s := newStrikes(c)
	if _, err := s.Strike(t.Context(), 0, faults.Fault{Kind: faults.StoreOutage, For: time.Minute}); err != nil {
		t.Fatal(err)
	}
	c.PrependReactor("delete", "*", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, nil })
	c.PrependReactor("patch", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
		p := a.(clienttesting.PatchAction)
		return true, nil, c.Tracker().Delete(p.GetResource(), p.GetNamespace(), p.GetName())
	})
	err := s.Heal(t.Context(), 0)
	if err == nil || strings.Count(err.Error(), "was freed of its finalizer") != 2 || !strings.Contains(err.Error(), "batch/a") {
		t.Errorf("got %v", err)
	}
	if got := c.left(t, "networkchaos"); len(got) > 0 {
		t.Errorf("there is %v", got)
	}
}

func TestWhatChaosMeshTakes(t *testing.T) {
	s := newStrikes(newCluster())
	s.Except = map[faults.Kind]string{faults.ProcessCrash: "nobody starts it again"}
	s.NoNetem = "the kernel has no sch_netem"
	for _, c := range []struct {
		fault   faults.Fault
		by, why string
	}{
		{sample(faults.PodEvict, ""), "Chaos Mesh's PodChaos pod-kill", ""},
		{sample(faults.APIOutage, ""), "Chaos Mesh's NetworkChaos partition", ""},
		{sample(faults.ProcessCrash, ""), "", "nobody starts it again"},
		{sample(faults.APISlow, ""), "", "the kernel has no sch_netem"},
		{sample(faults.Call, clusters.Late), "", "a delay of the network ends when the caller gives up"},
	} {
		by, why := s.Takes(c.fault)
		if by != c.by || !strings.HasPrefix(why, c.why) || why != "" && c.why == "" {
			t.Errorf("%s: by %q, because %q; expected %q, %q", c.fault.Kind, by, why, c.by, c.why)
		}
	}
}

// TestACheckSaysWhatIsMissing, and makes nothing.
func TestACheckSaysWhatIsMissing(t *testing.T) {
	c := newCluster()
	if err := c.client().Check(t.Context(), "batch"); err != nil || c.made > 0 || c.dry != 2 {
		t.Errorf("%d dry runs, %d made, %v", c.dry, c.made, err)
	}
	c.PrependReactor("create", "networkchaos", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewGenericServerResponse(404, "create", schema.GroupResource{Group: "chaos-mesh.org", Resource: "networkchaos"}, "", "", 0, true)
	})
	if err := c.client().Check(t.Context(), "batch"); err == nil || !strings.Contains(err.Error(), "not installed, or too old to know NetworkChaos") {
		t.Error(err)
	}
}
