package chaosmesh

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/squall-chaos/squall/clusters"
	"github.com/squall-chaos/squall/faults"
)

var update = flag.Bool("update", false, "write the golden files anew")

// goldens are plans, by the file that holds what becomes of them.
func goldens() map[string]struct {
	form Form
	plan faults.Plan
} {
	type golden = struct {
		form Form
		plan faults.Plan
	}
	seconds := func(n int) time.Duration { return time.Duration(n) * time.Second }
	skew := sample(faults.ClockSkew, "")
	skew.For = 0
	lost := sample(faults.Call, clusters.LoseReply)
	lost.Target.Verb, lost.Target.Nth, lost.For = "create", 1, 0
	cut := sample(faults.Call, clusters.CutCall)
	loss := sample(faults.Call, clusters.Drop)
	loss.Target = faults.Target{Port: clusters.Store, Process: "worker*", Share: 0.125}
	var kills faults.Plan
	for i := range 4 {
		kills = append(kills, faults.Fault{Kind: faults.ContainerKill, At: seconds(60 + 30*i), Target: faults.Target{Task: "any:running"}})
	}
	whole := append(slices.Clone(kills), sample(faults.ProcessCrash, ""), sample(faults.StoreOutage, ""), sample(faults.ProcessPause, ""), skew,
		faults.Fault{Kind: faults.PodRemove, Target: faults.Target{Task: "task-2"}})
	return map[string]golden{
		"pod-kill":          {ObjectsForm, faults.Plan{sample(faults.PodEvict, ""), sample(faults.PodRemove, ""), sample(faults.SpotReclaim, "")}},
		"container-kill":    {ObjectsForm, faults.Plan{sample(faults.ContainerKill, "")}},
		"pod-failure":       {ObjectsForm, faults.Plan{sample(faults.ProcessCrash, ""), sample(faults.StoreCrash, "")}},
		"partition":         {ObjectsForm, faults.Plan{sample(faults.APIOutage, ""), sample(faults.NodePartition, ""), sample(faults.LeaseHang, "")}},
		"delay":             {ObjectsForm, faults.Plan{sample(faults.APISlow, ""), sample(faults.StoreSlow, "")}},
		"loss":              {ObjectsForm, faults.Plan{loss}},
		"clock-skew":        {ObjectsForm, faults.Plan{skew}},
		"lost-response":     {ObjectsForm, faults.Plan{lost, cut}},
		"cpu-stress":        {ObjectsForm, faults.Plan{sample(faults.RunTime, "")}},
		"schedule":          {ObjectsForm, kills},
		"workflow":          {WorkflowForm, whole},
		"workflow-of-calls": {WorkflowForm, faults.Plan{lost, sample(faults.Call, clusters.Slow), sample(faults.Call, clusters.Late)}},
	}
}

func TestGoldenObjects(t *testing.T) {
	kinds := map[string]bool{}
	for name, g := range goldens() {
		s := everything()
		r, err := s.Render(g.plan, g.form)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, o := range r.Objects {
			kinds[o.Sent.GetKind()] = true
		}
		got, err := r.YAML(s, name)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", name+".yaml")
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Errorf("%s is not what is rendered now; if it is to be, write it anew with -update. Now:\n%s", path, got)
		}
		again, _ := s.Render(g.plan, g.form)
		if text, _ := again.YAML(s, name); string(text) != string(got) {
			t.Errorf("%s: rendered twice, it is not the same", name)
		}
	}
	for kind := range plurals {
		if !kinds[kind] {
			t.Errorf("no golden file has a %s", kind)
		}
	}
}

// TestNothingOfDefaultIsSent compares what goes to a cluster with the object before the module judged it, and with the module's defaults.
func TestNothingOfDefaultIsSent(t *testing.T) {
	s := everything()
	added := map[string]bool{}
	for name, g := range goldens() {
		r, err := s.Render(g.plan, g.form)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range r.Objects {
			if strings.Contains(name, "workflow") {
				continue // below
			}
			for _, path := range leaked(t, s, o, r, added) {
				t.Errorf("%s: %s: %s was not set, and is sent", name, o, path)
			}
		}
		text, _ := r.YAML(s, name)
		for _, word := range []string{"partitionBehavior", "status:", "null", "creationTimestamp"} {
			if strings.Contains(string(text), word) {
				t.Errorf("%s: %q is sent", name, word)
			}
		}
	}
	// All others that the controllers cannot do without are written out: direction, jitter, correlation, clocks, namespaces.
	if len(added) != 1 || !added["spec.partitionBehavior"] {
		t.Errorf("the module's defaults add %v; expected only the field that older CRDs do not know", added)
	}
}

// leaked are the paths of an object that only the module's defaults have, and notes what the defaults add.
func leaked(t *testing.T, s Site, o Object, r Rendered, added map[string]bool) []string {
	t.Helper()
	var bare object
	for _, x := range s.series(r.Faults) {
		for _, p := range x.first.pieces {
			if s.Name+"-"+x.name(p) != o.Sent.GetName() {
				continue
			}
			p = p.duration(s.lasts(x.first))
			var err error
			if bare, err = p.object(s.meta(o.Sent.GetName())); err != nil {
				t.Fatal(err)
			}
			if x.repeated() {
				c := schedule(x, p)
				c.ObjectMeta = s.meta(o.Sent.GetName())
				bare = c
			}
		}
	}
	if bare == nil {
		t.Fatalf("%s is of no fault", o)
	}
	before, _ := sent(bare)
	defaulted := bare.DeepCopyObject().(object)
	if err := defaulted.Default(t.Context(), defaulted); err != nil {
		t.Fatal(err)
	}
	after, _ := sent(defaulted)
	var found []string
	for _, path := range missing("spec", after.Object["spec"], before.Object["spec"]) {
		added[path] = true
		if slices.Contains(missing("spec", o.Sent.Object["spec"], before.Object["spec"]), path) {
			found = append(found, path)
		}
	}
	if !reflect.DeepEqual(before.Object, o.Sent.Object) {
		found = append(found, missing("", o.Sent.Object, before.Object)...)
	}
	return found
}

// TestAWorkflowIsLeftAsItWas: the module sets defaults in the templates of a Workflow too.
func TestAWorkflowIsLeftAsItWas(t *testing.T) {
	s := everything()
	g := goldens()["workflow"]
	r, err := s.Render(g.plan, g.form)
	if err != nil {
		t.Fatal(err)
	}
	templates, _, _ := unstructured.NestedSlice(r.Objects[0].Sent.Object, "spec", "templates")
	partitions := 0
	for _, x := range templates {
		chaos, ok, _ := unstructured.NestedMap(x.(map[string]any), "networkChaos")
		if !ok {
			continue
		}
		partitions++
		if _, there := chaos["partitionBehavior"]; there || chaos["direction"] != "both" || chaos["duration"] != nil {
			t.Errorf("template %v", chaos)
		}
	}
	if partitions != 2 {
		t.Errorf("%d partitions, want one of the replicas and one of the workers", partitions)
	}
}

// TestChaosMeshesOwnValidationRefuses: an object of each sort with a mistake planted.
func TestChaosMeshesOwnValidationRefuses(t *testing.T) {
	port := everything()
	port.HTTP = map[clusters.Port]HTTPServer{clusters.API: {Pods: map[string]string{"app": "gateway"}, Port: -1}}
	plan := faults.Plan{sample(faults.PodEvict, ""), sample(faults.Call, clusters.CutReply)}
	for _, form := range Forms() {
		_, err := port.Render(plan, form)
		var refused *Refused
		if !errors.As(err, &refused) || refused.Index != 1 || !strings.Contains(err.Error(), "Spec.Port: Invalid value: -1: port -1 is not supported") ||
			!strings.Contains(err.Error(), "HTTPChaos sample-fault-2") {
			t.Errorf("%s: %v", form, err)
		}
	}
	kill := podChaos(goldenKill())
	for name, plant := range map[string]struct {
		piece piece
		words string
	}{
		"no container":  {kill, "the name of container is required"},
		"no duration":   {sampleTime("ten"), "parse timeOffset field error"},
		"external from": {sampleDelay(), "external targets cannot be used with `from` and `both` direction"},
	} {
		o, err := plant.piece.object(everything().meta("planted"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := admitted(o, 4); err == nil || !strings.Contains(err.Error(), plant.words) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
